/* SPDX-License-Identifier: Apache-2.0
 *
 * The turn of making units, and units for those who wait.
 */
#include "turn.h"

void
turn_init(struct turn *t, const struct cancel *cancel)
{
    *t = (struct turn){.cancel = cancel};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->moved, NULL);
}

void
turn_fini(struct turn *t)
{
    unit_fini(&t->handed);
    pthread_cond_destroy(&t->moved);
    pthread_mutex_destroy(&t->lock);
}

/* Each has the other's unit and memory afterwards; runs point into the memory
 * and stay valid. */
static void
swap(struct unit *a, struct unit *b)
{
    struct unit c = *a;

    *a = *b;
    *b = c;
}

int
turn_take(struct turn *t, struct unit *u)
{
    int rc = DT_OK;

    pthread_mutex_lock(&t->lock);
    t->nr_waiting++;
    while (t->is_busy && !t->is_handed && !cancel_is_set(t->cancel)) {
        pthread_cond_wait(&t->moved, &t->lock);
    }
    t->nr_waiting--;
    if (cancel_is_set(t->cancel)) {
        rc = DT_ERR_CANCELLED;
    } else if (t->is_handed) {
        swap(u, &t->handed);
        t->is_handed = false;
        rc = DT_AGAIN;
    } else {
        t->is_busy = true;
    }
    pthread_mutex_unlock(&t->lock);
    return rc;
}

bool
turn_hand_over(struct turn *t, struct unit *u)
{
    bool is_taken;

    pthread_mutex_lock(&t->lock);
    is_taken = t->nr_waiting > 0 && !t->is_handed;
    if (is_taken) {
        swap(u, &t->handed);
        t->is_handed = true;
        pthread_cond_signal(&t->moved);
    }
    pthread_mutex_unlock(&t->lock);
    return is_taken;
}

void
turn_give(struct turn *t)
{
    pthread_mutex_lock(&t->lock);
    t->is_busy = false;
    pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
}

void
turn_interrupt(struct turn *t)
{
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
}
