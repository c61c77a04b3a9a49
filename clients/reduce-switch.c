/* SPDX-License-Identifier: Apache-2.0
 *
 * Another query in the place of the one that runs (interactive).
 */
#include "reduce-state.h"

#include <time.h>

#define SWITCH_S 2 /* to wait for who prints just now */

void
reduce_finish_if_ended(struct reduce *r)
{
    struct reduce_query *rq = &r->queries[0];

    for (size_t i = 0; i < r->args.nr_servers; i++) {
        if (!r->servers[i].is_over && !r->servers[i].streams[0].has_ended) {
            return;
        }
    }
    if (rq->instance && !rq->is_done && rq->err.status == DT_OK) {
        (void)reduce_query_drain(rq, DT_DRAIN_FINAL); /* rq->err has it */
    }
    rq->is_over = rq->is_done = true;
    (void)printer_flush(r->args.printer, rq->cancel);
}

/* Tries whether the stage can be started at all. */
static int
try_stage(struct reduce *r, const struct query_spec *spec, struct error *err)
{
    struct reduce_query trial = {
        .spec = spec, .printer = r->args.printer, .diag = r->args.diag};
    int rc = reduce_query_start(&trial, r->args.plugins, err);

    reduce_query_fini(&trial);
    return rc;
}

static int
switch_locked(struct reduce *r, const struct query_spec *spec,
              struct spans *spans, struct error *err)
{
    int rc = try_stage(r, spec, err);

    if (rc != DT_OK) {
        return rc;
    }
    (void)printer_flush(r->args.printer, NULL);
    reduce_query_fini(&r->queries[0]);
    r->args.specs = spec;
    rc = reduce_start_queries(r, err);
    printer_show(r->args.printer, spans);
    for (size_t i = 0; i < r->args.nr_servers; i++) {
        reduce_server_switch(&r->servers[i]);
    }
    return rc;
}

int
reduce_switch(struct reduce *r, const struct query_spec *spec,
              struct spans *spans, struct error *err)
{
    struct timespec until;
    int rc;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SWITCH_S;
    if (pthread_mutex_clocklock(&r->lock, CLOCK_MONOTONIC, &until) != 0) {
        return error_set(err, DT_ERR_LIMIT,
                         "nobody reads the output: nothing was changed");
    }
    rc = switch_locked(r, spec, spans, err);
    pthread_mutex_unlock(&r->lock);
    return rc;
}

void
reduce_server_over(struct reduce *r, size_t server)
{
    pthread_mutex_lock(&r->lock);
    r->servers[server].is_over = true;
    if (r->args.on_update) {
        reduce_finish_if_ended(r);
    }
    pthread_mutex_unlock(&r->lock);
}
