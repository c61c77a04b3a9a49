/* SPDX-License-Identifier: Apache-2.0
 *
 * Continuous jobs over days, restarts at midnight, jumps of the clock; changed
 * settings, what runs say, and the end.
 */
#include <poll.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "test-jobs-world.h"

/* ---- continuous jobs ---- */

static void
test_continuous(void **state)
{
    struct world *w = world("UTC", "2026-01-01 12:00:00");

    (void)state;
    use(w, CONTINUOUS(JOB("a", "")));
    pass(w, 2, NULL);
    assert_int_equal(w->nr, 1);
    dprintf(w->runs[0].out, "begin\nrows 5\n");
    for (size_t n = 0; n < 1; n++) {
        struct pollfd p[2];

        assert_int_equal(jobs_max_poll(w->jobs), 2);
        assert_int_equal(jobs_poll(w->jobs, p, 2), 2);
        jobs_event(w->jobs, p[0].fd);
    }
    assert_int_equal(row(w, 0).nr_rows, 5);
    assert_true(row(w, 0).is_running);
    assert_int_equal(row(w, 0).started, w->now.wall);
    /* over many days: this one does not restart */
    pass(w, 5 * DAY, NULL);
    assert_int_equal(w->nr, 1);
    /* it breaks off: at once another, but not more than one a minute */
    end(w, 0, "", "CLIENT|h|ERROR|srv:1|broken off: gone", 1 << 8);
    assert_string_equal(row(w, 0).reason, "srv:1|broken off: gone");
    pass(w, 0, NULL);
    assert_int_equal(w->nr, 2);
    end(w, 1, "", "", 1 << 8);
    assert_string_equal(row(w, 0).reason, "ended with status 1");
    pass(w, 59, NULL);
    assert_int_equal(w->nr, 2);
    pass(w, 1, NULL);
    assert_int_equal(w->nr, 3);
    done(w);
}

/* Also a run that ended well: it should have gone on. A signal is named. */
static void
test_continuous_ends(void **state)
{
    struct world *w = world("UTC", "2026-01-01 12:00:00");

    (void)state;
    use(w, CONTINUOUS(JOB("a", "")));
    pass(w, 2, NULL);
    end(w, 0, "begin", "", 0);
    assert_int_equal(row(w, 0).outcome, JOBS_FAILED);
    pass(w, 60, NULL);
    end(w, 1, "begin", "", SIGKILL);
    assert_string_equal(row(w, 0).reason, "ended by signal 9 (Killed)");
    done(w);
}

static void
terminated(struct world *w)
{
    for (size_t i = 0; i < w->nr; i++) {
        if (w->runs[i].is_alive && w->runs[i].signal == SIGTERM) {
            end(w, i, "rows 2", "", 0);
        }
    }
}

/* Three midnights, one of them of a day with 23 hours. */
static void
test_day_change(void **state)
{
    struct world *w = world("Europe/Berlin", "2026-03-27 22:00:00");

    (void)state;
    use(w, CONTINUOUS(JOB("a", ", \"RestartOnDayChange\": true, \"Files\": "
                               "\"f-$today\"")));
    pass(w, 2 * DAY + HOUR + 100, terminated);
    assert_int_equal(w->nr, 4);
    assert_string_equal(w->runs[0].files, "f-20260327");
    for (size_t i = 1; i < w->nr; i++) {
        assert_true(hour_of(w->runs[i].wall) == 0);
        assert_true(w->runs[i].wall - at("2026-03-28 00:00:00") -
                        (time_t)(i - 1) * DAY + (i == 3 ? HOUR : 0) <=
                    1);
    }
    assert_string_equal(w->runs[3].files, "f-20260330");
    assert_int_equal(row(w, 0).outcome, JOBS_STOPPED);
    assert_string_equal(row(w, 0).reason, "the day has changed");
    assert_int_equal(row(w, 0).nr_failed, 0);
    done(w);
}

