/* SPDX-License-Identifier: Apache-2.0
 *
 * Places of matches: found, joined over several patterns, limited.
 */
#include "spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Writes the line with its places in brackets. */
static void
expect(const struct match_args *args, const char *line, const char *want)
{
    static struct span found[SPANS_MAX];
    char got[512];
    size_t at = 0, from = 0, nr;
    struct spans *s;

    assert_int_equal(spans_new(args, &s), DT_OK);
    nr = spans_find(s, line, strlen(line), found);
    for (size_t i = 0; i < nr; i++) {
        at += (size_t)snprintf(got + at, sizeof(got) - at, "%.*s[%.*s]",
                               (int)(found[i].start - from), line + from,
                               (int)(found[i].end - found[i].start),
                               line + found[i].start);
        from = found[i].end;
    }
    snprintf(got + at, sizeof(got) - at, "%s", line + from);
    assert_string_equal(got, want);
    spans_free(s);
}

static void
expect_one(const char *pattern, const char *line, const char *want)
{
    const struct match_term term = {.pattern = pattern, .len = strlen(pattern)};
    const struct match_args args = {.terms = &term, .nr_terms = 1};

    expect(&args, line, want);
}

static void
test_one(void **state)
{
    (void)state;
    expect_one("ERROR", "an ERROR, one more ERROR\n",
               "an [ERROR], one more [ERROR]\n");
    expect_one("e[0-9]+", "e1 e e22", "[e1] e [e22]");
    expect_one("^a", "aaa", "[a]aa");
    expect_one("a$", "aaa\r\n", "aa[a]\r\n");
    expect_one("(?i)warn", "WARN warn Warn", "[WARN] [warn] [Warn]");
    expect_one("x*y", "xxy y x", "[xxy] [y] x");
    expect_one("\\bb*", "a bb", "a [bb]");
    expect_one("\xc3\xa4", "\xc3\xa4gg \xc3\xa4", "[\xc3\xa4]gg [\xc3\xa4]");
    expect_one("b.",
               "\xff"
               "b\xc3\xa4 b\xff bc",
               "\xff[b\xc3\xa4] b\xff [bc]");
    expect_one("nothing", "else", "else");
}

/* Patterns that say nothing of a place. */
static void
test_none(void **state)
{
    static const char *const all[] = {"", ".", ".*"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const struct match_term term = {.pattern = all[i],
                                        .len = strlen(all[i])};
        const struct match_args args = {.terms = &term, .nr_terms = 1};
        struct spans *s;

        assert_int_equal(spans_new(&args, &s), DT_OK);
        if (i != 1) { /* a line of no character is not matched by "." */
            assert_null(s);
        }
        spans_free(s);
    }
    assert_int_equal(spans_find(NULL, "x", 1, NULL), 0);
}

static void
test_several(void **state)
{
    const struct match_term terms[] = {
        {.pattern = "ab", .len = 2},
        {.pattern = "abc", .len = 3},
        {.pattern = "cd", .len = 2},
        {.pattern = "x", .len = 1, .is_negated = true},
    };
    struct match_args args = {.terms = terms, .nr_terms = 4};

    (void)state;
    expect(&args, "abcd cd x ab", "[abc]d [cd] x [ab]");
    args.ignore_case = true;
    expect(&args, "ABcD", "[ABc]D");
    args.invert = true;
    expect(&args, "abcd", "abcd");
}

static void
test_fixed(void **state)
{
    const struct match_term term = {.pattern = "a.c", .len = 3};
    struct match_args args = {.terms = &term, .nr_terms = 1, .is_fixed = true};

    (void)state;
    expect(&args, "abc a.c A.C", "abc [a.c] A.C");
    args.ignore_case = true;
    expect(&args, "abc a.c A.C", "abc [a.c] [A.C]");
}

static void
test_limits(void **state)
{
    static char line[SPANS_MAX_LINE + 2];
    static struct span found[SPANS_MAX];
    const struct match_term many = {.pattern = "a", .len = 1};
    const struct match_term slow = {.pattern = "(a|aa)+$", .len = 8};
    struct match_args args = {.terms = &many, .nr_terms = 1};
    struct spans *s;

    (void)state;
    memset(line, 'a', sizeof(line));
    assert_int_equal(spans_new(&args, &s), DT_OK);
    assert_int_equal(spans_find(s, line, SPANS_MAX_LINE, found), SPANS_MAX);
    assert_int_equal(spans_find(s, line, SPANS_MAX_LINE + 1, found), 0);
    spans_free(s);
    /* too expensive once: not shown any more */
    args.terms = &slow;
    line[40] = 'b';
    assert_int_equal(spans_new(&args, &s), DT_OK);
    assert_int_equal(spans_find(s, line, 3, found), 1);
    assert_int_equal(spans_find(s, line, 41, found), 0);
    assert_int_equal(spans_find(s, line, 3, found), 0);
    spans_free(s);
}

static void
test_wrong(void **state)
{
    const struct match_term term = {.pattern = "x(", .len = 2};
    const struct match_args args = {.terms = &term, .nr_terms = 1};
    struct spans *s;

    (void)state;
    assert_int_equal(spans_new(&args, &s), DT_ERR_INVAL);
    assert_null(s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),     cmocka_unit_test(test_none),
        cmocka_unit_test(test_several), cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_limits),  cmocka_unit_test(test_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
