/* SPDX-License-Identifier: Apache-2.0
 *
 * Borrowed strings and a growing text, as the whole of mapr uses them.
 *
 * Not thread-safe; no globals. A text that ran out of memory remembers it in
 * `failed`, so that callers check once at the end.
 */
#ifndef MAPR_TEXT_H
#define MAPR_TEXT_H

#include <dtail/plugin.h>

/* Borrowed bytes; p == NULL means "there is none", which is not "". */
struct str {
    const char *p;
    size_t n; /* bytes */
};

static inline struct str
str_of(const char *text)
{
    struct str s = {text, strlen(text)};

    return s;
}

static inline bool
str_equal(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool
str_is(struct str a, const char *text)
{
    return str_equal(a, str_of(text));
}

/* Byte order, shorter first on a common prefix; like strcmp. */
int str_compare(struct str a, struct str b);
/* Equal when ASCII letters are folded. */
bool str_is_nocase(struct str a, const char *text);
/* Without Unicode white space at both ends. */
struct str str_trim(struct str s);
/* Bytes of the white space character that s begins with; 0: none. */
size_t str_space_at(const char *p, size_t n);
/* Code points; an invalid byte counts as one. */
size_t str_code_points(struct str s);
/* Bytes of the valid UTF-8 sequence at p; 0: none stands there. */
size_t str_utf8_at(const char *p, size_t n);

/* Caller's memory; all zero is empty. */
struct text {
    char *data;
    size_t len;
    size_t cap;
    bool failed; /* out of memory: the contents are not complete */
};

void text_fini(struct text *t);
bool text_reserve(struct text *t, size_t more);
void text_add(struct text *t, const void *data, size_t len);
void text_puts(struct text *t, const char *s);
void text_char(struct text *t, char c);
void text_repeat(struct text *t, char c, size_t n);
void text_printf(struct text *t, const char *format, ...) DT_PRINTF(2, 3);

static inline void
text_str(struct text *t, struct str s)
{
    text_add(t, s.p, s.n);
}

#endif
