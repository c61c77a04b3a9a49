/* SPDX-License-Identifier: Apache-2.0
 *
 * The read slots that a query holds: one for each open source, and given to
 * others for as long as its client reads nothing.
 *
 * Threads: any.
 */
#ifndef CORE_HOLDING_H
#define CORE_HOLDING_H

#include "query.h"

#include <pthread.h>

struct holding {
    const struct slots *slots;
    const struct cancel *cancel;
    bool follow; /* which kind of slot */
    pthread_mutex_t lock;
    unsigned nr_slots;   /* held */
    unsigned nr_yielded; /* of open sources, given to others for now */
};

void holding_init(struct holding *h, const struct slots *slots, bool follow,
                  const struct cancel *cancel);
void holding_fini(struct holding *h);
/* Waits for one: DT_OK, DT_ERR_CANCELLED or DT_ERR_IO. */
int holding_take(struct holding *h);
/* Gives one back, unless others have it already. */
void holding_give(struct holding *h);
/* While the client reads nothing, others may have the slots; to go on the
 * query waits for them again. By the thread that writes. */
void holding_yield(struct holding *h);
void holding_regain(struct holding *h);

#endif
