/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose turn it is to make the next unit of a query's input. Who makes units
 * of a stream hands them to threads that wait and goes on making: the state of
 * a decompressor stays in one core's cache.
 *
 * Threads: any.
 */
#ifndef CORE_TURN_H
#define CORE_TURN_H

#include "unit.h"

#include <pthread.h>

struct turn {
    pthread_mutex_t lock; /* nothing else is taken under it */
    pthread_cond_t moved;
    const struct cancel *cancel;
    bool is_busy; /* somebody has the turn */
    unsigned nr_waiting;
    bool is_handed; /* `handed` is for one who waits */
    struct unit handed;
};

void turn_init(struct turn *t, const struct cancel *cancel);
void turn_fini(struct turn *t);

/* Waits. DT_OK: the caller has the turn, until turn_give; DT_AGAIN: it has a
 * unit instead, in *u; DT_ERR_CANCELLED. */
int turn_take(struct turn *t, struct unit *u);
/* By who has the turn: true when *u went to somebody who waits; the caller
 * still has the turn and, in *u, memory for the next. */
bool turn_hand_over(struct turn *t, struct unit *u);
void turn_give(struct turn *t);
/* Wakes those who wait to look at the cancel. */
void turn_interrupt(struct turn *t);

#endif
