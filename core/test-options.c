/* SPDX-License-Identifier: Apache-2.0
 *
 * Flags as Go's flag package has them: rules, texts and usage.
 */
#include "options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct opts {
    bool plain;
    bool color;
    bool x;
    int64_t cpc;
    int64_t max;
    const char *files;
    const char *regex;
    struct strv args;
};

static const struct option_spec table[] = {
    {"plain", OPTION_BOOL, offsetof(struct opts, plain), 0, NULL, "bare"},
    {"cpc", OPTION_INT, offsetof(struct opts, cpc), 10, NULL, "a CPU"},
    {"max", OPTION_INT, offsetof(struct opts, max), 0, NULL, "at most"},
    {"regex", OPTION_STRING, offsetof(struct opts, regex), 0, ".", "regular"},
    {"files", OPTION_STRING, offsetof(struct opts, files), 0, NULL, "which"},
    {"arg", OPTION_LIST, offsetof(struct opts, args), 0, NULL, "name=value"},
    {"x", OPTION_BOOL, offsetof(struct opts, x), 0, NULL, "one letter"},
    {"color", OPTION_BOOL, offsetof(struct opts, color), 1, NULL, "paint"},
    {NULL, OPTION_BOOL, 0, 0, NULL, NULL},
};
enum { PLAIN, CPC, MAX, REGEX, FILES, ARG, X, COLOR, NR };

/* A run: words separated by one blank; an empty text is no word. */
struct run {
    char line[256];
    char *argv[32];
    int argc;
    struct opts o;
    bool given[NR];
    char **words;
    size_t nr_words;
    struct error err;
    enum option_result result;
};

static void
run(struct run *r, const char *line)
{
    memset(r, 0, sizeof(*r));
    snprintf(r->line, sizeof(r->line), "prog %s", line);
    for (char *s = r->line; s; r->argc++) {
        r->argv[r->argc] = strsep(&s, " ");
    }
    if (!*line) {
        r->argc = 1;
    }
    r->result = options_parse(table, r->argc, r->argv, &r->o, r->given,
                              &r->words, &r->nr_words, &r->err);
}

static void
end(struct run *r)
{
    options_fini(table, &r->o);
    free(r->words);
}

static void
test_defaults(void **state)
{
    struct run r;

    (void)state;
    run(&r, "");
    assert_int_equal(r.result, OPTIONS_OK);
    assert_false(r.o.plain);
    assert_true(r.o.color);
    assert_int_equal(r.o.cpc, 10);
    assert_string_equal(r.o.regex, ".");
    assert_string_equal(r.o.files, "");
    assert_int_equal(r.o.args.nr, 0);
    assert_int_equal(r.nr_words, 0);
    assert_non_null(r.words);
    for (size_t i = 0; i < NR; i++) {
        assert_false(r.given[i]);
    }
    end(&r);
}

static void
test_spellings(void **state)
{
    struct run r;

    (void)state;
    run(&r, "-plain --color=false -cpc=3 --max 7 -regex -a --files=b=c "
            "--arg k=v -arg x a -plain");
    assert_int_equal(r.result, OPTIONS_OK);
    assert_true(r.o.plain);
    assert_false(r.o.color);
    assert_int_equal(r.o.cpc, 3);
    assert_int_equal(r.o.max, 7);
    assert_string_equal(r.o.regex, "-a");
    assert_string_equal(r.o.files, "b=c");
    assert_int_equal(r.o.args.nr, 2);
    assert_string_equal(r.o.args.v[0], "k=v");
    assert_string_equal(r.o.args.v[1], "x");
    /* behind the first word that is no flag all are words */
    assert_int_equal(r.nr_words, 2);
    assert_string_equal(r.words[0], "a");
    assert_string_equal(r.words[1], "-plain");
    assert_null(r.words[2]);
    assert_true(r.given[PLAIN] && r.given[CPC] && r.given[COLOR]);
    assert_false(r.given[X]);
    end(&r);
}

static void
test_where_flags_end(void **state)
{
    struct run r;

    (void)state;
    run(&r, "-plain -- -x");
    assert_int_equal(r.result, OPTIONS_OK);
    assert_int_equal(r.nr_words, 1);
    assert_string_equal(r.words[0], "-x");
    end(&r);

    run(&r, "-plain - -x");
    assert_int_equal(r.result, OPTIONS_OK);
    assert_int_equal(r.nr_words, 2);
    assert_string_equal(r.words[0], "-");
    end(&r);

    run(&r, "-max=1 -max=2 -plain -plain=false");
    assert_int_equal(r.o.max, 2);
    assert_false(r.o.plain);
    end(&r);
}

static void
test_booleans(void **state)
{
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True"};
    static const char *const no[] = {"0", "f", "F", "FALSE", "false", "False"};
    struct run r;
    char line[32];

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        snprintf(line, sizeof(line), "-plain=%s", yes[i]);
        run(&r, line);
        assert_int_equal(r.result, OPTIONS_OK);
        assert_true(r.o.plain);
        end(&r);
        snprintf(line, sizeof(line), "-color=%s", no[i]);
        run(&r, line);
        assert_int_equal(r.result, OPTIONS_OK);
        assert_false(r.o.color);
        end(&r);
    }
}

