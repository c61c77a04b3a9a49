/* SPDX-License-Identifier: Apache-2.0
 *
 * The query language: select and group clauses.
 */
#include "language-parse.h"
#include "numbers.h"

#include <math.h>

static const char *const func_names[FUNC_NR] = {
    "last",    "count", "sum",        "min",        "max",
    "avg",     "len",   "percentage", "percentile", "count_distinct",
    "quantile"};

static const char functions[] =
    "count, sum, min, max, avg, last, len, percentage, percentile, "
    "count_distinct, quantile(field, 0.99) or bucket(field, seconds)";

const char *
language_func_name(enum language_func f)
{
    return func_names[f];
}

static bool
begins_with(struct str s, const char *prefix)
{
    size_t n = strlen(prefix);

    return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

static bool
has(struct str s, char c)
{
    return s.n && memchr(s.p, c, s.n);
}

/* A call with several arguments that a comma has cut. */
static bool
is_cut_call(const struct token *t)
{
    return !t->is_quoted && !t->is_backticked && !has(t->text, ')') &&
           (begins_with(t->text, "quantile(") ||
            begins_with(t->text, "bucket("));
}

/* Joins w->v[from … to]. The arguments are put together with single commas
 * and without blanks, so that each spelling gives the same column name. */
static int
join_call(struct parser *p, struct token *v, size_t nr)
{
    size_t size = 1;
    char *text;
    struct str *s = &v[0].text;

    for (size_t i = 0; i < nr; i++) {
        size += v[i].text.n + 1;
    }
    text = arena_alloc(&p->q->arena, size);
    if (!text) {
        return language_parse_nomem(p);
    }
    memcpy(text, s->p, s->n);
    s->p = text;
    for (size_t i = 1; i < nr; i++) {
        if (text[s->n - 1] != '(' && v[i].text.n && v[i].text.p[0] != ')') {
            text[s->n++] = ',';
        }
        memcpy(text + s->n, v[i].text.p, v[i].text.n);
        s->n += v[i].text.n;
    }
    v[0].len = v[nr - 1].at + v[nr - 1].len - v[0].at;
    return DT_OK;
}

int
language_parse_join(struct parser *p, struct words *w)
{
    size_t to = 0;

    for (size_t from = 0; from < w->nr; from++, to++) {
        size_t end = from + 1;

        if (is_cut_call(&w->v[from])) {
            while (end < w->nr && end < from + 4 &&
                   !has(w->v[end - 1].text, ')')) {
                end++;
            }
            if (has(w->v[end - 1].text, ')')) {
                int status = join_call(p, w->v + from, end - from);

                if (status < 0) {
                    return status;
                }
            } else {
                end = from + 1;
            }
        }
        w->v[to] = w->v[from];
        from = end - 1;
    }
    w->nr = to;
    return DT_OK;
}

int
language_parse_computed(struct parser *p, const struct token *t,
                        bool *is_computed, struct str *name)
{
    struct language_query *q = p->q;
    struct language_set *s;
    int status;

    *is_computed = false;
    *name = t->text;
    if (t->is_backticked || !begins_with(t->text, "bucket(") ||
        t->text.p[t->text.n - 1] != ')') {
        return DT_OK;
    }
    *is_computed = true;
    for (size_t i = 0; i < q->nr_sets; i++) {
        if (q->sets[i].is_implied && str_equal(q->sets[i].target, t->text)) {
            return DT_OK;
        }
    }
    s = language_parse_more_sets(p);
    if (!s) {
        return p->err->text[0] ? DT_ERR_LIMIT : language_parse_nomem(p);
    }
    status = language_parse_functions(p, t, s);
    if (status < 0) {
        return status;
    }
    s->target = t->text;
    s->is_implied = true;
    q->nr_sets++;
    return DT_OK;
}

/* quantile(field,0.99): cuts the second argument off the field. */
static int
take_quantile(struct parser *p, const struct token *t,
              struct language_item *item)
{
    const char *comma =
        item->field.n ? memrchr(item->field.p, ',', item->field.n) : NULL;
    struct number x;
    struct str arg;

    if (comma) {
        arg.p = comma + 1;
        arg.n = (size_t)(item->field.p + item->field.n - arg.p);
        item->field.n = (size_t)(comma - item->field.p);
        if (numbers_parse(arg.p, arg.n, &x) == NUMBERS_OK) {
            item->quantile = numbers_value(&x);
            if (item->quantile >= 0 && item->quantile <= 1) {
                return DT_OK;
            }
        }
    }
    return language_parse_fail(
        p, t, "quantile(field, 0.99), from 0 to 1",
        "Invalid query: Can't parse 'select' quantile: %.*s", FMT(t->text));
}

/* agg(field)rest, spec 4.1. */
static int
take_call(struct parser *p, const struct token *t, struct language_item *item)
{
    struct str s = t->text, agg, rest;
    const char *open = memchr(s.p, '(', s.n), *close = NULL;

    if (open) {
        agg.p = s.p;
        agg.n = (size_t)(open - s.p);
        rest.p = open + 1;
        rest.n = (size_t)(s.p + s.n - rest.p);
    }
    if (!open || has(rest, '(')) {
        return language_parse_fail(
            p, t, functions,
            "Invalid query: Can't parse 'select' aggregation: %.*s", FMT(s));
    }
    close = rest.n ? memchr(rest.p, ')', rest.n) : NULL;
    if (!close || memrchr(rest.p, ')', rest.n) != close) {
        return language_parse_fail(
            p, t, "one pair of parentheses around a field",
            "Invalid query: Can't parse 'select' field name "
            "from aggregation: %.*s",
            FMT(s));
    }
    item->field.p = rest.p;
    item->field.n = (size_t)(close - rest.p);
    for (size_t f = 0; f < FUNC_NR; f++) {
        if (str_is(agg, func_names[f])) {
            item->func = (enum language_func)f;
            return f == FUNC_QUANTILE ? take_quantile(p, t, item) : DT_OK;
        }
    }
    return language_parse_fail(
        p, t, functions,
        "Invalid query: Unknown aggregation in 'select' clause: %.*s",
        FMT(agg));
}

/* `as "NAME"` or `AS NAME` behind item i. DTail 4 makes three columns of
 * `x as n`, and queries rely on old text meaning the same: hence capitals or
 * quotes. */
static bool
is_alias(const struct words *w, size_t i)
{
    const struct token *as = &w->v[i + 1];

    if (i + 2 >= w->nr || as->is_quoted || as->is_backticked) {
        return false;
    }
    return str_is(as->text, "AS") ||
           (str_is_nocase(as->text, "as") && w->v[i + 2].is_quoted);
}

static int
take_item(struct parser *p, const struct token *t, struct language_item *item)
{
    int status;

    memset(item, 0, sizeof(*item));
    item->at = t->at;
    item->len = t->len;
    item->func = FUNC_LAST;
    item->field = item->name = item->title = t->text;
    status = language_parse_computed(p, t, &item->is_computed, &item->field);
    if (status < 0 || item->is_computed) {
        return status;
    }
    if (t->is_backticked || (!has(t->text, '(') && !has(t->text, ')'))) {
        return DT_OK;
    }
    return take_call(p, t, item);
}

static int
too_many(struct parser *p, const struct token *t, const char *clause)
{
    language_parse_fail(p, t, NULL,
                        "Invalid query: more than %u items in '%s' clause",
                        LANGUAGE_MAX_ITEMS, clause);
    return DT_ERR_LIMIT;
}

int
language_parse_select(struct parser *p, struct words w)
{
    struct language_query *q = p->q;
    int status = language_parse_join(p, &w);

    if (status < 0) {
        return status;
    }
    q->nr_items = 0;
    q->items = arena_alloc(&q->arena, (w.nr + 1) * sizeof(*q->items));
    if (!q->items) {
        return language_parse_nomem(p);
    }
    for (size_t i = 0; i < w.nr; i++) {
        struct language_item *item = &q->items[q->nr_items];

        if (q->nr_items == LANGUAGE_MAX_ITEMS) {
            return too_many(p, &w.v[i], "select");
        }
        status = take_item(p, &w.v[i], item);
        if (status < 0) {
            return status;
        }
        q->nr_items++;
        if (is_alias(&w, i)) {
            item->title = w.v[i + 2].text;
            i += 2;
        }
    }
    return DT_OK;
}

int
language_parse_group(struct parser *p, struct words w)
{
    struct language_query *q = p->q;
    int status = language_parse_join(p, &w);

    if (status < 0) {
        return status;
    }
    if (w.nr > LANGUAGE_MAX_ITEMS) {
        return too_many(p, &w.v[LANGUAGE_MAX_ITEMS], "group");
    }
    q->groups = arena_alloc(&q->arena, (w.nr + 1) * sizeof(*q->groups));
    if (!q->groups) {
        return language_parse_nomem(p);
    }
    q->nr_groups = w.nr;
    q->has_group = w.nr > 0;
    for (size_t i = 0; i < w.nr; i++) {
        bool computed;

        status = language_parse_computed(p, &w.v[i], &computed, &q->groups[i]);
        if (status < 0) {
            return status;
        }
    }
    return DT_OK;
}
