/* SPDX-License-Identifier: Apache-2.0
 *
 * The jobs of the listener.
 */
#include "jobhost.h"

#include "clock.h"

#include <signal.h>
#include <time.h>

static struct jobs_now
both_clocks(void)
{
    return (struct jobs_now){.ms = clock_now_ms(), .wall = time(NULL)};
}

static int
start_run(void *ctx, const struct config_job *job, bool is_continuous,
          time_t wall, struct jobrun *out, struct error *err)
{
    const struct jobhost *h = ctx;
    const struct jobrun_args args = {.config = h->shared->config,
                                     .job = job,
                                     .is_continuous = is_continuous,
                                     .as_root = h->shared->as_root,
                                     .port = h->port,
                                     .wall = wall};

    return jobrun_start(&args, out, err);
}

static void
kill_run(void *ctx, pid_t pid, int signal)
{
    (void)ctx;
    kill(pid, signal); /* not reaped yet: it is still this process */
}

static int
use(struct jobhost *h)
{
    const struct jobs_now now = both_clocks();

    return jobs_use(h->jobs, h->shared->config, &now);
}

int
jobhost_init(struct jobhost *h, const struct connection_shared *shared,
             int port)
{
    const struct jobs_ops ops = {
        .start = start_run, .kill = kill_run, .ctx = h};

    h->shared = shared;
    h->port = port;
    h->jobs = jobs_new(&ops, shared->log);
    return h->jobs ? use(h) : DT_ERR_NOMEM;
}

void
jobhost_fini(struct jobhost *h)
{
    jobs_free(h->jobs);
    h->jobs = NULL;
}

void
jobhost_reload(struct jobhost *h)
{
    if (use(h) != DT_OK) {
        log_error(h->shared->log, "jobs|out of memory, not all will run");
    }
}

int64_t
jobhost_next_ms(const struct jobhost *h)
{
    return jobs_next_ms(h->jobs);
}

void
jobhost_tick(struct jobhost *h)
{
    const struct jobs_now now = both_clocks();

    jobs_tick(h->jobs, &now);
}

bool
jobhost_reaped(struct jobhost *h, pid_t pid, int status)
{
    const struct jobs_now now = both_clocks();

    return jobs_reaped(h->jobs, pid, status, &now);
}

void
jobhost_stop(struct jobhost *h)
{
    const struct jobs_now now = both_clocks();

    jobs_stop(h->jobs, &now);
}
