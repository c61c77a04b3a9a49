/* SPDX-License-Identifier: Apache-2.0
 *
 * zstd (RFC 8878) to plain bytes, all frames of a file.
 */
#include "source-decoder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* 128 MiB, the limit of the zstd program too: what a hostile file may make us
 * allocate. */
#define ZSTD_WINDOW_LOG 27
#define ZSTD_MAGIC_BYTES 4u
#define ZSTD_BLOCK_HEADER_BYTES 3u

struct zstd {
    struct decoder base;
    struct decoder_input in;
    const char *path;
    ZSTD_DStream *stream;
    bool in_frame;
    size_t hint;  /* input up to the end of the current block */
    bool is_full; /* the last call filled its output: more may be held back */
    struct error failed;
};

/* Whether the first `len` bytes (at most 4) can begin a frame, skippable
 * ones included. */
static bool
is_frame_start(const uint8_t *p, size_t len)
{
    static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t skippable[] = {0x50, 0x2a, 0x4d, 0x18};

    return !memcmp(p, frame, len) || ((p[0] & 0xf0) == skippable[0] &&
                                      !memcmp(p + 1, skippable + 1, len - 1));
}

static int
ends_early(struct zstd *z, struct error *err)
{
    return error_set(err, DT_ERR_IO,
                     "%s: zstd data end too early, at byte %" PRIu64, z->path,
                     z->in.passed + z->in.len);
}

/* Moves to the next frame. DT_OK; DT_STOP: the input ended; or an error. */
static int
next_frame(struct zstd *z, int cancel_fd, struct error *err)
{
    size_t have;
    int status = decoder_input_skip_zeros(&z->in, ZSTD_MAGIC_BYTES, cancel_fd,
                                          &have, err);

    if (status != DT_OK) {
        return status;
    }
    if (have == 0) {
        return DT_STOP;
    }
    have = have < ZSTD_MAGIC_BYTES ? have : ZSTD_MAGIC_BYTES;
    if (!is_frame_start(z->in.data + z->in.pos, have)) {
        return error_set(err, DT_ERR_IO,
                         "%s: garbage behind the zstd data at byte %" PRIu64,
                         z->path, decoder_input_offset(&z->in));
    }
    if (have < ZSTD_MAGIC_BYTES) {
        return ends_early(z, err);
    }
    z->in_frame = true;
    z->is_full = false;
    z->hint = ZSTD_initDStream(z->stream);
    return DT_OK;
}

static int
step_error(struct zstd *z, size_t code)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        return error_set(&z->failed, DT_ERR_NOMEM, "%s: out of memory",
                         z->path);
    case ZSTD_error_frameParameter_windowTooLarge:
        return error_set(&z->failed, DT_ERR_LIMIT,
                         "%s: zstd window larger than %u MiB", z->path,
                         (1u << ZSTD_WINDOW_LOG) >> 20);
    default:
        return error_set(&z->failed, DT_ERR_IO,
                         "%s: damaged zstd data near byte %" PRIu64 ": %s",
                         z->path, decoder_input_offset(&z->in),
                         ZSTD_getErrorName(code));
    }
}

/* Decodes at most one block, and none while output is held back, since an
 * error takes back what the same call has given out before it: neither the
 * checksum nor the header of the next block, which `hint` counts in, may come
 * along. Returns the bytes written. */
static size_t
step(struct zstd *z, void *data, size_t cap)
{
    size_t have = z->is_full ? 0 : z->in.len - z->in.pos;
    size_t want = z->hint > ZSTD_BLOCK_HEADER_BYTES
                      ? z->hint - ZSTD_BLOCK_HEADER_BYTES
                      : z->hint;
    ZSTD_inBuffer in = {z->in.data + z->in.pos, have < want ? have : want, 0};
    ZSTD_outBuffer out = {data, cap, 0};
    size_t code = ZSTD_decompressStream(z->stream, &out, &in);

    if (ZSTD_isError(code)) {
        step_error(z, code);
        return 0;
    }
    z->in.pos += in.pos;
    z->is_full = out.pos == out.size;
    z->hint = code;
    z->in_frame = code != 0;
    return out.pos;
}

static ssize_t
zstd_read(struct decoder *d, void *data, size_t cap, int cancel_fd,
          struct error *err)
{
    struct zstd *z = (struct zstd *)d;

    while (z->failed.status == DT_OK) {
        size_t have, len;
        int status;

        if (!z->in_frame) {
            status = next_frame(z, cancel_fd, err);
            if (status != DT_OK) {
                return status == DT_STOP ? 0 : status;
            }
        }
        len = step(z, data, cap);
        if (len > 0) {
            return (ssize_t)len;
        }
        if (z->failed.status != DT_OK || !z->in_frame ||
            z->in.pos < z->in.len) {
            continue;
        }
        status = decoder_input_fill(&z->in, 1, cancel_fd, &have, err);
        if (status != DT_OK) {
            return status;
        }
        if (have == 0) {
            return ends_early(z, err);
        }
    }
    return error_set(err, z->failed.status, "%s", z->failed.text);
}

static void
zstd_close(struct decoder *d)
{
    struct zstd *z = (struct zstd *)d;

    decoder_close(z->in.below);
    decoder_input_fini(&z->in);
    ZSTD_freeDStream(z->stream);
    free(z);
}

int
decoder_zstd_new(struct decoder *below, const char *path, struct decoder **out,
                 struct error *err)
{
    struct zstd *z = calloc(1, sizeof(*z));

    if (!z || decoder_input_init(&z->in, below, err) != DT_OK ||
        !(z->stream = ZSTD_createDStream()) ||
        ZSTD_isError(ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax,
                                            ZSTD_WINDOW_LOG))) {
        if (z) {
            z->in.below = NULL; /* stays the caller's */
            zstd_close(&z->base);
        }
        return error_set(err, DT_ERR_NOMEM, "%s: out of memory", path);
    }
    z->base.read = zstd_read;
    z->base.close = zstd_close;
    z->path = path;
    *out = &z->base;
    return DT_OK;
}
