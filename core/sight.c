/* SPDX-License-Identifier: Apache-2.0
 *
 * What the listener shows of itself.
 */
#include "sight.h"

static struct stats_counts
count(const struct sight_view *v)
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

void
sight_init(struct sight *s, int64_t now_ms)
{
    *s = (struct sight){0};
    stats_init(&s->stats, now_ms);
}

int64_t
sight_next_ms(const struct sight *s, const struct sight_view *v)
{
    const struct stats_counts counts = count(v);

    return stats_next_ms(&s->stats, &counts);
}

void
sight_tick(struct sight *s, const struct sight_view *v, int64_t now_ms)
{
    const struct stats_counts counts = count(v);

    stats_check(&s->stats, v->shared->log, &counts, count_tasks(v), now_ms);
}
