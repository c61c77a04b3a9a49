/* SPDX-License-Identifier: Apache-2.0
 *
 * gzip (RFC 1952) to plain bytes, all members of a file.
 *
 * Two engines that must behave the same: zlib, always there, and ISA-L, three
 * times as fast, where configure found it. What they see differently is
 * decided here: where a member begins, padding and garbage behind it, which
 * flags are known, and when the input ended too early. On damaged data they
 * may differ in how many bytes come out before the error, not in more; with
 * ISA-L that also depends on the size of the reads.
 */
#include "source-decoder.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

#define GZIP_HEADER_START 4u /* magic (2), method, flags */
#define GZIP_RESERVED_FLAGS 0xe0u

enum step { STEP_MORE, STEP_MEMBER_END, STEP_BAD, STEP_NOMEM };

struct gzip {
    struct decoder base;
    struct decoder_input in;
    const char *path;
    bool in_member;
    bool is_started; /* a member was seen */
    const char *reason;
    struct error failed; /* given out behind the data in front of it */
    enum step (*step)(struct gzip *g, uint8_t *out, size_t cap, size_t *len);
    void (*reset)(struct gzip *g);
    z_stream z;
#ifdef HAVE_ISAL
    struct inflate_state *isal;
    struct isal_gzip_header header; /* may come in pieces */
    bool has_header;
#endif
};

/* ---- zlib ---- */

static enum step
step_zlib(struct gzip *g, uint8_t *out, size_t cap, size_t *len)
{
    uInt room = cap < UINT_MAX ? (uInt)cap : UINT_MAX;
    int status;

    g->z.next_in = g->in.data + g->in.pos;
    g->z.avail_in = (uInt)(g->in.len - g->in.pos);
    g->z.next_out = out;
    g->z.avail_out = room;
    status = inflate(&g->z, Z_NO_FLUSH);
    g->in.pos = g->in.len - g->z.avail_in;
    *len = room - g->z.avail_out;
    switch (status) {
    case Z_OK:
    case Z_BUF_ERROR: /* no progress: more input or room is needed */
        return STEP_MORE;
    case Z_STREAM_END:
        return STEP_MEMBER_END;
    case Z_MEM_ERROR:
        return STEP_NOMEM;
    default:
        g->reason = g->z.msg ? g->z.msg : "invalid data";
        return STEP_BAD;
    }
}

static void
reset_zlib(struct gzip *g)
{
    inflateReset(&g->z);
}

/* ---- ISA-L ---- */

#ifdef HAVE_ISAL
/* The header is read apart, since isal_inflate forgets between two calls what
 * it needs for the header's own checksum. */
static int
run_isal(struct gzip *g)
{
    int status;

    if (!g->has_header) {
        status = isal_read_gzip_header(g->isal, &g->header);
        if (status != ISAL_DECOMP_OK) {
            return status;
        }
        g->has_header = true;
        g->isal->crc_flag = ISAL_GZIP_NO_HDR_VER; /* check the trailer */
    }
    return isal_inflate(g->isal);
}

static enum step
step_isal(struct gzip *g, uint8_t *out, size_t cap, size_t *len)
{
    uint32_t room = cap < UINT32_MAX ? (uint32_t)cap : UINT32_MAX;
    struct inflate_state *s = g->isal;
    int status;

    s->next_in = g->in.data + g->in.pos;
    s->avail_in = (uint32_t)(g->in.len - g->in.pos);
    s->next_out = out;
    s->avail_out = room;
    status = run_isal(g);
    g->in.pos = g->in.len - s->avail_in;
    *len = room - s->avail_out;
    if (status < 0) {
        g->reason = status == ISAL_INCORRECT_CHECKSUM ? "incorrect data check"
                                                      : "invalid data";
        return STEP_BAD;
    }
    return s->block_state == ISAL_BLOCK_FINISH ? STEP_MEMBER_END : STEP_MORE;
}

static void
reset_isal(struct gzip *g)
{
    isal_inflate_reset(g->isal);
    isal_gzip_header_init(&g->header);
    g->has_header = false;
}
#endif

/* ---- members ---- */

