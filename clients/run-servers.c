/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the queries at servers.
 *
 * Threads: the pool reads from the connections; the output thread decodes,
 * reduces and prints; the stage thread ends the reduce stages; the main thread
 * has signals and questions.
 */
#include "run-servers.h"
#include "run.h"

#include "clock.h"
#include "config.h"
#include "decode.h"
#include "finish.h"
#include "judge.h"
#include "loop.h"
#include "meter.h"
#include "plugin.h"
#include "pool.h"
#include "reconnect.h"
#include "resume.h"
#include "setup.h"
#include "stage.h"
#include "trust.h"
#include "wire.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WINDOW_TOTAL (256u << 20) /* bytes that all servers may send ahead */
#define SHOW_MS 1000              /* for what has come by then */
#define RESULT_MS 5000            /* for the result of an interrupted query */

/* ---- the main thread's loop ---- */

static bool
on_event(void *ctx)
{
    struct servers_run *r = ctx;

    if (stage_is_over(r->stage)) {
        return true;
    }
    /* Also when a stage had enough, which is then finished, or failed, which
     * is then told. */
    if (atomic_load(&r->is_input_over) || atomic_load(&r->is_over)) {
        stage_finish(r->stage);
    }
    trust_look(r->trust);
    run_servers_update_look(r);
    return false;
}

static int64_t
next_ms(void *ctx)
{
    return run_servers_update_next(ctx);
}

static void
stats(void *ctx, struct buf *out)
{
    struct servers_run *r = ctx;
    struct pool_stats s = pool_stats(r->pool);

    buf_printf(out,
               "connected=%zu|servers=%zu|connected%%=%zu|new=%zd|"
               "throttle=%zu",
               s.connected, r->servers->nr, s.connected * 100 / r->servers->nr,
               (ssize_t)s.connected - (ssize_t)r->last_connected,
               s.establishing);
    r->last_connected = s.connected;
}

static int
extra_fd(void *ctx)
{
    const struct servers_run *r = ctx;

    /* a question comes first: both may be at one terminal */
    return trust_fd(r->trust) >= 0 ? trust_fd(r->trust)
                                   : interactive_fd(r->interactive);
}

static bool
on_extra(void *ctx)
{
    struct servers_run *r = ctx;

    if (trust_fd(r->trust) < 0) {
        return interactive_read(r->interactive);
    }
    trust_read(r->trust);
    return false;
}

/* ---- making ---- */

static int
make_pool(struct servers_run *r, struct error *err)
{
    const struct flags *f = r->c->flags;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t window = WINDOW_TOTAL / r->servers->nr;
    struct pool_args args = {
        .servers = r->servers,
        .routes = r->routes,
        .env = {.trust_all = f->trust_all_hosts,
                .takes_any_host = r->c->takes_any_host,
                .diag = &r->c->diag,
                .request = r->request.data,
                .request_len = r->request.len,
                .finish = r->finish.data,
                .finish_len = r->finish.len,
                .handshake_ms = (int)f->handshake_timeout * 1000},
        .wait_ms = (int)f->wait * 1000,
        .max_establishing = (size_t)f->cpc * (size_t)(cpus > 0 ? cpus : 1),
        .max_open = setup_max_open(r->c, r->servers->nr),
        .event_fd = r->event_fd,
        .keeps_running = r->is_following,
    };
    int rc;

    /* Below libssh's own window of 1.25 MiB ours changes nothing. */
    args.env.window = window > LINK_WINDOW       ? LINK_WINDOW
                      : window > LINK_WINDOW / 2 ? window
                                                 : 0;
    rc = pool_new(&args, &r->pool, err);
    if (rc == DT_OK) {
        rc = chunks_new(pool_wake_fd(r->pool), &r->chunks, err);
    }
    if (rc == DT_OK) {
        rc = trust_new(r->pool, r->output, r->c->diag.log, f->control_tty,
                       &r->trust, err);
    }
    return rc;
}

