/* SPDX-License-Identifier: Apache-2.0
 *
 * Patterns: what is written for PCRE2, what is refused and where, which
 * literal is required. That the meaning is RE2's is for test-pattern-re2.
 */
#include "pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* A pattern, its translation (NULL: none needed) and its required literal. */
static const struct {
    const char *source, *regex, *literal;
} translations[] = {
    {"a.c", "a.c", "a"},
    {"(?s)a.c", "a.c", "a"},
    {"[^x]", "[^\\x{a}x]", ""},
    {"[^x\\n]", "[^\\x{a}x]", ""},
    {"[\\x00-\\x20]", "[\\x{0}-\\x{9}\\x{b}-\\x{20}]", ""},
    {"\\d\\w\\s", "[0-9][0-9A-Z\\x{5f}a-z][\\x{9}\\x{c}-\\x{d}\\x{20}]", ""},
    {"[\\s\\S]+x", ".+x", "x"},
    {"[[:alpha:]]", "[A-Za-z]", ""},
    {"[a-c\\d]x", "[0-9a-c]x", "x"},
    {"^a\\z", "^a$", "a"},
    {"\\Aab$", "^ab$", "ab"},
    {"a\\nb", "a(?:(?!))b", "a"},
    {"\\pL", "[\\p{L}]", ""},
    {"\\PL", "(?:(?!\\x{a})[\\P{L}])", ""},
    {"\\x41\\101\\Q.*\\E", NULL, "AA.*"},
    {"(?P<n>a+)", "(?:a+)", "a"},
    {"(?i)ab1|c", "(?=)(?:(?i)ab\x31|c)", ""},
    {"^*x", "(?=)(?:^)*x", "x"},
    {"x{2}y{3,}z{0,4}", "x{2,2}y{3,}z{0,4}", "xy"},
    {"a{,2}b{x", NULL, "a{,2}b{x"},
    {"a{01}", NULL, "a{01}"},
    {"foo|bar", "(?=)(?:foo|bar)", ""},
    {"x(foo|bar)yz", "(?=)x(?:foo|bar)yz", "yz"},
    {"abc(def)*ghij", "(?=)abc(?:def)*ghij", "ghij"},
    {"abc(def)+gh", "(?=)abc(?:def)+gh", "abcdef"},
    {"abc(def)gh", NULL, "abcdefgh"},
    {"ab?cd", "ab?cd", "cd"},
    {"a+b", "a+b", "ab"},
    {"xa+?b", "xa+?b", "xa"},
    {"foo[.]bar", NULL, "foo.bar"},
    {"foo\\b-bar", "foo\\b\\x{2d}bar", "foo-bar"},
    {"x\xef\xbf\xbdy", "x\xef\xbf\xbdy", "x"},
    {"(?i)xyskz", "(?i)xyskz", "xy"},
    {"a(?i)*b", "a*(?i)b", "b"},
    {"a(?i)b(?-i)c\\.", NULL, "abc."},
    {"\xc3\xa9+", "\xc3\xa9+", "\xc3\xa9"},
    {"\\Qab\\E+", "ab+", "ab"},
    {"a*\\Q\\E*", "(?=)(?:a*)*", NULL}, /* always */
};

static void
test_translation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(translations) / sizeof(*translations); i++) {
        const char *source = translations[i].source;
        const char *regex = translations[i].regex;
        const char *literal = translations[i].literal;
        struct pattern_error err = {0};
        struct pattern p;
        int status = pattern_parse(source, strlen(source), 0, &p, &err);

        if (status != DT_OK) {
            fail_msg("%s: offset %zu: %s", source, err.offset, err.text);
        }
        if (!literal) {
            pattern_fini(&p);
            continue;
        }
        if (regex) {
            if (!p.regex || p.regex_len != strlen(regex) ||
                memcmp(p.regex, regex, p.regex_len) != 0) {
                fail_msg("%s became %.*s", source, (int)p.regex_len, p.regex);
            }
        } else {
            assert_true(p.is_literal);
            assert_null(p.regex);
        }
        if (p.literal_len != strlen(literal) ||
            (p.literal_len && memcmp(p.literal, literal, p.literal_len) != 0)) {
            fail_msg("%s requires %.*s", source, (int)p.literal_len,
                     (const char *)p.literal);
        }
        pattern_fini(&p);
    }
}

