/* SPDX-License-Identifier: Apache-2.0
 *
 * The flags that select lines.
 */
#include "selecting.h"

#include <spans.h>

static const char *
main_pattern(const struct selecting *s)
{
    return *s->grep ? s->grep : s->regex;
}

/* Checks the patterns; *spans shows what they match, unless that is every
 * line (as "." says: spec clients 8.3). */
static int
compile_patterns(const struct selecting *s, struct spans **spans,
                 struct error *err)
{
    struct match_term terms[MATCH_MAX_TERMS];
    struct match_error why = {0};
    struct match *match = NULL;
    size_t nr = 1 + s->and_patterns.nr + s->not_patterns.nr;
    size_t first = strcmp(main_pattern(s), ".") == 0;
    int rc;

    if (nr > MATCH_MAX_TERMS) {
        return error_set(err, DT_ERR_LIMIT,
                         "%zu patterns; at most %u are allowed", nr,
                         MATCH_MAX_TERMS);
    }
    terms[0] = (struct match_term){.pattern = main_pattern(s),
                                   .len = strlen(main_pattern(s))};
    for (size_t i = 1; i < nr; i++) {
        bool is_negated = i > s->and_patterns.nr;
        const char *text = is_negated
                               ? s->not_patterns.v[i - 1 - s->and_patterns.nr]
                               : s->and_patterns.v[i - 1];

        terms[i] = (struct match_term){
            .pattern = text, .len = strlen(text), .is_negated = is_negated};
    }
    struct match_args args = {.terms = terms,
                              .nr_terms = nr,
                              .invert = s->invert,
                              .ignore_case = s->ignore_case,
                              .is_fixed = s->fixed};
    rc = match_compile(&args, &match, &why);
    match_free(match);
    if (rc != DT_OK) {
        return error_set(err, rc, "%s", why.text);
    }
    args.terms += first;
    args.nr_terms -= first;
    rc = spans_new(&args, spans);
    return rc == DT_ERR_NOMEM ? error_set(err, rc, "out of memory") : DT_OK;
}

static int
add_text(struct query_spec *q, const char *name, const char *text)
{
    return query_spec_add_arg(q, name, text, strlen(text));
}

static int
add_flag(struct query_spec *q, const char *name, bool is_set)
{
    return is_set ? add_text(q, name, "yes") : DT_OK;
}

static int
add_number(struct query_spec *q, const char *name, int64_t value)
{
    char text[24];

    if (value <= 0) { /* not set: spec reading 8 */
        return DT_OK;
    }
    snprintf(text, sizeof(text), "%lld", (long long)value);
    return add_text(q, name, text);
}

static int
add_list(struct query_spec *q, const char *name, const struct strv *list)
{
    int rc = DT_OK;

    for (size_t i = 0; i < list->nr && rc == DT_OK; i++) {
        rc = add_text(q, name, list->v[i]);
    }
    return rc;
}

int
selecting_add(const struct selecting *s, struct client *c, struct query_spec *q,
              struct error *err)
{
    int rc = compile_patterns(s, &c->spans, err);

    if (rc != DT_OK) {
        return rc;
    }
    rc = add_text(q, "regex", main_pattern(s));
    rc = rc ? rc : add_list(q, "and", &s->and_patterns);
    rc = rc ? rc : add_list(q, "not", &s->not_patterns);
    rc = rc ? rc : add_flag(q, "invert", s->invert);
    rc = rc ? rc : add_flag(q, "ignore-case", s->ignore_case);
    rc = rc ? rc : add_flag(q, "fixed", s->fixed);
    rc = rc ? rc : add_number(q, "before", s->before);
    rc = rc ? rc : add_number(q, "after", s->after);
    rc = rc ? rc : add_number(q, "max", s->max);
    return rc ? error_set(err, rc, "cannot ask for these patterns: %s",
                          dt_strerror(rc))
              : DT_OK;
}
