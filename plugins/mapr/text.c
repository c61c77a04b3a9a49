/* SPDX-License-Identifier: Apache-2.0
 *
 * Borrowed strings and a growing text.
 */
#include "text.h"

#include <stdlib.h>
#include <strings.h>

int
str_compare(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;

    return c ? c : (a.n > b.n) - (a.n < b.n);
}

bool
str_is_nocase(struct str a, const char *text)
{
    return a.n == strlen(text) && strncasecmp(a.p, text, a.n) == 0;
}

size_t
str_utf8_at(const char *data, size_t n)
{
    const unsigned char *p = (const unsigned char *)data;
    size_t len;
    uint32_t c;

    if (n == 0) {
        return 0;
    }
    if (p[0] < 0x80) {
        return 1;
    }
    if (p[0] < 0xc2 || p[0] > 0xf4) {
        return 0;
    }
    len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n < len) {
        return 0;
    }
    c = p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
        c = c << 6 | (p[i] & 0x3f);
    }
    if ((len == 3 && (c < 0x800 || (c >= 0xd800 && c <= 0xdfff))) ||
        (len == 4 && (c < 0x10000 || c > 0x10ffff))) {
        return 0;
    }
    return len;
}

size_t
str_code_points(struct str s)
{
    size_t nr = 0;

    for (size_t i = 0; i < s.n; nr++) {
        size_t len = str_utf8_at(s.p + i, s.n - i);

        i += len ? len : 1;
    }
    return nr;
}

size_t
str_space_at(const char *data, size_t n)
{
    const unsigned char *p = (const unsigned char *)data;

    if (n == 0) {
        return 0;
    }
    if (p[0] < 0x80) {
        return p[0] == ' ' || (p[0] >= '\t' && p[0] <= '\r');
    }
    if (n >= 2 && p[0] == 0xc2) {
        return p[1] == 0x85 || p[1] == 0xa0 ? 2 : 0;
    }
    if (n < 3) {
        return 0;
    }
    if (p[0] == 0xe2 && p[1] == 0x80) {
        return p[2] <= 0x8a || p[2] == 0xa8 || p[2] == 0xa9 || p[2] == 0xaf ? 3
                                                                            : 0;
    }
    return (p[0] == 0xe1 && p[1] == 0x9a && p[2] == 0x80) ||
                   (p[0] == 0xe2 && p[1] == 0x81 && p[2] == 0x9f) ||
                   (p[0] == 0xe3 && p[1] == 0x80 && p[2] == 0x80)
               ? 3
               : 0;
}

static size_t
space_before(const char *p, size_t n)
{
    for (size_t len = 1; len <= 3 && len <= n; len++) {
        if (str_space_at(p + n - len, len) == len) {
            return len;
        }
    }
    return 0;
}

struct str
str_trim(struct str s)
{
    size_t len;

    while ((len = str_space_at(s.p, s.n)) > 0) {
        s.p += len;
        s.n -= len;
    }
    while ((len = space_before(s.p, s.n)) > 0) {
        s.n -= len;
    }
    return s;
}

void
text_fini(struct text *t)
{
    free(t->data);
    memset(t, 0, sizeof(*t));
}

bool
text_reserve(struct text *t, size_t more)
{
    size_t cap = t->cap ? t->cap : 256;
    char *data;

    if (t->failed) {
        return false;
    }
    if (more <= t->cap - t->len) {
        return true;
    }
    if (more > SIZE_MAX / 4 || t->len > SIZE_MAX / 4) {
        t->failed = true;
        return false;
    }
    while (cap < t->len + more) {
        cap *= 2;
    }
    data = realloc(t->data, cap);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->cap = cap;
    return true;
}

void
text_add(struct text *t, const void *data, size_t len)
{
    if (len && text_reserve(t, len)) {
        memcpy(t->data + t->len, data, len);
        t->len += len;
    }
}

void
text_puts(struct text *t, const char *s)
{
    text_add(t, s, strlen(s));
}

void
text_char(struct text *t, char c)
{
    if (text_reserve(t, 1)) {
        t->data[t->len++] = c;
    }
}

void
text_repeat(struct text *t, char c, size_t n)
{
    if (n && text_reserve(t, n)) {
        memset(t->data + t->len, c, n);
        t->len += n;
    }
}

void
text_printf(struct text *t, const char *format, ...)
{
    va_list ap;
    int n;

    va_start(ap, format);
    n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (n < 0 || !text_reserve(t, (size_t)n + 1)) {
        t->failed = true;
        return;
    }
    va_start(ap, format);
    vsnprintf(t->data + t->len, (size_t)n + 1, format, ap);
    va_end(ap);
    t->len += (size_t)n;
}
