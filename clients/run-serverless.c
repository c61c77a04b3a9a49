/* SPDX-License-Identifier: Apache-2.0
 *
 * Serverless: the worker's own code in this process, its frames handed to the
 * reduce stage or printer in place of a connection.
 *
 * Threads: the queries' own push frames; the main thread waits in its loop.
 */
#include "run.h"
#include "setup.h"

#include "config.h"
#include "finish.h"
#include "interactive.h"
#include "loop.h"
#include "permission.h"
#include "plugin.h"
#include "query.h"
#include "stage.h"
#include "watch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define END_MS 5000 /* for the final result of an interrupted query */

struct serverless {
    const struct client *c;
    struct output *output;
    struct meter *meter;
    struct statusline *status;
    struct printer *printer;
    struct reduce *reduce;
    struct stage *stage;
    struct permission *permission;
    struct outq *outq;
    _Atomic bool has_failed; /* a frame could not be taken; said by then */
    struct query **queries;
    size_t nr_started;
    int done_fd;
    struct watch *watch;
    char *short_host;
    struct interactive *interactive; /* NULL: not interactive */
};

static int
on_frame(void *ctx, const struct wire_frame *f, const struct cancel *cancel)
{
    struct serverless *s = ctx;
    struct error err; /* not cleared as a whole: there are many frames */

    err.status = DT_OK;
    err.text[0] = '\0';
    switch (reduce_frame(s->reduce, 0, f, false, cancel, &err)) {
    case REDUCE_OK:
        return DT_OK;
    case REDUCE_SERVER_FAILED:
        log_error(s->c->diag.log, "%s", err.text);
        atomic_store(&s->has_failed, true);
        return err.status;
    default:
        return DT_ERR_IO;
    }
}

static int
on_flush(void *ctx, const struct cancel *cancel)
{
    struct serverless *s = ctx;

    (void)cancel;
    return reduce_flush(s->reduce);
}

static bool
on_event(void *ctx)
{
    struct serverless *s = ctx;

    if (stage_is_over(s->stage)) {
        return true;
    }
    for (size_t i = 0; i < s->nr_started; i++) {
        if (query_state(s->queries[i]) != QUERY_DONE) {
            return false;
        }
    }
    if (s->interactive) {
        return false; /* the user may have another query */
    }
    stage_finish(s->stage);
    return false; /* the stage's end is the next event */
}

static void
stats(void *ctx, struct buf *out)
{
    (void)ctx;
    /* one session, without a connection */
    buf_puts(out, "connected=0|servers=1|connected%=0|new=0|throttle=0");
}

/* ---- interactive ---- */

static struct query_env
make_env(const struct serverless *s)
{
    return (struct query_env){
        .config = s->c->config,
        .plugins = s->c->plugins,
        .permission = s->permission,
        .out = s->outq,
        .user = s->c->user,
        .host = s->short_host,
        .is_serverless = true,
        .done_fd = s->done_fd,
        .watch = s->watch,
    };
}

/* Cancelled first: its threads may be what holds the output up. */
static int
reload(void *ctx, const struct client *next, struct error *err)
{
    struct serverless *s = ctx;
    const struct query_env env = make_env(s);
    int rc = DT_OK;

    if (s->nr_started) {
        query_cancel(s->queries[0], CANCEL_CLIENT);
        query_free(s->queries[0]);
        s->nr_started = 0;
    }
    rc = reduce_switch(s->reduce, &next->queries[0], next->spans, err);
    if (rc == DT_OK) {
        rc = query_start(&env, &next->queries[0], &s->queries[0], err);
    }
    if (rc != DT_OK) {
        return rc;
    }
    s->nr_started = 1;
    stage_set_interval(s->stage, next->queries[0].interval_ms);
    interactive_answer(s->interactive, NULL);
    return DT_OK;
}

static void
capable(void *ctx, size_t *can, size_t *all)
{
    (void)ctx;
    *can = *all = 1;
}

static void
on_update(void *ctx, size_t server, const char *refusal)
{
    (void)ctx;
    (void)server;
    (void)refusal; /* query_start has told */
}

static int
extra_fd(void *ctx)
{
    return interactive_fd(((struct serverless *)ctx)->interactive);
}

static bool
on_extra(void *ctx)
{
    return interactive_read(((struct serverless *)ctx)->interactive);
}

static int
prepare(struct serverless *s, struct error *err)
{
    const struct client *c = s->c;
    static const char *const names[] = {"local"};
    struct reduce_args reduce = {
        .specs = c->queries,
        .nr_specs = c->nr_queries,
        .plugins = c->plugins,
        .sink = c->sink.ops ? &c->sink : NULL,
        .file_spec = c->file_spec.plugin ? &c->file_spec : NULL,
        .is_redrawn = c->is_redrawn,
        .diag = &c->diag,
        .names = names,
        .nr_servers = 1,
        .own_host = s->short_host,
    };
    static const struct outq_sink sink = {.frame = on_frame, .flush = on_flush};
    int rc = finish_printer(c, s->output, &s->printer, err);

    if (rc == DT_OK && c->flags->interactive_query) {
        static const struct interactive_ops ops = {reload, capable};

        rc = interactive_new(c, &ops, s, &s->interactive, err);
        reduce.on_update = on_update;
    }
    finish_meter(c, s->output, 0, &s->meter, &s->status);
    if (rc == DT_OK) {
        reduce.printer = s->printer;
        reduce.meter = s->meter;
        rc = reduce_new(&reduce, &s->reduce, err);
    }
    if (rc == DT_OK) {
        rc = permission_new(c->user, config_rules(c->config, c->user), false,
                            &s->permission, err);
    }
    if (rc == DT_OK) {
        rc = stage_new(s->reduce, finish_interval(c), s->done_fd, &s->stage,
                       err);
    }
    if (rc == DT_OK) {
        s->outq = outq_new_sink(&sink, s);
        s->queries = calloc(c->nr_queries, sizeof(struct query *));
        if (!s->outq || !s->queries) {
            rc = error_set(err, DT_ERR_NOMEM, "out of memory");
        }
    }
    return rc;
}

