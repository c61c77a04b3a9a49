/* SPDX-License-Identifier: Apache-2.0
 *
 * The matcher: single facts about patterns and lines, errors, and limits. That
 * every way of searching agrees is in test-match.c.
 */
#include "match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* ---- single facts ---- */

static const struct {
    const char *pattern, *line;
    int want;
} lines[] = {
    {"two$", "two\n", 1},
    {"two$", "two\r\n", 1},
    {"two\\z", "two\r\n", 1},
    {"two$", "two\r", 0}, /* without a newline the CR is content */
    {"two$", "two\r\r\n", 0},
    {"o\\s", "two\r\n", 0},
    {"\r", "two\r\n", 0},
    {"\r", "t\rwo\n", 1},
    {"o\r", "two\r\r\n", 1},
    {"[^x]$", "ab\n", 1},
    {"\\s", "ab\n", 0},
    {"^$", "\n", 1},
    {"^$", "\r\n", 1},
    {"b\\n", "ab\n", 0},
    {"(1|)b*1", "1\n", 1}, /* the JIT of PCRE2 10.42 misses these two */
    {"([0-9][0-9]|[0-9])\\d*?\\d{1,2}x", "12x\n", 1},
    {"a.b",
     "a\xff"
     "b\n",
     1},
    {"a..b",
     "a\xe2\x82"
     "b\n",
     1},
    {"\\xff", "\xff\n", 0},
    {"\\xff", "\xc3\xbf\n", 1},
    {"\xef\xbf\xbd", "\xff\n", 1},
    {"(?i)k", "\xe2\x84\xaa\n", 1},
    {"(?i)straSSe",
     "STRA\xc5\xbf\xc5\xbf"
     "E\n",
     1},
    {"\\p{Greek}", "\xcd\x82\n", 0}, /* has Greek as a script extension only */
};

static void
test_lines(void **state)
{
    static const unsigned hooks[] = {0, MATCH_BY_BLOCK, MATCH_NO_JIT};

    (void)state;
    for (size_t i = 0; i < 3 * sizeof(lines) / sizeof(*lines); i++) {
        const char *pattern = lines[i / 3].pattern;
        const struct match_term term = {pattern, strlen(pattern), false};
        const struct match_args args = {
            .terms = &term, .nr_terms = 1, .hooks = hooks[i % 3]};
        size_t len = strlen(lines[i / 3].line), start, end;
        char text[100 + BYTES_SLACK] = {0};
        struct match_state *s;
        struct match *m;

        assert_int_equal(match_compile(&args, &m, NULL), DT_OK);
        assert_int_equal(match_state_new(m, NULL, NULL, &s), DT_OK);
        memcpy(text, lines[i / 3].line, len);
        if (match_line(s, text, len) != lines[i / 3].want) {
            fail_msg("%s on %s", pattern, text);
        }
        match_begin(s, text, len);
        if (match_next(s, &start, &end) != lines[i / 3].want) {
            fail_msg("%s on block %s", pattern, text);
        }
        match_state_free(s);
        match_free(m);
    }
}

static void
test_errors(void **state)
{
    const struct match_term terms[] = {{"fine", 4, false}, {"x(y", 3, false}};
    const struct match_args args = {.terms = terms, .nr_terms = 2};
    const struct match_args many = {.terms = terms,
                                    .nr_terms = MATCH_MAX_TERMS + 1};
    struct match_error err;
    struct match *m = NULL;

    (void)state;
    assert_int_equal(match_compile(&args, &m, &err), DT_ERR_INVAL);
    assert_int_equal(err.term, 1);
    assert_int_equal(err.offset, 1);
    assert_non_null(strstr(err.text, "\"x(y\": offset 1: expected )"));
    assert_int_equal(match_compile(&many, &m, &err), DT_ERR_LIMIT);
    assert_non_null(strstr(err.text, "64"));
    assert_null(m);
}

static void
test_too_large(void **state)
{
    const struct match_term term = {"(.{500}a|b){2}(.{900}c|d)?(x{999}y*){1}"
                                    "(abcdefghijklmnop|b){1000}",
                                    65, false};
    const struct match_args args = {.terms = &term, .nr_terms = 1};
    struct match_error err;
    struct match *m = NULL;
    int status = match_compile(&args, &m, &err);

    (void)state;
    /* whether PCRE2 has room for it is its affair; no answer but these two */
    assert_true(status == DT_OK || status == DT_ERR_LIMIT);
    match_free(m);
}

/* ---- limits ---- */

static bool
count_calls(void *ctx)
{
    unsigned *left = ctx;

    return (*left)-- == 0;
}

/* Of this process: other load on the machine does not count. */
static double
seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* What such a time may be: more where $DTAIL_TEST_LIMIT is above its default
 * of 60, as under valgrind. */
static double
allowed(double usual)
{
    const char *limit = getenv("DTAIL_TEST_LIMIT");
    double factor = limit ? strtod(limit, NULL) / 60 : 1;

    return usual * (factor > 1 ? factor : 1);
}

