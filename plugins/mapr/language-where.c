/* SPDX-License-Identifier: Apache-2.0
 *
 * The query language: where and set clauses.
 */
#include "language-parse.h"
#include "numbers.h"

static const struct {
    const char *name;
    enum language_op op;
} operators[] = {
    {"==", OP_EQ},
    {"!=", OP_NE},
    {"<", OP_LT},
    {"<=", OP_LE},
    {"=<", OP_LE},
    {">", OP_GT},
    {">=", OP_GE},
    {"=>", OP_GE},
    {"eq", OP_STR_EQ},
    {"ne", OP_STR_NE},
    {"contains", OP_CONTAINS},
    {"ncontains", OP_NCONTAINS},
    {"lacks", OP_NCONTAINS},
    {"hasprefix", OP_HASPREFIX},
    {"nhasprefix", OP_NHASPREFIX},
    {"hassuffix", OP_HASSUFFIX},
    {"nhassuffix", OP_NHASSUFFIX},
};

static const char operator_list[] =
    "== != < <= > >= for numbers; eq, ne, contains, lacks, hasprefix, "
    "nhasprefix, hassuffix, nhassuffix for text. Conditions are joined by "
    "`and` only";

static bool
find_operator(struct str s, enum language_op *out)
{
    for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
        if (str_is_nocase(s, operators[i].name)) {
            *out = operators[i].op;
            return true;
        }
    }
    return false;
}

static int
take_operand(struct parser *p, const struct token *t, enum language_op op,
             const char *side, struct language_operand *out)
{
    struct number x;

    out->text = t->text;
    out->is_quoted = t->is_quoted;
    out->at = t->at;
    out->len = t->len;
    if (op >= OP_STR_EQ) {
        out->is_literal = t->is_quoted;
        return DT_OK;
    }
    if (t->is_quoted) {
        return language_parse_fail(
            p, t, "a field or a number without quotes",
            "Invalid query: Expected bareword at 'where' "
            "clause's %s: %.*s",
            side, FMT(t->text));
    }
    if (numbers_parse(t->text.p, t->text.n, &x) == NUMBERS_OK) {
        out->is_literal = true;
        out->number = numbers_value(&x);
    }
    return DT_OK;
}

static int
take_cond(struct parser *p, const struct token *v, struct language_cond *c)
{
    int status;

    if (!find_operator(v[1].text, &c->op)) {
        char lower[200];
        size_t n = v[1].text.n < sizeof(lower) ? v[1].text.n : sizeof(lower);

        for (size_t i = 0; i < n; i++) {
            char ch = v[1].text.p[i];

            lower[i] = ch >= 'A' && ch <= 'Z' ? (char)(ch | 0x20) : ch;
        }
        return language_parse_fail(
            p, &v[1], operator_list,
            "Invalid query: Unknown operation in 'where' clause: %.*s", (int)n,
            lower);
    }
    status = take_operand(p, &v[0], c->op, "lValue", &c->left);
    return status < 0 ? status
                      : take_operand(p, &v[2], c->op, "rValue", &c->right);
}

static int
fail_few(struct parser *p, struct words w, const char *clause,
         const char *expected)
{
    return language_parse_fail(
        p, w.nr ? &w.v[w.nr - 1] : NULL, expected,
        "Invalid query: Not enough arguments in '%s' clause", clause);
}

int
language_parse_where(struct parser *p, struct words w)
{
    struct language_query *q = p->q;

    q->nr_conds = 0;
    q->conds = arena_alloc(&q->arena, (w.nr / 3 + 1) * sizeof(*q->conds));
    if (!q->conds) {
        return language_parse_nomem(p);
    }
    while (w.nr) {
        int status;

        if (w.nr < 3) {
            return fail_few(p, w, "where", "operand operator operand");
        }
        if (q->nr_conds == LANGUAGE_MAX_ITEMS) {
            language_parse_fail(
                p, w.v, NULL,
                "Invalid query: more than %u conditions in 'where' "
                "clause",
                LANGUAGE_MAX_ITEMS);
            return DT_ERR_LIMIT;
        }
        status = take_cond(p, w.v, &q->conds[q->nr_conds]);
        if (status < 0) {
            return status;
        }
        q->nr_conds++;
        w.v += 3;
        w.nr -= 3;
        if (w.nr && str_is_nocase(w.v->text, "and")) {
            w.v++;
            w.nr--;
        }
    }
    return DT_OK;
}

static int
check_balance(struct parser *p, const struct token *t, struct str s)
{
    size_t depth = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '(') {
            depth++;
        } else if (s.p[i] == ')' && depth-- == 0) {
            return language_parse_fail(
                p, t, "balanced parentheses",
                "malformed function expression \"%.*s\": "
                "unexpected ')' in argument",
                FMT(t->text));
        }
    }
    if (depth) {
        return language_parse_fail(p, t, "balanced parentheses",
                                   "malformed function expression \"%.*s\": "
                                   "unclosed '(' in argument",
                                   FMT(t->text));
    }
    return DT_OK;
}

/* bucket(field,width): cuts the width off. */
static int
take_width(struct parser *p, const struct token *t, struct str *arg,
           int64_t *width)
{
    const char *comma = arg->n ? memrchr(arg->p, ',', arg->n) : NULL;

    if (comma) {
        struct str number = {comma + 1, (size_t)(arg->p + arg->n - comma - 1)};

        if (numbers_parse_int(number, width) == NUMBERS_OK && *width > 0) {
            arg->n = (size_t)(comma - arg->p);
            return DT_OK;
        }
    }
    return language_parse_fail(
        p, t, "bucket(field, width), as bucket($time, 60)",
        "Invalid query: Can't parse the width of a bucket: "
        "%.*s",
        FMT(t->text));
}