/* The clock is put to another day, forwards and backwards; no deadline says
 * so. */
static void
test_clock_jumps(void **state)
{
    struct world *w = world("UTC", "2026-05-01 12:00:00");

    (void)state;
    use(w, CONTINUOUS(JOB("a", ", \"RestartOnDayChange\": true")) ", " SCHEDULE(
               JOB("b", ", \"TimeRange\": [3, 4]")));
    pass(w, 100, terminated);
    assert_int_equal(w->nr, 1);
    w->now.wall += 10 * DAY - 9 * HOUR; /* 03:00 */
    pass(w, 61, terminated);
    assert_int_equal(w->nr, 3);
    assert_true(strcmp(w->runs[1].name, w->runs[2].name) != 0);
    w->now.wall -= 20 * DAY;
    pass(w, 61, terminated);
    assert_int_equal(w->nr, 4);
    assert_string_equal(w->runs[3].name, "a");
    /* and the scheduled one still runs: it was not in the range's way */
    assert_int_equal(jobs_nr_running(w->jobs), 2);
    done(w);
}

/* ---- settings ---- */

static void
test_reload(void **state)
{
    struct world *w = world("UTC", "2026-01-01 12:00:00");

    (void)state;
    use(w,
        CONTINUOUS(JOB("same", "") "," JOB("changed", "") "," JOB("gone", "")));
    pass(w, 2, NULL);
    assert_int_equal(w->nr, 3);
    use(w, CONTINUOUS(JOB("new", "") "," JOB(
               "changed", ", \"Files\": \"g\"") "," JOB("same", "")));
    assert_int_equal(w->runs[0].signal, 0);
    assert_int_equal(w->runs[1].signal, SIGTERM);
    assert_int_equal(w->runs[2].signal, SIGTERM);
    end(w, 1, "", "", 0);
    end(w, 2, "", "", 0);
    assert_int_equal(jobs_count(w->jobs), 3);
    pass(w, 2, NULL);
    assert_int_equal(w->nr, 5);
    assert_string_equal(w->runs[3].name, "new");
    assert_string_equal(w->runs[4].name, "changed");
    assert_string_equal(w->runs[4].files, "g");
    /* back before it has ended: the same goes on, once it was restarted */
    use(w, "\"MaxQueries\": 7");
    assert_int_equal(w->runs[0].signal, SIGTERM);
    use(w, CONTINUOUS(JOB("same", "")));
    end(w, 0, "", "", 0);
    end(w, 3, "", "", 0);
    end(w, 4, "", "", 0);
    pass(w, 2, NULL);
    assert_int_equal(w->nr, 6);
    assert_string_equal(w->runs[5].name, "same");
    use(w, "\"MaxQueries\": 7");
    end(w, 5, "", "", 0);
    assert_int_equal(jobs_count(w->jobs), 0);
    assert_true(jobs_next_ms(w->jobs) == CLOCK_NEVER);
    done(w);
}

