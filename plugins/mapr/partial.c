/* SPDX-License-Identifier: Apache-2.0
 *
 * Partial results: the parts that writing and reading share.
 */
#include "partial.h"

#include <stdlib.h>

uint32_t
partial_host(struct partial_hosts *h, struct str name)
{
    char *copy;

    for (uint32_t i = h->nr; i-- > 0;) {
        if (str_equal(h->names[i], name)) {
            return i;
        }
    }
    if (h->nr == PARTIAL_MAX_HOSTS) {
        return PLAN_NONE;
    }
    if (h->nr == h->cap) {
        uint32_t cap = h->cap ? 2 * h->cap : 8;
        struct str *names = realloc(h->names, cap * sizeof(*names));

        if (!names) {
            return PLAN_NONE;
        }
        h->names = names;
        h->cap = cap;
    }
    copy = arena_copy(&h->arena, name.p, name.n, 1);
    if (!copy) {
        return PLAN_NONE;
    }
    h->names[h->nr].p = copy;
    h->names[h->nr].n = name.n;
    return h->nr++;
}

void
partial_hosts_fini(struct partial_hosts *h)
{
    arena_fini(&h->arena);
    free(h->names);
    memset(h, 0, sizeof(*h));
}

int
partial_stats_init(struct partial_stats *s, const struct plan *p)
{
    memset(s, 0, sizeof(*s));
    s->not_numbers = calloc(p->layout.nr + 1, sizeof(*s->not_numbers));
    s->seen = calloc(p->nr_slots + 1, 1);
    s->hints = calloc(1, sizeof(*s->hints));
    if (!s->not_numbers || !s->seen || !s->hints) {
        partial_stats_fini(s);
        return DT_ERR_NOMEM;
    }
    return DT_OK;
}

void
partial_stats_fini(struct partial_stats *s)
{
    free(s->not_numbers);
    free(s->seen);
    free(s->hints);
    text_fini(&s->note);
    memset(s, 0, sizeof(*s));
}

int
partial_sink_init(struct partial_sink *s, const struct plan *p, size_t budget)
{
    memset(s, 0, sizeof(*s));
    s->plan = p;
    if (groups_init(&s->groups, &p->layout, budget) < 0 ||
        partial_stats_init(&s->stats, p) < 0) {
        partial_sink_fini(s);
        return DT_ERR_NOMEM;
    }
    return DT_OK;
}

void
partial_sink_fini(struct partial_sink *s)
{
    groups_fini(&s->groups);
    partial_hosts_fini(&s->hosts);
    partial_stats_fini(&s->stats);
    free(s->host_map);
    memset(s, 0, sizeof(*s));
}
