/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the values of a JSON text (RFC 8259) without building it.
 */
#include "json.h"

struct scanner {
    const char *p, *end;
    struct arena *scratch;
    json_value_fn *fn;
    void *ctx;
    char path[JSON_MAX_PATH];
    size_t path_len;
    bool nomem;
};

static bool scan_value(struct scanner *s, unsigned depth);

static void
skip_blanks(struct scanner *s)
{
    while (s->p < s->end &&
           (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r')) {
        s->p++;
    }
}

static bool
take(struct scanner *s, char c)
{
    skip_blanks(s);
    if (s->p < s->end && *s->p == c) {
        s->p++;
        return true;
    }
    return false;
}

static bool
hex4(const char *p, const char *end, uint32_t *out)
{
    *out = 0;
    if (end - p < 4) {
        return false;
    }
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        uint32_t d = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                            : 16;

        if (d == 16) {
            return false;
        }
        *out = *out << 4 | d;
    }
    return true;
}

static char *
put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* \uXXXX, with a second half if it is a surrogate; a lone half is U+FFFD. */
static bool
decode_u(const char **p, const char *end, char **to)
{
    uint32_t c, low;

    if (!hex4(*p, end, &c)) {
        return false;
    }
    *p += 4;
    if (c >= 0xd800 && c < 0xdc00) {
        if (end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u' &&
            hex4(*p + 2, end, &low) && low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
            *p += 6;
        } else {
            c = 0xfffd;
        }
    } else if (c >= 0xdc00 && c < 0xe000) {
        c = 0xfffd;
    }
    *to = put_utf8(*to, c);
    return true;
}

/* Text between quotes, with escapes. */
static bool
decode(struct scanner *s, const char *p, const char *end, struct str *out)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    char *copy = arena_alloc(s->scratch, (size_t)(end - p) + 4), *to = copy;

    if (!copy) {
        s->nomem = true;
        return false;
    }
    while (p < end) {
        const char *at;

        if (*p != '\\') {
            *to++ = *p++;
            continue;
        }
        p++;
        if (p < end && *p == 'u') {
            p++;
            if (!decode_u(&p, end, &to)) {
                return false;
            }
            continue;
        }
        at = p < end && *p ? strchr(from, *p) : NULL;
        if (!at) {
            return false;
        }
        *to++ = into[at - from];
        p++;
    }
    out->p = copy;
    out->n = (size_t)(to - copy);
    return true;
}

/* s->p is behind the opening quote. */
static bool
scan_string(struct scanner *s, struct str *out)
{
    const char *start = s->p, *p = s->p;
    bool escaped = false;

    for (;; p++) {
        const char *quote =
            p < s->end ? memchr(p, '"', (size_t)(s->end - p)) : NULL;
        const char *slash;

        if (!quote) {
            return false;
        }
        slash = memchr(p, '\\', (size_t)(quote - p));
        if (!slash) {
            p = quote;
            break;
        }
        escaped = true;
        p = slash + 1; /* what is escaped is skipped by the loop */
        if (p >= s->end) {
            return false;
        }
    }
    s->p = p + 1;
    out->p = start;
    out->n = (size_t)(p - start);
    return !escaped || decode(s, start, p, out);
}

static bool
tell(struct scanner *s, char type, struct str text)
{
    struct json_value v = {{s->path, s->path_len}, text, type};

    if (s->path_len > JSON_MAX_PATH) {
        return true;
    }
    if (!s->fn(s->ctx, &v)) {
        s->nomem = true;
        return false;
    }
    return true;
}

/* Appends a step to the path; returns the length before. A path that is too
 * long is only counted. */
static size_t
push_path(struct scanner *s, struct str step)
{
    size_t before = s->path_len;
    size_t n = step.n + (before > 0);

    if (before + n <= JSON_MAX_PATH) {
        if (before) {
            s->path[before] = '.';
        }
        if (step.n) {
            memcpy(s->path + before + (before > 0), step.p, step.n);
        }
        s->path_len = before + n;
    } else {
        s->path_len = JSON_MAX_PATH + 1;
    }
    return before;
}

static bool
scan_members(struct scanner *s, unsigned depth)
{
    if (take(s, '}')) {
        return true;
    }
    do {
        struct str name;
        size_t before;

        if (!take(s, '"') || !scan_string(s, &name) || !take(s, ':')) {
            return false;
        }
        before = push_path(s, name);
        if (!scan_value(s, depth + 1)) {
            return false;
        }
        s->path_len = before;
    } while (take(s, ','));
    return take(s, '}');
}

static bool
scan_elements(struct scanner *s, unsigned depth)
{
    if (take(s, ']')) {
        return true;
    }
    for (unsigned i = 0;; i++) {
        char digits[16];
        struct str step = {digits, 0};
        size_t before;

        step.n = (size_t)snprintf(digits, sizeof(digits), "%u", i);
        before = push_path(s, step);
        if (!scan_value(s, depth + 1)) {
            return false;
        }
        s->path_len = before;
        if (!take(s, ',')) {
            return take(s, ']');
        }
    }
}

/* Digits as the grammar has them: -?int[.digits][e[sign]digits]. */
static bool
scan_number(struct scanner *s)
{
    const char *p = s->p, *start;

#define DIGITS()                                                 \
    for (start = p; p < s->end && *p >= '0' && *p <= '9'; p++) { \
    }                                                            \
    if (p == start) {                                            \
        return false;                                            \
    }
    p += p < s->end && *p == '-';
    DIGITS()
    if (p - start > 1 && *start == '0') {
        return false;
    }
    if (p < s->end && *p == '.') {
        p++;
        DIGITS()
    }
    if (p < s->end && (*p | 0x20) == 'e') {
        p++;
        p += p < s->end && (*p == '+' || *p == '-');
        DIGITS()
    }
#undef DIGITS
    s->p = p;
    return true;
}

static bool
scan_word(struct scanner *s, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0) {
        return false;
    }
    s->p += n;
    return true;
}

static bool
scan_value(struct scanner *s, unsigned depth)
{
    struct str text;
    char type;
    bool good;

    skip_blanks(s);
    if (s->p == s->end || depth > JSON_MAX_DEPTH) {
        return false;
    }
    text.p = s->p;
    type = *s->p;
    switch (type) {
    case '"':
        s->p++;
        return scan_string(s, &text) && tell(s, 's', text);
    case '{':
        s->p++;
        good = scan_members(s, depth);
        break;
    case '[':
        s->p++;
        good = scan_elements(s, depth);
        break;
    case 't':
        good = scan_word(s, "true");
        break;
    case 'f':
        good = scan_word(s, "false");
        break;
    case 'n':
        type = 0;
        good = scan_word(s, "null");
        break;
    default:
        type = 'n';
        good = scan_number(s);
        break;
    }
    text.n = (size_t)(s->p - text.p);
    return good && tell(s, type, text);
}

enum json_result
json_scan(struct str text, struct arena *scratch, json_value_fn *fn, void *ctx)
{
    struct scanner s = {.p = text.p,
                        .end = text.p + text.n,
                        .scratch = scratch,
                        .fn = fn,
                        .ctx = ctx};

    if (scan_value(&s, 0)) {
        skip_blanks(&s);
        return s.p == s.end ? JSON_GOOD : JSON_BAD;
    }
    return s.nomem ? JSON_NOMEM : JSON_BAD;
}
