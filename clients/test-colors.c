/* SPDX-License-Identifier: Apache-2.0
 *
 * Painted lines, byte by byte as spec clients 13 has them, and schemes.
 */
#include "colors.h"

#include "log.h"

#include <spans.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define E "\x1b["
#define OFF E "0m" E "49m" E "39m"
#define DIM E "37m" E "44m" E "2m"
#define BAR E "36m" E "44m" E "2m|" OFF
#define HEAD(percent)                                                       \
    DIM "REMOTE" OFF BAR E "37m" E "44m" E "1mh1" OFF BAR percent E "49m" E \
        "39m" BAR DIM "7" OFF BAR DIM "a.log" OFF BAR
#define ALL E "30m" E "42m100"

static void
expect(const char *scheme, const char *line, const char *want)
{
    struct log_args args = {
        .logger = "none", .program = "test", .prefix = "test"};
    struct error err = ERROR_INIT;
    struct colors *c = NULL;
    struct log *log = NULL;
    struct buf out = {0};

    assert_int_equal(log_new(&args, &log, &err), DT_OK);
    assert_int_equal(colors_new(scheme, log, &c, &err), DT_OK);
    assert_int_equal(colors_paint_remote(c, line, strlen(line), NULL, 0, &out),
                     DT_OK);
    assert_int_equal(out.len, strlen(want));
    assert_memory_equal(out.data, want, out.len);
    buf_fini(&out);
    colors_free(c);
    log_free(log);
}

static void
test_default(void **state)
{
    (void)state;
    expect("{}", "REMOTE|h1|100|7|a.log|hi",
           HEAD(ALL) E "37m" E "40mhi" E "49m" E "39m");
    expect("{}", "REMOTE|h1|99|7|a.log|a|b",
           HEAD(E "37m" E "41m99") E "37m" E "40ma|b" E "49m" E "39m");
    expect("{}", "REMOTE|h1|100|7|a.log|",
           HEAD(ALL) E "37m" E "40m" E "49m" E "39m");
    expect("{}", "REMOTE|h1|100", E "39m" E "49mREMOTE|h1|100" E "49m" E "39m");
}

static void
test_severity(void **state)
{
    (void)state;
    expect("{}", "REMOTE|h1|100|7|a.log|WARNING x",
           HEAD(ALL) E "37m" E "40m" E "1mWARNING x" OFF);
    expect("{}", "REMOTE|h1|100|7|a.log|ERROR",
           HEAD(ALL) E "37m" E "41m" E "1mERROR" OFF);
    expect("{}", "REMOTE|h1|100|7|a.log|FATAL|x",
           HEAD(ALL) E "37m" E "45m" E "1mFATAL|x" OFF);
    expect("{}", "REMOTE|h1|100|7|a.log|an ERROR",
           HEAD(ALL) E "37m" E "40man ERROR" E "49m" E "39m");
}

/* Names with and without prefix, in any case; sequences; what is unknown. */
static void
test_scheme(void **state)
{
    (void)state;
    expect("{\"remote\": {\"TextFg\": \"FgRed\", \"textbg\": \"DEFAULT\","
           " \"TextAttr\": \"AttrItalic\"}}",
           "REMOTE|h1|100|7|a.log|hi", HEAD(ALL) E "31m" E "49m" E "3mhi" OFF);
    expect("{\"Remote\": {\"TextFg\": \"\\u001b[38;5;9m\","
           " \"TextBg\": \"nonsense\"}}",
           "REMOTE|h1|100|7|a.log|hi",
           HEAD(ALL) E "38;5;9m" E "40mhi" E "49m" E "39m");
    expect("{\"Common\": {\"SeverityWarnAttr\": \"none\"}}",
           "REMOTE|h1|100|7|a.log|WARN",
           HEAD(ALL) E "37m" E "40mWARN" E "49m" E "39m");
}

/* Matches in the text are painted apart; those in front of it are not. */
static void
test_matches(void **state)
{
    static const char line[] = "REMOTE|h1|100|7|a.log|ERROR b";
    static const struct span spans[] = {{0, 3}, {22, 24}, {28, 29}};
    struct log_args args = {
        .logger = "none", .program = "test", .prefix = "test"};
    struct error err = ERROR_INIT;
    struct colors *c = NULL;
    struct log *log = NULL;
    struct buf out = {0};
    const char *want = HEAD(ALL) E "31m" E "40m" E "1mER" OFF E "37m" E "41m" E
                                   "1mROR " OFF E "31m" E "40m" E "1mb" OFF;

    (void)state;
    assert_int_equal(log_new(&args, &log, &err), DT_OK);
    assert_int_equal(colors_new("{}", log, &c, &err), DT_OK);
    assert_int_equal(
        colors_paint_remote(c, line, sizeof(line) - 1, spans, 3, &out), DT_OK);
    assert_int_equal(out.len, strlen(want));
    assert_memory_equal(out.data, want, out.len);
    buf_fini(&out);
    colors_free(c);
    log_free(log);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_severity),
        cmocka_unit_test(test_scheme),
        cmocka_unit_test(test_matches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