/* One line of `nr` a's and a tail, in a block between two others. */
static int
search_long(const char *pattern, unsigned hooks, size_t nr, const char *tail,
            unsigned calls, size_t *error_at)
{
    const struct match_term term = {pattern, strlen(pattern), false};
    const struct match_args args = {
        .terms = &term, .nr_terms = 1, .hooks = hooks};
    size_t len = 2 + nr + strlen(tail) + 3, start, end;
    char *text = calloc(1, len + BYTES_SLACK);
    struct match_state *s;
    struct match *m;
    int rc;

    assert_non_null(text);
    memcpy(text, "-\n", 2);
    memset(text + 2, 'a', nr);
    memcpy(text + 2 + nr, tail, strlen(tail));
    memcpy(text + len - 3, "\n-\n", 3);
    assert_int_equal(match_compile(&args, &m, NULL), DT_OK);
    assert_int_equal(match_state_new(m, count_calls, &calls, &s), DT_OK);
    match_begin(s, text, len);
    rc = match_next(s, &start, &end);
    if (rc == 1) {
        assert_int_equal(start, 2);
        assert_int_equal(end, len - 2);
    }
    *error_at = match_error_offset(s);
    if (rc == DT_ERR_LIMIT) {
        assert_string_equal(match_error_text(s), "pattern too expensive");
    }
    match_state_free(s);
    match_free(m);
    free(text);
    return rc;
}

static void
test_expensive(void **state)
{
    double begin = seconds();
    size_t at;

    (void)state;
    assert_int_equal(search_long("(a+)+$", 0, 100000, "", UINT32_MAX, &at), 1);
    assert_int_equal(search_long("(a+)+$", 0, 100000, "b", UINT32_MAX, &at),
                     DT_ERR_LIMIT);
    assert_int_equal(at, 2);
    assert_int_equal(
        search_long("(a+)+$", MATCH_NO_JIT, 100000, "b", UINT32_MAX, &at),
        DT_ERR_LIMIT);
    assert_int_equal(at, 2);
    /* within one chunk: found by block, named by line */
    assert_int_equal(search_long("(a+)+$", 0, 3000, "b", UINT32_MAX, &at),
                     DT_ERR_LIMIT);
    assert_int_equal(at, 2);
    assert_true(seconds() - begin < allowed(2));
}

/* Patterns that no limit stops end when they are cancelled. */
static void
test_cancel(void **state)
{
    double begin = seconds();
    size_t at;

    (void)state;
    assert_int_equal(search_long("[a-z]+=", 0, 400000, "-", 3, &at), 0);
    assert_int_equal(search_long("[a-z]+[=-]x", 0, 400000, "-yx", 3, &at),
                     DT_ERR_CANCELLED);
    assert_int_equal(
        search_long("a*a*a*[=-]x", MATCH_NO_JIT, 900, "-yx", 3, &at),
        DT_ERR_CANCELLED);
    assert_true(seconds() - begin < allowed(10));
}

/* The JIT's stack does not do for this one: the interpreter does. */
static void
test_stack(void **state)
{
    size_t at;

    (void)state;
    assert_int_equal(
        search_long("^-?(?:a|b)*c", 0, 100000, "c", UINT32_MAX, &at), 1);
}

static void
test_text(void **state)
{
    const struct match_term term = {"^/var/log/.*$", 13, false};
    const struct match_args args = {.terms = &term, .nr_terms = 1};
    struct match_state *s;
    struct match *m;
    bool is_odd;

    (void)state;
    assert_int_equal(match_compile(&args, &m, NULL), DT_OK);
    assert_int_equal(match_state_new(m, NULL, NULL, &s), DT_OK);
    assert_int_equal(match_text(s, "/var/log/x", 10, &is_odd), 1);
    assert_false(is_odd);
    assert_int_equal(match_text(s, "/etc\n/var/log/x", 15, &is_odd), 0);
    assert_true(is_odd);
    assert_int_equal(match_text(s, "", 0, NULL), 0);
    match_state_free(s);
    match_free(m);
}

/* Lines alone: whether the required literal is looked for first changes with
 * what lines are like, the answers do not. */
static void
test_habits(void **state)
{
    const struct match_term term = {"user[0-9]+9", 11, false};
    const struct match_args args = {.terms = &term, .nr_terms = 1};
    struct match_state *s;
    struct match *m;

    (void)state;
    assert_int_equal(match_compile(&args, &m, NULL), DT_OK);
    assert_int_equal(match_state_new(m, NULL, NULL, &s), DT_OK);
    for (unsigned i = 0; i < 30000; i++) {
        /* common, then rare, then common again */
        bool has_user = i / 10000 != 1 || i % 100 == 0;
        char text[100 + BYTES_SLACK] = {0};
        int len = snprintf(text, sizeof(text), "%s%u -\n",
                           has_user ? "user" : "host", i);

        /* any 9 but that in front of the other digits */
        assert_int_equal(match_line(s, text, (size_t)len),
                         has_user && strchr(text + 5, '9') != NULL);
    }
    match_state_free(s);
    match_free(m);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),     cmocka_unit_test(test_errors),
        cmocka_unit_test(test_too_large), cmocka_unit_test(test_expensive),
        cmocka_unit_test(test_cancel),    cmocka_unit_test(test_stack),
        cmocka_unit_test(test_text),      cmocka_unit_test(test_habits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