static int
start_queries(struct serverless *s, struct error *err)
{
    const struct query_env env = make_env(s);
    int rc = DT_OK;

    for (size_t i = 0; rc == DT_OK && i < s->c->nr_queries; i++) {
        rc = query_start(&env, &s->c->queries[i], &s->queries[i], err);
        s->nr_started += rc == DT_OK;
    }
    return rc;
}

static void
stop_reading(struct serverless *s)
{
    for (size_t i = 0; i < s->nr_started; i++) {
        query_stop_reading(s->queries[i]);
    }
}

/* How long the queries may read, in ms, as a worker would let them; 0: for
 * ever. */
static int64_t
shortest_timeout(const struct client *c)
{
    int64_t shortest = 0;

    for (size_t i = 0; i < c->nr_queries; i++) {
        int64_t ms = c->queries[i].timeout_ms;

        if (ms > 0 && (shortest == 0 || ms < shortest)) {
            shortest = ms;
        }
    }
    return shortest;
}

/* Ends what still runs. A stage that collects still gives its result, if that
 * does not take too long. */
static void
end_queries(struct serverless *s, struct loop *loop, enum loop_end end)
{
    if (end != LOOP_DONE && end != LOOP_READER_GONE &&
        reduce_has_stage(s->reduce)) {
        stop_reading(s);
        if (loop_run(loop, END_MS) == LOOP_DONE) {
            return;
        }
    }
    if (end != LOOP_DONE) {
        output_stop(s->output);
    }
    reduce_expect_cancel(s->reduce);
    for (size_t i = 0; i < s->nr_started; i++) {
        query_cancel(s->queries[i], CANCEL_CLIENT);
    }
}

static int
exit_status(struct serverless *s, enum loop_end end)
{
    struct reduce_summary sum = reduce_summary(s->reduce, 0);
    bool failed = sum.status != DT_OK || sum.broken ||
                  atomic_load(&s->has_failed) ||
                  (s->c->flags->strict && sum.failed);
    const struct finish finish = {
        .client = s->c,
        .end = end,
        .output = s->output,
        .printer = s->printer,
        .stage_status = end == LOOP_DONE ? stage_status(s->stage) : DT_OK,
        .nr_completed = failed ? 0 : 1,
        .nr_failed = failed ? 1 : 0,
        .lines_sent = sum.lines_sent,
    };

    return (int)finish_status(&finish);
}

/* Runs what was started to its end. */
static int
run_started(struct serverless *s, struct error *err)
{
    const struct loop_args args = {
        .client = s->c,
        .output = s->output,
        .meter = s->meter,
        .status = s->status,
        .event_fd = s->done_fd,
        .on_event = on_event,
        .stats = stats,
        .extra_fd = extra_fd,
        .on_extra = on_extra,
        .ctx = s,
    };
    int64_t timeout = shortest_timeout(s->c);
    struct loop *loop = NULL;
    enum loop_end end;

    if (loop_new(&args, &loop, err) != DT_OK) {
        return RUN_FAILED;
    }
    end = loop_run(loop, timeout);
    if (timeout > 0 && end == LOOP_DEADLINE) {
        stop_reading(s);
        end = loop_run(loop, 0);
    }
    end_queries(s, loop, end);
    for (size_t i = 0; i < s->nr_started; i++) {
        query_free(s->queries[i]);
    }
    s->nr_started = 0;
    loop_free(loop);
    return exit_status(s, end);
}

int
run_serverless(const struct client *c)
{
    struct serverless s = {.c = c, .done_fd = -1};
    struct error err = ERROR_INIT;
    int status = RUN_FAILED, rc;

    (void)setup_raise_open_files(); /* each followed file is one */
    s.done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s.short_host = strndup(c->host, strcspn(c->host, "."));
    s.watch = watch_new();
    if (s.done_fd < 0 || !s.short_host || !s.watch) {
        rc = error_errno(&err, s.short_host ? errno : ENOMEM, "serverless");
    } else {
        rc =
            output_new(STDOUT_FILENO, (c->command->flags & CLIENT_FOLLOWS) != 0,
                       &s.output, &err);
    }
    if (rc == DT_OK && (rc = prepare(&s, &err)) == DT_OK) {
        rc = start_queries(&s, &err);
    }
    if (rc == DT_OK) {
        status = run_started(&s, &err);
    } else if (rc == DT_ERR_INVAL || rc == DT_ERR_NOENT || rc == DT_ERR_ABI) {
        status = RUN_USAGE;
    }
    if (err.status != DT_OK) {
        log_error(c->diag.log, "%s", err.text);
    }
    for (size_t i = 0; i < s.nr_started; i++) {
        query_cancel(s.queries[i], CANCEL_CLIENT);
        query_free(s.queries[i]);
    }
    free(s.queries);
    outq_free(s.outq);
    watch_free(s.watch);
    stage_free(s.stage);
    permission_free(s.permission);
    reduce_free(s.reduce);
    printer_free(s.printer);
    interactive_free(s.interactive);
    output_free(s.output);
    finish_meter_end(c, s.meter, s.status);
    free(s.short_host);
    if (s.done_fd >= 0) {
        close(s.done_fd);
    }
    return status;
}
