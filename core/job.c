/* SPDX-License-Identifier: Apache-2.0
 *
 * One job and its runs.
 */
#include "job.h"

#include "clock.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#define PATIENCE_MS 10000   /* between SIGTERM and SIGKILL */
#define RETRY_MS 3600000    /* the longest time until a job is tried again */
#define RETRY_DOUBLINGS 20u /* beyond, RETRY_MS is reached in any case */

struct job *
job_new(const struct jobs_ops *ops, struct log *log, const char *name,
        bool is_continuous, char *print)
{
    struct job *job = calloc(1, sizeof(*job));

    if (job) {
        job->name = strdup(name);
    }
    if (!job || !job->name) {
        free(job);
        free(print);
        return NULL;
    }
    job->ops = ops;
    job->log = log;
    job->print = print;
    job->is_continuous = is_continuous;
    job->out.fd = job->err.fd = -1;
    job->kill_ms = CLOCK_NEVER;
    return job;
}

void
job_free(struct job *job)
{
    if (!job) {
        return;
    }
    joblines_close(&job->out);
    joblines_close(&job->err);
    free(job->name);
    free(job->print);
    free(job);
}

/* ---- what a run says ---- */

static void
on_out(void *ctx, const char *line)
{
    static const char rows[] = JOBRUN_ROWS " ";
    struct job *job = ctx;

    if (strcmp(line, JOBRUN_EXISTS) == 0) {
        job->exists = true;
    } else if (strcmp(line, JOBRUN_BEGIN) == 0) {
        job->has_begun = true;
        job->row.started = job->started;
        log_info(job->log, "job %s|started", job->name);
    } else if (strncmp(line, rows, sizeof(rows) - 1) == 0) {
        job->nr_rows = strtoull(line + sizeof(rows) - 1, NULL, 10);
        job->row.nr_rows = job->nr_rows;
        job->row.nr_results++;
        job->told[0] = '\0';
        log_debug(job->log, "job %s|%s", job->name, line);
    }
}

static void
on_err(void *ctx, const char *line)
{
    struct job *job = ctx;
    const char *text;
    int rank = joblines_judge(line, &text);

    log_debug(job->log, "job %s|%s", job->name, line);
    if (rank > job->rank) { /* the first of the worst says most */
        job->rank = rank;
        snprintf(job->said, sizeof(job->said), "%s", text);
    }
    /* The end of a continuous job may be far away. */
    if (job->is_continuous && rank == 2 && !job->stopped_by &&
        strncmp(job->told, text, sizeof(job->told) - 1) != 0) {
        snprintf(job->told, sizeof(job->told), "%s", text);
        log_error(job->log, "job %s|%s", job->name, text);
    }
}

void
job_read_out(struct job *job)
{
    joblines_read(&job->out, on_out, job);
}

void
job_read_err(struct job *job)
{
    joblines_read(&job->err, on_err, job);
}

/* ---- the end of a run ---- */

/* When a scheduled job whose run was in vain is tried again. */
static int64_t
retry_ms(const struct job *job)
{
    unsigned n = job->nr_tries - 1;
    int64_t ms = job->check_ms << (n < RETRY_DOUBLINGS ? n : RETRY_DOUBLINGS);

    return ms < RETRY_MS ? ms : RETRY_MS;
}

/* `in_vain`: it is to be tried again, but not too often. */
static void
plan_next(struct job *job, bool in_vain, const struct jobs_now *now)
{
    job->nr_tries = in_vain ? job->nr_tries + 1 : 0;
    if (!job->is_continuous) {
        job->next_ms = now->ms + (in_vain ? retry_ms(job) : job->check_ms);
        return;
    }
    job->next_ms = job->started_ms + job->check_ms;
    if (job->next_ms < now->ms || !in_vain) {
        job->next_ms = now->ms;
    }
}