static void
test_numbers(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0},
        {"+5", 5},
        {"-5", -5},
        {"0x1F", 31},
        {"0X_1f", 31},
        {"0b101", 5},
        {"0B1_0", 2},
        {"0o17", 15},
        {"017", 15},
        {"0_17", 15},
        {"1_000", 1000},
        {"-0x10", -16},
        {"00", 0},
        {"-0", 0},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    struct run r;
    char line[64];

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        snprintf(line, sizeof(line), "-cpc=%s", good[i].text);
        run(&r, line);
        assert_int_equal(r.result, OPTIONS_OK);
        assert_true(r.o.cpc == good[i].value);
        end(&r);
    }
}

static void
test_bad_numbers(void **state)
{
    static const char *const syntax[] = {
        "",   "-",    "+",   "abc", "1.5", "08",  "0x",   "0b2", "1_",
        "_1", "1__0", "0x_", "1e3", "--1", "0xg", "0_x1", "12 ",
    };
    static const char *const range[] = {
        "9223372036854775808",
        "-9223372036854775809",
        "0x8000000000000000",
        "99999999999999999999999x",
    };
    struct run r;
    char line[64], text[128];

    (void)state;
    for (size_t i = 0; i < sizeof(syntax) / sizeof(syntax[0]); i++) {
        char *argv[] = {line, text, NULL};

        memset(&r, 0, sizeof(r));
        snprintf(text, sizeof(text), "-cpc=%s", syntax[i]);
        r.result = options_parse(table, 2, argv, &r.o, NULL, &r.words,
                                 &r.nr_words, &r.err);
        assert_int_equal(r.result, OPTIONS_BAD);
        snprintf(text, sizeof(text),
                 "invalid value \"%s\" for flag -cpc: parse error", syntax[i]);
        assert_string_equal(r.err.text, text);
        end(&r);
    }
    for (size_t i = 0; i < sizeof(range) / sizeof(range[0]); i++) {
        snprintf(line, sizeof(line), "-cpc %s", range[i]);
        run(&r, line);
        assert_int_equal(r.result, OPTIONS_BAD);
        snprintf(text, sizeof(text),
                 "invalid value \"%s\" for flag -cpc: value out of range",
                 range[i]);
        assert_string_equal(r.err.text, text);
        end(&r);
    }
}

static void
test_messages(void **state)
{
    static const char *const cases[][2] = {
        {"-foo", "flag provided but not defined: -foo"},
        {"--foo=bar", "flag provided but not defined: -foo"},
        {"-Plain", "flag provided but not defined: -Plain\n"
                   "Did you mean -plain?"},
        {"-cpc", "flag needs an argument: -cpc"},
        {"-plain=x", "invalid boolean value \"x\" for -plain: parse error"},
        {"-plain=", "invalid boolean value \"\" for -plain: parse error"},
        {"-cpc=a\tb\x7f\"\\\xff\xc3\xa9\x01",
         "invalid value \"a\\tb\\x7f\\\"\\\\\\xff\xc3\xa9\\x01\" for flag "
         "-cpc: parse error"},
        {"---plain", "bad flag syntax: ---plain"},
        {"-=x", "bad flag syntax: -=x"},
        {"--=x", "bad flag syntax: --=x"},
    };
    struct run r;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run(&r, cases[i][0]);
        assert_int_equal(r.result, OPTIONS_BAD);
        assert_string_equal(r.err.text, cases[i][1]);
        assert_int_equal(r.err.status, DT_ERR_INVAL);
        end(&r);
    }
}

static void
test_help(void **state)
{
    static const char *const lines[] = {"-h", "--help", "-plain -help",
                                        "-help=x"};
    struct run r;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        run(&r, lines[i]);
        assert_int_equal(r.result, OPTIONS_HELP);
        end(&r);
    }
}

static void
test_usage(void **state)
{
    struct buf out = {0};

    (void)state;
    assert_int_equal(options_usage(table, "/bin/prog", &out), DT_OK);
    assert_int_equal(buf_append(&out, "", 1), DT_OK);
    assert_string_equal(out.data, "Usage of /bin/prog:\n"
                                  "  -arg string\n    \tname=value\n"
                                  "  -color\n    \tpaint (default true)\n"
                                  "  -cpc int\n    \ta CPU (default 10)\n"
                                  "  -files string\n    \twhich\n"
                                  "  -max int\n    \tat most\n"
                                  "  -plain\n    \tbare\n"
                                  "  -regex string\n    \tregular "
                                  "(default \".\")\n"
                                  "  -x\tone letter\n");
    buf_fini(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_where_flags_end),
        cmocka_unit_test(test_booleans),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_bad_numbers),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_usage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