static const struct {
    const char *source;
    size_t offset;
} mistakes[] = {
    {"a)b", 1},       {"(a", 0},         {"x((a)", 1},       {"[a", 0},
    {"a[]", 1},       {"[b-a]", 1},      {"[[:foo:]]", 1},   {"*a", 0},
    {"a|*", 2},       {"(+)", 1},        {"a**", 2},         {"a++", 2},
    {"a{2}{3}", 4},   {"a{2,1}", 1},     {"a{1001}", 1},     {"(a{40}){40}", 7},
    {"\\", 0},        {"a\\", 1},        {"\\8", 0},         {"\\1", 0},
    {"\\q", 0},       {"\\C", 0},        {"\\K", 0},         {"\\R", 0},
    {"\\X", 0},       {"\\G", 0},        {"\\Z", 0},         {"\\h", 0},
    {"\\N", 0},       {"\\e", 0},        {"\\cA", 0},        {"\\o{1}", 0},
    {"\\g1", 0},      {"\\k<a>", 0},     {"\\xg1", 0},       {"\\x{110000}", 0},
    {"\\x{}", 0},     {"\\x{1", 0},      {"\\pX", 0},        {"\\p{Foo}", 0},
    {"\\p{L", 0},     {"\\p{Cn}", 0},    {"\\p{greek}", 0},  {"(?=a)", 2},
    {"(?!a)", 2},     {"(?<=a)", 2},     {"(?<!a)", 2},      {"(?>a)", 2},
    {"(?#a)", 2},     {"(?x)a", 2},      {"(?|a)", 2},       {"(*ACCEPT)", 1},
    {"(?P<>a)", 0},   {"(?P<a-b>c)", 5}, {"(?P=a)", 2},      {"(?i-)a", 4},
    {"(?", 0},        {"(?i", 0},        {"[\\b]", 1},       {"a\xff", 1},
    {"[\x80]", 1},    {"\\\xc3", 1},     {"(?R)", 2},        {"\\E", 0},
    {"a\xe2\x82", 1}, {"\\\xc3\xa9", 0}, {"x{1,2}{1,2}", 6},
};

static void
test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
        const char *source = mistakes[i].source;
        struct pattern_error err = {0};
        struct pattern p;

        if (pattern_parse(source, strlen(source), 0, &p, &err) !=
            DT_ERR_INVAL) {
            fail_msg("%s was accepted as %s", source, p.regex);
        }
        if (err.offset != mistakes[i].offset) {
            fail_msg("%s: offset %zu (%s), not %zu", source, err.offset,
                     err.text, mistakes[i].offset);
        }
        assert_true(strlen(err.text) > 10);
        assert_null(p.regex);
    }
}

static const struct {
    const char *source;
    bool is_always, is_never, can_jit;
} facts[] = {
    {"", true, false, true},        {".*", true, false, true},
    {".", false, false, true},      {"a*", true, false, true},
    {"(a|b*)", true, false, true},  {"^", false, false, true},
    {"(|a)b", false, false, false}, {"(a?|b)c", false, false, false},
    {"(a|b)c", false, false, true}, {"a{0}", true, false, true},
    {"(?i)", true, false, true},    {"\\Qab\\E*", false, false, true},
    {"(ab)*", true, false, true},   {"a|\\b", false, false, false},
    {"(?:)", true, false, true},    {"()x", false, false, true},
};

static void
test_facts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
        struct pattern p;

        assert_int_equal(pattern_parse(facts[i].source, strlen(facts[i].source),
                                       0, &p, NULL),
                         DT_OK);
        if (p.is_always != facts[i].is_always ||
            p.is_never != facts[i].is_never ||
            (p.regex && p.can_jit != facts[i].can_jit)) {
            fail_msg("%s: always %d, never %d, jit %d", facts[i].source,
                     p.is_always, p.is_never, p.can_jit);
        }
        pattern_fini(&p);
    }
}