/* The password, the servers and the port of others are parts of a job. */
static void
test_settings_of_a_run(void **state)
{
    struct config *c = parse(
        "{\"Common\": {\"SSHPort\": 77}, \"Server\": "
        "{\"SSHBindAddress\": "
        "\"::1\", \"Permissions\": {\"Users\": {\"u\": []}}, "
        "\"Plugins\": {\"map\": {\"Threads\": 3}}, " SCHEDULE(JOB(
            "own",
            ", \"AllowFrom\": [\"::1\"], \"Password\": "
            "\"hush\"") "," JOB("other",
                                ", \"Servers\": [\"a\", \"b:5\"], \"Outfile\": "
                                "\"append /x/$today\"")) "}}");
    struct jobrun_args args = {.config = c, .port = 4711};
    struct error err = ERROR_INIT;
    const struct config_job *job;
    struct config *back;
    struct buf out = {0};

    (void)state;
    args.job = &c->server.schedule[0];
    assert_int_equal(jobrun_settings(&args, &out, &err), DT_OK);
    assert_int_equal(config_parse(out.data, out.len, "f", &back, &err), DT_OK);
    assert_int_equal(back->common.ssh_port, 4711);
    assert_int_equal(back->server.nr_permissions_users, 0);
    assert_int_equal(config_find_plugin(back, "map")->threads, 3);
    assert_int_equal(back->server.nr_schedule, 1);
    job = &back->server.schedule[0];
    assert_string_equal(job->name, "own");
    assert_string_equal(job->password, "hush");
    assert_int_equal(job->servers.nr, 1);
    assert_string_equal(job->servers.v[0], "[::1]");
    assert_int_equal(job->allow_from.nr, 0);
    config_free(back);

    out.len = 0;
    args.job = &c->server.schedule[1];
    args.is_continuous = true;
    args.wall = 86400 * 365;
    assert_int_equal(jobrun_settings(&args, &out, &err), DT_OK);
    assert_int_equal(config_parse(out.data, out.len, "f", &back, &err), DT_OK);
    assert_int_equal(back->common.ssh_port, 77);
    job = &back->server.continuous[0];
    assert_string_equal(job->password, "other");
    assert_string_equal(job->outfile, "append /x/19710101");
    assert_int_equal(job->servers.nr, 2);
    config_free(back);
    buf_fini(&out);
    config_free(c);
}

/* ---- the end ---- */

static void
test_stop(void **state)
{
    struct world *w = world("UTC", "2026-01-01 12:00:00");

    (void)state;
    use(w, CONTINUOUS(JOB("a", "")) ", " SCHEDULE(
               JOB("b", ", \"TimeRange\": [0, 24]")));
    pass(w, 2, NULL);
    assert_int_equal(w->nr, 2);
    jobs_stop(w->jobs, &w->now);
    assert_int_equal(w->runs[0].signal, SIGTERM);
    assert_int_equal(w->runs[1].signal, SIGTERM);
    end(w, 0, "begin", "", 130 << 8);
    assert_int_equal(jobs_nr_running(w->jobs), 1);
    pass(w, 11, NULL);
    assert_int_equal(w->nr, 2); /* nothing new */
    assert_int_equal(w->runs[1].signal, SIGKILL);
    end(w, 1, "", "", SIGKILL);
    assert_int_equal(row(w, 0).outcome, JOBS_STOPPED);
    done(w);
}

static void
test_lines(void **state)
{
    struct world *w = world("UTC", "2026-01-01 12:00:00");
    char line[5000];
    const char *text;

    (void)state;
    assert_int_equal(joblines_judge("CLIENT|h|FATAL|x|y", &text), 3);
    assert_string_equal(text, "x|y");
    assert_int_equal(joblines_judge("SERVER|h|ERROR|x", &text), 2);
    assert_int_equal(joblines_judge("CLIENT|h|WARN|x", &text), 1);
    assert_int_equal(joblines_judge("CLIENT|h|INFO|x", &text), 0);
    assert_int_equal(joblines_judge("CLIENT|h", &text), 1);
    assert_string_equal(text, "CLIENT|h");
    assert_int_equal(joblines_judge("what libc says", &text), 1);

    /* A flood without a newline is cut, not kept. */
    use(w, SCHEDULE(JOB("a", ", \"TimeRange\": [0, 24]")));
    pass(w, 2, NULL);
    memset(line, 'x', sizeof(line));
    assert_int_equal(write(w->runs[0].err, line, sizeof(line)), sizeof(line));
    end(w, 0, "rows 1", "", 1 << 8);
    assert_int_equal(strlen(row(w, 0).reason), JOBS_MAX_REASON - 1);
    done(w);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_continuous),
        cmocka_unit_test(test_continuous_ends),
        cmocka_unit_test(test_day_change),
        cmocka_unit_test(test_clock_jumps),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_settings_of_a_run),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
