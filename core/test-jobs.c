/* SPDX-License-Identifier: Apache-2.0
 *
 * Scheduled jobs over days: dates near clock changes, time ranges, retries, a
 * job that is stuck.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "test-jobs-world.h"

/* ---- time ---- */

static void
expands(const char *text, const char *when, const char *expected)
{
    struct buf out = {0};

    assert_int_equal(jobtime_expand(text, at(when), &out), DT_OK);
    assert_string_equal(out.data, expected);
    buf_fini(&out);
}

static void
test_dates(void **state)
{
    (void)state;
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    expands("a-$today.log,b-$tomorrow", "2026-12-31 12:00:00",
            "a-20261231.log,b-20270101");
    expands("$yesterday$yyesterday$yyyesterday", "2024-03-02 00:00:01",
            "202403012024022920240228");
    expands("", "2026-01-01 00:00:00", "");
    expands("$", "2026-01-01 00:00:00", "$");
    expands("$$today$tod", "2026-01-01 00:00:00", "$20260101$tod");
    expands("no token, $todays", "2026-01-01 00:00:00", "no token, 20260101s");
    /* days of 23 and of 25 hours: 24 hours ago is not always yesterday */
    expands("$yesterday $tomorrow", "2026-03-30 00:30:00", "20260329 20260331");
    expands("$yesterday", "2026-10-25 23:30:00", "20261024");
    expands("$tomorrow", "2026-10-25 00:30:00", "20261026");
    expands("$yyyesterday", "2026-10-26 23:30:00", "20261023");
}

static bool
in(int from, int to, const char *when)
{
    return jobtime_in_range((const int[]){from, to}, at(when));
}

static void
test_ranges(void **state)
{
    (void)state;
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    assert_true(in(0, 24, "2026-01-01 00:00:00"));
    assert_true(in(0, 24, "2026-01-01 23:59:59"));
    assert_true(in(6, 8, "2026-01-01 06:00:00"));
    assert_true(in(6, 8, "2026-01-01 07:59:59"));
    assert_false(in(6, 8, "2026-01-01 08:00:00"));
    assert_false(in(6, 8, "2026-01-01 05:59:59"));
    assert_true(in(22, 4, "2026-01-01 22:00:00"));
    assert_true(in(22, 4, "2026-01-01 03:59:59"));
    assert_false(in(22, 4, "2026-01-01 04:00:00"));
    assert_false(in(22, 4, "2026-01-01 21:59:59"));
    assert_false(in(0, 0, "2026-01-01 00:00:00"));
    assert_false(in(7, 7, "2026-01-01 07:00:00"));
    /* the hour that a clock change leaves out, and the one it gives twice */
    assert_false(in(2, 3, "2026-03-29 03:00:00"));
    assert_true(in(2, 3, "2026-10-25 02:30:00"));
}

static void
test_next_day(void **state)
{
    (void)state;
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    assert_int_equal(jobtime_to_next_day(at("2026-01-01 00:00:00")), DAY);
    assert_int_equal(jobtime_to_next_day(at("2026-01-01 23:59:59")), 1);
    assert_int_equal(jobtime_to_next_day(at("2026-03-29 00:00:00")), 23 * HOUR);
    assert_int_equal(jobtime_to_next_day(at("2026-10-25 00:00:00")), 25 * HOUR);
    /* clocks are put forward at midnight: that day begins at one */
    setenv("TZ", "Asia/Beirut", 1);
    tzset();
    assert_int_equal(jobtime_to_next_day(at("2026-03-28 23:00:00")), HOUR);
}

/* ---- scheduled jobs ---- */

static void
test_range_of_a_day(void **state)
{
    struct world *w = world("Europe/Berlin", "2026-03-26 12:00:00");

    (void)state;
    use(w, SCHEDULE(JOB("a", ", \"TimeRange\": [2, 4], \"Files\": "
                             "\"f-$yesterday\"")));
    /* The last day has no hour from 2 to 3. */
    pass(w, 2 * DAY + 23 * HOUR, find_all);
    assert_true(w->nr >= 2 * 119 + 59 && w->nr <= 2 * 121 + 61);
    for (size_t i = 0; i < w->nr; i++) {
        int hour = hour_of(w->runs[i].wall);

        assert_true(hour == 2 || hour == 3);
    }
    assert_string_equal(w->runs[0].files, "f-20260326");
    assert_string_equal(w->runs[w->nr - 1].files, "f-20260328");
    assert_int_equal(row(w, 0).outcome, JOBS_EXISTS);
    assert_int_equal(row(w, 0).started, 0);
    done(w);
}

static void
test_starts_soon(void **state)
{
    struct world *w = world("UTC", "2026-01-01 12:00:00");

    (void)state;
    use(w, SCHEDULE(JOB("a", ", \"TimeRange\": [0, 24]")));
    pass(w, 1, finish_all);
    assert_int_equal(w->nr, 0);
    pass(w, 1, finish_all);
    assert_int_equal(w->nr, 1);
    assert_int_equal(row(w, 0).outcome, JOBS_DONE);
    assert_int_equal(row(w, 0).nr_rows, 3);
    assert_int_equal(row(w, 0).nr_results, 1);
    assert_int_equal(row(w, 0).next_in_ms, 60000);
    /* a look that finds the file there does not hide what was done */
    pass(w, 60, find_all);
    assert_int_equal(w->nr, 2);
    assert_int_equal(row(w, 0).outcome, JOBS_DONE);
    done(w);
}

