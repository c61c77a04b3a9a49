/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a query.
 */
#include "lexer.h"

static bool
add_token(struct tokens *out, struct str query, size_t from, size_t to,
          bool quoted)
{
    struct token *t;
    size_t n = to - from;

    if (out->nr == LEXER_MAX_TOKENS) {
        return false;
    }
    t = &out->v[out->nr++];
    memset(t, 0, sizeof(*t));
    t->text.p = query.p + from;
    t->text.n = n;
    t->at = quoted ? from - 1 : from;
    t->len = quoted ? n + 1 + (to < query.n) : n;
    t->is_quoted = quoted;
    if (n >= 2 && query.p[from] == '`' && query.p[to - 1] == '`') {
        t->text.p++;
        t->text.n -= 2;
        t->is_backticked = true;
    }
    return true;
}

/* A comma is a blank. */
static size_t
blank_at(struct str query, size_t at, size_t end)
{
    return query.p[at] == ',' ? 1 : str_space_at(query.p + at, end - at);
}

/* The words of an unquoted piece. */
static bool
add_words(struct tokens *out, struct str query, size_t from, size_t to)
{
    size_t at = from, start, len;

    while (at < to) {
        while (at < to && (len = blank_at(query, at, to)) > 0) {
            at += len;
        }
        start = at;
        while (at < to && blank_at(query, at, to) == 0) {
            at++;
        }
        if (at > start && !add_token(out, query, start, at, false)) {
            return false;
        }
    }
    return true;
}

int
lexer_run(struct str query, struct arena *arena, struct tokens *out)
{
    size_t max =
        query.n + 2 < LEXER_MAX_TOKENS ? query.n + 2 : LEXER_MAX_TOKENS;
    size_t from = 0;
    bool quoted = false;

    out->nr = 0;
    out->v = arena_alloc(arena, max * sizeof(*out->v));
    if (!out->v) {
        return DT_ERR_NOMEM;
    }
    while (from <= query.n) {
        const char *quote =
            from < query.n ? memchr(query.p + from, '"', query.n - from) : NULL;
        size_t to = quote ? (size_t)(quote - query.p) : query.n;
        bool good = quoted ? add_token(out, query, from, to, true)
                           : add_words(out, query, from, to);

        if (!good) {
            return DT_ERR_LIMIT;
        }
        if (!quote) {
            break;
        }
        quoted = !quoted;
        from = to + 1;
    }
    return DT_OK;
}