/* Moves to the next member. DT_OK; DT_STOP: the input ended; or an error. */
static int
next_member(struct gzip *g, int cancel_fd, struct error *err)
{
    const uint8_t *p;
    size_t have;
    int status = decoder_input_skip_zeros(&g->in, GZIP_HEADER_START, cancel_fd,
                                          &have, err);

    if (status != DT_OK) {
        return status;
    }
    if (have == 0) {
        return DT_STOP;
    }
    p = g->in.data + g->in.pos;
    if (have < 2 || p[0] != 0x1f || p[1] != 0x8b) {
        return error_set(err, DT_ERR_IO,
                         "%s: garbage behind the gzip data at byte %" PRIu64,
                         g->path, decoder_input_offset(&g->in));
    }
    if (have >= GZIP_HEADER_START &&
        (p[2] != Z_DEFLATED || (p[3] & GZIP_RESERVED_FLAGS))) {
        return error_set(err, DT_ERR_IO,
                         "%s: unknown kind of gzip data at byte %" PRIu64,
                         g->path, decoder_input_offset(&g->in));
    }
    if (g->is_started) {
        g->reset(g);
    }
    g->is_started = true;
    g->in_member = true;
    return DT_OK;
}

static int
step_error(struct gzip *g, enum step step)
{
    if (step == STEP_NOMEM) {
        return error_set(&g->failed, DT_ERR_NOMEM, "%s: out of memory",
                         g->path);
    }
    return error_set(&g->failed, DT_ERR_IO,
                     "%s: damaged gzip data before byte %" PRIu64 ": %s",
                     g->path, decoder_input_offset(&g->in), g->reason);
}

/* Called when the engine has used up its input. */
static int
more_input(struct gzip *g, int cancel_fd, struct error *err)
{
    size_t have;
    int status = decoder_input_fill(&g->in, 1, cancel_fd, &have, err);

    if (status == DT_OK && have == 0) {
        status = error_set(err, DT_ERR_IO,
                           "%s: gzip data end too early, at byte %" PRIu64,
                           g->path, decoder_input_offset(&g->in));
    }
    return status;
}

static ssize_t
gzip_read(struct decoder *d, void *data, size_t cap, int cancel_fd,
          struct error *err)
{
    struct gzip *g = (struct gzip *)d;

    while (g->failed.status == DT_OK) {
        enum step step;
        size_t len;
        int status = DT_OK;

        if (!g->in_member) {
            status = next_member(g, cancel_fd, err);
            if (status != DT_OK) {
                return status == DT_STOP ? 0 : status;
            }
        }
        step = g->step(g, data, cap, &len);
        if (step == STEP_MEMBER_END) {
            g->in_member = false;
        } else if (step != STEP_MORE) {
            status = step_error(g, step);
        } else if (len == 0) {
            status = more_input(g, cancel_fd, err);
            if (status != DT_OK) {
                return status;
            }
        }
        if (len > 0) {
            return (ssize_t)len;
        }
    }
    return error_set(err, g->failed.status, "%s", g->failed.text);
}

static void
gzip_close(struct decoder *d)
{
    struct gzip *g = (struct gzip *)d;

    decoder_close(g->in.below);
    decoder_input_fini(&g->in);
#ifdef HAVE_ISAL
    free(g->isal);
#endif
    if (g->z.state) {
        inflateEnd(&g->z);
    }
    free(g);
}

static int
init_engine(struct gzip *g, enum decoder_gzip_engine engine)
{
#ifdef HAVE_ISAL
    if (engine == DECODER_GZIP_FASTEST) {
        g->isal = calloc(1, sizeof(*g->isal)); /* init leaves gaps */
        if (!g->isal) {
            return DT_ERR_NOMEM;
        }
        isal_inflate_init(g->isal);
        reset_isal(g);
        g->step = step_isal;
        g->reset = reset_isal;
        return DT_OK;
    }
#endif
    (void)engine;
    g->step = step_zlib;
    g->reset = reset_zlib;
    return inflateInit2(&g->z, MAX_WBITS + 16) == Z_OK ? DT_OK : DT_ERR_NOMEM;
}

int
decoder_gzip_new(struct decoder *below, const char *path,
                 enum decoder_gzip_engine engine, struct decoder **out,
                 struct error *err)
{
    struct gzip *g = calloc(1, sizeof(*g));

    if (!g || decoder_input_init(&g->in, below, err) != DT_OK ||
        init_engine(g, engine) != DT_OK) {
        if (g) {
            g->in.below = NULL; /* stays the caller's */
            gzip_close(&g->base);
        }
        return error_set(err, DT_ERR_NOMEM, "%s: out of memory", path);
    }
    g->base.read = gzip_read;
    g->base.close = gzip_close;
    g->path = path;
    *out = &g->base;
    return DT_OK;
}
