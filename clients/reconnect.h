/* SPDX-License-Identifier: Apache-2.0
 *
 * When a client that follows connects to a server again (spec clients 10.1):
 * after 2 s, doubled each time up to 60 s, each with a random fifth more or
 * less; from 2 s again once a session has lasted a minute.
 *
 * Threads: one.
 */
#ifndef CLIENTS_RECONNECT_H
#define CLIENTS_RECONNECT_H

#include "link.h"
#include "reduce.h"

/* All zero: no connection has failed. */
struct reconnect {
    unsigned nr_failed;     /* in a row */
    int64_t established_ms; /* clock_now_ms of the session; 0: none */
};

/* The server said hello. */
void reconnect_established(struct reconnect *r);
/* The session or attempt is over: milliseconds until the next. */
int64_t reconnect_delay_ms(struct reconnect *r);
/* Could another connection go better? Not when the key or the query was
 * refused. `nr_queries`: how many ENDs make a whole session. */
bool reconnect_helps(const struct link_result *link,
                     const struct reduce_summary *sum, size_t nr_queries);

#endif
