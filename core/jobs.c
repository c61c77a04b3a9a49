/* SPDX-License-Identifier: Apache-2.0
 *
 * Scheduled and continuous queries: all of them.
 */
#include "jobs.h"

#include "clock.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#define START_MS 2000 /* before the first look (spec server 12.2) */

struct jobs {
    struct jobs_ops ops;
    struct log *log;
    struct job **v;
    size_t nr;
    int64_t check_ms;
    int64_t look_ms; /* the next look at all, for the clock may have jumped */
    int64_t due_ms;  /* when anything is to be done */
    bool is_stopping;
};

struct jobs *
jobs_new(const struct jobs_ops *ops, struct log *log)
{
    struct jobs *j = calloc(1, sizeof(*j));

    if (j) {
        j->ops = *ops;
        j->log = log;
        j->look_ms = j->due_ms = CLOCK_NEVER;
    }
    return j;
}

/* Looked up once a change, not once a turn of the listener. */
static void
find_due(struct jobs *j, const struct jobs_now *now)
{
    j->due_ms = j->nr > 0 && !j->is_stopping ? j->look_ms : CLOCK_NEVER;
    for (size_t i = 0; i < j->nr; i++) {
        j->due_ms =
            clock_earlier(j->due_ms, job_next_ms(j->v[i], j->is_stopping, now));
    }
}

void
jobs_free(struct jobs *j)
{
    if (!j) {
        return;
    }
    jobs_kill(j);
    for (size_t i = 0; i < j->nr; i++) {
        job_free(j->v[i]);
    }
    free(j->v);
    free(j);
}

/* ---- the settings ---- */

/* All that a run depends on, as text. NULL: out of memory. */
static char *
print_job(const struct config *config, const struct config_job *spec,
          bool is_continuous)
{
    /* The same moment for all: only changes of the settings shall count. */
    const struct jobrun_args args = {
        .config = config, .job = spec, .is_continuous = is_continuous};
    struct error err = ERROR_INIT;
    struct buf text = {0};

    if (jobrun_settings(&args, &text, &err) != DT_OK ||
        buf_printf(&text, "%s\n%s\n%s", spec->files, spec->outfile,
                   config->server.job_program) != DT_OK ||
        buf_append(&text, "", 1) != DT_OK) {
        buf_fini(&text);
        return NULL;
    }
    return text.data;
}

static struct job *
find(const struct jobs *j, const struct config_job *spec, bool is_continuous,
     const char *print)
{
    for (size_t i = 0; i < j->nr; i++) {
        struct job *job = j->v[i];

        if (!job->spec && job->is_continuous == is_continuous &&
            strcmp(job->name, spec->name) == 0 &&
            strcmp(job->print, print) == 0) {
            return job;
        }
    }
    return NULL;
}

/* Takes `print`. */
static struct job *
add(struct jobs *j, const struct config_job *spec, bool is_continuous,
    char *print)
{
    struct job *job =
        job_new(&j->ops, j->log, spec->name, is_continuous, print);
    struct job **v = reallocarray(j->v, j->nr + 1, sizeof(struct job *));

    j->v = v ? v : j->v;
    if (!job || !v) {
        job_free(job);
        return NULL;
    }
    j->v[j->nr++] = job;
    return job;
}

static int
use(struct jobs *j, const struct config *config, const struct config_job *spec,
    bool is_continuous, int64_t first_ms)
{
    struct job *job;
    char *print;

    if (!spec->enable || spec->allow_only) {
        return DT_OK;
    }
    print = print_job(config, spec, is_continuous);
    if (!print) {
        return DT_ERR_NOMEM;
    }
    job = find(j, spec, is_continuous, print);
    if (job) {
        free(print);
    } else {
        job = add(j, spec, is_continuous, print);
        if (!job) {
            return DT_ERR_NOMEM;
        }
        job->next_ms = first_ms;
    }
    job->spec = spec;
    job->check_ms = config->server.job_check_ms;
    return DT_OK;
}

