/* SPDX-License-Identifier: Apache-2.0
 *
 * Base64, strict.
 */
#include "base64.h"

#include <stdint.h>

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t
base64_encoded_len(size_t len)
{
    return (len / 3 + (len % 3 != 0)) * 4;
}

void
base64_encode(char *out, const void *data, size_t len)
{
    const uint8_t *p = data;

    for (; len > 0; out += 4) {
        size_t n = len < 3 ? len : 3;
        uint32_t v = (uint32_t)p[0] << 16;

        v |= n > 1 ? (uint32_t)p[1] << 8 : 0;
        v |= n > 2 ? p[2] : 0;
        out[0] = alphabet[v >> 18];
        out[1] = alphabet[v >> 12 & 63];
        out[2] = n > 1 ? alphabet[v >> 6 & 63] : '=';
        out[3] = n > 2 ? alphabet[v & 63] : '=';
        p += n;
        len -= n;
    }
}

size_t
base64_decoded_max(size_t len)
{
    return len / 4 * 3;
}

/* The six bits of a character; -1: not of the alphabet. */
static int
bits(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes one group; the number of bytes, or 0 if it is none. */
static size_t
decode_group(uint8_t out[3], const char *text, bool is_last)
{
    size_t pad = 0;
    uint32_t v = 0;

    if (is_last && text[3] == '=') {
        pad = text[2] == '=' ? 2 : 1;
    }
    for (size_t i = 0; i < 4 - pad; i++) {
        int six = bits(text[i]);

        if (six < 0) {
            return 0;
        }
        v |= (uint32_t)six << (18 - 6 * i);
    }
    if ((pad == 2 && (v & 0xffff)) || (pad == 1 && (v & 0xff))) {
        return 0; /* a second spelling of the same bytes */
    }
    out[0] = (uint8_t)(v >> 16);
    out[1] = (uint8_t)(v >> 8);
    out[2] = (uint8_t)v;
    return 3 - pad;
}

bool
base64_decode(void *out, size_t *out_len, const char *text, size_t len)
{
    uint8_t *p = out;

    *out_len = 0;
    if (len % 4) {
        return false;
    }
    for (size_t at = 0; at < len; at += 4) {
        uint8_t group[3];
        size_t n = decode_group(group, text + at, at + 4 == len);

        if (n == 0) {
            return false;
        }
        for (size_t i = 0; i < n; i++) {
            p[(*out_len)++] = group[i];
        }
    }
    return true;
}