static void
test_limits(void **state)
{
    const size_t huge = 1u << 20;
    struct pattern_error err;
    struct pattern p;
    char *text = malloc(huge);

    (void)state;
    assert_non_null(text);
    memset(text, 'a', huge);
    assert_int_equal(pattern_parse(text, huge, 0, &p, &err), DT_ERR_LIMIT);
    assert_non_null(strstr(err.text, "1048576"));
    assert_non_null(strstr(err.text, "65536"));
    assert_int_equal(pattern_parse(text, PATTERN_MAX_LEN, 0, &p, &err), DT_OK);
    assert_int_equal(p.literal_len, PATTERN_MAX_LEN);
    pattern_fini(&p);
    memset(text, '(', huge);
    assert_int_equal(pattern_parse(text, PATTERN_MAX_LEN, 0, &p, &err),
                     DT_ERR_LIMIT);
    assert_int_equal(err.offset, PATTERN_MAX_DEPTH);
    memset(text + PATTERN_MAX_DEPTH, ')', PATTERN_MAX_DEPTH);
    assert_int_equal(
        pattern_parse(text, (size_t)2 * PATTERN_MAX_DEPTH, 0, &p, &err), DT_OK);
    pattern_fini(&p);
    free(text);
}

static void
test_fixed(void **state)
{
    struct pattern p;

    (void)state;
    assert_int_equal(pattern_parse("a.*\xff\0(", 6, PATTERN_FIXED, &p, NULL),
                     DT_OK);
    assert_true(p.is_literal && !p.mask);
    assert_int_equal(p.literal_len, 6);
    assert_memory_equal(p.literal, "a.*\xff\0(", 6);
    pattern_fini(&p);
    assert_int_equal(pattern_parse("a\nb", 3, PATTERN_FIXED, &p, NULL), DT_OK);
    assert_true(p.is_never);
    pattern_fini(&p);
    assert_int_equal(
        pattern_parse("A.b", 3, PATTERN_FIXED | PATTERN_IGNORE_CASE, &p, NULL),
        DT_OK);
    assert_true(p.is_literal);
    assert_memory_equal(p.literal, "a.b", 3);
    assert_memory_equal(p.mask, "\x20\0\x20", 3);
    pattern_fini(&p);
    /* the Kelvin sign is a k too: not comparable byte by byte */
    assert_int_equal(
        pattern_parse("OK.", 3, PATTERN_FIXED | PATTERN_IGNORE_CASE, &p, NULL),
        DT_OK);
    assert_false(p.is_literal);
    assert_string_equal(p.regex, "(?i)OK\\x{2e}");
    pattern_fini(&p);
}

/* Whatever is accepted compiles, and no text makes it read out of bounds. */
static void
test_compiles(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(translations) / sizeof(*translations); i++) {
        const char *source = translations[i].source;
        struct pattern p;
        PCRE2_SIZE at;
        int code;

        assert_int_equal(pattern_parse(source, strlen(source), 0, &p, NULL),
                         DT_OK);
        if (p.regex) {
            pcre2_code *c =
                pcre2_compile((PCRE2_SPTR)p.regex, p.regex_len,
                              PCRE2_UTF | PCRE2_MULTILINE, &code, &at, NULL);

            if (!c) {
                fail_msg("%s: PCRE2 refuses %.*s at %zu", source,
                         (int)p.regex_len, p.regex, at);
            }
            pcre2_code_free(c);
        }
        pattern_fini(&p);
    }
}

static void
test_crlf(void **state)
{
    struct pattern p;

    (void)state;
    assert_int_equal(pattern_parse("a$|\\$b", 6, 0, &p, NULL), DT_OK);
    assert_string_equal(p.regex_crlf, "(?=)(?:a(?=\\x{d}?$)|\\x{24}b)");
    pattern_fini(&p);
    assert_int_equal(pattern_parse("a.b\\$", 5, 0, &p, NULL), DT_OK);
    assert_null(p.regex_crlf);
    pattern_fini(&p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_translation), cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_facts),       cmocka_unit_test(test_limits),
        cmocka_unit_test(test_fixed),       cmocka_unit_test(test_compiles),
        cmocka_unit_test(test_crlf),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
