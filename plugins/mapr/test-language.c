/* SPDX-License-Identifier: Apache-2.0
 *
 * The query language: words, clauses, errors with their places, warnings, and
 * what DTail 4 peers are sent.
 */
#include "language.h"
#include "lexer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct language_query *
parse(const char *text)
{
    struct language_query *q;
    struct language_error err;

    if (language_parse(text, strlen(text), &q, &err) < 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return q;
}

static void
refused(const char *text, const char *message, size_t at)
{
    struct language_query *q;
    struct language_error err;

    if (language_parse(text, strlen(text), &q, &err) == DT_OK) {
        fail_msg("%s was accepted", text);
    }
    assert_null(q);
    if (!strstr(err.text, message) || err.at != at) {
        fail_msg("%s: \"%s\" at %zu, expected \"%s\" at %zu", text, err.text,
                 err.at, message, at);
    }
}

static void
is(struct str s, const char *text)
{
    if (!str_is(s, text)) {
        fail_msg("\"%.*s\", expected \"%s\"", (int)s.n, s.p, text);
    }
}

static void
test_words(void **state)
{
    static const char text[] =
        "ab\"c d\"ef,,`x` ` `` `a b` \"\"\xe2\x80\x83z \"open, end";
    static const char *const want[] = {"ab", "c d", "ef", "x", "`",        "",
                                       "`a", "b`",  "",   "z", "open, end"};
    struct arena arena = {0};
    struct tokens t;

    (void)state;
    assert_int_equal(lexer_run(str_of(text), &arena, &t), DT_OK);
    assert_int_equal(t.nr, sizeof(want) / sizeof(*want));
    for (size_t i = 0; i < t.nr; i++) {
        is(t.v[i].text, want[i]);
    }
    assert_true(t.v[3].is_backticked && !t.v[4].is_backticked &&
                t.v[5].is_backticked);
    assert_true(t.v[8].is_quoted && t.v[10].is_quoted && !t.v[9].is_quoted);
    arena_fini(&arena);
}

static void
test_clauses(void **state)
{
    struct language_query *q =
        parse("SELECT s1, `from`, count(s3)_n from stats WHERE a == 5 and "
              "b eq \"x\", \"\" ne c GROUP g1, g2 ORDER count(s3)_n desc "
              "limit +7 interval -3 outfile append \"my file\" set $f = "
              "maskdigits(bar), $b = 12, $y = $f; logformat generickv");

    (void)state;
    assert_int_equal(q->nr_items, 3);
    is(q->items[1].name, "from");
    is(q->items[2].field, "s3");
    is(q->items[2].name, "count(s3)_n");
    assert_int_equal(q->items[2].func, FUNC_COUNT);
    is(q->table, "STATS");
    assert_int_equal(q->nr_conds, 3);
    assert_true(q->conds[2].left.is_literal && q->conds[2].left.text.n == 0);
    assert_int_equal(q->nr_groups, 2);
    assert_int_equal(q->order, 2);
    assert_false(q->is_ascending);
    assert_int_equal(q->limit, 7);
    assert_int_equal(q->interval, 1);
    assert_true(q->is_append);
    is(q->outfile, "my file");
    assert_int_equal(q->nr_sets, 3);
    is(q->sets[2].arg, "$f;");
    is(language_format(q, NULL), "generickv");
    language_free(q);

    q = parse("select x order by x rorder by x");
    assert_true(q->is_ascending);
    is(q->groups[0], "x");
    is(language_format(q, "other"), "generic");
    language_free(q);
    q = parse("select x rorder by x order by x from t");
    assert_false(q->is_ascending); /* the last of the two decides (Q6) */
    is(language_format(q, "other"), "other");
    language_free(q);
    q = parse("select a,b,, set $x = \"\" from \"\\d|x\"");
    is(q->table, "\\d|X"); /* the class keeps its meaning (Q4) */
    is(q->sets[0].arg, "");
    language_free(q);
    q = parse("select count(x) as n");
    assert_int_equal(q->nr_items, 3);
    language_free(q);
}

static void
test_extensions(void **state)
{
    struct language_query *q =
        parse("select bucket( $time , 60 ), quantile(ms, 0.99) as \"p 99\", "
              "count_distinct(user) AS users group by bucket($time,60) order "
              "by quantile(ms,0.99) logformat regex \"(?P<ms>\\d+)\"");

    (void)state;
    assert_int_equal(q->nr_items, 3);
    is(q->items[0].name, "bucket($time,60)");
    assert_true(q->items[0].is_computed);
    is(q->items[1].field, "ms");
    is(q->items[1].title, "p 99");
    assert_true(q->items[1].quantile == 0.99);
    is(q->items[2].title, "users");
    assert_int_equal(q->order, 1);
    assert_int_equal(q->nr_sets, 1);
    assert_true(q->sets[0].is_implied);
    is(q->sets[0].arg, "$time");
    is(q->pattern, "(?P<ms>\\d+)");
    is(q->groups[0], "bucket($time,60)");
    assert_string_equal(language_extension(q), "bucket()");
    language_free(q);
    q = parse("select sum(x) order by total select sum(x) AS total");
    assert_int_equal(q->order, 0);
    assert_string_equal(language_extension(q), "as");
    language_free(q);
    q = parse("select quantile(x,0.5) logformat json");
    assert_string_equal(language_extension(q), "quantile");
    language_free(q);
    q = parse("select x logformat csv");
    assert_null(language_extension(q));
    language_free(q);
}

static void
test_refused(void **state)
{
    (void)state;
    refused("", "Expected at least one field", 0);
    refused("   ", "Expected at least one field", 3);
    refused("count(x) from stats", "Unexpected keyword count(x)", 0);
    refused("select", "Expected at least one field", 6);
    refused("select foo from", "expected table name after 'from'", 15);
    refused("select foo from where a == b", "expected table name", 16);
    refused("select a from b c", "expected only one table name", 16);
    refused("select a, sum(len(x))", "Can't parse 'select' aggregation", 10);
    refused("select sum(x", "Can't parse 'select' field name", 7);
    refused("select quantile(x, 2)", "Can't parse 'select' quantile", 7);
    refused("select quantile(x)", "Can't parse 'select' quantile", 7);
    refused("select bucket(x, y)", "Can't parse the width of a bucket", 7);
    refused("select Sum(x)", "Unknown aggregation in 'select' clause: Sum", 7);
    refused("select foo where baz", "Not enough arguments in 'where'", 17);
    refused("select foo where baz <", "Not enough arguments", 21);
    refused("select x where a == 1 or b == 2",
            "Unknown operation in 'where' clause: b", 25);
    refused("select x where a > \"1\"", "clause's rValue: 1", 19);
    refused("select x where \"a\" > 1", "clause's lValue: a", 15);
    refused("select x group", "Unexpected end of query", 14);
    refused("select x group by", "Unexpected end of query", 17);
    refused("select x order by", "Unexpected end of query", 17);
    refused("select x order by limit 3", "Unexpected end of query", 25);
    refused("select x limit", "Unexpected end of query", 14);
    refused("select x limit set $x = 1", "Unexpected end of query", 25);
    refused("select x limit 2.5", "parsing \"2.5\": invalid syntax", 15);
    refused("select x interval 99999999999999999999", "value out of range", 18);
    refused("select x outfile a b", "Invalid query: Invalid query: ", 19);
    refused("select x order by y", "Can not '(r)order by' 'y'", 18);
    refused("select x set y = 1", "(starting with $)", 13);
    refused("select x set \"$y\" = 1", "Expected bareword at 'set'", 13);
    refused("select x set $y == 1", "Unknown operation in 'set'", 16);
    refused("select x set $y", "Not enough arguments in 'set'", 13);
    refused("select x set $y = upper(x)", "unknown function 'upper'", 18);
    refused("select x set $y = ()", "unable to parse function", 18);
    refused("select x set $y = md5sum$line)", "unable to parse", 18);
    refused("select x set $y = md5sum(a)b)", "unexpected ')'", 18);
    refused("select x logformat", "Unexpected end of query", 18);
    refused("select x logformat regex", "expected a pattern", 24);
}

static void
test_limits(void **state)
{
    struct text t = {0};
    struct language_query *q;
    struct language_error err;

    (void)state;
    text_puts(&t, "select ");
    for (unsigned i = 0; i <= LANGUAGE_MAX_ITEMS; i++) {
        text_printf(&t, "f%u,", i);
    }
    assert_int_equal(language_parse(t.data, t.len, &q, &err), DT_ERR_LIMIT);
    text_repeat(&t, ' ', LANGUAGE_MAX_TEXT);
    assert_int_equal(language_parse(t.data, t.len, &q, &err), DT_ERR_LIMIT);
    t.len = 0;
    text_puts(&t, "select x set $y = ");
    for (unsigned i = 0; i <= LANGUAGE_MAX_NESTING; i++) {
        text_puts(&t, "md5sum(");
    }
    text_repeat(&t, ')', LANGUAGE_MAX_NESTING + 1);
    assert_int_equal(language_parse(t.data, t.len, &q, &err), DT_ERR_LIMIT);
    t.len = 0;
    text_puts(&t, "select ");
    text_repeat(&t, 'x', LANGUAGE_MAX_TEXT - 7);
    for (size_t i = 8; i < LANGUAGE_MAX_TEXT; i += 2) {
        t.data[i] = ' ';
    }
    assert_int_equal(language_parse(t.data, t.len, &q, &err), DT_ERR_LIMIT);
    text_fini(&t);
}

static void
test_explain(void **state)
{
    static const char query[] = "select Sum(x) from stats";
    struct language_query *q;
    struct language_error err;
    struct text out = {0};

    (void)state;
    assert_true(language_parse(query, strlen(query), &q, &err) < 0);
    language_explain(query, strlen(query), &err, &out);
    text_char(&out, '\0');
    assert_non_null(strstr(out.data, "  select Sum(x) from stats\n"
                                     "         ^ here (byte 8)\n"
                                     "  expected: count, sum,"));
    text_fini(&out);
}

static void
warns(const char *query, const char *want)
{
    struct language_query *q = parse(query);
    struct text out = {0};

    language_warnings(q, &out);
    text_char(&out, '\0');
    assert_string_equal(out.data, want);
    text_fini(&out);
    language_free(q);
}

static void
test_warnings(void **state)
{
    (void)state;
    warns("from STATS select $service group by $service",
          "warning: $service is not a known variable for log format "
          "\"default\"; did you mean bareword service?\n");
    warns("select $time,$line",
          "warning: $time is not a known variable for log format \"generic\"; "
          "did you mean bareword time?\n");
    warns("select $empty,$x,y set $x = $y from t where $b eq \"$a\"",
          "warning: $b is not a known variable for log format \"default\"; "
          "did you mean bareword b?\n"
          "warning: $y is not a known variable for log format \"default\"; "
          "did you mean bareword y?\n");
    warns("select $x logformat json", "");
    warns("select a where a eq 5",
          "warning: 5 beside a text operator is the name of a field; quote it "
          "to compare with the text\n");
}

static void
pattern(const char *query, const char *want)
{
    struct language_query *q = parse(query);
    struct text out = {0};

    language_table_pattern(q, &out);
    text_char(&out, '\0');
    assert_string_equal(out.data, want);
    text_fini(&out);
    language_free(q);
}

static void
test_legacy(void **state)
{
    struct language_query *q =
        parse("select a where a eq \"\" and b eq \"x\" set $y = \"\"");
    struct text out = {0};

    (void)state;
    language_legacy_text(q, &out);
    text_char(&out, '\0');
    assert_string_equal(out.data, "select a where a eq  $empty  and b eq "
                                  "\"x\" set $y =  $empty ");
    text_fini(&out);
    language_free(q);
    pattern("select a", ".");
    pattern("select a from .", ".");
    pattern("select a from *", "\\|MAPREDUCE:[^|]*\\|");
    pattern("select a from warnings", "\\|MAPREDUCE:WARNINGS\\|");
    pattern("select a from \"o.d|x\"", "\\|MAPREDUCE:(?:O.D|X)\\|");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),      cmocka_unit_test(test_clauses),
        cmocka_unit_test(test_extensions), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_explain),
        cmocka_unit_test(test_warnings),   cmocka_unit_test(test_legacy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
