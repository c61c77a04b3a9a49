/* SPDX-License-Identifier: Apache-2.0
 *
 * What the listener shows of itself: the statistics line of its log, the
 * socket that dserver --status asks, and the one for Prometheus.
 */
#ifndef CORE_SIGHT_H
#define CORE_SIGHT_H

#include "connection.h"
#include "endpoint.h"
#include "jobs.h"
#include "stats.h"

#define SIGHT_NR_ENDPOINTS 3
#define SIGHT_MAX_POLL (SIGHT_NR_ENDPOINTS * ENDPOINT_MAX_POLL)

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
    struct endpoint endpoints[SIGHT_NR_ENDPOINTS]; /* the first: status */
    size_t nr_polled[SIGHT_NR_ENDPOINTS];          /* in the present turn */
    int64_t started_ms;
    time_t started;
    int port; /* that the server listens on */
};

/* All closed; sight_close does no harm. */
void sight_init(struct sight *s);
/* Opens the sockets of the settings. The one for status may be lacking, which
 * the log tells; the one for metrics was asked for: an error. */
int sight_open(struct sight *s, const struct connection_shared *shared,
               int port, struct error *err);
void sight_close(struct sight *s);

/* For the poll loop: fills up to SIGHT_MAX_POLL entries, returns how many, and
 * handles them. */
struct pollfd;
size_t sight_poll(struct sight *s, struct pollfd *p);
void sight_events(struct sight *s, const struct sight_view *v,
                  const struct pollfd *p);
/* When sight_tick has something to do; and doing it. */
int64_t sight_next_ms(const struct sight *s, const struct sight_view *v);
void sight_tick(struct sight *s, const struct sight_view *v, int64_t now_ms);

struct stats_counts sight_count(const struct sight_view *v);

#endif
