/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of the log that are withheld: how many, and that each is counted.
 */
#include "loglimit.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define NOW 1000000
#define LINE_MS (1000 / LOGLIMIT_A_SECOND)

struct seen {
    struct loglimit limit;
    struct log *log;
    char last[200];
    size_t nr_lines;
    unsigned long long nr_told;
};

static void
on_line(void *ctx, enum log_level level, const char *text)
{
    struct seen *s = ctx;
    const char *bar = strchr(text, '|');

    assert_int_equal(level, LOG_WARN);
    assert_non_null(bar);
    assert_non_null(strstr(bar, " similar messages suppressed"));
    s->nr_told += strtoull(bar + 1, NULL, 10);
    s->nr_lines++;
    snprintf(s->last, sizeof(s->last), "%s", text);
}

static int
setup(void **state)
{
    struct seen *s = calloc(1, sizeof(*s));

    if (!s || log_new_fn(LOG_INFO, on_line, s, &s->log) != DT_OK) {
        free(s);
        return -1;
    }
    *state = s;
    return 0;
}

static int
teardown(void **state)
{
    struct seen *s = *state;

    log_free(s->log);
    free(s);
    return 0;
}

/* How many of `nr` lines at one time are let through. */
static size_t
flood(struct seen *s, const char *who, size_t nr, int64_t now_ms)
{
    size_t passed = 0;

    for (size_t i = 0; i < nr; i++) {
        passed += loglimit_take(&s->limit, s->log, who, now_ms);
    }
    return passed;
}

static void
test_flood(void **state)
{
    struct seen *s = *state;

    assert_int_equal(flood(s, "a", 1000, NOW), LOGLIMIT_BURST);
    assert_int_equal(s->nr_lines, 0);
    /* another is not touched by it */
    assert_int_equal(flood(s, "b", 10, NOW), 10);
    assert_int_equal(s->nr_lines, 0);
    /* too early by a millisecond; then the next line tells the count */
    assert_int_equal(flood(s, "a", 1, NOW + LINE_MS - 1), 0);
    assert_int_equal(flood(s, "a", 1, NOW + LINE_MS), 1);
    assert_string_equal(s->last, "a|901 similar messages suppressed");
    assert_int_equal(flood(s, "a", 1, NOW + LINE_MS), 0);
    loglimit_tell(&s->limit, s->log, "b");
    assert_int_equal(s->nr_lines, 1);
    loglimit_tell(&s->limit, s->log, "a");
    assert_string_equal(s->last, "a|1 similar messages suppressed");
    loglimit_tell(&s->limit, s->log, NULL);
    assert_int_equal(s->nr_lines, 2);
}

static void
test_quiet_time(void **state)
{
    struct seen *s = *state;

    assert_int_equal(flood(s, "a", LOGLIMIT_BURST, NOW), LOGLIMIT_BURST);
    assert_int_equal(flood(s, "a", 100, NOW + 10 * LINE_MS), 10);
    /* never more than the burst */
    assert_int_equal(
        flood(s, "a", 2 * LOGLIMIT_BURST, NOW + 100 * 1000 * LINE_MS),
        LOGLIMIT_BURST);
    assert_int_equal(s->nr_told, 90);
}

/* More peers than places: nobody's count is lost, and peers that come and go
 * do not have the burst each. */
static void
test_many(void **state)
{
    struct seen *s = *state;
    size_t passed = 0, nr = 0, before;
    char who[LOGLIMIT_MAX_WHO];

    for (int i = 0; i < 2 * LOGLIMIT_MAX; i++) {
        snprintf(who, sizeof(who), "peer %d", i);
        passed += flood(s, who, 150, NOW);
        nr += 150;
    }
    assert_int_equal(passed, (LOGLIMIT_MAX + 1) * LOGLIMIT_BURST);
    loglimit_tell(&s->limit, s->log, NULL);
    assert_int_equal(passed + s->nr_told, nr);
    assert_int_equal(s->nr_lines, LOGLIMIT_MAX + 1);

    /* a place goes to another when its owner was quiet, who is told first */
    before = s->nr_told;
    assert_int_equal(flood(s, "peer 0", 7, NOW), 0);
    snprintf(who, sizeof(who), "new");
    assert_int_equal(flood(s, who, 1, NOW + LOGLIMIT_BURST * LINE_MS), 1);
    assert_string_equal(s->last, "peer 0|7 similar messages suppressed");
    assert_int_equal(s->nr_told - before, 7);
}

static void
test_long_names(void **state)
{
    struct seen *s = *state;
    char who[2 * LOGLIMIT_MAX_WHO];

    memset(who, 'x', sizeof(who));
    who[sizeof(who) - 1] = '\0';
    assert_int_equal(flood(s, who, 1000, NOW), LOGLIMIT_BURST);
    loglimit_tell(&s->limit, s->log, who);
    assert_int_equal(s->nr_told, 1000 - LOGLIMIT_BURST);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_flood, setup, teardown),
        cmocka_unit_test_setup_teardown(test_quiet_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_names, setup, teardown),
    };

    return cmocka_run_group_tests_name("loglimit", tests, NULL, NULL);
}