static int
make_peers(struct servers_run *r, struct error *err)
{
    r->names = calloc(r->servers->nr, sizeof(*r->names));
    r->is_good = calloc(r->servers->nr, sizeof(*r->is_good));
    r->peers = calloc(r->servers->nr, sizeof(*r->peers));
    if (!r->names || !r->is_good || !r->peers) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < r->servers->nr; i++) {
        struct peer *p = &r->peers[i];

        r->names[i] = r->servers->v[i].text;
        *p = (struct peer){.run = r, .index = i};
        p->sink = run_servers_sink(p);
        p->query = r->c->queries[0].id;
        decode_init(&p->decode, &p->sink);
    }
    return DT_OK;
}

static int
make_output(struct servers_run *r, struct error *err)
{
    const struct client *c = r->c;
    struct reduce_args reduce = {
        .specs = c->queries,
        .nr_specs = c->nr_queries,
        .plugins = c->plugins,
        .sink = c->sink.ops ? &c->sink : NULL,
        .file_spec = c->file_spec.plugin ? &c->file_spec : NULL,
        .is_redrawn = c->is_redrawn,
        .diag = &c->diag,
        .names = r->names,
        .nr_servers = r->servers->nr,
    };
    int rc =
        output_new(STDOUT_FILENO, (c->command->flags & CLIENT_FOLLOWS) != 0,
                   &r->output, err);

    if (rc == DT_OK) {
        rc = finish_printer(c, r->output, &r->printer, err);
    }
    if (rc == DT_OK && c->flags->interactive_query) {
        rc = interactive_new(c, &run_servers_ops, r, &r->interactive, err);
        rc = rc == DT_OK ? run_servers_update_new(r, err) : rc;
        reduce.on_update = run_servers_on_update;
        reduce.update_ctx = r;
    }
    if (rc == DT_OK) {
        finish_meter(c, r->output, r->servers->nr, &r->meter, &r->status);
        reduce.meter = r->meter;
        reduce.printer = r->printer;
        rc = reduce_new(&reduce, &r->reduce, err);
    }
    if (rc == DT_OK) {
        rc = stage_new(r->reduce, finish_interval(c), r->event_fd, &r->stage,
                       err);
    }
    return rc;
}

/* Lines tell where to go on; partial results do not. */
static bool
prints_lines(const struct client *c)
{
    const struct plugin *p = plugins_find(c->plugins, c->queries[0].plugin);
    const struct dt_plugin *d = p ? plugin_descriptor(p) : NULL;

    return c->nr_queries == 1 &&
           (!d || !d->reduce || (d->flags & DT_PRINTED) != 0);
}

static int
prepare(struct servers_run *r, struct error *err)
{
    int rc;

    r->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r->event_fd < 0) {
        return error_errno(err, errno, "eventfd");
    }
    if (ssh_init() != SSH_OK) {
        return error_set(err, DT_ERR_INTERNAL, "libssh cannot be used");
    }
    if ((rc = routes_new(r->c, r->servers, &r->routes, err)) != DT_OK ||
        (rc = setup_request(r->c, r->c->queries, &r->request, err)) != DT_OK ||
        (rc = setup_finish(r->c, &r->finish, err)) != DT_OK ||
        (rc = make_peers(r, err)) != DT_OK ||
        (rc = make_output(r, err)) != DT_OK) {
        return rc;
    }
    /* a result file stands for whole runs: spec clients 10.1 */
    r->is_following =
        (r->c->command->flags & CLIENT_FOLLOWS) != 0 && !r->c->sink.ops;
    r->is_resumed = r->is_following && prints_lines(r->c);
    return make_pool(r, err);
}

static int
start_threads(struct servers_run *r, struct error *err)
{
    int rc = pool_start(r->pool, r->chunks, err);

    if (rc != DT_OK) {
        return rc;
    }
    rc = pthread_create(&r->thread, NULL, run_servers_output, r);
    if (rc != 0) {
        return error_errno(err, rc, "output");
    }
    r->has_thread = true;
    return DT_OK;
}

/* ---- the end ---- */

/* Ends what still runs. Stages that collect still give what they have, if that
 * does not take too long; else nothing is waited for but our own threads. */
