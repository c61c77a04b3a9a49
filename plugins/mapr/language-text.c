/* SPDX-License-Identifier: Apache-2.0
 *
 * The query language: what is said about a query, and what DTail 4 peers are
 * sent.
 */
#include "language.h"
#include "lexer.h"
#include "numbers.h"

#include <stdlib.h>

static const char *const common_variables[] = {
    "$line", "$empty", "$hostname", "$server", "$timezone", "$timeoffset"};

static const char *const default_variables[] = {
    "$severity",   "$loglevel", "$time",    "$date",   "$hour",
    "$minute",     "$second",   "$pid",     "$caller", "$cpus",
    "$goroutines", "$cgocalls", "$loadavg", "$uptime"};

struct str
language_format(const struct language_query *q, const char *configured)
{
    if (q->logformat.p) {
        return q->logformat;
    }
    if (q->table.n == 0) {
        return str_of("generic");
    }
    return str_of(configured && *configured ? configured : "default");
}

static bool
is_listed(struct str name, const char *const *list, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        if (str_is(name, list[i])) {
            return true;
        }
    }
    return false;
}

struct names {
    const struct language_query *q;
    struct str *v;
    size_t nr;
    bool is_default;
};

static void
consider(struct names *names, struct str name)
{
    const struct language_query *q = names->q;

    if (name.n < 2 || name.p[0] != '$' ||
        is_listed(name, common_variables, 6) ||
        (names->is_default && is_listed(name, default_variables, 14))) {
        return;
    }
    for (size_t i = 0; i < q->nr_sets; i++) {
        if (str_equal(q->sets[i].target, name)) {
            return;
        }
    }
    for (size_t i = 0; i < names->nr; i++) {
        if (str_equal(names->v[i], name)) {
            return;
        }
    }
    names->v[names->nr++] = name;
}

static int
by_bytes(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static void
warn_variables(const struct language_query *q, struct text *out)
{
    struct str format = language_format(q, NULL);
    struct names names = {.q = q};

    names.is_default = str_is(format, "default");
    if (!names.is_default && !str_is(format, "generic") &&
        !str_is(format, "generickv") && !str_is(format, "csv")) {
        return;
    }
    names.v =
        calloc(q->nr_items + q->nr_groups + 2 * q->nr_conds + q->nr_sets + 1,
               sizeof(*names.v));
    if (!names.v) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < q->nr_items; i++) {
        consider(&names, q->items[i].field);
    }
    for (size_t i = 0; i < q->nr_groups; i++) {
        consider(&names, q->groups[i]);
    }
    for (size_t i = 0; i < q->nr_conds; i++) {
        const struct language_cond *c = &q->conds[i];

        if (!c->left.is_quoted && !c->left.is_literal) {
            consider(&names, c->left.text);
        }
        if (!c->right.is_quoted && !c->right.is_literal) {
            consider(&names, c->right.text);
        }
    }
    for (size_t i = 0; i < q->nr_sets; i++) {
        consider(&names, q->sets[i].arg);
    }
    if (names.nr) {
        qsort(names.v, names.nr, sizeof(*names.v), by_bytes);
    }
    for (size_t i = 0; i < names.nr; i++) {
        struct str n = names.v[i];

        text_printf(out,
                    "warning: %.*s is not a known variable for log format "
                    "\"%.*s\"; did you mean bareword %.*s?\n",
                    (int)n.n, n.p, (int)format.n, format.p, (int)n.n - 1,
                    n.p + 1);
    }
    free(names.v);
}

static void
warn_operand(const struct language_cond *c, const struct language_operand *o,
             struct text *out)
{
    struct number x;

    if (c->op >= OP_STR_EQ && !o->is_quoted &&
        numbers_parse(o->text.p, o->text.n, &x) == NUMBERS_OK) {
        text_printf(out,
                    "warning: %.*s beside a text operator is the name of a "
                    "field; quote it to compare with the text\n",
                    (int)o->text.n, o->text.p);
    }
}