int
language_parse_functions(struct parser *p, const struct token *t,
                         struct language_set *s)
{
    static const char *const names[] = {"md5sum", "maskdigits", "bucket"};
    struct str rest = t->text;

    s->nr_fns = 0;
    while (rest.n && rest.p[rest.n - 1] == ')') {
        const char *open = memchr(rest.p, '(', rest.n);
        struct str name = {rest.p, open ? (size_t)(open - rest.p) : 0};
        size_t fn = 0;

        if (name.n == 0) {
            return language_parse_fail(
                p, t, "name(field)",
                "unable to parse function '%.*s' at '%.*s'", FMT(t->text),
                FMT(rest));
        }
        while (fn < 3 && !str_is(name, names[fn])) {
            fn++;
        }
        if (fn == 3) {
            return language_parse_fail(p, t, "md5sum, maskdigits or bucket",
                                       "unknown function '%.*s'", FMT(name));
        }
        if (s->nr_fns == LANGUAGE_MAX_NESTING) {
            language_parse_fail(
                p, t, NULL, "Invalid query: functions nested deeper than %u",
                LANGUAGE_MAX_NESTING);
            return DT_ERR_LIMIT;
        }
        rest.n -= name.n + 2;
        rest.p = open + 1;
        s->fns[s->nr_fns].fn = (enum language_setfn)fn;
        if (fn == SETFN_BUCKET) {
            int status = take_width(p, t, &rest, &s->fns[s->nr_fns].width);

            if (status < 0) {
                return status;
            }
        }
        s->nr_fns++;
    }
    s->arg = rest;
    return check_balance(p, t, rest);
}

static int
take_set(struct parser *p, const struct token *v, struct language_set *s)
{
    memset(s, 0, sizeof(*s));
    if (!str_is(v[1].text, "=")) {
        return language_parse_fail(
            p, &v[1], "$name = value",
            "Invalid query: Unknown operation in 'set' clause: %.*s",
            FMT(v[1].text));
    }
    if (v[0].is_quoted) {
        return language_parse_fail(p, &v[0], "$name = value",
                                   "Invalid query: Expected bareword at 'set' "
                                   "clause's lValue: %.*s",
                                   FMT(v[0].text));
    }
    if (v[0].text.n == 0 || v[0].text.p[0] != '$') {
        return language_parse_fail(
            p, &v[0], "a name that begins with $",
            "Invalid query: Expected field variable name "
            "(starting with $) at 'set' clause's lValue: %.*s",
            FMT(v[0].text));
    }
    s->target = v[0].text;
    s->arg = v[2].text;
    if (!v[2].is_backticked && v[2].text.n &&
        v[2].text.p[v[2].text.n - 1] == ')') {
        return language_parse_functions(p, &v[2], s);
    }
    return DT_OK;
}

struct language_set *
language_parse_more_sets(struct parser *p)
{
    struct language_query *q = p->q;
    size_t cap = p->cap_sets ? 2 * p->cap_sets : 8;
    struct language_set *v;

    if (q->nr_sets == 2 * LANGUAGE_MAX_ITEMS) {
        language_parse_fail(p, NULL, NULL,
                            "Invalid query: more than %u assignments",
                            2 * LANGUAGE_MAX_ITEMS);
        return NULL;
    }
    if (q->nr_sets == p->cap_sets) {
        v = arena_alloc(&q->arena, cap * sizeof(*v));
        if (!v) {
            return NULL;
        }
        if (q->nr_sets) {
            memcpy(v, q->sets, q->nr_sets * sizeof(*v));
        }
        q->sets = v;
        p->cap_sets = cap;
    }
    return &q->sets[q->nr_sets];
}

/* The user's assignments replace those of an earlier clause, and run before
 * the implied ones, whichever clause came first. */
int
language_parse_set(struct parser *p, struct words w)
{
    struct language_query *q = p->q;
    struct language_set *v;
    size_t nr = 0, nr_implied = 0;
    int status = language_parse_join(p, &w);

    if (status < 0) {
        return status;
    }
    p->cap_sets = w.nr / 3 + q->nr_sets + 1;
    v = arena_alloc(&q->arena, p->cap_sets * sizeof(*v));
    if (!v) {
        return language_parse_nomem(p);
    }
    for (; w.nr; w.v += 3, w.nr -= 3) {
        if (w.nr < 3) {
            return fail_few(p, w, "set", "$name = value");
        }
        if (nr == LANGUAGE_MAX_ITEMS) {
            language_parse_fail(
                p, w.v, NULL,
                "Invalid query: more than %u assignments in 'set' "
                "clause",
                LANGUAGE_MAX_ITEMS);
            return DT_ERR_LIMIT;
        }
        status = take_set(p, w.v, &v[nr++]);
        if (status < 0) {
            return status;
        }
    }
    for (size_t i = 0; i < q->nr_sets; i++) {
        if (q->sets[i].is_implied) {
            v[nr + nr_implied++] = q->sets[i];
        }
    }
    q->sets = v;
    q->nr_sets = nr + nr_implied;
    return DT_OK;
}
