/* SPDX-License-Identifier: Apache-2.0
 *
 * The query language: clauses and the checks on the whole query.
 */
#include "language-parse.h"
#include "numbers.h"

#include <stdlib.h>
#include <strings.h>

static const char *const keywords[] = {
    "select", "from",     "where", "set",     "group",    "rorder",
    "order",  "interval", "limit", "outfile", "logformat"};

static const char clauses[] =
    "a clause: select, from, where, set, group by, order by, rorder by, "
    "interval, limit, outfile, logformat";

int
language_parse_fail(struct parser *p, const struct token *at,
                    const char *expected, const char *format, ...)
{
    struct language_error *err = p->err;
    va_list ap;

    va_start(ap, format);
    vsnprintf(err->text, sizeof(err->text), format, ap);
    va_end(ap);
    snprintf(err->expected, sizeof(err->expected), "%s",
             expected ? expected : "");
    err->at = at ? at->at : p->q->text.n;
    err->len = at ? at->len : 0;
    return DT_ERR_INVAL;
}

int
language_parse_nomem(struct parser *p)
{
    language_parse_fail(p, NULL, NULL, "out of memory");
    p->err->at = LANGUAGE_NONE;
    return DT_ERR_NOMEM;
}

static const char *
keyword_of(const struct token *t)
{
    for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++) {
        if (str_is_nocase(t->text, keywords[i])) {
            return keywords[i];
        }
    }
    return NULL;
}

static bool
is_keyword(const struct token *t)
{
    return !t->is_quoted && !t->is_backticked && keyword_of(t);
}

static bool
at_end(const struct parser *p)
{
    return p->next == p->tokens.nr;
}

/* The tokens up to the next keyword; empty ones only where they mean
 * something (Q1). */
static struct words
collect(struct parser *p, bool keep_empty)
{
    struct words w = {p->tokens.v + p->next, 0};

    while (!at_end(p) && !is_keyword(&p->tokens.v[p->next])) {
        struct token t = p->tokens.v[p->next++];

        if (t.text.n || t.is_backticked || (keep_empty && t.is_quoted)) {
            w.v[w.nr++] = t;
        }
    }
    return w;
}

static int
fail_end(struct parser *p, const char *expected)
{
    return language_parse_fail(p, NULL, expected,
                               "Invalid query: Unexpected end of query");
}

static void
skip_by(struct parser *p)
{
    if (!at_end(p) && str_is_nocase(p->tokens.v[p->next].text, "by")) {
        p->next++;
    }
}

/* Up-cased, but what follows a backslash keeps its meaning (Q4). */
static int
take_table(struct parser *p, struct str s)
{
    char *table = arena_copy(&p->q->arena, s.p, s.n, 1);

    if (!table) {
        return language_parse_nomem(p);
    }
    for (size_t i = 0; i < s.n; i++) {
        if (table[i] == '\\') {
            i++;
        } else if (table[i] >= 'a' && table[i] <= 'z') {
            table[i] = (char)(table[i] - 'a' + 'A');
        }
    }
    p->q->table.p = table;
    p->q->table.n = s.n;
    return DT_OK;
}

static int
clause_from(struct parser *p)
{
    struct words w = collect(p, false);

    if (w.nr == 0) {
        return language_parse_fail(
            p, at_end(p) ? NULL : &p->tokens.v[p->next],
            "the name of a table, as STATS; `.` for all lines",
            "Invalid query: expected table name after 'from'");
    }
    if (w.nr > 1) {
        return language_parse_fail(
            p, &w.v[1], clauses,
            "Invalid query: expected only one table name after 'from'");
    }
    return take_table(p, w.v[0].text);
}

static void
note_surplus(struct parser *p, struct words w)
{
    if (w.nr > 1 && p->q->surplus == LANGUAGE_NONE) {
        p->q->surplus = w.v[1].at;
    }
}

