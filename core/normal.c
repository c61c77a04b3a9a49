/* SPDX-License-Identifier: Apache-2.0
 *
 * The normal variant: a bounded queue between reader and plugin.
 */
#include "normal.h"

#include "queue.h"

#include <stdlib.h>

#define QUEUE_LEN 8u

enum entry_kind { ENTRY_RUN, ENTRY_END };

/* A run of lines on its way, or the end of its unit. */
struct entry {
    enum entry_kind kind;
    bool is_begin;    /* the unit's first entry */
    struct unit unit; /* with memory of its own */
};

struct normal {
    struct lane_shared *sh;
    struct queue queue;
    struct entry ring[QUEUE_LEN];
};

/* ---- the reader's side ---- */

/* Copies all but the memory. */
static void
copy_unit(struct unit *to, const struct unit *from)
{
    struct buf mem = to->mem;

    *to = *from;
    to->mem = mem;
}

/* Queues the runs of a unit and its end, which gives the unit back. */
static int
queue_unit(struct normal *n, struct unit *u)
{
    const struct inputs_args *args = inputs_args(n->sh->inputs);
    bool is_begin = true;
    size_t place;
    struct entry *e;
    int rc;

    while ((rc = unit_next_run(args, u)) == DT_OK) {
        rc = queue_room(&n->queue, true, &place);
        if (rc != DT_OK) {
            break;
        }
        e = &n->ring[place];
        e->kind = ENTRY_RUN;
        e->is_begin = is_begin;
        is_begin = false;
        copy_unit(&e->unit, u);
        rc = unit_detach(u, &e->unit.mem);
        if (rc != DT_OK) {
            break;
        }
        queue_put(&n->queue);
    }
    if (rc == DT_STOP) {
        rc = queue_room(&n->queue, true, &place);
    }
    if (rc != DT_OK) {
        inputs_release(n->sh->inputs, u);
        return rc;
    }
    e = &n->ring[place];
    e->kind = ENTRY_END;
    e->is_begin = is_begin;
    copy_unit(&e->unit, u);
    u->input = NULL;
    queue_put(&n->queue);
    return DT_OK;
}

static void *
reader_main(void *arg)
{
    struct normal *n = arg;
    struct unit u = {0};
    int rc;

    while ((rc = inputs_next(n->sh->inputs, &u)) == DT_OK) {
        rc = queue_unit(n, &u);
        if (rc != DT_OK) {
            break;
        }
    }
    unit_fini(&u);
    queue_close(&n->queue, rc == DT_STOP ? DT_OK : rc);
    return NULL;
}

/* ---- the plugin's side ---- */

static int
feed_entry(struct normal *n, struct lane *l, struct entry *e, uint64_t *next)
{
    struct unit *u = &e->unit;
    int rc = DT_OK, end;

    if (e->is_begin) {
        rc = lane_begin_unit(l, u);
        if (u->is_first) {
            *next = n->sh->is_numbered ? 1 : 0;
        }
    }
    if (e->kind == ENTRY_RUN) {
        if (rc == DT_OK && !atomic_load(&u->input->is_stopped)) {
            uint64_t nr = lane_count_run(l, u);

            rc = lane_feed_run(l, u, *next, nr);
            *next += nr;
            rc = rc == DT_OK ? lane_report(l) : rc;
        }
        return rc;
    }
    if (rc == DT_OK && u->is_last) {
        rc = lane_feed_last(l, u);
    }
    end = lane_end_unit(l);
    inputs_release(n->sh->inputs, u);
    return rc == DT_OK ? end : rc;
}

/* The next entry. Shows what was given out before it waits: the source may be
 * a pipe on which nothing comes for long. */
static int
take(struct normal *n, struct lane *l, size_t *place)
{
    int rc = queue_take(&n->queue, 0, place);

    while (rc == DT_AGAIN) {
        rc = lane_show(l);
        if (rc != DT_OK) {
            break;
        }
        rc = queue_take(&n->queue, lane_next_report(l), place);
        if (rc == DT_AGAIN) {
            int reported = lane_report_idle(l);

            rc = reported == DT_OK ? rc : reported;
        }
    }
    return rc;
}

static int
feed_all(struct normal *n, struct lane *l)
{
    uint64_t next = 0;
    size_t place;
    int rc;

    while ((rc = take(n, l, &place)) == DT_OK) {
        rc = feed_entry(n, l, &n->ring[place], &next);
        queue_drop(&n->queue);
        if (rc != DT_OK) {
            return rc;
        }
    }
    return rc == DT_STOP ? n->queue.status : rc;
}

/* Units whose end was queued but not taken; the reader is gone. */
static void
release_queued(struct normal *n)
{
    size_t place;

    while (queue_take(&n->queue, 0, &place) == DT_OK) {
        if (n->ring[place].kind == ENTRY_END) {
            inputs_release(n->sh->inputs, &n->ring[place].unit);
        }
        queue_drop(&n->queue);
    }
}

int
normal_run(struct lane *l, struct lane_shared *shared)
{
    struct normal *n = calloc(1, sizeof(*n));
    pthread_t reader;
    int rc;

    if (!n || queue_init(&n->queue, QUEUE_LEN) != DT_OK) {
        free(n);
        return DT_ERR_NOMEM;
    }
    n->sh = shared;
    if (pthread_create(&reader, NULL, reader_main, n) != 0) {
        rc = lane_fail(shared, DT_ERR_LIMIT, "cannot start a thread");
    } else {
        rc = feed_all(n, l);
        if (rc != DT_OK) {
            lane_fail(shared, rc, dt_strerror(rc));
        }
        queue_abandon(&n->queue);
        pthread_join(reader, NULL);
        release_queued(n);
    }
    for (size_t i = 0; i < QUEUE_LEN; i++) {
        unit_fini(&n->ring[i].unit);
    }
    queue_fini(&n->queue);
    free(n);
    return rc;
}
