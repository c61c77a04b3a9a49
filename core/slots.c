/* SPDX-License-Identifier: Apache-2.0
 *
 * Read slots: first come, first served.
 */
#include "slots.h"

#include <stdlib.h>

struct slot {
    TAILQ_ENTRY(slot) link; /* in a pool's waiting or its holder's granted */
    struct slots_holder *holder;
    enum slots_pool pool;
    uint32_t id;
    bool told;
};

void
slots_init(struct slots_table *s)
{
    *s = (struct slots_table){0};
    for (int i = 0; i < SLOTS_NR_POOLS; i++) {
        TAILQ_INIT(&s->waiting[i]);
    }
}

void
slots_fini(struct slots_table *s)
{
    *s = (struct slots_table){0};
}

void
slots_holder_init(struct slots_holder *h)
{
    *h = (struct slots_holder){0};
    TAILQ_INIT(&h->granted);
}

/* Hands out what is free, in the order of asking. */
static void
grant(struct slots_table *s, enum slots_pool pool)
{
    struct slot *slot;

    while (s->used[pool] < s->limit[pool] &&
           (slot = TAILQ_FIRST(&s->waiting[pool]))) {
        TAILQ_REMOVE(&s->waiting[pool], slot, link);
        TAILQ_INSERT_TAIL(&slot->holder->granted, slot, link);
        s->used[pool]++;
    }
}

void
slots_set_limits(struct slots_table *s, int cats, int tails)
{
    s->limit[SLOTS_CAT] = cats;
    s->limit[SLOTS_TAIL] = tails;
    grant(s, SLOTS_CAT);
    grant(s, SLOTS_TAIL);
}

int
slots_take(struct slots_table *s, struct slots_holder *h, uint32_t id,
           enum slots_pool pool)
{
    struct slot *slot;

    if (h->nr >= SLOTS_MAX_PER_HOLDER) {
        return DT_ERR_LIMIT;
    }
    slot = calloc(1, sizeof(*slot));
    if (!slot) {
        return DT_ERR_NOMEM;
    }
    slot->holder = h;
    slot->pool = pool;
    slot->id = id;
    h->nr++;
    TAILQ_INSERT_TAIL(&s->waiting[pool], slot, link);
    grant(s, pool);
    return DT_OK;
}

size_t
slots_waiting(const struct slots_table *s, enum slots_pool pool)
{
    const struct slot *slot;
    size_t nr = 0;

    TAILQ_FOREACH(slot, &s->waiting[pool], link)
    {
        nr++;
    }
    return nr;
}

static struct slot *
find(const struct slot_list *list, const struct slots_holder *h, uint32_t id,
     enum slots_pool pool)
{
    struct slot *slot;

    TAILQ_FOREACH(slot, list, link)
    {
        if (slot->holder == h && (slot->id == id || id == 0) &&
            slot->pool == pool) {
            return slot;
        }
    }
    return NULL;
}

static void
release(struct slots_table *s, struct slot_list *list, struct slot *slot)
{
    TAILQ_REMOVE(list, slot, link);
    slot->holder->nr--;
    if (list == &slot->holder->granted) {
        s->used[slot->pool]--;
    }
    free(slot);
}

int
slots_give(struct slots_table *s, struct slots_holder *h, uint32_t id,
           enum slots_pool pool)
{
    struct slot_list *list = &h->granted;
    struct slot *slot = find(list, h, id, pool);

    if (!slot && id != 0) {
        list = &s->waiting[pool];
        slot = find(list, h, id, pool);
    }
    if (!slot) {
        return DT_ERR_NOENT;
    }
    release(s, list, slot);
    grant(s, pool);
    return DT_OK;
}

static void
drop_waiting(struct slots_table *s, struct slots_holder *h,
             struct slot_list *list)
{
    struct slot *slot = TAILQ_FIRST(list);

    while (slot) {
        struct slot *next = TAILQ_NEXT(slot, link);

        if (slot->holder == h) {
            release(s, list, slot);
        }
        slot = next;
    }
}

void
slots_drop(struct slots_table *s, struct slots_holder *h)
{
    struct slot *slot;

    while ((slot = TAILQ_FIRST(&h->granted))) {
        release(s, &h->granted, slot);
    }
    for (int i = 0; i < SLOTS_NR_POOLS; i++) {
        drop_waiting(s, h, &s->waiting[i]);
    }
    for (int i = 0; i < SLOTS_NR_POOLS; i++) {
        grant(s, (enum slots_pool)i);
    }
}

static struct slot *
first_untold(const struct slots_holder *h)
{
    struct slot *slot;

    TAILQ_FOREACH(slot, &h->granted, link)
    {
        if (!slot->told) {
            return slot;
        }
    }
    return NULL;
}

bool
slots_untold(const struct slots_holder *h, uint32_t *id, enum slots_pool *pool)
{
    const struct slot *slot = first_untold(h);

    if (!slot) {
        return false;
    }
    *id = slot->id;
    *pool = slot->pool;
    return true;
}

void
slots_told(struct slots_holder *h)
{
    struct slot *slot = first_untold(h);

    if (slot) {
        slot->told = true;
    }
}
