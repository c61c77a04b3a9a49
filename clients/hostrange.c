/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of numbers in a server's name.
 */
#include "hostrange.h"

#include <stdio.h>
#include <string.h>

/* The text before a range, and the range. */
struct range {
    const char *before;
    size_t before_len;
    unsigned first, last, now;
    int digits;
};

struct ranges {
    struct range v[HOSTRANGE_MAX];
    size_t nr;
    const char *rest; /* behind the last range */
    size_t rest_len;
};

static int
bad_range(const char *text, size_t len, struct error *err)
{
    return error_set(err, DT_ERR_INVAL,
                     "server \"%.*s\": a range is [FIRST-LAST], two numbers "
                     "of up to %u digits, the first not the bigger one, as in "
                     "web[01-20]",
                     (int)(len > HOSTRANGE_MAX_NAME ? HOSTRANGE_MAX_NAME : len),
                     text, HOSTRANGE_MAX_DIGITS);
}

/* The number that fills text..end. */
static bool
parse_number(const char *text, const char *end, unsigned *out)
{
    *out = 0;
    if (text == end || end - text > (ptrdiff_t)HOSTRANGE_MAX_DIGITS) {
        return false;
    }
    for (; text < end; text++) {
        if (*text < '0' || *text > '9') {
            return false;
        }
        *out = *out * 10 + (unsigned)(*text - '0');
    }
    return true;
}

/* What stands between the brackets. */
static bool
parse_range(const char *text, const char *end, struct range *r)
{
    const char *dash = memchr(text, '-', (size_t)(end - text));

    if (!dash || !parse_number(text, dash, &r->first) ||
        !parse_number(dash + 1, end, &r->last) || r->first > r->last) {
        return false;
    }
    r->now = r->first;
    r->digits = (int)(dash - text);
    return true;
}

/* Finds all ranges; an address in brackets at the beginning is none. */
static int
parse_ranges(const char *text, size_t len, struct ranges *out,
             struct error *err)
{
    const char *end = text + len, *at = text;
    uint64_t names = 1;

    *out = (struct ranges){0};
    while (text[0] != '[') {
        const char *open = memchr(at, '[', (size_t)(end - at));
        const char *close =
            open ? memchr(open, ']', (size_t)(end - open)) : NULL;
        struct range *r = &out->v[out->nr];

        if (!open) {
            break;
        }
        if (out->nr == HOSTRANGE_MAX) {
            return error_set(err, DT_ERR_LIMIT,
                             "server \"%.*s\" has more than %u ranges",
                             (int)len, text, HOSTRANGE_MAX);
        }
        if (!close || !parse_range(open + 1, close, r)) {
            return bad_range(text, len, err);
        }
        r->before = at;
        r->before_len = (size_t)(open - at);
        names *= (uint64_t)r->last - r->first + 1;
        if (names > HOSTRANGE_MAX_NR) {
            return error_set(err, DT_ERR_LIMIT,
                             "server \"%.*s\" stands for more than %u names",
                             (int)len, text, HOSTRANGE_MAX_NR);
        }
        out->nr++;
        at = close + 1;
    }
    out->rest = at;
    out->rest_len = (size_t)(end - at);
    return DT_OK;
}

/* The name of the ranges' present numbers; its length. Every piece of it fits:
 * an item has at most HOSTRANGE_MAX_NAME bytes and a number at most
 * HOSTRANGE_MAX_DIGITS. */
static size_t
write_name(const struct ranges *r, char *out, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; i < r->nr; i++) {
        len += (size_t)snprintf(out + len, size - len, "%.*s%0*u",
                                (int)r->v[i].before_len, r->v[i].before,
                                r->v[i].digits, r->v[i].now);
    }
    return len + (size_t)snprintf(out + len, size - len, "%.*s",
                                  (int)r->rest_len, r->rest);
}

/* The next numbers; false after the last ones. */
static bool
count_on(struct ranges *r)
{
    for (size_t i = r->nr; i-- > 0;) {
        if (r->v[i].now < r->v[i].last) {
            r->v[i].now++;
            return true;
        }
        r->v[i].now = r->v[i].first;
    }
    return false;
}

int
hostrange_expand(const char *text, size_t len, hostrange_take_fn *take,
                 void *ctx, struct error *err)
{
    char name[HOSTRANGE_MAX_NAME + HOSTRANGE_MAX * HOSTRANGE_MAX_DIGITS + 1];
    struct ranges r;
    int rc;

    if (len > HOSTRANGE_MAX_NAME || text[0] == '[' || !memchr(text, '[', len)) {
        return take(ctx, text, len, err);
    }
    rc = parse_ranges(text, len, &r, err);
    if (rc != DT_OK) {
        return rc;
    }
    do {
        rc = take(ctx, name, write_name(&r, name, sizeof(name)), err);
    } while (rc == DT_OK && count_on(&r));
    return rc;
}
