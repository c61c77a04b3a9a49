/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines as JSON objects.
 */
#include "ndjson.h"

#include "base64.h"
#include "escape.h"

#define MOST 6u /* bytes of "\u0000", the longest form of a character */

static size_t
put_unicode(char *to, unsigned code)
{
    static const char hex[] = "0123456789abcdef";

    memcpy(to, "\\u00", 4);
    to[4] = hex[code >> 4];
    to[5] = hex[code & 15];
    return MOST;
}

static size_t
put_ascii(char *to, uint8_t c)
{
    static const char letters[] = "btn?fr"; /* for 8 to 13; no \v in JSON */

    if (c == '"' || c == '\\') {
        to[0] = '\\';
        to[1] = (char)c;
        return 2;
    }
    if (c >= 8 && c <= 13 && c != 11) {
        to[0] = '\\';
        to[1] = letters[c - 8];
        return 2;
    }
    if (c < 0x20 || c == 0x7f) {
        return put_unicode(to, c);
    }
    to[0] = (char)c;
    return 1;
}

/* Appends the value escaped; DT_ERR_INVAL when it is not UTF-8. */
static int
append_string(struct buf *out, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t run = p[i] < 0x80 ? 1 : escape_utf8_len(p + i, len - i);
        char *to;

        if (run == 0) {
            return DT_ERR_INVAL;
        }
        if (buf_reserve(out, MOST) != DT_OK) {
            return DT_ERR_NOMEM;
        }
        to = out->data + out->len;
        if (p[i] < 0x80) {
            out->len += put_ascii(to, p[i]);
        } else if (p[i] == 0xc2 && p[i + 1] < 0xa0) {
            out->len += put_unicode(to, p[i + 1]);
        } else {
            memcpy(to, p + i, run);
            out->len += run;
        }
        i += run;
    }
    return DT_OK;
}

static int
append_base64(struct buf *out, const char *name, const char *value, size_t len)
{
    size_t encoded = base64_encoded_len(len);
    int rc = buf_printf(out, "\"%s_base64\":\"", name);

    if (rc == DT_OK) {
        rc = buf_reserve(out, encoded);
    }
    if (rc == DT_OK) {
        base64_encode(out->data + out->len, value, len);
        out->len += encoded;
        rc = buf_puts(out, "\"");
    }
    return rc;
}

int
ndjson_member(struct buf *out, const char *name, const char *value, size_t len)
{
    size_t before = out->len;
    int rc = buf_printf(out, "\"%s\":\"", name);

    if (rc == DT_OK) {
        rc = append_string(out, (const uint8_t *)value, len);
    }
    if (rc == DT_ERR_INVAL) {
        out->len = before;
        return append_base64(out, name, value, len);
    }
    return rc == DT_OK ? buf_puts(out, "\"") : rc;
}
