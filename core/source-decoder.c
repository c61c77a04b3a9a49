/* SPDX-License-Identifier: Apache-2.0
 *
 * What the links of a source's chain have in common.
 */
#include "source-decoder.h"

#include <stdlib.h>

void
decoder_close(struct decoder *d)
{
    if (d) {
        d->close(d);
    }
}

/* ---- peek ---- */

struct decoder_peek {
    struct decoder base;
    struct decoder *below;
    uint8_t bytes[DECODER_PEEK_BYTES];
    size_t pos, len;
    bool is_end;
};

static ssize_t
peek_read(struct decoder *d, void *data, size_t cap, int cancel_fd,
          struct error *err)
{
    struct decoder_peek *p = (struct decoder_peek *)d;
    size_t n = p->len - p->pos;

    if (n == 0) {
        return p->is_end ? 0
                         : p->below->read(p->below, data, cap, cancel_fd, err);
    }
    n = n < cap ? n : cap;
    memcpy(data, p->bytes + p->pos, n);
    p->pos += n;
    return (ssize_t)n;
}

static void
peek_close(struct decoder *d)
{
    struct decoder_peek *p = (struct decoder_peek *)d;

    decoder_close(p->below);
    free(p);
}

int
decoder_peek_new(struct decoder *below, struct decoder **out, struct error *err)
{
    struct decoder_peek *p = calloc(1, sizeof(*p));

    if (!p) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    p->base.read = peek_read;
    p->base.close = peek_close;
    p->below = below;
    *out = &p->base;
    return DT_OK;
}

int
decoder_peek_fill(struct decoder *d, size_t want, int cancel_fd,
                  struct error *err)
{
    struct decoder_peek *p = (struct decoder_peek *)d;

    while (!p->is_end && p->len < DECODER_PEEK_BYTES && p->len <= want) {
        ssize_t n = p->below->read(p->below, p->bytes + p->len,
                                   DECODER_PEEK_BYTES - p->len, cancel_fd, err);

        if (n < 0) {
            return (int)n;
        }
        p->is_end = n == 0;
        p->len += (size_t)n;
    }
    return DT_OK;
}

size_t
decoder_peek_bytes(const struct decoder *d, const uint8_t **bytes, bool *is_end)
{
    const struct decoder_peek *p = (const struct decoder_peek *)d;

    *bytes = p->bytes;
    *is_end = p->is_end;
    return p->len;
}

void
decoder_peek_drop(struct decoder *d, size_t len)
{
    ((struct decoder_peek *)d)->pos += len;
}

struct decoder *
decoder_peek_remove(struct decoder *d)
{
    struct decoder *below = ((struct decoder_peek *)d)->below;

    free(d);
    return below;
}

/* ---- input ---- */

int
decoder_input_init(struct decoder_input *in, struct decoder *below,
                   struct error *err)
{
    *in = (struct decoder_input){.below = below};
    in->data = malloc(DECODER_INPUT_BYTES);
    return in->data ? DT_OK : error_set(err, DT_ERR_NOMEM, "out of memory");
}

void
decoder_input_fini(struct decoder_input *in)
{
    free(in->data);
    *in = (struct decoder_input){0};
}

int
decoder_input_fill(struct decoder_input *in, size_t want, int cancel_fd,
                   size_t *have, struct error *err)
{
    while (in->len - in->pos < want && !in->is_end) {
        ssize_t n;

        if (in->pos) {
            memmove(in->data, in->data + in->pos, in->len - in->pos);
            in->passed += in->pos;
            in->len -= in->pos;
            in->pos = 0;
        }
        n = in->below->read(in->below, in->data + in->len,
                            DECODER_INPUT_BYTES - in->len, cancel_fd, err);
        if (n < 0) {
            return (int)n;
        }
        in->is_end = n == 0;
        in->len += (size_t)n;
    }
    *have = in->len - in->pos;
    return DT_OK;
}

uint64_t
decoder_input_offset(const struct decoder_input *in)
{
    return in->passed + in->pos;
}

int
decoder_input_skip_zeros(struct decoder_input *in, size_t want, int cancel_fd,
                         size_t *have, struct error *err)
{
    int status;

    for (;;) {
        status = decoder_input_fill(in, 1, cancel_fd, have, err);
        if (status != DT_OK || *have == 0) {
            return status;
        }
        while (in->pos < in->len && in->data[in->pos] == 0) {
            in->pos++;
        }
        if (in->pos < in->len) {
            return decoder_input_fill(in, want, cancel_fd, have, err);
        }
    }
}
