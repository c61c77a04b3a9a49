/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker's side of the read slots.
 */
#include "worker-slots.h"

#include "broker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A thread that waits for a slot; lives on its stack. */
struct waiter {
    struct waiter *next;
    uint32_t id;
    int fd; /* eventfd: granted, or broken */
    bool is_granted;
};

struct worker_slots {
    int broker_fd;
    pthread_mutex_t lock;
    struct waiter *waiters;
    uint32_t last_id;
    bool is_broken;
};

struct worker_slots *
worker_slots_new(int broker_fd)
{
    struct worker_slots *s = calloc(1, sizeof(*s));

    if (s) {
        s->broker_fd = broker_fd;
        pthread_mutex_init(&s->lock, NULL);
    }
    return s;
}

void
worker_slots_free(struct worker_slots *s)
{
    if (s) {
        pthread_mutex_destroy(&s->lock);
        free(s);
    }
}

/* Sends, and waits for room in the socket when it must. */
static int
send_slot(struct worker_slots *s, uint32_t type, uint32_t id, bool follow)
{
    struct broker_msg *msg = calloc(1, sizeof(*msg));
    struct pollfd p = {.fd = s->broker_fd, .events = POLLOUT};
    int rc;

    if (!msg) {
        return DT_ERR_NOMEM;
    }
    msg->type = type;
    msg->id = id;
    msg->flags = follow ? 1 : 0;
    while ((rc = broker_send(s->broker_fd, msg, -1)) == DT_AGAIN) {
        if (poll(&p, 1, -1) < 0 && errno != EINTR) {
            rc = DT_ERR_IO;
            break;
        }
    }
    free(msg);
    return rc;
}

static void
remove_waiter(struct worker_slots *s, struct waiter *w)
{
    struct waiter **at = &s->waiters;

    while (*at && *at != w) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = w->next;
    }
}

static int
wait_granted(struct worker_slots *s, struct waiter *w,
             const struct cancel *cancel)
{
    struct pollfd p[2] = {
        {.fd = w->fd, .events = POLLIN},
        {.fd = cancel ? cancel->fd : -1, .events = POLLIN},
    };
    int rc;

    while (poll(p, 2, -1) < 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&s->lock);
    remove_waiter(s, w);
    if (w->is_granted) {
        rc = DT_OK;
    } else {
        /* a grant that is on its way finds no waiter and is given back */
        rc = cancel_is_set(cancel) ? DT_ERR_CANCELLED : DT_ERR_IO;
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

static int
take(void *ctx, bool follow, const struct cancel *cancel)
{
    struct worker_slots *s = ctx;
    struct waiter w = {.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    int rc;

    if (w.fd < 0) {
        return DT_ERR_LIMIT;
    }
    pthread_mutex_lock(&s->lock);
    w.id = ++s->last_id;
    w.next = s->waiters;
    s->waiters = &w;
    rc = s->is_broken ? DT_ERR_IO : DT_OK;
    pthread_mutex_unlock(&s->lock);
    if (rc == DT_OK) {
        rc = send_slot(s, BROKER_TAKE_SLOT, w.id, follow);
    }
    if (rc == DT_OK) {
        rc = wait_granted(s, &w, cancel);
    } else {
        pthread_mutex_lock(&s->lock);
        remove_waiter(s, &w);
        pthread_mutex_unlock(&s->lock);
    }
    close(w.fd);
    return rc;
}

static void
give(void *ctx, bool follow)
{
    send_slot(ctx, BROKER_GIVE_SLOT, 0, follow);
}

struct slots
worker_slots_api(struct worker_slots *s)
{
    return (struct slots){.take = take, .give = give, .ctx = s};
}

void
worker_slots_granted(struct worker_slots *s, uint32_t id, bool follow)
{
    struct waiter *w;

    pthread_mutex_lock(&s->lock);
    for (w = s->waiters; w && w->id != id; w = w->next) {
    }
    if (w) {
        w->is_granted = true;
        eventfd_write(w->fd, 1);
    }
    pthread_mutex_unlock(&s->lock);
    if (!w) {
        give(s, follow);
    }
}

void
worker_slots_broken(struct worker_slots *s)
{
    pthread_mutex_lock(&s->lock);
    s->is_broken = true;
    for (struct waiter *w = s->waiters; w; w = w->next) {
        eventfd_write(w->fd, 1);
    }
    pthread_mutex_unlock(&s->lock);
}