/* Why a run that was not stopped by us did not do what it should. */
static void
explain(struct job *job, int status)
{
    if (WIFSIGNALED(status)) {
        snprintf(job->reason, sizeof(job->reason), "ended by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (job->said[0]) {
        snprintf(job->reason, sizeof(job->reason), "%s", job->said);
    } else {
        snprintf(job->reason, sizeof(job->reason), "ended with status %d",
                 WEXITSTATUS(status));
    }
}

static enum jobs_outcome
judge(struct job *job, int status)
{
    bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;

    job->reason[0] = '\0';
    if (is_good && !job->is_continuous && job->nr_rows > 0) {
        return JOBS_DONE; /* be it that it was told to end just then */
    }
    if (job->stopped_by) {
        snprintf(job->reason, sizeof(job->reason), "%s", job->stopped_by);
        return job->is_overdue ? JOBS_FAILED : JOBS_STOPPED;
    }
    if (is_good && job->exists) {
        return JOBS_EXISTS;
    }
    if (!is_good || job->is_continuous) { /* which should have gone on */
        explain(job, status);
        return JOBS_FAILED;
    }
    snprintf(job->reason, sizeof(job->reason), "%s", job->said);
    return JOBS_EMPTY;
}

static void
tell_end(const struct job *job, const struct jobs_now *now)
{
    double took = (double)(now->ms - job->started_ms) / 1000;
    double again = (double)(job->next_ms - now->ms) / 1000;

    switch (job->row.outcome) {
    case JOBS_DONE:
        log_info(job->log, "job %s|done|%llu rows|%.1f s", job->name,
                 (unsigned long long)job->nr_rows, took);
        break;
    case JOBS_EMPTY:
        log_info(job->log,
                 "job %s|nothing found, nothing written%s%s|%.1f s|again in "
                 "%.0f s",
                 job->name, *job->reason ? "|" : "", job->reason, took, again);
        break;
    case JOBS_FAILED:
        log_error(job->log, "job %s|failed|%s|%.1f s|again in %.0f s",
                  job->name, job->reason, took, again);
        break;
    default:
        log_info(job->log, "job %s|stopped|%s|%.1f s", job->name, job->reason,
                 took);
        break;
    }
}

/* A look at an outfile that is there is no run. */
static void
conclude(struct job *job, enum jobs_outcome outcome, const struct jobs_now *now)
{
    plan_next(job, outcome == JOBS_FAILED || outcome == JOBS_EMPTY, now);
    if (outcome == JOBS_EXISTS) {
        if (job->row.outcome != JOBS_DONE) {
            job->row.outcome = outcome;
        }
        log_debug(job->log, "job %s|the outfile exists", job->name);
        return;
    }
    job->row.outcome = outcome;
    job->row.started = job->started;
    job->row.ended = now->wall;
    job->row.nr_failed += outcome == JOBS_FAILED;
    tell_end(job, now);
}

void
job_ended(struct job *job, int status, const struct jobs_now *now)
{
    job_read_out(job);
    job_read_err(job);
    joblines_close(&job->out);
    joblines_close(&job->err);
    job->pid = 0;
    job->kill_ms = CLOCK_NEVER;
    conclude(job, judge(job, status), now);
    job->stopped_by = NULL;
    job->is_overdue = false;
}

void
job_terminate(struct job *job, const char *why, const struct jobs_now *now)
{
    if (job->pid && !job->stopped_by) {
        job->stopped_by = why;
        job->kill_ms = now->ms + PATIENCE_MS;
        job->ops->kill(job->ops->ctx, job->pid, SIGTERM);
    }
}

/* ---- the passing of time ---- */

static void
start(struct job *job, const struct jobs_now *now)
{
    struct error err = ERROR_INIT;
    struct jobrun run;

    job->has_begun = job->exists = false;
    job->rank = 0;
    job->said[0] = job->told[0] = '\0';
    job->out.len = job->err.len = 0;
    job->nr_rows = 0;
    job->started = now->wall;
    job->started_ms = now->ms;
    jobtime_day(now->wall, job->day);
    if (job->ops->start(job->ops->ctx, job->spec, job->is_continuous, now->wall,
                        &run, &err) == DT_OK) {
        job->pid = run.pid;
        job->out.fd = run.out_fd;
        job->err.fd = run.err_fd;
        return;
    }
    snprintf(job->reason, sizeof(job->reason), "%.*s", JOBS_MAX_REASON - 1,
             err.text);
    conclude(job, JOBS_FAILED, now);
}

static void
tick_running(struct job *job, const struct jobs_now *now)
{
    int64_t limit = (int64_t)job->spec->max_run_seconds * 1000;
    char day[JOBTIME_DAY];

    jobtime_day(now->wall, day);
    if (job->is_continuous && job->spec->restart_on_day_change &&
        strcmp(day, job->day) != 0) {
        job_terminate(job, "the day has changed", now);
    }
    if (!job->is_continuous && limit > 0 && !job->stopped_by &&
        now->ms - job->started_ms >= limit) {
        job->is_overdue = true;
        job_terminate(job, "it took longer than MaxRunSeconds", now);
    }
}

static void
tick_waiting(struct job *job, const struct jobs_now *now)
{
    char day[JOBTIME_DAY];

    jobtime_day(now->wall, day);
    if (job->nr_tries > 0 && strcmp(day, job->day) != 0) {
        job->nr_tries = 0; /* other files, another outfile */
        job->next_ms = clock_earlier(job->next_ms, now->ms);
    }
    if (now->ms < job->next_ms) {
        return;
    }
    if (job->is_continuous ||
        jobtime_in_range(job->spec->time_range, now->wall)) {
        start(job, now);
    } else {
        job->next_ms = now->ms + job->check_ms;
    }
}

void
job_tick(struct job *job, bool is_stopping, const struct jobs_now *now)
{
    if (job->pid && job->spec) {
        tick_running(job, now);
    }
    if (job->pid && now->ms >= job->kill_ms) {
        job->ops->kill(job->ops->ctx, job->pid, SIGKILL);
        job->kill_ms = CLOCK_NEVER;
    }
    if (!job->pid && job->spec && !is_stopping) {
        tick_waiting(job, now);
    }
}

int64_t
job_next_ms(const struct job *job, bool is_stopping, const struct jobs_now *now)
{
    const struct config_job *spec = job->spec;
    int64_t next = job->kill_ms;

    if (!job->pid) {
        return spec && !is_stopping ? job->next_ms : CLOCK_NEVER;
    }
    if (!spec || job->stopped_by) {
        return next;
    }
    if (job->is_continuous && spec->restart_on_day_change) {
        next = clock_earlier(next,
                             now->ms + jobtime_to_next_day(now->wall) * 1000);
    }
    if (!job->is_continuous && spec->max_run_seconds > 0) {
        next = clock_earlier(next, job->started_ms +
                                       (int64_t)spec->max_run_seconds * 1000);
    }
    return next;
}

/* ---- to be seen ---- */

const char *
job_outcome_name(enum jobs_outcome outcome)
{
    static const char *const names[] = {
        [JOBS_NEVER_RAN] = "never ran", [JOBS_DONE] = "done",
        [JOBS_EMPTY] = "nothing found", [JOBS_EXISTS] = "outfile exists",
        [JOBS_FAILED] = "failed",       [JOBS_STOPPED] = "stopped",
    };

    return names[outcome];
}

void
job_row(const struct job *job, const struct jobs_now *now, struct jobs_row *out)
{
    *out = job->row;
    out->kind = job->is_continuous ? "continuous" : "schedule";
    out->name = job->name;
    out->is_running = job->pid != 0;
    out->reason = job->reason;
    out->next_in_ms =
        job->pid || job->next_ms < now->ms ? 0 : job->next_ms - now->ms;
}
