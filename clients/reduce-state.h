/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a reduce. Only for reduce*.c.
 */
#ifndef CLIENTS_REDUCE_STATE_H
#define CLIENTS_REDUCE_STATE_H

#include "reduce-query.h"
#include "reduce-server.h"

#include <pthread.h>
#include <stdatomic.h>

struct reduce {
    pthread_mutex_t lock;
    struct reduce_args args;
    struct reduce_query *queries; /* of the specs … */
    size_t nr_queries;            /* … and, if this is more, a second stage */
    struct reduce_server *servers;
    atomic_bool expects_cancel;
};

/* Starts the stages of all queries. DT_OK, or as reduce_query_start. */
int reduce_start_queries(struct reduce *r, struct error *err);
/* Interactive: the result is complete when the query ended everywhere, while
 * the session goes on. Under the lock. */
void reduce_finish_if_ended(struct reduce *r);

#endif
