/* SPDX-License-Identifier: Apache-2.0
 *
 * UTF-16 (RFC 2781) to UTF-8. A surrogate without its partner, and an odd
 * last byte, become U+FFFD.
 */
#include "bytes.h"
#include "source-decoder.h"

#include <stdlib.h>

#define UTF8_MAX 4u
#define REPLACEMENT 0xfffdu

struct utf16 {
    struct decoder base;
    struct decoder_input in;
    bool is_big_endian;
    char left[UTF8_MAX]; /* of a character that did not fit */
    size_t left_pos, left_len;
};

static uint32_t
unit_at(const struct utf16 *u, size_t pos)
{
    const uint8_t *p = u->in.data + pos;

    return u->is_big_endian ? (uint32_t)p[0] << 8 | p[1]
                            : (uint32_t)p[1] << 8 | p[0];
}

/* Takes one character of the `have` unread bytes (at least 1). Returns the
 * bytes used; 0: more input could complete it. */
static size_t
next_char(const struct utf16 *u, size_t have, uint32_t *c)
{
    uint32_t low;

    *c = REPLACEMENT;
    if (have < 2) {
        return u->in.is_end ? 1 : 0;
    }
    uint32_t high = unit_at(u, u->in.pos);

    if (high < 0xd800 || high > 0xdfff) {
        *c = high;
        return 2;
    }
    if (high >= 0xdc00) {
        return 2;
    }
    if (have < 4) {
        return u->in.is_end ? 2 : 0;
    }
    low = unit_at(u, u->in.pos + 2);
    if (low < 0xdc00 || low > 0xdfff) {
        return 2;
    }
    *c = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    return 4;
}

static size_t
take_left(struct utf16 *u, uint8_t *out, size_t cap)
{
    size_t n = u->left_len - u->left_pos;

    n = n < cap ? n : cap;
    memcpy(out, u->left + u->left_pos, n);
    u->left_pos += n;
    return n;
}

static ssize_t
utf16_read(struct decoder *d, void *data, size_t cap, int cancel_fd,
           struct error *err)
{
    struct utf16 *u = (struct utf16 *)d;
    uint8_t *out = data;
    size_t len = take_left(u, out, cap);

    while (len < cap) {
        size_t have = u->in.len - u->in.pos;
        uint32_t c;
        size_t used = have ? next_char(u, have, &c) : 0;
        int status;

        if (used == 0) {
            if (len > 0) { /* given out before a wait */
                break;
            }
            status =
                decoder_input_fill(&u->in, have + 1, cancel_fd, &have, err);
            if (status != DT_OK) {
                return status;
            }
            if (have == 0) {
                break;
            }
            continue;
        }
        u->in.pos += used;
        if (cap - len >= UTF8_MAX) {
            len += bytes_utf8_encode(c, (char *)out + len);
        } else {
            u->left_len = bytes_utf8_encode(c, u->left);
            u->left_pos = 0;
            len += take_left(u, out + len, cap - len);
        }
    }
    return (ssize_t)len;
}

static void
utf16_close(struct decoder *d)
{
    struct utf16 *u = (struct utf16 *)d;

    decoder_close(u->in.below);
    decoder_input_fini(&u->in);
    free(u);
}

int
decoder_utf16_new(struct decoder *below, bool is_big_endian,
                  struct decoder **out, struct error *err)
{
    struct utf16 *u = calloc(1, sizeof(*u));

    if (!u || decoder_input_init(&u->in, below, err) != DT_OK) {
        free(u);
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    u->base.read = utf16_read;
    u->base.close = utf16_close;
    u->is_big_endian = is_big_endian;
    *out = &u->base;
    return DT_OK;
}
