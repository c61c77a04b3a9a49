/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps the order of the input over the threads of a query.
 */
#include "order.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Looks at a predecessor that runs on another core before going to sleep. */
#define SPINS 200
/* What a ring buffer keeps of its memory. */
#define KEEP_BYTES (256u * 1024u)

struct slot {
    struct buf out;
    bool is_ready;
};

struct order {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct outq *out;
    const struct cancel *cancel;
    uint64_t turn;   /* the unit whose output is next */
    bool is_writing; /* somebody writes for `turn` */
    int failed;
    struct slot ring[ORDER_RING];
    _Atomic uint64_t line_turn; /* the unit whose first line is known … */
    uint64_t line;              /* … and is this; owned by that unit */
};

struct order *
order_new(struct outq *out, const struct cancel *cancel)
{
    struct order *o = calloc(1, sizeof(*o));

    if (o) {
        pthread_mutex_init(&o->lock, NULL);
        pthread_cond_init(&o->moved, NULL);
        o->out = out;
        o->cancel = cancel;
        o->line = 1;
    }
    return o;
}

void
order_free(struct order *o)
{
    if (!o) {
        return;
    }
    for (size_t i = 0; i < ORDER_RING; i++) {
        buf_fini(&o->ring[i].out);
    }
    pthread_cond_destroy(&o->moved);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

static int
state_locked(const struct order *o)
{
    if (o->failed != DT_OK) {
        return o->failed;
    }
    return cancel_is_set(o->cancel) ? DT_ERR_CANCELLED : DT_OK;
}

int
order_wait_room(struct order *o, uint64_t seq)
{
    int rc;

    pthread_mutex_lock(&o->lock);
    while ((rc = state_locked(o)) == DT_OK && seq >= o->turn + ORDER_RING) {
        pthread_cond_wait(&o->moved, &o->lock);
    }
    pthread_mutex_unlock(&o->lock);
    return rc;
}

static bool
take_turn_locked(struct order *o, uint64_t seq)
{
    if (o->turn != seq || o->is_writing) {
        return false;
    }
    o->is_writing = true;
    return true;
}

bool
order_try_turn(struct order *o, uint64_t seq)
{
    bool is_taken;

    pthread_mutex_lock(&o->lock);
    is_taken = take_turn_locked(o, seq);
    pthread_mutex_unlock(&o->lock);
    return is_taken;
}

int
order_wait_turn(struct order *o, uint64_t seq)
{
    int rc;

    pthread_mutex_lock(&o->lock);
    while ((rc = state_locked(o)) == DT_OK && !take_turn_locked(o, seq)) {
        pthread_cond_wait(&o->moved, &o->lock);
    }
    pthread_mutex_unlock(&o->lock);
    return rc;
}

/* Writes what is ready, in order. Entered and left with the lock. */
static void
write_ready_locked(struct order *o)
{
    struct slot *s;

    o->is_writing = true;
    while ((s = &o->ring[o->turn % ORDER_RING])->is_ready) {
        int rc = state_locked(o);

        if (rc == DT_OK && s->out.len) {
            pthread_mutex_unlock(&o->lock);
            rc = outq_push_encoded(o->out, s->out.data, s->out.len, o->cancel);
            pthread_mutex_lock(&o->lock);
        }
        if (rc != DT_OK && o->failed == DT_OK) {
            o->failed = rc;
        }
        s->out.len = 0;
        buf_shrink(&s->out, KEEP_BYTES);
        s->is_ready = false;
        o->turn++;
        pthread_cond_broadcast(&o->moved);
    }
    o->is_writing = false;
}

int
order_done(struct order *o, uint64_t seq, struct buf *out)
{
    int rc;

    pthread_mutex_lock(&o->lock);
    struct slot *s = &o->ring[seq % ORDER_RING];
    struct buf empty = s->out;

    s->out = *out;
    s->is_ready = true;
    *out = empty;
    out->len = 0;
    if (o->turn == seq || !o->is_writing) {
        write_ready_locked(o); /* also when this unit held the turn */
    }
    rc = state_locked(o);
    pthread_mutex_unlock(&o->lock);
    return rc;
}

int
order_line_begin(struct order *o, uint64_t seq, bool is_first,
                 uint64_t *first_line)
{
    int rc = DT_OK;

    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&o->line_turn, memory_order_acquire) == seq) {
            *first_line = is_first ? 1 : o->line;
            return DT_OK;
        }
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    pthread_mutex_lock(&o->lock);
    while (atomic_load(&o->line_turn) != seq &&
           (rc = state_locked(o)) == DT_OK) {
        pthread_cond_wait(&o->moved, &o->lock);
    }
    pthread_mutex_unlock(&o->lock);
    if (rc == DT_OK) {
        *first_line = is_first ? 1 : o->line;
    }
    return rc;
}

void
order_line_end(struct order *o, uint64_t seq, uint64_t next_line)
{
    o->line = next_line;
    pthread_mutex_lock(&o->lock);
    atomic_store_explicit(&o->line_turn, seq + 1, memory_order_release);
    pthread_cond_broadcast(&o->moved);
    pthread_mutex_unlock(&o->lock);
}

void
order_interrupt(struct order *o)
{
    pthread_mutex_lock(&o->lock);
    pthread_cond_broadcast(&o->moved);
    pthread_mutex_unlock(&o->lock);
}
