/* SPDX-License-Identifier: Apache-2.0
 *
 * Read slots: how many files may be read at the same time, over all sessions.
 *
 * Two pools, one for reads that end (cat, grep, one-shot queries) and one for
 * followed files. First come, first served, so that no waiter starves; what a
 * holder has falls back when it is dropped, however it died. In the listener
 * only; one thread.
 */
#ifndef CORE_SLOTS_H
#define CORE_SLOTS_H

#include <dtail/plugin.h>
#include <sys/queue.h>

/* Held and waited for, of one session. */
#define SLOTS_MAX_PER_HOLDER 16384u

enum slots_pool { SLOTS_CAT = 0, SLOTS_TAIL = 1, SLOTS_NR_POOLS };

struct slot;
TAILQ_HEAD(slot_list, slot);

/* One session's part; embedded in whoever holds slots. */
struct slots_holder {
    struct slot_list granted;
    size_t nr; /* granted and waiting */
};

struct slots_table {
    struct slot_list waiting[SLOTS_NR_POOLS];
    int limit[SLOTS_NR_POOLS];
    int used[SLOTS_NR_POOLS];
};

void slots_init(struct slots_table *s);
/* All holders must have been dropped. */
void slots_fini(struct slots_table *s);
/* A lower limit takes nothing away; slots come back one by one. */
void slots_set_limits(struct slots_table *s, int cats, int tails);

void slots_holder_init(struct slots_holder *h);
/* Asks for a slot under a number of the holder's choice. DT_OK,
 * DT_ERR_LIMIT (SLOTS_MAX_PER_HOLDER) or DT_ERR_NOMEM. */
int slots_take(struct slots_table *s, struct slots_holder *h, uint32_t id,
               enum slots_pool pool);
/* Gives one back, or stops waiting for it; id 0: any that is held. DT_OK or
 * DT_ERR_NOENT. */
int slots_give(struct slots_table *s, struct slots_holder *h, uint32_t id,
               enum slots_pool pool);
/* How many wait for a slot of a pool. */
size_t slots_waiting(const struct slots_table *s, enum slots_pool pool);
/* Gives everything back. */
void slots_drop(struct slots_table *s, struct slots_holder *h);

/* The oldest grant that the holder has not been told of; slots_told marks it
 * as told. */
bool slots_untold(const struct slots_holder *h, uint32_t *id,
                  enum slots_pool *pool);
void slots_told(struct slots_holder *h);

#endif
