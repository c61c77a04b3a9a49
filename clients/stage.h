/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread that makes the reduce stages give out what they have: at each
 * interval of a followed query, and at the end. A thread of its own, since
 * output may wait for its reader while the main thread must see signals.
 *
 * Threads: the functions are the main thread's.
 */
#ifndef CLIENTS_STAGE_H
#define CLIENTS_STAGE_H

#include "reduce.h"

struct stage;

/* `interval_ms`: 0 for none; the first is half as long. `event_fd`: an eventfd
 * that is written when stage_is_over may have changed. */
int stage_new(struct reduce *r, int64_t interval_ms, int event_fd,
              struct stage **out, struct error *err);
/* Waits for the thread: call output_stop first unless the stage is over. */
void stage_free(struct stage *s);
/* All input has come: begins reduce_finish. May be called again. */
/* Another interval from now on, 0: none. Any thread. */
void stage_set_interval(struct stage *s, int64_t interval_ms);
void stage_finish(struct stage *s);
/* The finish is done, or an interval failed. */
bool stage_is_over(const struct stage *s);
/* Once over: what reduce_finish answered. */
int stage_status(const struct stage *s);

#endif
