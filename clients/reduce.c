/* SPDX-License-Identifier: Apache-2.0
 *
 * The one place that is fed: frames to the reduce stage or the printer.
 */
#include "reduce-state.h"

#include "meter.h"
#include "plugin.h"
#include "screen.h"

#include <stdlib.h>

/* ---- making ---- */

int
reduce_start_queries(struct reduce *r, struct error *err)
{
    const struct reduce_args *a = &r->args;
    int rc = DT_OK;

    for (size_t i = 0; rc == DT_OK && i < r->nr_queries; i++) {
        struct reduce_query *rq = &r->queries[i];
        bool is_second = i == a->nr_specs;

        *rq = (struct reduce_query){
            .spec = is_second ? a->file_spec : &a->specs[i],
            .printer = a->printer,
            .diag = a->diag,
            .is_second = is_second,
            .sink = is_second || (i == 0 && !a->file_spec) ? a->sink : NULL,
        };
        if (i == 0 && a->is_redrawn) {
            rq->screen = screen_new(a->printer, a->diag->log);
            rc = rq->screen ? DT_OK : DT_ERR_NOMEM;
        }
        rc = rc == DT_OK ? reduce_query_start(rq, a->plugins, err) : rc;
    }
    return rc;
}

int
reduce_new(const struct reduce_args *args, struct reduce **out,
           struct error *err)
{
    struct reduce *r = calloc(1, sizeof(*r));
    int rc = DT_OK;

    if (!r) {
        return error_set(err, DT_ERR_NOMEM, "reduce: out of memory");
    }
    pthread_mutex_init(&r->lock, NULL);
    r->args = *args;
    r->nr_queries = args->nr_specs + (args->file_spec != NULL);
    r->queries = calloc(r->nr_queries, sizeof(*r->queries));
    r->servers = calloc(args->nr_servers, sizeof(*r->servers));
    if (!r->queries || !r->servers) {
        r->args.nr_specs = r->nr_queries = r->args.nr_servers = 0;
        rc = DT_ERR_NOMEM;
    }
    for (size_t i = 0; rc == DT_OK && i < args->nr_servers; i++) {
        rc = reduce_server_init(&r->servers[i], args->nr_specs, args->own_host);
        r->servers[i].updated = args->specs[0].id;
    }
    if (rc == DT_OK) {
        rc = reduce_start_queries(r, err);
    }
    if (rc != DT_OK) {
        if (rc == DT_ERR_NOMEM) {
            error_set(err, rc, "reduce: out of memory");
        }
        reduce_free(r);
        return rc;
    }
    *out = r;
    return DT_OK;
}

void
reduce_restart_server(struct reduce *r, size_t server)
{
    pthread_mutex_lock(&r->lock);
    reduce_server_restart(&r->servers[server]);
    r->servers[server].updated = r->args.specs[0].id;
    pthread_mutex_unlock(&r->lock);
}

