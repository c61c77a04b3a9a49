/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines for dmap: their head, and when the statistics are due.
 */
#include "stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <regex.h>

struct lines {
    int nr;
    char last[512];
};

static void
keep(void *ctx, enum log_level level, const char *text)
{
    struct lines *l = ctx;

    assert_int_equal(level, LOG_INFO);
    l->nr++;
    snprintf(l->last, sizeof(l->last), "%s", text);
}

static void
test_uptime(void **state)
{
    char out[32];

    (void)state;
    stats_uptime(out, sizeof(out), 5);
    assert_string_equal(out, "5s");
    stats_uptime(out, sizeof(out), 750);
    assert_string_equal(out, "12m30s");
    stats_uptime(out, sizeof(out), 471 * 3600 + 21);
    assert_string_equal(out, "471h0m21s");
    stats_uptime(out, sizeof(out), 0);
    assert_string_equal(out, "0s");
    stats_uptime(out, sizeof(out), -1);
    assert_string_equal(out, "0s");
}

static void
test_head(void **state)
{
    char out[STATS_MAX_HEAD];
    regex_t re;

    (void)state;
    stats_head(out, sizeof(out), "STATS", "x.c", 7, 21);
    assert_int_equal(
        regcomp(&re,
                "^[0-9]+\\|x\\.c:7\\|[0-9]+\\|21\\|0\\|[0-9]+\\.[0-9]+\\|"
                "([0-9]+h[0-9]+m|[0-9]+m)?[0-9]+s\\|MAPREDUCE:STATS$",
                REG_EXTENDED | REG_NOSUB),
        0);
    assert_int_equal(regexec(&re, out, 0, NULL, 0), 0);
    regfree(&re);
}

static void
test_when(void **state)
{
    struct lines lines = {0};
    struct stats_counts c = {0};
    struct stats s;
    struct log *log;

    (void)state;
    assert_int_equal(log_new_fn(LOG_INFO, keep, &lines, &log), DT_OK);
    stats_init(&s, 100000);
    assert_true(stats_next_ms(&s, &c) <= 100000);
    stats_check(&s, log, &c, 1, 100000);
    assert_int_equal(lines.nr, 1);
    assert_int_equal(stats_next_ms(&s, &c), 110000);
    stats_check(&s, log, &c, 1, 109999);
    assert_int_equal(lines.nr, 1);
    stats_check(&s, log, &c, 1, 110000);
    assert_int_equal(lines.nr, 2);

    /* a change is told soon, many of them in one line */
    c = (struct stats_counts){1, 10, 0};
    assert_int_equal(stats_next_ms(&s, &c), 111000);
    stats_check(&s, log, &c, 1, 110999);
    assert_int_equal(lines.nr, 2);
    c = (struct stats_counts){2, 11, 3};
    stats_check(&s, log, &c, 1, 111000);
    assert_int_equal(lines.nr, 3);
    assert_non_null(strstr(lines.last,
                           "|MAPREDUCE:STATS|currentConnections=2|"
                           "lifetimeConnections=11|preAuthConnections=3"));
    assert_int_equal(stats_next_ms(&s, &c), 121000);

    /* after a long sleep of the machine one line, not many */
    stats_check(&s, log, &c, 1, 900000);
    stats_check(&s, log, &c, 1, 900001);
    assert_int_equal(lines.nr, 4);
    log_free(log);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uptime),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_when),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
