/* SPDX-License-Identifier: Apache-2.0
 *
 * File name patterns: the rules of Go's path/filepath, in a temporary folder.
 */
#include "cleanup.h"
#include "fileglob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
/* needs cmocka */
#include "test-tempdir.h"

static void
test_clean(void **state)
{
    static const char *const cases[][2] = {
        {"", "."},
        {".", "."},
        {"/", "/"},
        {"//", "/"},
        {"/..", "/"},
        {"/../a", "/a"},
        {"a//b", "a/b"},
        {"a/./b/", "a/b"},
        {"a/../b", "b"},
        {"a/..", "."},
        {"../a/..", ".."},
        {"../..", "../.."},
        {"../../a/../b", "../../b"},
        {"/a/b/../..", "/"},
        {"/a/b/../../..", "/"},
        {"a/b/../../..", ".."},
        {"./a", "a"},
        {"/a/.b/..c", "/a/.b/..c"},
        {"a/b/..", "a"},
        {"x/*/../y", "x/y"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CLEANUP_FREE char *clean = fileglob_clean(cases[i][0]);

        assert_string_equal(clean, cases[i][1]);
    }
}

static const struct {
    const char *pattern, *name;
    int status;
} match_cases[] = {
    {"abc", "abc", DT_OK},
    {"*", "abc", DT_OK},
    {"*", ".abc", DT_OK},
    {"*", "", DT_OK},
    {"*c", "abc", DT_OK},
    {"a*", "a", DT_OK},
    {"a*", "abc", DT_OK},
    {"a*b*c*d*e*", "axbxcxdxe", DT_OK},
    {"a*b?c*x", "abxbbxdbxebxczzx", DT_OK},
    {"a*b?c*x", "abxbbxdbxebxczzy", DT_STOP},
    {"ab[c]", "abc", DT_OK},
    {"ab[b-d]", "abc", DT_OK},
    {"ab[e-g]", "abc", DT_STOP},
    {"ab[^c]", "abc", DT_STOP},
    {"ab[^b-d]", "abc", DT_STOP},
    {"ab[^e-g]", "abc", DT_OK},
    {"[!a]", "b", DT_STOP}, /* `!` is a character like others */
    {"[!a]", "!", DT_OK},
    {"a\\*b", "a*b", DT_OK},
    {"a\\*b", "ab", DT_STOP},
    {"a?b",
     "a\xe2\x98\xba"
     "b",
     DT_OK},
    {"a[^a]b",
     "a\xe2\x98\xba"
     "b",
     DT_OK},
    {"a???b",
     "a\xe2\x98\xba"
     "b",
     DT_STOP},
    {"a?b",
     "a\xff"
     "b",
     DT_OK},
    {"[a-\xce\xb6]*", "\xce\xb1", DT_OK},
    {"*[a-\xce\xb6]", "A", DT_STOP},
    {"[\\]a]", "]", DT_OK},
    {"[\\-]", "-", DT_OK},
    {"[x\\-]", "x", DT_OK},
    {"[x\\-]", "z", DT_STOP},
    {"[\\-x]", "a", DT_STOP},
    {"[]a]", "]", DT_ERR_INVAL},
    {"[-]", "-", DT_ERR_INVAL},
    {"[x-]", "x", DT_ERR_INVAL},
    {"[-x]", "x", DT_ERR_INVAL},
    {"[a-b-c]", "a", DT_ERR_INVAL},
    {"\\", "a", DT_ERR_INVAL},
    {"[", "a", DT_ERR_INVAL},
    {"[^", "a", DT_ERR_INVAL},
    {"[^bc", "a", DT_ERR_INVAL},
    {"a[", "a", DT_ERR_INVAL},
    {"a[", "ab", DT_ERR_INVAL},
    {"[\xff]", "a", DT_ERR_INVAL},
    {"*x", "xxx", DT_OK},
    {"**", "abc", DT_OK},
    {"[[:alpha:]]", "a]", DT_OK}, /* a class of [ : a l p h, and a ] */
    {"[[:alpha:]]", "z", DT_STOP},
    {"a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", DT_STOP},
};

static void
test_match(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(match_cases) / sizeof(*match_cases); i++) {
        int got = fileglob_match(match_cases[i].pattern, match_cases[i].name);

        if (got != match_cases[i].status) {
            print_error("%s with %s\n", match_cases[i].pattern,
                        match_cases[i].name);
        }
        assert_int_equal(got, match_cases[i].status);
    }
}

