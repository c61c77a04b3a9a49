/* SPDX-License-Identifier: Apache-2.0
 *
 * The bookkeeping of a bounded queue between two threads: which places of a
 * ring are to be filled and to be taken. The places themselves are the
 * user's.
 *
 * Threads: one puts, one takes; queue_abandon and queue_close from either.
 */
#ifndef CORE_QUEUE_H
#define CORE_QUEUE_H

#include <dtail/plugin.h>

#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    size_t len;          /* places */
    uint64_t head, tail; /* taken, put */
    bool is_closed;      /* nothing more is put … */
    int status;          /* … because of this */
    bool is_abandoned;   /* nothing more is taken */
    bool is_starved; /* no place was free: who puts waits for half of them */
    int room_fd;     /* eventfd: places became free */
};

/* DT_OK or DT_ERR_LIMIT (no descriptor). */
int queue_init(struct queue *q, size_t len);
void queue_fini(struct queue *q);

/* Putting. room: *place may be filled; waits, or answers DT_AGAIN at once
 * when `wait` is false; DT_ERR_CANCELLED once abandoned. Who found none is
 * told when half of the places are free: to be woken costs more than to go
 * on. */
int queue_room(struct queue *q, bool wait, size_t *place);
void queue_put(struct queue *q);
/* After the last put. */
void queue_close(struct queue *q, int status);
/* Readable when there is room after a DT_AGAIN; read it with eventfd_read. */
int queue_room_fd(const struct queue *q);

/* Taking. DT_OK: *place holds something, until queue_drop. DT_STOP: closed
 * and empty. DT_AGAIN: nothing came until `deadline_ms` of the monotonic
 * clock (0: look only; below 0: wait for ever). */
int queue_take(struct queue *q, int64_t deadline_ms, size_t *place);
void queue_drop(struct queue *q);
void queue_abandon(struct queue *q);

#endif