static void
test_never(void **state)
{
    struct world *w = world("UTC", "2026-01-01 00:00:00");

    (void)state;
    use(w, SCHEDULE(JOB("no range", "") "," JOB(
               "off", ", \"TimeRange\": [0, 24], "
                      "\"Enable\": false") "," JOB("elsewhere",
                                                   ", \"TimeRange\": [0, 24], "
                                                   "\"AllowOnly\": true")));
    assert_int_equal(jobs_count(w->jobs), 1);
    pass(w, 3 * DAY, finish_all);
    assert_int_equal(w->nr, 0);
    assert_int_equal(row(w, 0).outcome, JOBS_NEVER_RAN);
    done(w);
}

/* A job that fails is tried again, ever more seldom, but at once when its
 * files are other ones. */
static void
test_retries(void **state)
{
    struct world *w = world("UTC", "2026-01-01 12:00:00");
    static const int64_t gaps[] = {60,   120,  240,  480, 960,
                                   1920, 3600, 3600, 3600};
    size_t before;

    (void)state;
    use(w, SCHEDULE(JOB("a", ", \"TimeRange\": [0, 24]")));
    pass(w, 11 * HOUR + 3500, fail_all);
    assert_true(w->nr > 10);
    for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
        assert_int_equal(w->runs[i + 1].wall - w->runs[i].wall, gaps[i]);
    }
    assert_int_equal(row(w, 0).outcome, JOBS_FAILED);
    assert_int_equal(row(w, 0).nr_failed, w->nr);
    assert_string_equal(row(w, 0).reason, "the reason");
    before = w->nr;
    pass(w, 120, fail_all); /* over midnight */
    assert_int_equal(w->nr, before + 1);
    assert_true(w->runs[before].wall % DAY <= 60);
    pass(w, 60, finish_all);
    assert_int_equal(w->nr, before + 2);
    assert_int_equal(row(w, 0).outcome, JOBS_DONE);
    assert_string_equal(row(w, 0).reason, "");
    done(w);
}

static void
test_nothing_found(void **state)
{
    struct world *w = world("UTC", "2026-01-01 12:00:00");

    (void)state;
    use(w, SCHEDULE(JOB("a", ", \"TimeRange\": [0, 24]")));
    pass(w, 2, NULL);
    end(w, 0, "begin", "", 0);
    assert_int_equal(row(w, 0).outcome, JOBS_EMPTY);
    assert_int_equal(row(w, 0).next_in_ms, 60000);
    pass(w, 60, NULL);
    end(w, 1, "begin", "", 0);
    assert_int_equal(row(w, 0).next_in_ms, 120000);
    assert_int_equal(row(w, 0).nr_failed, 0);
    done(w);
}

static void
test_cannot_start(void **state)
{
    struct world *w = world("UTC", "2026-01-01 12:00:00");

    (void)state;
    use(w, SCHEDULE(JOB("a", ", \"TimeRange\": [0, 24]")) ", " CONTINUOUS(
               JOB("b", "")));
    w->refuses = true;
    pass(w, 600, NULL);
    assert_int_equal(row(w, 0).outcome, JOBS_FAILED);
    assert_string_equal(row(w, 0).reason, "no more processes");
    assert_int_equal(row(w, 0).nr_failed, 4);
    assert_int_equal(row(w, 1).nr_failed, 10);
    w->refuses = false;
    pass(w, HOUR, finish_all);
    assert_int_equal(row(w, 0).outcome, JOBS_DONE);
    done(w);
}

/* One that never ends keeps no other waiting, and is ended in the end. */
static void
test_stuck(void **state)
{
    struct world *w = world("UTC", "2026-01-01 12:00:00");

    (void)state;
    use(w, SCHEDULE(JOB("stuck",
                        ", \"TimeRange\": [0, 24], \"MaxRunSeconds\": "
                        "300") "," JOB("good", ", \"TimeRange\": [0, 24]")));
    pass(w, 2, NULL);
    assert_int_equal(w->nr, 2);
    end(w, 1, "begin\nrows 7", "", 0);
    assert_int_equal(row(w, 1).outcome, JOBS_DONE);
    pass(w, 299, NULL);
    assert_int_equal(w->runs[0].signal, 0);
    pass(w, 1, NULL);
    assert_int_equal(w->runs[0].signal, SIGTERM);
    pass(w, 9, NULL);
    assert_int_equal(w->runs[0].signal, SIGTERM);
    pass(w, 2, NULL);
    assert_int_equal(w->runs[0].signal, SIGKILL);
    assert_true(row(w, 0).is_running);
    end(w, 0, "", "", SIGKILL);
    assert_int_equal(row(w, 0).outcome, JOBS_FAILED);
    assert_string_equal(row(w, 0).reason, "it took longer than MaxRunSeconds");
    done(w);
}

static void
test_no_limit(void **state)
{
    struct world *w = world("UTC", "2026-01-01 12:00:00");

    (void)state;
    use(w,
        SCHEDULE(JOB("a", ", \"TimeRange\": [0, 24], \"MaxRunSeconds\": 0")));
    pass(w, 10 * DAY, NULL);
    assert_int_equal(w->nr, 1);
    assert_int_equal(w->runs[0].signal, 0);
    done(w);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_next_day),
        cmocka_unit_test(test_range_of_a_day),
        cmocka_unit_test(test_starts_soon),
        cmocka_unit_test(test_never),
        cmocka_unit_test(test_retries),
        cmocka_unit_test(test_nothing_found),
        cmocka_unit_test(test_cannot_start),
        cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_no_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