void
reduce_free(struct reduce *r)
{
    if (!r) {
        return;
    }
    for (size_t i = 0; i < r->nr_queries; i++) {
        reduce_query_fini(&r->queries[i]);
    }
    for (size_t i = 0; i < r->args.nr_servers; i++) {
        reduce_server_fini(&r->servers[i]);
    }
    free(r->queries);
    free(r->servers);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* ---- frames ---- */

/* What the handlers below share. */
struct call {
    struct reduce *r;
    struct reduce_server *server;
    const char *name; /* of the server, as the user wrote it */
    struct reduce_query *rq;
    struct reduce_stream *stream;
    const struct wire_frame *f;
    bool has_slack;
    struct error *err;
};

static enum reduce_result
server_failed(struct call *c, int status, const char *text)
{
    error_set(c->err, status, "%s", text);
    return REDUCE_SERVER_FAILED;
}

static enum reduce_result
of_output(int rc)
{
    return rc == DT_OK ? REDUCE_OK : REDUCE_OVER;
}

static enum reduce_result
on_hello(struct call *c)
{
    return reduce_server_hello(c->server, c->f, c->r->queries, c->err) == DT_OK
               ? REDUCE_OK
               : REDUCE_SERVER_FAILED;
}

static enum reduce_result
on_source(struct call *c)
{
    struct source_desc d = {0};
    struct reduce_source *e;
    const char *host = c->server->host ? c->server->host : c->name;
    int rc = DT_OK;

    if (source_desc_parse(c->f->data, c->f->len, &d, c->err) != DT_OK) {
        return REDUCE_SERVER_FAILED;
    }
    e = reduce_server_source(c->stream, c->f->source, c->err);
    if (!e) {
        source_desc_fini(&d);
        return REDUCE_SERVER_FAILED;
    }
    printer_source_free(e->printed);
    e->printed =
        printer_source_new((size_t)(c->server - c->r->servers), host, d.name);
    if (c->rq->instance) {
        rc = reduce_query_origin(c->rq, d.name, host, &e->origin);
    }
    source_desc_fini(&d);
    return e->printed && rc == DT_OK
               ? REDUCE_OK
               : server_failed(c, DT_ERR_NOMEM, "out of memory");
}

/* Does any query still take input? */
static bool
wants_more(const struct reduce *r)
{
    for (size_t i = 0; i < r->args.nr_specs; i++) {
        if (!r->queries[i].is_over) {
            return true;
        }
    }
    return false;
}

static enum reduce_result
on_feed(struct call *c, uint32_t origin)
{
    if (c->rq->is_over) {
        return REDUCE_OK;
    }
    int rc = reduce_query_feed(c->rq, c->f, origin, c->has_slack);
    struct reduce_query *second =
        c->rq == c->r->queries ? &c->r->queries[c->r->args.nr_specs] : NULL;

    if (second && c->r->nr_queries > c->r->args.nr_specs && rc == DT_OK &&
        !second->is_over) {
        rc = reduce_query_feed(second, c->f, origin, c->has_slack);
    }
    return rc == DT_STOP && (c->r->args.on_update || wants_more(c->r))
               ? REDUCE_OK
               : of_output(rc);
}

static enum reduce_result
on_lines(struct call *c)
{
    struct reduce_source *e;

    if (c->f->source >= c->stream->nr_sources ||
        !c->stream->sources[c->f->source].printed) {
        return server_failed(c, DT_ERR_PROTO,
                             "lines of a source that was not announced");
    }
    e = &c->stream->sources[c->f->source];
    if (c->f->len == 0) {
        return REDUCE_OK; /* it says where to go on (resume.h), and no more */
    }
    if (c->rq->instance &&
        !(plugin_descriptor(c->rq->plugin)->flags & DT_PRINTED)) {
        return on_feed(c, e->origin);
    }
    return of_output(printer_lines(c->r->args.printer, e->printed, c->f->data,
                                   c->f->len, c->f->first_line, c->rq->cancel));
}

/* Servers may have the same name; their partial results have numbers by which
 * the stage knows them apart. */
static int
name_server(struct call *c)
{
    const char *host = c->server->host ? c->server->host : c->name;
    int rc = DT_OK;

    if (!c->stream->has_origin) {
        rc = reduce_query_origin(c->rq, "", host, &c->stream->origin);
        c->stream->has_origin = rc == DT_OK;
    }
    return rc;
}

static enum reduce_result
on_partial(struct call *c)
{
    if (c->rq->instance) {
        return name_server(c) == DT_OK
                   ? on_feed(c, c->stream->origin)
                   : server_failed(c, DT_ERR_NOMEM, "out of memory");
    }
    error_set(c->err, DT_ERR_ABI,
              "the server sends partial results of plugin %s, which must be "
              "installed at this client as well",
              c->rq->spec->plugin);
    return REDUCE_SERVER_FAILED;
}

static enum reduce_result
on_note(struct call *c)
{
    diag_server(c->r->args.diag, LOG_WARN,
                c->server->host ? c->server->host : c->name, "%.*s",
                (int)(c->f->len > 65535 ? 65535 : c->f->len),
                (const char *)c->f->data);
    return REDUCE_OK;
}

/* The answer to a registration: nobody waits for it. */
static enum reduce_result
on_authkey(struct call *c)
{
    static const char failed[] = "AUTHKEY ERR ";
    size_t skip = sizeof(failed) - 1;

    if (c->f->len > skip && memcmp(c->f->data, failed, skip) == 0) {
        diag_server(c->r->args.diag, LOG_WARN,
                    c->server->host ? c->server->host : c->name,
                    "AUTHKEY registration failed|%.*s",
                    (int)(c->f->len - skip > 1000 ? 1000 : c->f->len - skip),
                    (const char *)c->f->data + skip);
    }
    return REDUCE_OK;
}

/* Interactive: the END of a query that was to replace another, and could not.
 */
static bool
is_refusal(const struct call *c, const struct query_end *end)
{
    return c->r->args.on_update && end->status < 0 &&
           c->server->updated != c->f->query;
}

static enum reduce_result
on_updated(struct call *c)
{
    c->server->updated = c->f->query;
    if (c->r->args.on_update) {
        c->r->args.on_update(c->r->args.update_ctx,
                             (size_t)(c->server - c->r->servers), NULL);
    }
    return REDUCE_OK;
}

static enum reduce_result
on_end(struct call *c)
{
    struct query_end end = {0};

    if (query_end_parse(c->f->data, c->f->len, &end, c->err) != DT_OK) {
        return REDUCE_SERVER_FAILED;
    }
    if (c->stream->has_ended) {
        query_end_fini(&end);
        return server_failed(c, DT_ERR_PROTO, "a query ended twice");
    }
    if (is_refusal(c, &end)) {
        c->r->args.on_update(
            c->r->args.update_ctx, (size_t)(c->server - c->r->servers),
            end.message ? end.message : dt_strerror(end.status));
        query_end_fini(&end);
        return REDUCE_OK;
    }
    c->stream->has_ended = true;
    c->server->summary.nr_ended++;
    c->server->summary.failed += end.failed;
    c->server->summary.broken += end.broken;
    c->server->summary.lines_sent += end.lines_sent;
    meter_query_over(c->r->args.meter, (size_t)(c->server - c->r->servers),
                     (size_t)(c->rq - c->r->queries), end.bytes_read);
    if ((end.status == DT_ERR_CANCELLED &&
         atomic_load(&c->r->expects_cancel)) ||
        output_error(printer_output(c->r->args.printer))) {
        query_end_fini(&end);
        return REDUCE_OK;
    }
    if (end.status < 0) {
        diag_server(c->r->args.diag, LOG_ERROR, c->name, "%s: %s",
                    c->rq->spec->plugin,
                    end.message ? end.message : dt_strerror(end.status));
        if (c->server->summary.status == DT_OK) {
            c->server->summary.status = end.status;
        }
    }
    query_end_fini(&end);
    if (c->r->args.on_update) {
        reduce_finish_if_ended(c->r);
    }
    return REDUCE_OK;
}

static enum reduce_result
on_progress(struct call *c)
{
    meter_bytes(c->r->args.meter, (size_t)(c->server - c->r->servers),
                (size_t)(c->rq - c->r->queries), c->f->offset,
                c->f->first_line);
    return REDUCE_OK;
}

static struct reduce_query *
find_query(const struct reduce *r, uint32_t id)
{
    for (size_t i = 0; i < r->args.nr_specs; i++) {
        if (r->args.specs[i].id == id) {
            return &r->queries[i];
        }
    }
    return NULL;
}

static enum reduce_result
on_query_frame(struct call *c)
{
    c->rq = find_query(c->r, c->f->query);
    if (!c->rq && c->r->args.on_update &&
        c->f->query < c->r->args.specs[0].id) {
        return REDUCE_OK; /* late words of a former query */
    }
    if (!c->rq) {
        return server_failed(c, DT_ERR_PROTO,
                             "a frame of a query that was not asked");
    }
    c->stream = &c->server->streams[c->rq - c->r->queries];
    switch (c->f->type) {
    case WIRE_S_SOURCE:
        return on_source(c);
    case WIRE_S_LINES:
        return on_lines(c);
    case WIRE_S_PARTIAL:
        return on_partial(c);
    case WIRE_S_END:
        return on_end(c);
    case WIRE_S_PROGRESS:
        return on_progress(c);
    case WIRE_S_UPDATED:
        return on_updated(c);
    case WIRE_S_TEXT:
        return of_output(printer_text(c->r->args.printer, c->f->data, c->f->len,
                                      c->rq->cancel));
    default:
        return REDUCE_OK;
    }
}

enum reduce_result
reduce_frame(struct reduce *r, size_t server, const struct wire_frame *f,
             bool has_slack, const struct cancel *cancel, struct error *err)
{
    struct call c = {
        .r = r,
        .server = &r->servers[server],
        .name = r->args.names[server],
        .f = f,
        .has_slack = has_slack,
        .err = err,
    };
    enum reduce_result result = REDUCE_OK;

    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->nr_queries; i++) {
        r->queries[i].cancel = cancel;
    }
    switch (f->type) {
    case WIRE_S_HELLO:
        result = on_hello(&c);
        break;
    case WIRE_S_NOTE:
        result = on_note(&c);
        break;
    case WIRE_S_AUTHKEY:
        result = on_authkey(&c);
        break;
    case WIRE_S_SOURCE:
    case WIRE_S_LINES:
    case WIRE_S_PARTIAL:
    case WIRE_S_END:
    case WIRE_S_PROGRESS:
    case WIRE_S_UPDATED:
    case WIRE_S_TEXT:
        result = on_query_frame(&c);
        break;
    default:
        break; /* whatever later servers send */
    }
    pthread_mutex_unlock(&r->lock);
    return result;
}

