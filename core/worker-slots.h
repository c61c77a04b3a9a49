/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker's side of the read slots: asks the listener, waits for its word.
 *
 * Threads: slots_take and slots_give from any; slots_granted from the one
 * that reads the broker's socket.
 */
#ifndef CORE_WORKER_SLOTS_H
#define CORE_WORKER_SLOTS_H

#include "query.h"

struct worker_slots;

/* broker_fd is not owned. */
struct worker_slots *worker_slots_new(int broker_fd);
void worker_slots_free(struct worker_slots *s);
/* The functions for struct query_env. */
struct slots worker_slots_api(struct worker_slots *s);
/* The listener granted request `id`. */
void worker_slots_granted(struct worker_slots *s, uint32_t id, bool follow);
/* The listener is gone: whoever waits gets DT_ERR_IO. */
void worker_slots_broken(struct worker_slots *s);

#endif
