/* SPDX-License-Identifier: Apache-2.0
 *
 * Where in a line patterns match.
 *
 * The interpreter with a low limit: a line on a screen is no place to spend
 * time. Its limit counts a start position, of which a line has at most
 * SPANS_MAX_LINE; a pattern that reaches it is not shown any more.
 */
#include "spans.h"

#include "pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#define STEP_LIMIT 2000u        /* of PCRE2, a start position */
#define HEAP_LIMIT (4u * 1024u) /* KiB */

/* A pattern, and its next match in the present line. */
struct finder {
    struct pattern pattern; /* for its literal */
    pcre2_code *code;       /* NULL: a literal */
    bool is_off;            /* too expensive */
    bool is_at_end;         /* no further match in this line */
    struct span next;
};

struct spans {
    struct finder finders[MATCH_MAX_TERMS];
    size_t nr;
    pcre2_match_data *data;
    pcre2_match_context *context;
};

/* ---- making ---- */

/* True when the finder has something to find. */
static int
compile(const struct match_args *args, const struct match_term *term,
        struct finder *f, bool *is_of_use)
{
    unsigned flags = (args->ignore_case ? PATTERN_IGNORE_CASE : 0) |
                     (args->is_fixed ? PATTERN_FIXED : 0);
    PCRE2_SIZE at;
    int error, rc;

    *is_of_use = false;
    rc = pattern_parse(term->pattern, term->len, flags, &f->pattern, NULL);
    if (rc != DT_OK) {
        return rc;
    }
    if (f->pattern.regex) {
        f->code = pcre2_compile(
            (PCRE2_SPTR)f->pattern.regex, f->pattern.regex_len,
            PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_MULTILINE |
                PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C,
            &error, &at, NULL);
        if (!f->code) {
            rc = error == PCRE2_ERROR_NOMEMORY ? DT_ERR_NOMEM : DT_ERR_LIMIT;
        }
    }
    *is_of_use = rc == DT_OK && !f->pattern.is_always && !f->pattern.is_never &&
                 (f->code || f->pattern.literal_len > 0);
    if (!*is_of_use) {
        pcre2_code_free(f->code);
        pattern_fini(&f->pattern);
        *f = (struct finder){0};
    }
    return rc;
}

int
spans_new(const struct match_args *args, struct spans **out)
{
    struct spans *s = calloc(1, sizeof(*s));
    int rc = DT_OK;

    *out = NULL;
    if (!s) {
        return DT_ERR_NOMEM;
    }
    for (size_t i = 0; rc == DT_OK && i < args->nr_terms; i++) {
        bool is_of_use = false;

        if (!args->invert && !args->terms[i].is_negated &&
            s->nr < MATCH_MAX_TERMS) {
            rc = compile(args, &args->terms[i], &s->finders[s->nr], &is_of_use);
            s->nr += is_of_use;
        }
    }
    if (rc == DT_OK && s->nr) {
        s->data = pcre2_match_data_create(1, NULL);
        s->context = pcre2_match_context_create(NULL);
        if (s->data && s->context) {
            pcre2_set_match_limit(s->context, STEP_LIMIT);
            pcre2_set_heap_limit(s->context, HEAP_LIMIT);
            *out = s;
            return DT_OK;
        }
        rc = DT_ERR_NOMEM;
    }
    spans_free(s);
    return rc;
}

void
spans_free(struct spans *s)
{
    if (!s) {
        return;
    }
    for (size_t i = 0; i < s->nr; i++) {
        pcre2_code_free(s->finders[i].code);
        pattern_fini(&s->finders[i].pattern);
    }
    pcre2_match_data_free(s->data);
    pcre2_match_context_free(s->context);
    free(s);
}

/* ---- finding ---- */

static bool
has_literal_at(const struct pattern *p, const char *at)
{
    for (size_t i = 0; i < p->literal_len; i++) {
        unsigned char byte = (unsigned char)at[i];

        if (p->mask && p->mask[i]) {
            byte = byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
        }
        if (byte != p->literal[i]) {
            return false;
        }
    }
    return true;
}

static void
find_literal(struct finder *f, const char *line, size_t len, size_t from)
{
    size_t need = f->pattern.literal_len;

    for (; from + need <= len; from++) {
        if (has_literal_at(&f->pattern, line + from)) {
            f->next = (struct span){from, from + need};
            return;
        }
    }
    f->is_at_end = true;
}

/* Matches of nothing are passed over. */
static void
find_regex(struct spans *s, struct finder *f, const char *line, size_t len,
           size_t from)
{
    while (from <= len) {
        const PCRE2_SIZE *found = pcre2_get_ovector_pointer(s->data);
        int rc = pcre2_match(f->code, (PCRE2_SPTR)line, len, from, PCRE2_NO_JIT,
                             s->data, s->context);

        if (rc < 0) {
            f->is_off = rc != PCRE2_ERROR_NOMATCH;
            break;
        }
        if (found[1] > found[0]) {
            f->next = (struct span){found[0], found[1]};
            return;
        }
        from = found[1] + 1;
        while (from < len && ((unsigned char)line[from] & 0xc0) == 0x80) {
            from++; /* to the begin of a character */
        }
    }
    f->is_at_end = true;
}

static void
find_next(struct spans *s, struct finder *f, const char *line, size_t len,
          size_t from)
{
    if (f->code) {
        find_regex(s, f, line, len, from);
    } else {
        find_literal(f, line, len, from);
    }
}

/* The first match at or behind `from` of any finder, of these the longest;
 * false: there is none. */
static bool
find_first(struct spans *s, const char *line, size_t len, size_t from,
           struct span *out)
{
    bool has_any = false;

    for (size_t i = 0; i < s->nr; i++) {
        struct finder *f = &s->finders[i];

        if (!f->is_off && !f->is_at_end && f->next.start < from) {
            find_next(s, f, line, len, from);
        }
        if (f->is_off || f->is_at_end) {
            continue;
        }
        if (!has_any || f->next.start < out->start ||
            (f->next.start == out->start && f->next.end > out->end)) {
            *out = f->next;
            has_any = true;
        }
    }
    return has_any;
}

size_t
spans_find(struct spans *s, const char *line, size_t len, struct span *out)
{
    size_t nr = 0, from = 0;

    if (len && line[len - 1] == '\n') {
        len--;
    }
    if (len && line[len - 1] == '\r') {
        len--;
    }
    if (!s || len == 0 || len > SPANS_MAX_LINE) {
        return 0;
    }
    for (size_t i = 0; i < s->nr; i++) {
        struct finder *f = &s->finders[i];

        f->is_at_end = f->is_off;
        if (!f->is_off) {
            find_next(s, f, line, len, 0);
        }
    }
    while (nr < SPANS_MAX && find_first(s, line, len, from, &out[nr])) {
        from = out[nr].end;
        nr++;
    }
    return nr;
}
