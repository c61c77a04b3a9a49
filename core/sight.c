/* SPDX-License-Identifier: Apache-2.0
 *
 * What the listener shows of itself.
 */
#include "sight.h"
#include "clock.h"
#include "metrics.h"
#include "status.h"

#include <poll.h>
#include <string.h>

struct stats_counts
sight_count(const struct sight_view *v)
{
    const struct connection_shared *sh = v->shared;
    size_t nr_in = 0;

    for (size_t i = 0; i < v->nr; i++) {
        nr_in += v->conns[i]->is_authenticated;
    }
    return (struct stats_counts){.current = sh->nr_users + sh->nr_health,
                                 .lifetime = sh->nr_logins,
                                 .pre_auth = v->nr - nr_in + v->nr_guests};
}

/* The server's processes. */
static size_t
count_tasks(const struct sight_view *v)
{
    size_t nr = 1 + jobs_nr_running(v->jobs);

    for (size_t i = 0; i < v->nr; i++) {
        const struct connection *c = v->conns[i];

        nr += (c->session_pid != 0) + (size_t)(c->worker_pid != 0) +
              (c->lookup_pid != 0);
    }
    return nr;
}

/* ---- start and end ---- */

void
sight_init(struct sight *s)
{
    *s = (struct sight){.started_ms = clock_now_ms(), .started = time(NULL)};
    stats_init(&s->stats, s->started_ms);
    for (size_t i = 0; i < SIGHT_NR_ENDPOINTS; i++) {
        endpoint_init(&s->endpoints[i]);
    }
}

int
sight_open(struct sight *s, const struct connection_shared *shared, int port,
           struct error *err)
{
    const struct config_server *c = &shared->config->server;
    struct error why = ERROR_INIT;
    int st = DT_OK;

    s->port = port;
    if (*c->status_socket &&
        endpoint_open_unix(&s->endpoints[0], c->status_socket, false, &why) !=
            DT_OK) {
        log_warn(shared->log, "no --status|%s", why.text);
    }
    if (*c->metrics_socket) {
        st = endpoint_open_unix(&s->endpoints[1], c->metrics_socket, true, err);
    }
    if (st == DT_OK && c->metrics_port > 0) {
        st = endpoint_open_loopback(&s->endpoints[2], c->metrics_port, err);
    }
    return st;
}

void
sight_close(struct sight *s)
{
    for (size_t i = 0; i < SIGHT_NR_ENDPOINTS; i++) {
        endpoint_close(&s->endpoints[i]);
    }
}

/* ---- askers ---- */

struct asked {
    const struct sight *sight;
    const struct sight_view *view;
};

static int
answer_status(void *ctx, const char *request, size_t len, bool is_full,
              struct buf *out)
{
    const struct asked *a = ctx;
    size_t want = strlen(STATUS_REQUEST);

    if (memcmp(request, STATUS_REQUEST, len < want ? len : want) != 0) {
        return DT_ERR_PROTO;
    }
    if (len < want) {
        return is_full ? DT_ERR_PROTO : DT_AGAIN;
    }
    return status_format(a->sight, a->view, out);
}

static int
answer_metrics(void *ctx, const char *request, size_t len, bool is_full,
               struct buf *out)
{
    const struct asked *a = ctx;

    return metrics_answer(request, len, is_full, a->view, a->sight, out);
}

/* ---- the loop ---- */

size_t
sight_poll(struct sight *s, struct pollfd *p)
{
    size_t n = 0;

    for (size_t i = 0; i < SIGHT_NR_ENDPOINTS; i++) {
        s->nr_polled[i] = endpoint_poll(&s->endpoints[i], p + n);
        n += s->nr_polled[i];
    }
    return n;
}

void
sight_events(struct sight *s, const struct sight_view *v,
             const struct pollfd *p)
{
    struct asked asked = {s, v};
    int64_t now = clock_now_ms();

    for (size_t i = 0; i < SIGHT_NR_ENDPOINTS; i++) {
        endpoint_events(&s->endpoints[i], p, s->nr_polled[i],
                        i == 0 ? answer_status : answer_metrics, &asked, now);
        p += s->nr_polled[i];
    }
}

int64_t
sight_next_ms(const struct sight *s, const struct sight_view *v)
{
    const struct stats_counts counts = sight_count(v);
    int64_t next = stats_next_ms(&s->stats, &counts);

    for (size_t i = 0; i < SIGHT_NR_ENDPOINTS; i++) {
        next = clock_earlier(next, endpoint_next_ms(&s->endpoints[i]));
    }
    return next;
}

void
sight_tick(struct sight *s, const struct sight_view *v, int64_t now_ms)
{
    const struct stats_counts counts = sight_count(v);

    stats_check(&s->stats, v->shared->log, &counts, count_tasks(v), now_ms);
    for (size_t i = 0; i < SIGHT_NR_ENDPOINTS; i++) {
        endpoint_check_time(&s->endpoints[i], now_ms);
    }
}
