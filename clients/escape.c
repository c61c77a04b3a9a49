/* SPDX-License-Identifier: Apache-2.0
 *
 * Control bytes, shown.
 */
#include "escape.h"

size_t
escape_utf8_len(const uint8_t *p, size_t left)
{
    uint8_t low = 0x80, high = 0xbf;
    size_t len;

    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        len = 2;
    } else if (p[0] >= 0xe0 && p[0] <= 0xef) {
        len = 3;
        low = p[0] == 0xe0 ? 0xa0 : 0x80;
        high = p[0] == 0xed ? 0x9f : 0xbf; /* no surrogates */
    } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        len = 4;
        low = p[0] == 0xf0 ? 0x90 : 0x80;
        high = p[0] == 0xf4 ? 0x8f : 0xbf;
    } else {
        return 0;
    }
    if (left < len || p[1] < low || p[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < len; i++) {
        if (p[i] < 0x80 || p[i] > 0xbf) {
            return 0;
        }
    }
    return len;
}

/* How many bytes at p may be shown as they are; 0: escape the first one. */
static size_t
harmless(const uint8_t *p, size_t left, bool newlines)
{
    if (p[0] >= 0x80) {
        size_t len = escape_utf8_len(p, left);

        return len == 2 && p[0] == 0xc2 && p[1] < 0xa0 ? 0 : len;
    }
    if (p[0] == '\t' || (p[0] >= 0x20 && p[0] != 0x7f)) {
        return 1;
    }
    if (newlines && p[0] == '\n') {
        return 1;
    }
    return newlines && p[0] == '\r' && left > 1 && p[1] == '\n' ? 2 : 0;
}

int
escape_append(struct buf *out, const char *data, size_t len, bool newlines)
{
    static const char hex[] = "0123456789abcdef";
    const uint8_t *p = (const uint8_t *)data;

    for (size_t i = 0; i < len;) {
        size_t run;

        if (buf_reserve(out, 4) != DT_OK) {
            return DT_ERR_NOMEM;
        }
        run = harmless(p + i, len - i, newlines);
        if (run) {
            memcpy(out->data + out->len, p + i, run);
            out->len += run;
            i += run;
            continue;
        }
        out->data[out->len++] = '\\';
        out->data[out->len++] = 'x';
        out->data[out->len++] = hex[p[i] >> 4];
        out->data[out->len++] = hex[p[i] & 15];
        i++;
    }
    return DT_OK;
}
