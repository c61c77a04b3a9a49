/* SPDX-License-Identifier: Apache-2.0
 *
 * The normal variant: a bounded queue between reader and plugin.
 */
#include "normal.h"

#include <stdlib.h>

#define QUEUE_LEN 4u

enum entry_kind { ENTRY_RUN, ENTRY_END };

/* A run of lines on its way, or the end of its unit. */
struct entry {
    enum entry_kind kind;
    bool is_begin;    /* the unit's first entry */
    struct unit unit; /* with memory of its own */
};

struct queue {
    struct lane_shared *sh;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct entry ring[QUEUE_LEN];
    uint64_t head, tail; /* taken, put */
    bool is_closed;      /* the reader is at its end … */
    int status;          /* … with this */
    bool is_abandoned;   /* the plugin wants no more */
};

/* ---- the reader's side ---- */

/* The entry to fill; NULL when nobody will take it. */
static struct entry *
queue_room(struct queue *q)
{
    struct entry *e = NULL;

    pthread_mutex_lock(&q->lock);
    while (q->tail - q->head == QUEUE_LEN && !q->is_abandoned) {
        pthread_cond_wait(&q->moved, &q->lock);
    }
    if (!q->is_abandoned) {
        e = &q->ring[q->tail % QUEUE_LEN];
    }
    pthread_mutex_unlock(&q->lock);
    return e;
}

static void
queue_put(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->tail++;
    pthread_cond_broadcast(&q->moved);
    pthread_mutex_unlock(&q->lock);
}

/* Copies all but the memory. */
static void
copy_unit(struct unit *to, const struct unit *from)
{
    struct buf mem = to->mem;

    *to = *from;
    to->mem = mem;
}

/* Queues the runs of a unit and its end. */
static int
queue_unit(struct queue *q, struct unit *u)
{
    const struct inputs_args *args = inputs_args(q->sh->inputs);
    bool is_begin = true;
    struct entry *e;
    int rc;

    while ((rc = unit_next_run(args, u)) == DT_OK) {
        e = queue_room(q);
        if (!e) {
            rc = DT_ERR_CANCELLED;
            break;
        }
        e->kind = ENTRY_RUN;
        e->is_begin = is_begin;
        is_begin = false;
        copy_unit(&e->unit, u);
        rc = unit_detach(u, &e->unit.mem);
        if (rc != DT_OK) {
            break;
        }
        queue_put(q);
    }
    e = rc == DT_STOP ? queue_room(q) : NULL;
    if (!e) {
        inputs_release(q->sh->inputs, u);
        return rc == DT_STOP ? DT_ERR_CANCELLED : rc;
    }
    e->kind = ENTRY_END;
    e->is_begin = is_begin;
    copy_unit(&e->unit, u); /* the taker gives the unit back */
    u->input = NULL;
    queue_put(q);
    return DT_OK;
}

static void *
reader_main(void *arg)
{
    struct queue *q = arg;
    struct unit u = {0};
    int rc;

    while ((rc = inputs_next(q->sh->inputs, &u)) == DT_OK) {
        rc = queue_unit(q, &u);
        if (rc != DT_OK) {
            break;
        }
    }
    unit_fini(&u);
    pthread_mutex_lock(&q->lock);
    q->is_closed = true;
    q->status = rc == DT_STOP ? DT_OK : rc;
    pthread_cond_broadcast(&q->moved);
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* ---- the plugin's side ---- */

/* The next entry; NULL at the end. Shows what was given out before it waits:
 * the source may be a pipe on which nothing comes for long. */
static struct entry *
queue_take(struct queue *q, struct lane *l)
{
    struct entry *e = NULL;

    pthread_mutex_lock(&q->lock);
    if (q->tail == q->head && !q->is_closed) {
        pthread_mutex_unlock(&q->lock);
        lane_show(l);
        pthread_mutex_lock(&q->lock);
    }
    while (q->tail == q->head && !q->is_closed) {
        pthread_cond_wait(&q->moved, &q->lock);
    }
    if (q->tail != q->head) {
        e = &q->ring[q->head % QUEUE_LEN];
    }
    pthread_mutex_unlock(&q->lock);
    return e;
}

static void
queue_drop(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->head++;
    pthread_cond_broadcast(&q->moved);
    pthread_mutex_unlock(&q->lock);
}

static int
feed_entry(struct queue *q, struct lane *l, struct entry *e, uint64_t *next)
{
    struct unit *u = &e->unit;
    int rc = DT_OK, end;

    if (e->is_begin) {
        rc = lane_begin_unit(l, u);
        if (u->is_first) {
            *next = q->sh->is_numbered ? 1 : 0;
        }
    }
    if (e->kind == ENTRY_RUN) {
        if (rc == DT_OK && !atomic_load(&u->input->is_stopped)) {
            uint64_t nr = lane_count_run(l, u);

            rc = lane_feed_run(l, u, *next, nr);
            *next += nr;
        }
        return rc;
    }
    if (rc == DT_OK && u->is_last) {
        rc = lane_feed_last(l, u);
    }
    end = lane_end_unit(l);
    inputs_release(q->sh->inputs, u);
    return rc == DT_OK ? end : rc;
}

/* Tells the reader to stop, and gives back what it had queued. */
static void
abandon(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->is_abandoned = true;
    pthread_cond_broadcast(&q->moved);
    pthread_mutex_unlock(&q->lock);
}

static int
feed_all(struct queue *q, struct lane *l)
{
    struct entry *e;
    uint64_t next = 0;
    int rc = DT_OK;

    while (rc == DT_OK && (e = queue_take(q, l))) {
        rc = feed_entry(q, l, e, &next);
        queue_drop(q);
    }
    return rc;
}

/* Units whose end was queued but not taken. */
static void
release_queued(struct queue *q)
{
    for (; q->head != q->tail; q->head++) {
        struct entry *e = &q->ring[q->head % QUEUE_LEN];

        if (e->kind == ENTRY_END) {
            inputs_release(q->sh->inputs, &e->unit);
        }
    }
}

int
normal_run(struct lane *l, struct lane_shared *shared)
{
    struct queue *q = calloc(1, sizeof(*q));
    pthread_t reader;
    int rc;

    if (!q) {
        return DT_ERR_NOMEM;
    }
    q->sh = shared;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->moved, NULL);
    if (pthread_create(&reader, NULL, reader_main, q) != 0) {
        rc = lane_fail(shared, DT_ERR_LIMIT, "cannot start a thread");
    } else {
        rc = feed_all(q, l);
        if (rc != DT_OK) {
            lane_fail(shared, rc, dt_strerror(rc));
        }
        abandon(q);
        pthread_join(reader, NULL);
        release_queued(q);
        rc = rc == DT_OK ? q->status : rc;
    }
    for (size_t i = 0; i < QUEUE_LEN; i++) {
        unit_fini(&q->ring[i].unit);
    }
    pthread_cond_destroy(&q->moved);
    pthread_mutex_destroy(&q->lock);
    free(q);
    return rc;
}
