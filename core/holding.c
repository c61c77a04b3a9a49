/* SPDX-License-Identifier: Apache-2.0
 *
 * The read slots that a query holds.
 */
#include "holding.h"

void
holding_init(struct holding *h, const struct slots *slots, bool follow,
             const struct cancel *cancel)
{
    *h = (struct holding){.slots = slots, .cancel = cancel, .follow = follow};
    pthread_mutex_init(&h->lock, NULL);
}

void
holding_fini(struct holding *h)
{
    pthread_mutex_destroy(&h->lock);
}

int
holding_take(struct holding *h)
{
    const struct slots *slots = h->slots;
    int rc =
        slots->take ? slots->take(slots->ctx, h->follow, h->cancel) : DT_OK;

    if (rc == DT_OK) {
        pthread_mutex_lock(&h->lock);
        h->nr_slots++;
        pthread_mutex_unlock(&h->lock);
    }
    return rc;
}

static void
give_slots(struct holding *h, unsigned nr)
{
    const struct slots *slots = h->slots;

    for (; slots->give && nr > 0; nr--) {
        slots->give(slots->ctx, h->follow);
    }
}

void
holding_give(struct holding *h)
{
    unsigned nr = 0;

    pthread_mutex_lock(&h->lock);
    if (h->nr_yielded > 0) {
        h->nr_yielded--;
    } else {
        h->nr_slots--;
        nr = 1;
    }
    pthread_mutex_unlock(&h->lock);
    give_slots(h, nr);
}

void
holding_yield(struct holding *h)
{
    unsigned nr;

    pthread_mutex_lock(&h->lock);
    nr = h->nr_slots;
    h->nr_slots = 0;
    h->nr_yielded += nr;
    pthread_mutex_unlock(&h->lock);
    give_slots(h, nr);
}

void
holding_regain(struct holding *h)
{
    unsigned nr;

    pthread_mutex_lock(&h->lock);
    nr = h->nr_yielded;
    pthread_mutex_unlock(&h->lock);
    if (nr == 0) {
        return;
    }
    do {
        if (holding_take(h) != DT_OK) {
            return; /* cancelled: its sources close without slots */
        }
        pthread_mutex_lock(&h->lock);
        nr = h->nr_yielded;
        if (nr > 0) {
            h->nr_yielded--;
        } else {
            h->nr_slots--; /* one too many: all were closed meanwhile */
        }
        pthread_mutex_unlock(&h->lock);
    } while (nr > 1);
    if (nr == 0) {
        give_slots(h, 1);
    }
}
