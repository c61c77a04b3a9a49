/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps the order of the input over the threads of a query: units of input
 * are numbered from 0; their output leaves, and their line numbers are given,
 * in that order.
 *
 * A finished unit's output waits in a ring; who completes the unit whose turn
 * it is writes it and all ready successors. A full ring is the back pressure:
 * order_wait_room. The unit whose turn it is never waits for room.
 *
 * Threads: any; each unit belongs to one thread at a time.
 */
#ifndef CORE_ORDER_H
#define CORE_ORDER_H

#include "buf.h"
#include "outq.h"

#define ORDER_RING 8u

struct order;

struct order *order_new(struct outq *out, const struct cancel *cancel);
void order_free(struct order *o);

/* All return DT_OK, DT_ERR_CANCELLED, or what the output failed with. */

/* Waits until unit `seq` may be begun. */
int order_wait_room(struct order *o, uint64_t seq);
/* True: it is the unit's turn and its thread may write to the output itself,
 * until order_done. */
bool order_try_turn(struct order *o, uint64_t seq);
int order_wait_turn(struct order *o, uint64_t seq);
/* Ends a unit; *out (encoded frames, may be empty) is taken and replaced by an
 * empty buffer that may have memory. */
int order_done(struct order *o, uint64_t seq, struct buf *out);

/* Line numbers. begin waits for the predecessors and gives the number of the
 * unit's first line (1 when `is_first` of its source); end publishes the
 * number of the line behind the unit. */
int order_line_begin(struct order *o, uint64_t seq, bool is_first,
                     uint64_t *first_line);
void order_line_end(struct order *o, uint64_t seq, uint64_t next_line);

/* Wakes all waiters to look at the cancel. */
void order_interrupt(struct order *o);

#endif
