/* SPDX-License-Identifier: Apache-2.0
 *
 * The bookkeeping of a bounded queue between two threads.
 */
#include "queue.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

int
queue_init(struct queue *q, size_t len)
{
    pthread_condattr_t attr;

    *q = (struct queue){.len = len};
    q->room_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (q->room_fd < 0) {
        return DT_ERR_LIMIT;
    }
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&q->moved, &attr);
    pthread_condattr_destroy(&attr);
    return DT_OK;
}

void
queue_fini(struct queue *q)
{
    pthread_cond_destroy(&q->moved);
    pthread_mutex_destroy(&q->lock);
    close(q->room_fd);
}

int
queue_room(struct queue *q, bool wait, size_t *place)
{
    int rc = DT_OK;

    pthread_mutex_lock(&q->lock);
    if (q->tail - q->head == q->len) {
        q->is_starved = true;
    }
    while (q->is_starved && !q->is_abandoned && wait) {
        pthread_cond_wait(&q->moved, &q->lock);
    }
    if (q->is_abandoned) {
        rc = DT_ERR_CANCELLED;
    } else if (q->is_starved) {
        rc = DT_AGAIN;
    } else {
        *place = (size_t)(q->tail % q->len);
    }
    pthread_mutex_unlock(&q->lock);
    return rc;
}

void
queue_put(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->tail++;
    pthread_cond_broadcast(&q->moved);
    pthread_mutex_unlock(&q->lock);
}

void
queue_close(struct queue *q, int status)
{
    pthread_mutex_lock(&q->lock);
    q->is_closed = true;
    q->status = status;
    pthread_cond_broadcast(&q->moved);
    pthread_mutex_unlock(&q->lock);
}

int
queue_room_fd(const struct queue *q)
{
    return q->room_fd;
}

/* False: the deadline has passed. */
static bool
wait_moved_locked(struct queue *q, int64_t deadline_ms)
{
    const struct timespec until = {.tv_sec = deadline_ms / 1000,
                                   .tv_nsec = deadline_ms % 1000 * 1000000};

    if (deadline_ms < 0) {
        pthread_cond_wait(&q->moved, &q->lock);
        return true;
    }
    return pthread_cond_timedwait(&q->moved, &q->lock, &until) != ETIMEDOUT;
}

int
queue_take(struct queue *q, int64_t deadline_ms, size_t *place)
{
    int rc = DT_OK;

    pthread_mutex_lock(&q->lock);
    while (q->tail == q->head && !q->is_closed && rc == DT_OK) {
        if (deadline_ms == 0 || !wait_moved_locked(q, deadline_ms)) {
            rc = DT_AGAIN;
        }
    }
    if (q->tail != q->head) {
        rc = DT_OK;
        *place = (size_t)(q->head % q->len);
    } else if (q->is_closed) {
        rc = DT_STOP;
    }
    pthread_mutex_unlock(&q->lock);
    return rc;
}

void
queue_drop(struct queue *q)
{
    bool is_told;

    pthread_mutex_lock(&q->lock);
    q->head++;
    is_told = q->is_starved && q->tail - q->head <= q->len / 2;
    if (is_told) {
        q->is_starved = false;
        pthread_cond_broadcast(&q->moved);
    }
    pthread_mutex_unlock(&q->lock);
    if (is_told) {
        eventfd_write(q->room_fd, 1);
    }
}

void
queue_abandon(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->is_abandoned = true;
    pthread_cond_broadcast(&q->moved);
    pthread_mutex_unlock(&q->lock);
    eventfd_write(q->room_fd, 1);
}