/* ---- expanding ---- */

static int
make_folder(void **state)
{
    static const char *const files[] = {
        "b.log",         "a.log",         ".hidden.log", "h1/logs/x.log",
        "h2/logs/x.log", "h2/logs/y.txt", "[odd]",       "B.log"};

    if (tempdir_enter(state) || mkdir("h1", 0700) || mkdir("h2", 0700) ||
        mkdir("h1/logs", 0700) || mkdir("h2/logs", 0700) ||
        symlink("nowhere", "dangling.log")) {
        return -1;
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        tempdir_write(files[i], "", 0);
    }
    return 0;
}

/* Expands and joins what comes out with blanks. */
static void
expect(const char *pattern, size_t max, size_t matched, const char *want)
{
    struct error err = ERROR_INIT;
    struct strv got = {0};
    struct buf text = {0};
    size_t nr = 0;

    assert_int_equal(fileglob_expand(pattern, max, &got, &nr, &err), DT_OK);
    for (size_t i = 0; i < got.nr; i++) {
        assert_int_equal(buf_printf(&text, "%s%s", i ? " " : "", got.v[i]),
                         DT_OK);
    }
    assert_int_equal(buf_append(&text, "", 1), DT_OK);
    assert_string_equal(text.data, want);
    assert_int_equal(nr, matched);
    buf_fini(&text);
    strv_fini(&got);
}

static void
test_expand(void **state)
{
    const char *folder = *state;
    char pattern[256], want[256];

    expect("*.log", 100, 5, ".hidden.log B.log a.log b.log dangling.log");
    expect("*.log", 2, 5, ".hidden.log B.log");
    expect("*.log", 0, 5, "");
    expect("[ab].log", 100, 2, "a.log b.log");
    expect("h*/logs/*", 100, 3, "h1/logs/x.log h2/logs/x.log h2/logs/y.txt");
    expect("h?/logs/y.txt", 100, 1, "h2/logs/y.txt");
    expect("a.log", 100, 1, "a.log");
    expect("dangling.log", 100, 1, "dangling.log");
    expect("missing.log", 100, 0, "");
    expect("*/missing", 100, 0, "");
    expect("a.log/*", 100, 0, "");
    expect("missing/*", 100, 0, "");
    expect("\\[odd\\]", 100, 1, "[odd]");
    expect("[[]odd]", 100, 1, "[odd]");
    snprintf(pattern, sizeof(pattern), "%s/h2/logs/y*", folder);
    snprintf(want, sizeof(want), "%s/h2/logs/y.txt", folder);
    expect(pattern, 100, 1, want);
    expect("/tm[p]", 100, 1, "/tmp");
}

static void
test_malformed(void **state)
{
    static const char *const patterns[] = {"[", "x/[a/y", "*/\\", "h*/[]"};
    char long_pattern[FILEGLOB_MAX_PATTERN + 3];
    struct error err = ERROR_INIT;
    struct strv got = {0};
    size_t nr;

    (void)state;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
        assert_int_equal(fileglob_expand(patterns[i], 10, &got, &nr, &err),
                         DT_ERR_INVAL);
        assert_non_null(strstr(err.text, patterns[i]));
    }
    memset(long_pattern, '*', sizeof(long_pattern) - 1);
    long_pattern[sizeof(long_pattern) - 1] = '\0';
    assert_int_equal(fileglob_expand(long_pattern, 10, &got, &nr, &err),
                     DT_ERR_INVAL);
    assert_int_equal(got.nr, 0);
    strv_fini(&got);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_match),
        cmocka_unit_test_setup_teardown(test_expand, make_folder,
                                        tempdir_leave),
        cmocka_unit_test_setup_teardown(test_malformed, make_folder,
                                        tempdir_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
