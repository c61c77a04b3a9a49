/* SPDX-License-Identifier: Apache-2.0
 *
 * What the listener shows of itself: the statistics line of its log.
 */
#ifndef CORE_SIGHT_H
#define CORE_SIGHT_H

#include "connection.h"
#include "jobs.h"
#include "stats.h"

/* What there is to be seen, at one moment; all borrowed. */
struct sight_view {
    const struct connection_shared *shared;
    struct connection *const *conns;
    size_t nr;
    size_t nr_guests; /* at the entrance */
    const struct jobs *jobs;
};

struct sight {
    struct stats stats;
};

void sight_init(struct sight *s, int64_t now_ms);

/* For the poll loop: when sight_tick has something to do; and doing it. */
int64_t sight_next_ms(const struct sight *s, const struct sight_view *v);
void sight_tick(struct sight *s, const struct sight_view *v, int64_t now_ms);

#endif