static int
clause_order(struct parser *p, bool ascending, const struct token **column)
{
    static const char expected[] = "a column, spelled as in the select clause";
    struct words w;
    int status;

    if (at_end(p)) {
        return fail_end(p, expected);
    }
    skip_by(p);
    if (at_end(p)) {
        return fail_end(p, expected);
    }
    w = collect(p, false);
    if (w.nr == 0) {
        return fail_end(p, expected);
    }
    status = language_parse_join(p, &w);
    if (status < 0) {
        return status;
    }
    note_surplus(p, w);
    *column = w.v;
    p->q->is_ascending = ascending;
    return DT_OK;
}

static int
clause_integer(struct parser *p, const struct token *t, int64_t *out)
{
    enum numbers_result r = numbers_parse_int(t->text, out);

    if (r == NUMBERS_OK) {
        return DT_OK;
    }
    return language_parse_fail(
        p, t, "a whole number",
        "Invalid query: strconv.Atoi: parsing \"%.*s\": %s", FMT(t->text),
        r == NUMBERS_BAD ? "invalid syntax" : "value out of range");
}

static int
clause_interval(struct parser *p)
{
    struct words w = collect(p, false);
    int status;

    note_surplus(p, w);
    p->q->interval = LANGUAGE_DEFAULT_INTERVAL;
    if (w.nr == 0) {
        return DT_OK;
    }
    status = clause_integer(p, w.v, &p->q->interval);
    if (p->q->interval < 1) {
        p->q->interval = 1;
    }
    return status;
}

static int
clause_limit(struct parser *p)
{
    struct words w = collect(p, false);

    if (w.nr == 0) {
        return fail_end(p, "how many rows");
    }
    note_surplus(p, w);
    return clause_integer(p, w.v, &p->q->limit);
}

static int
clause_outfile(struct parser *p)
{
    static const char expected[] =
        "one file behind outfile, or `append` and a file; a name with blanks "
        "needs double quotes";
    struct words w = collect(p, false);
    bool append = w.nr == 2 && str_is(w.v[0].text, "append");

    if (w.nr == 0 || w.nr > 2 || (w.nr == 2 && !append)) {
        const struct token *at = w.nr > 1    ? &w.v[1]
                                 : at_end(p) ? NULL
                                             : &p->tokens.v[p->next];

        /* The text is DTail 4's; what it lacks is in `expected` (Q9). */
        return language_parse_fail(p, at, expected,
                                   "Invalid query: Invalid query: ");
    }
    p->q->outfile = w.v[w.nr - 1].text;
    p->q->is_append = append;
    return DT_OK;
}

static int
clause_logformat(struct parser *p)
{
    struct words w = collect(p, false);

    if (w.nr == 0) {
        return fail_end(p, "default, generic, generickv, csv, rfc4180, json, "
                           "logfmt, regex, custom1 or custom2");
    }
    p->q->logformat = w.v[0].text;
    p->q->pattern.p = NULL;
    p->q->pattern.n = 0;
    if (str_is(w.v[0].text, "regex")) {
        if (w.nr < 2) {
            return language_parse_fail(
                p, at_end(p) ? NULL : &p->tokens.v[p->next],
                "a quoted pattern with named groups, as "
                "\"(?P<user>\\w+) took (?P<ms>\\d+)\"",
                "Invalid query: expected a pattern after "
                "'logformat regex'");
        }
        p->q->pattern = w.v[1].text;
        w.v++;
        w.nr--;
    }
    note_surplus(p, w);
    return DT_OK;
}

static int
clause_group(struct parser *p)
{
    static const char expected[] = "a list of fields";

    if (at_end(p)) {
        return fail_end(p, expected);
    }
    skip_by(p);
    if (at_end(p)) {
        return fail_end(p, expected);
    }
    return language_parse_group(p, collect(p, false));
}

static int
parse_clause(struct parser *p, const char *keyword, const struct token **order)
{
    switch (keyword[0]) {
    case 's':
        return keyword[2] == 'l' ? language_parse_select(p, collect(p, false))
                                 : language_parse_set(p, collect(p, true));
    case 'f':
        return clause_from(p);
    case 'w':
        return language_parse_where(p, collect(p, true));
    case 'g':
        return clause_group(p);
    case 'r':
        return clause_order(p, true, order);
    case 'i':
        return clause_interval(p);
    case 'l':
        return keyword[1] == 'i' ? clause_limit(p) : clause_logformat(p);
    default:
        return keyword[1] == 'r' ? clause_order(p, false, order)
                                 : clause_outfile(p);
    }
}