static void
stop(struct servers_run *r, struct loop *loop, enum loop_end end)
{
    if (end == LOOP_DONE && stage_is_over(r->stage)) {
        return;
    }
    atomic_store(&r->is_stopping, true);
    reduce_expect_cancel(r->reduce);
    if (end != LOOP_DONE && end != LOOP_READER_GONE &&
        reduce_has_stage(r->reduce)) {
        if (!r->interactive) {
            pool_finish(r->pool);
        }
        if (!r->interactive && loop_run(loop, RESULT_MS) == LOOP_DONE) {
            return;
        }
        /* Too slow: what has come is the result. */
        pool_stop(r->pool);
        if (loop_run(loop, SHOW_MS) == LOOP_DONE) {
            return;
        }
    }
    output_stop(r->output);
    chunks_close(r->chunks);
}

static int
run_started(struct servers_run *r, struct error *err)
{
    const struct loop_args args = {
        .client = r->c,
        .output = r->output,
        .meter = r->meter,
        .status = r->status,
        .event_fd = r->event_fd,
        .on_event = on_event,
        .stats = stats,
        .extra_fd = extra_fd,
        .on_extra = on_extra,
        .next_ms = next_ms,
        .ctx = r,
    };
    struct loop *loop = NULL;
    struct finish finish = {
        .client = r->c, .output = r->output, .printer = r->printer};

    if (loop_new(&args, &loop, err) != DT_OK) {
        return RUN_FAILED;
    }
    finish.end = loop_run(loop, 0);
    stop(r, loop, finish.end);
    pool_stop(r->pool);
    pthread_join(r->thread, NULL);
    r->has_thread = false;
    finish.stage_status =
        stage_is_over(r->stage) ? stage_status(r->stage) : DT_OK;
    finish.nr_completed = r->nr_completed;
    finish.nr_failed = r->nr_failed;
    finish.lines_sent = r->lines_sent;
    if (atomic_load(&r->is_over) && finish.stage_status == DT_OK) {
        finish.nr_completed++; /* what the servers had was more than enough */
    }
    loop_free(loop);
    if ((reduce_has_stage(r->reduce) || r->c->flags->wait) &&
        finish.end != LOOP_READER_GONE && !atomic_load(&r->is_over)) {
        judge_say_missing(&r->c->diag, r->names, r->is_good, r->servers->nr);
    }
    return (int)finish_status(&finish);
}

static void
fini(struct servers_run *r)
{
    if (r->output) {
        output_stop(r->output);
    }
    if (r->has_thread) {
        chunks_close(r->chunks);
        pthread_join(r->thread, NULL);
    }
    stage_free(r->stage);
    run_servers_update_free(r);
    trust_free(r->trust);
    pool_free(r->pool);
    chunks_free(r->chunks);
    for (size_t i = 0; r->peers && i < r->servers->nr; i++) {
        decode_fini(&r->peers[i].decode);
        resume_fini(&r->peers[i].resume);
    }
    free(r->peers);
    free(r->names);
    free(r->is_good);
    reduce_free(r->reduce);
    printer_free(r->printer);
    interactive_free(r->interactive);
    output_free(r->output);
    finish_meter_end(r->c, r->meter, r->status);
    routes_free(r->routes);
    buf_fini(&r->request);
    buf_fini(&r->finish);
    if (r->event_fd >= 0) {
        close(r->event_fd);
    }
    ssh_finalize();
}

int
run_servers(const struct client *c, const struct servers *servers)
{
    struct servers_run r = {
        .c = c, .servers = servers, .event_fd = -1, .specs = c->queries};
    struct error err = ERROR_INIT;
    int status = RUN_FAILED;
    int rc = prepare(&r, &err);

    if (rc != DT_OK) {
        status = rc == DT_ERR_CANCELLED                     ? RUN_INTERRUPTED
                 : rc == DT_ERR_NOENT || rc == DT_ERR_INVAL ? RUN_USAGE
                                                            : RUN_FAILED;
    } else if (start_threads(&r, &err) == DT_OK) {
        status = run_started(&r, &err);
    }
    if (err.status != DT_OK) {
        log_at(c->diag.log, LOG_FATAL, "%s", err.text);
    }
    fini(&r);
    return status;
}
