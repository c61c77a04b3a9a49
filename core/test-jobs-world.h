/* SPDX-License-Identifier: Apache-2.0
 *
 * A world for the tests of jobs: clocks and processes of our own. To be
 * included behind cmocka.h.
 */
#ifndef CORE_TEST_JOBS_WORLD_H
#define CORE_TEST_JOBS_WORLD_H

#include "clock.h"
#include "jobs.h"

#include "test-config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_RUNS 4096
#define HOUR 3600
#define DAY (24 * HOUR)

/* A process that is none. */
struct run {
    char name[32];
    bool is_alive;
    int signal;     /* the last it got */
    int out, err;   /* our ends */
    time_t wall;    /* of its start */
    char files[64]; /* dates filled in */
};

struct world {
    struct jobs *jobs;
    struct config *config;
    struct jobs_now now;
    struct run runs[MAX_RUNS];
    size_t nr;
    bool refuses; /* no process can be started */
};

static inline int
start(void *ctx, const struct config_job *job, bool is_continuous, time_t wall,
      struct jobrun *out, struct error *err)
{
    struct world *w = ctx;
    struct run *r = &w->runs[w->nr];
    struct buf files = {0};
    int o[2], e[2];

    (void)is_continuous;
    if (w->refuses) {
        return error_set(err, DT_ERR_LIMIT, "no more processes");
    }
    assert_true(w->nr < MAX_RUNS);
    assert_int_equal(pipe2(o, O_NONBLOCK), 0);
    assert_int_equal(pipe2(e, O_NONBLOCK), 0);
    *r = (struct run){.is_alive = true, .out = o[1], .err = e[1], .wall = wall};
    snprintf(r->name, sizeof(r->name), "%.31s", job->name);
    assert_int_equal(jobtime_expand(job->files, wall, &files), DT_OK);
    snprintf(r->files, sizeof(r->files), "%.63s", files.data);
    buf_fini(&files);
    *out = (struct jobrun){
        .pid = (pid_t)(1000 + w->nr), .out_fd = o[0], .err_fd = e[0]};
    w->nr++;
    return DT_OK;
}

static inline void
take_signal(void *ctx, pid_t pid, int signal)
{
    struct world *w = ctx;

    w->runs[pid - 1000].signal = signal;
}

static inline void
use(struct world *w, const char *members)
{
    struct config *before = w->config;
    char *json = NULL;

    assert_true(asprintf(&json, "{\"Server\": {%s}}", members) > 0);
    w->config = parse(json);
    free(json);
    assert_int_equal(jobs_use(w->jobs, w->config, &w->now), DT_OK);
    config_free(before);
}

/* A world whose clock shows a local time ("2026-03-28 23:00:00"). */
static inline struct world *
world(const char *zone, const char *when)
{
    struct world *w = calloc(1, sizeof(*w));
    struct jobs_ops ops = {start, take_signal, w};
    struct tm tm = {.tm_isdst = -1};

    assert_non_null(w);
    setenv("TZ", zone, 1);
    tzset();
    assert_non_null(strptime(when, "%Y-%m-%d %H:%M:%S", &tm));
    w->now.wall = mktime(&tm);
    w->now.ms = 5000000;
    w->jobs = jobs_new(&ops, NULL);
    assert_non_null(w->jobs);
    return w;
}

/* The process `i` says something and ends. */
static inline void
end(struct world *w, size_t i, const char *says, const char *complains,
    int status)
{
    struct run *r = &w->runs[i];

    assert_true(r->is_alive);
    if (*says) {
        dprintf(r->out, "%s\n", says);
    }
    if (*complains) {
        dprintf(r->err, "%s\n", complains);
    }
    close(r->out);
    close(r->err);
    r->is_alive = false;
    assert_true(jobs_reaped(w->jobs, (pid_t)(1000 + i), status, &w->now));
}

static inline void
done(struct world *w)
{
    jobs_stop(w->jobs, &w->now);
    for (size_t i = 0; i < w->nr; i++) {
        if (w->runs[i].is_alive) {
            assert_int_equal(w->runs[i].signal, SIGTERM);
            end(w, i, "", "", SIGTERM);
        }
    }
    assert_int_equal(jobs_nr_running(w->jobs), 0);
    assert_true(jobs_next_ms(w->jobs) == CLOCK_NEVER);
    jobs_free(w->jobs);
    config_free(w->config);
    free(w);
}

/* Lets time pass as the listener does: from deadline to deadline. Returns how
 * often it woke up. What has ended meanwhile is up to `each`. */
typedef void each_fn(struct world *w);

static inline size_t
pass(struct world *w, int64_t seconds, each_fn *each)
{
    int64_t until = w->now.ms + seconds * 1000;
    size_t turns = 0;

    for (;;) {
        int64_t next = jobs_next_ms(w->jobs);
        int64_t step;

        next = next < w->now.ms ? w->now.ms : next;
        if (next > until) {
            break;
        }
        /* whole seconds of the wall clock, as time(2) shows them */
        step = next - w->now.ms;
        w->now.wall += (w->now.ms % 1000 + step) / 1000;
        w->now.ms = next;
        jobs_tick(w->jobs, &w->now);
        if (each) {
            each(w);
        }
        assert_true(++turns < 100000);
    }
    w->now.wall += (w->now.ms % 1000 + until - w->now.ms) / 1000;
    w->now.ms = until;
    return turns;
}

static inline void
finish_all(struct world *w)
{
    for (size_t i = 0; i < w->nr; i++) {
        if (w->runs[i].is_alive) {
            end(w, i, "begin\nrows 3", "", 0);
        }
    }
}

static inline void
find_all(struct world *w)
{
    for (size_t i = 0; i < w->nr; i++) {
        if (w->runs[i].is_alive) {
            end(w, i, "exists", "", 0);
        }
    }
}

static inline void
fail_all(struct world *w)
{
    for (size_t i = 0; i < w->nr; i++) {
        if (w->runs[i].is_alive) {
            end(w, i, "begin",
                "CLIENT|h|WARN|first\nCLIENT|h|ERROR|the reason\n"
                "CLIENT|h|ERROR|another",
                1 << 8);
        }
    }
}

static inline struct jobs_row
row(const struct world *w, size_t i)
{
    struct jobs_row r;

    assert_true(i < jobs_count(w->jobs));
    jobs_row_at(w->jobs, i, &w->now, &r);
    return r;
}

static inline int
hour_of(time_t t)
{
    struct tm tm;

    localtime_r(&t, &tm);
    return tm.tm_hour;
}

#define JOB(name, rest)                                             \
    "{\"Name\": \"" name "\", \"Enable\": true, \"Files\": \"f\", " \
    "\"Query\": \"q\", \"Outfile\": \"o\"" rest "}"
#define SCHEDULE(jobs) "\"Schedule\": [" jobs "]"
#define CONTINUOUS(jobs) "\"Continuous\": [" jobs "]"

static inline time_t
at(const char *when)
{
    struct tm tm = {.tm_isdst = -1};

    assert_non_null(strptime(when, "%Y-%m-%d %H:%M:%S", &tm));
    return mktime(&tm);
}

#endif