/* A column by its storage name or by what `as` calls it. */
static size_t
find_item(const struct language_query *q, struct str name)
{
    for (size_t i = 0; i < q->nr_items; i++) {
        if (str_equal(q->items[i].name, name)) {
            return i;
        }
    }
    for (size_t i = 0; i < q->nr_items; i++) {
        if (str_equal(q->items[i].title, name)) {
            return i;
        }
    }
    return LANGUAGE_NONE;
}

static int
check_whole(struct parser *p, const struct token *order)
{
    struct language_query *q = p->q;

    if (q->nr_items == 0) {
        return language_parse_fail(
            p, NULL, "select and a list of columns",
            "Invalid query: Expected at least one field in "
            "'select' clause but got none");
    }
    if (order) {
        q->order = find_item(q, order->text);
        if (q->order == LANGUAGE_NONE) {
            return language_parse_fail(
                p, order, "a column, spelled as in the select clause",
                "Invalid query: Can not '(r)order by' "
                "'%.*s',must be present in 'select' clause",
                FMT(order->text));
        }
    }
    if (q->nr_groups == 0) {
        q->groups = arena_alloc(&q->arena, sizeof(*q->groups));
        if (!q->groups) {
            return language_parse_nomem(p);
        }
        q->groups[0] = q->items[0].field;
        q->nr_groups = 1;
    }
    return DT_OK;
}

static int
parse_all(struct parser *p)
{
    const struct token *order = NULL;
    int status = lexer_run(p->q->text, &p->q->arena, &p->tokens);

    if (status == DT_ERR_NOMEM) {
        return language_parse_nomem(p);
    }
    if (status < 0) {
        language_parse_fail(p, NULL, NULL, "Invalid query: more than %u words",
                            LEXER_MAX_TOKENS);
        return DT_ERR_LIMIT;
    }
    while (!at_end(p)) {
        struct token *t = &p->tokens.v[p->next++];
        const char *keyword = t->is_backticked ? NULL : keyword_of(t);

        if (!keyword) {
            status = language_parse_fail(
                p, t, clauses, "Invalid query: Unexpected keyword %.*s",
                FMT(t->text));
        } else {
            status = parse_clause(p, keyword, &order);
        }
        if (status < 0) {
            char text[sizeof(p->err->text)];

            memcpy(text, p->err->text, sizeof(text));
            snprintf(p->err->text, sizeof(p->err->text),
                     "failed to parse query tokens: %.*s",
                     (int)sizeof(text) - 40, text);
            return status;
        }
    }
    return check_whole(p, order);
}

int
language_parse(const char *text, size_t len, struct language_query **out,
               struct language_error *err)
{
    struct language_query *q = calloc(1, sizeof(*q));
    struct parser p = {.q = q, .err = err};
    char *copy = NULL;
    int status;

    *out = NULL;
    memset(err, 0, sizeof(*err));
    err->at = LANGUAGE_NONE;
    if (q) {
        copy = arena_copy(&q->arena, text,
                          len < LANGUAGE_MAX_TEXT ? len : LANGUAGE_MAX_TEXT, 1);
    }
    if (!copy) {
        free(q);
        snprintf(err->text, sizeof(err->text), "out of memory");
        return DT_ERR_NOMEM;
    }
    q->text.p = copy;
    q->text.n = len;
    q->order = LANGUAGE_NONE;
    q->surplus = LANGUAGE_NONE;
    q->interval = LANGUAGE_DEFAULT_INTERVAL;
    q->limit = -1;
    if (len > LANGUAGE_MAX_TEXT) {
        snprintf(err->text, sizeof(err->text),
                 "Invalid query: longer than %u bytes", LANGUAGE_MAX_TEXT);
        status = DT_ERR_LIMIT;
    } else {
        status = parse_all(&p);
    }
    if (status < 0) {
        language_free(q);
        return status;
    }
    *out = q;
    return DT_OK;
}

void
language_free(struct language_query *q)
{
    if (q) {
        arena_fini(&q->arena);
        free(q);
    }
}