bool
reduce_wants_whole(struct reduce *r, uint32_t query)
{
    const struct reduce_query *rq;
    bool wants;

    pthread_mutex_lock(&r->lock);
    rq = find_query(r, query);
    wants = rq && rq->instance;
    pthread_mutex_unlock(&r->lock);
    return wants;
}

bool
reduce_has_stage(const struct reduce *r)
{
    for (size_t i = 0; i < r->args.nr_specs; i++) {
        if (r->queries[i].instance) {
            return true;
        }
    }
    return false;
}

/* ---- the end ---- */

enum reduce_result
reduce_interval(struct reduce *r)
{
    enum reduce_result result = REDUCE_OK;

    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; result == REDUCE_OK && i < r->nr_queries; i++) {
        struct reduce_query *rq = &r->queries[i];

        rq->cancel = NULL;
        if (rq->instance && !rq->is_over && rq->spec->interval_ms) {
            result = of_output(reduce_query_drain(rq, DT_DRAIN_INTERVAL));
        }
    }
    if (result == REDUCE_OK) {
        result = of_output(printer_flush(r->args.printer, NULL));
    }
    pthread_mutex_unlock(&r->lock);
    return result;
}

int
reduce_finish(struct reduce *r)
{
    int rc = DT_OK, flushed;

    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->nr_queries; i++) {
        struct reduce_query *rq = &r->queries[i];
        int one = DT_OK;

        rq->cancel = NULL;
        /* A stage that had enough is finished like one whose input ended. */
        if (rq->instance && rq->err.status == DT_OK && !rq->is_done) {
            one = reduce_query_drain(rq, DT_DRAIN_FINAL);
        }
        if (rq->err.status != DT_OK) {
            log_error(r->args.diag->log, "%s", rq->err.text);
            one = rq->err.status;
        }
        rc = rc == DT_OK ? one : rc;
    }
    flushed = printer_flush(r->args.printer, NULL);
    pthread_mutex_unlock(&r->lock);
    return rc == DT_OK ? flushed : rc;
}

int
reduce_flush(struct reduce *r)
{
    int rc;

    pthread_mutex_lock(&r->lock);
    rc = printer_flush(r->args.printer, NULL);
    pthread_mutex_unlock(&r->lock);
    return rc;
}

void
reduce_expect_cancel(struct reduce *r)
{
    /* Not under the lock, whose holder may wait for the output's reader. */
    atomic_store(&r->expects_cancel, true);
}

struct reduce_summary
reduce_summary(struct reduce *r, size_t server)
{
    struct reduce_summary summary;

    pthread_mutex_lock(&r->lock);
    summary = r->servers[server].summary;
    pthread_mutex_unlock(&r->lock);
    return summary;
}

int
reduce_status(struct reduce *r)
{
    int status = DT_OK;

    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->nr_queries && status == DT_OK; i++) {
        status = r->queries[i].err.status;
    }
    pthread_mutex_unlock(&r->lock);
    return status;
}