/* Jobs that are in no settings go, once their runs have ended. */
static void
drop_unused(struct jobs *j)
{
    size_t kept = 0;

    for (size_t i = 0; i < j->nr; i++) {
        if (!j->v[i]->spec && !j->v[i]->pid) {
            job_free(j->v[i]);
        } else {
            j->v[kept++] = j->v[i];
        }
    }
    j->nr = kept;
}

int
jobs_use(struct jobs *j, const struct config *config,
         const struct jobs_now *now)
{
    const struct config_server *s = &config->server;
    int64_t first =
        now->ms + (s->job_check_ms < START_MS ? s->job_check_ms : START_MS);
    int st = DT_OK, one;

    for (size_t i = 0; i < j->nr; i++) {
        j->v[i]->spec = NULL;
    }
    for (size_t i = 0; i < s->nr_schedule; i++) {
        one = use(j, config, &s->schedule[i], false, first);
        st = st ? st : one;
    }
    for (size_t i = 0; i < s->nr_continuous; i++) {
        one = use(j, config, &s->continuous[i], true, first);
        st = st ? st : one;
    }
    for (size_t i = 0; i < j->nr; i++) {
        if (!j->v[i]->spec) {
            job_terminate(j->v[i], "the settings have changed", now);
        }
    }
    drop_unused(j);
    j->check_ms = s->job_check_ms;
    j->look_ms = now->ms + j->check_ms;
    find_due(j, now);
    return st;
}

/* ---- the loop ---- */

size_t
jobs_max_poll(const struct jobs *j)
{
    return 2 * j->nr;
}

size_t
jobs_poll(const struct jobs *j, struct pollfd *p, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < j->nr; i++) {
        const int fds[] = {j->v[i]->out.fd, j->v[i]->err.fd};

        for (size_t k = 0; k < 2; k++) {
            if (fds[k] >= 0 && n < max) {
                p[n++] = (struct pollfd){.fd = fds[k], .events = POLLIN};
            }
        }
    }
    return n;
}

void
jobs_event(struct jobs *j, int fd)
{
    for (size_t i = 0; i < j->nr; i++) {
        if (j->v[i]->out.fd == fd) {
            job_read_out(j->v[i]);
            return;
        }
        if (j->v[i]->err.fd == fd) {
            job_read_err(j->v[i]);
            return;
        }
    }
}

bool
jobs_reaped(struct jobs *j, pid_t pid, int status, const struct jobs_now *now)
{
    for (size_t i = 0; i < j->nr; i++) {
        if (j->v[i]->pid == pid) {
            job_ended(j->v[i], status, now);
            drop_unused(j);
            find_due(j, now);
            return true;
        }
    }
    return false;
}

int64_t
jobs_next_ms(const struct jobs *j)
{
    return j->due_ms;
}

void
jobs_tick(struct jobs *j, const struct jobs_now *now)
{
    if (now->ms < j->due_ms) {
        return;
    }
    for (size_t i = 0; i < j->nr; i++) {
        job_tick(j->v[i], j->is_stopping, now);
    }
    if (now->ms >= j->look_ms) {
        j->look_ms = now->ms + j->check_ms;
    }
    find_due(j, now);
}

/* ---- the end ---- */

void
jobs_stop(struct jobs *j, const struct jobs_now *now)
{
    j->is_stopping = true;
    for (size_t i = 0; i < j->nr; i++) {
        job_terminate(j->v[i], "the server ends", now);
    }
    find_due(j, now);
}

void
jobs_kill(struct jobs *j)
{
    for (size_t i = 0; i < j->nr; i++) {
        if (j->v[i]->pid) {
            j->ops.kill(j->ops.ctx, j->v[i]->pid, SIGKILL);
        }
    }
}

size_t
jobs_nr_running(const struct jobs *j)
{
    size_t nr = 0;

    for (size_t i = 0; i < j->nr; i++) {
        nr += j->v[i]->pid != 0;
    }
    return nr;
}

/* ---- to be seen ---- */

size_t
jobs_count(const struct jobs *j)
{
    return j->nr;
}

void
jobs_row_at(const struct jobs *j, size_t index, const struct jobs_now *now,
            struct jobs_row *out)
{
    job_row(j->v[index], now, out);
}
