/* SPDX-License-Identifier: Apache-2.0
 *
 * A run at servers: the output thread, from bytes to the reduce stage.
 */
#include "run-servers.h"

#include "clock.h"
#include "judge.h"
#include "meter.h"
#include "setup.h"

#include <unistd.h>

static void
wake(int fd)
{
    uint64_t one = 1;

    (void)!write(fd, &one, sizeof(one));
}

/* Places to go on at are those of the present query. */
static int
follow_frame(struct peer *p, const struct wire_frame *f)
{
    if (f->query && f->query < p->query) {
        return DT_OK;
    }
    if (f->query > p->query) {
        resume_fini(&p->resume);
        p->resume = (struct resume){0};
        p->query = f->query;
    }
    return resume_frame(&p->resume, f);
}

static int
on_frame(void *ctx, const struct wire_frame *f)
{
    struct peer *p = ctx;

    p->result = reduce_frame(p->run->reduce, p->index, f, true, NULL, &p->err);
    if (p->result != REDUCE_OK) {
        return DT_STOP;
    }
    if (f->type == WIRE_S_HELLO) {
        reconnect_established(&p->reconnect);
    }
    return p->run->is_resumed ? follow_frame(p, f) : DT_OK;
}

static bool
may_split(void *ctx, uint32_t query)
{
    struct peer *p = ctx;

    /* Where a frame ends is where another session goes on. */
    return !p->run->is_resumed && !reduce_wants_whole(p->run->reduce, query);
}

struct decode_sink
run_servers_sink(struct peer *p)
{
    return (struct decode_sink){on_frame, may_split, p};
}

static void
take_bytes(struct servers_run *r, const struct chunk *c)
{
    struct peer *p = &r->peers[c->server];

    if (p->err.status != DT_OK) {
        return; /* its frames are broken; the pool is about to drop it */
    }
    if (decode_bytes(&p->decode, c->data, c->len, &p->err) == DT_OK) {
        return;
    }
    if (p->result == REDUCE_OVER) {
        atomic_store(&r->is_over, true);
        chunks_close(r->chunks);
        return;
    }
    pool_drop(r->pool, c->server);
}

/* Says what went wrong with a server, once. */
static bool
judge(struct servers_run *r, size_t i)
{
    struct reduce_summary sum = reduce_summary(r->reduce, i);
    struct peer *p = &r->peers[i];
    bool complete = sum.nr_ended == r->c->nr_queries;

    r->lines_sent += sum.lines_sent;
    if (atomic_load(&r->is_stopping)) {
        return complete;
    }
    return judge_server(&(const struct judge){
        .diag = &r->c->diag,
        .name = r->names[i],
        .link = pool_result(r->pool, i),
        .summary = &sum,
        .err = &p->err,
        .is_complete = complete,
        .is_inside = decode_is_inside(&p->decode),
        .is_strict = r->c->flags->strict,
    });
}

static bool
wants_again(struct servers_run *r, size_t i)
{
    struct reduce_summary sum = reduce_summary(r->reduce, i);

    return r->is_following && !atomic_load(&r->is_stopping) &&
           !atomic_load(&r->is_over) && r->peers[i].err.status == DT_OK &&
           reconnect_helps(pool_result(r->pool, i), &sum, r->c->nr_queries);
}

/* The queries as they go on at one server. */
static int
next_request(struct servers_run *r, struct peer *p, struct buf *out,
             struct error *err)
{
    struct query_spec spec;
    int rc;

    if (!r->is_resumed) {
        return setup_request(r->c, atomic_load(&r->specs), out, err);
    }
    rc = resume_end_session(&p->resume);
    if (rc == DT_OK) {
        rc = query_spec_copy(&spec, atomic_load(&r->specs));
    }
    if (rc != DT_OK) {
        return error_set(err, rc, "%s", dt_strerror(rc));
    }
    rc = resume_apply(&p->resume, &spec);
    rc = rc == DT_OK ? setup_request(r->c, &spec, out, err)
                     : error_set(err, rc, "%s", dt_strerror(rc));
    query_spec_fini(&spec);
    return rc;
}

/* Another connection to a server; false: it cannot be made. */
static bool
begin_again(struct servers_run *r, size_t i)
{
    struct peer *p = &r->peers[i];
    int64_t delay = reconnect_delay_ms(&p->reconnect);
    struct error err = ERROR_INIT;
    struct buf request = {0};
    int rc = next_request(r, p, &request, &err);

    reduce_restart_server(r->reduce, i);
    decode_fini(&p->decode);
    decode_init(&p->decode, &p->sink);
    if (rc == DT_OK) {
        log_warn(r->c->diag.log, "%s|connecting again in %.1f s", r->names[i],
                 (double)delay / 1000);
        rc = pool_restart(r->pool, i, request.data, request.len,
                          clock_now_ms() + delay);
    } else {
        buf_fini(&request);
    }
    if (rc != DT_OK) {
        log_error(r->c->diag.log, "%s|cannot connect again: %s", r->names[i],
                  err.text[0] ? err.text : dt_strerror(rc));
    }
    return rc == DT_OK;
}

static void
server_over(struct servers_run *r, size_t i)
{
    bool is_good = judge(r, i);

    if (wants_again(r, i) && begin_again(r, i)) {
        return;
    }
    atomic_store(&r->peers[i].is_over, true);
    reduce_server_over(r->reduce, i);
    r->is_good[i] = is_good;
    meter_server_over(r->meter, i, is_good);
    if (is_good) {
        r->nr_completed++;
    } else {
        r->nr_failed++;
    }
    if (++r->nr_over == r->servers->nr) {
        atomic_store(&r->is_input_over, true);
        wake(r->event_fd);
    }
}

void *
run_servers_output(void *arg)
{
    struct servers_run *r = arg;

    for (;;) {
        struct chunk *c = chunks_pop(r->chunks, false);

        if (!c) {
            /* Nothing more for now: what was printed becomes visible. */
            if (reduce_flush(r->reduce) != DT_OK) {
                break;
            }
            c = chunks_pop(r->chunks, true);
        }
        if (!c) {
            break;
        }
        if (c->is_end) {
            server_over(r, c->server);
        } else {
            take_bytes(r, c);
        }
        chunks_put(r->chunks, c);
        if (r->nr_over == r->servers->nr) {
            return NULL;
        }
    }
    atomic_store(&r->is_over, true);
    wake(r->event_fd);
    return NULL;
}