void
language_warnings(const struct language_query *q, struct text *out)
{
    warn_variables(q, out);
    for (size_t i = 0; i < q->nr_conds; i++) {
        warn_operand(&q->conds[i], &q->conds[i].left, out);
        warn_operand(&q->conds[i], &q->conds[i].right, out);
    }
    for (size_t i = 1; i < q->nr_items; i++) {
        if (str_is_nocase(q->items[i].name, "as")) {
            text_puts(out, "warning: `as` in small letters is a column, as in "
                           "DTail 4; write AS NAME or as \"NAME\" to rename\n");
            break;
        }
    }
    if (q->surplus != LANGUAGE_NONE) {
        struct str rest = {q->text.p + q->surplus, q->text.n - q->surplus};
        size_t n = 0;

        while (n < rest.n && str_space_at(rest.p + n, rest.n - n) == 0) {
            n++;
        }
        text_printf(out,
                    "warning: `%.*s` is ignored: `order by` always "
                    "descends, `rorder by` ascends\n",
                    (int)n, rest.p);
    }
}

/* The part of the query that is shown around an error. */
#define BEFORE 60u
#define AFTER 30u

void
language_explain(const char *query, size_t len,
                 const struct language_error *err, struct text *out)
{
    text_printf(out, "%s\n", err->text);
    if (err->at <= len && len <= LANGUAGE_MAX_TEXT) {
        size_t from = err->at > BEFORE ? err->at - BEFORE : 0;
        size_t to = err->at + err->len + AFTER;
        struct str lead;

        to = to < len ? to : len;
        lead.p = query + from;
        lead.n = err->at - from;
        text_puts(out, from ? "  …" : "  ");
        for (size_t i = from; i < to; i++) {
            unsigned char c = (unsigned char)query[i];

            text_char(out, c < ' ' || c == 0x7f ? ' ' : (char)c);
        }
        text_puts(out, to < len ? "…\n  " : "\n  ");
        text_repeat(out, ' ', str_code_points(lead) + (from > 0));
        text_puts(out, "^ here");
        text_printf(out, " (byte %zu)\n", err->at + 1);
    }
    if (err->expected[0]) {
        text_printf(out, "  expected: %s\n", err->expected);
    }
}

static bool
is_plain_table(struct str table)
{
    for (size_t i = 0; i < table.n; i++) {
        if (strchr("\\.+*?()|[]{}^$", table.p[i])) {
            return false;
        }
    }
    return true;
}

void
language_table_pattern(const struct language_query *q, struct text *out)
{
    if (q->table.n == 0 || str_is(q->table, ".")) {
        text_char(out, '.');
    } else if (str_is(q->table, "*")) {
        text_puts(out, "\\|MAPREDUCE:[^|]*\\|");
    } else if (is_plain_table(q->table)) {
        text_puts(out, "\\|MAPREDUCE:");
        text_str(out, q->table);
        text_puts(out, "\\|");
    } else {
        text_puts(out, "\\|MAPREDUCE:(?:");
        text_str(out, q->table);
        text_puts(out, ")\\|");
    }
}

const char *
language_extension(const struct language_query *q)
{
    static const char *const formats[] = {"json", "logfmt", "regex", "rfc4180"};

    for (size_t i = 0; i < q->nr_items; i++) {
        const struct language_item *item = &q->items[i];

        if (item->is_computed) {
            return "bucket()";
        }
        if (item->func >= FUNC_COUNT_DISTINCT) {
            return language_func_name(item->func);
        }
        if (item->title.p != item->name.p) {
            return "as";
        }
    }
    for (size_t i = 0; i < q->nr_sets; i++) {
        if (q->sets[i].is_implied) {
            return "bucket()";
        }
        for (size_t j = 0; j < q->sets[i].nr_fns; j++) {
            if (q->sets[i].fns[j].fn == SETFN_BUCKET) {
                return "bucket()";
            }
        }
    }
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (q->logformat.p && str_is(q->logformat, formats[i])) {
            return formats[i];
        }
    }
    return NULL;
}

void
language_legacy_text(const struct language_query *q, struct text *out)
{
    size_t from = 0;

    /* `""` is two quote signs side by side of which the first opens. */
    for (size_t i = 0; i < q->text.n; i++) {
        const char *close;

        if (q->text.p[i] != '"') {
            continue;
        }
        close = memchr(q->text.p + i + 1, '"', q->text.n - i - 1);
        if (!close) {
            break;
        }
        if (close == q->text.p + i + 1) {
            text_add(out, q->text.p + from, i - from);
            text_puts(out, " $empty ");
            from = i + 2;
        }
        i = (size_t)(close - q->text.p);
    }
    text_add(out, q->text.p + from, q->text.n - from);
}
