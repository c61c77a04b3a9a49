/* SPDX-License-Identifier: Apache-2.0
 *
 * The one way out of a worker: frames in order, with back pressure.
 *
 * A writer takes the turn (`busy`), writes outside the lock, and waits for
 * the socket by poll together with its own cancel descriptor. What a
 * cancelled writer had begun, and what outq_post could not write, is kept in
 * `kept` and goes out before anything else.
 */
#include "outq.h"

#include "buf.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* Kept back for a reader that does not read, before outq_is_full. */
#define FULL_BYTES (1024u * 1024u)

struct outq {
    pthread_mutex_t lock; /* innermost: nothing else is taken under it */
    pthread_cond_t turn;
    bool busy;         /* somebody writes */
    int failed;        /* DT_OK, or what every further push gets */
    struct buf kept;   /* under lock, or owned by the writer while busy */
    struct buf posted; /* arrived by outq_post while busy */
    int fd;
    int wake_fd;
    const struct outq_sink *sink;
    void *ctx;
};

/* ---- cancel ---- */

int
cancel_init(struct cancel *c)
{
    atomic_init(&c->why, CANCEL_NONE);
    c->hold_ms = 0;
    c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return c->fd < 0 ? DT_ERR_LIMIT : DT_OK;
}

void
cancel_fini(struct cancel *c)
{
    if (c->fd >= 0) {
        close(c->fd);
    }
    c->fd = -1;
}

void
cancel_set(struct cancel *c, enum cancel_why why)
{
    int none = CANCEL_NONE;

    if (atomic_compare_exchange_strong(&c->why, &none, (int)why)) {
        eventfd_write(c->fd, 1);
    }
}

bool
cancel_is_set(const struct cancel *c)
{
    return c && atomic_load(&c->why) != CANCEL_NONE;
}

/* ---- making ---- */

static struct outq *
outq_new(void)
{
    struct outq *q = calloc(1, sizeof(*q));

    if (q) {
        pthread_mutex_init(&q->lock, NULL);
        pthread_cond_init(&q->turn, NULL);
        q->fd = -1;
        q->wake_fd = -1;
    }
    return q;
}

struct outq *
outq_new_fd(int fd, int wake_fd)
{
    struct outq *q = outq_new();

    if (q) {
        q->fd = fd;
        q->wake_fd = wake_fd;
    }
    return q;
}

struct outq *
outq_new_sink(const struct outq_sink *sink, void *ctx)
{
    struct outq *q = outq_new();

    if (q) {
        q->sink = sink;
        q->ctx = ctx;
    }
    return q;
}

void
outq_free(struct outq *q)
{
    if (!q) {
        return;
    }
    buf_fini(&q->kept);
    buf_fini(&q->posted);
    pthread_cond_destroy(&q->turn);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

/* ---- turns ---- */

static int
take_turn(struct outq *q, const struct cancel *cancel)
{
    int rc = DT_OK;

    pthread_mutex_lock(&q->lock);
    while (q->busy && !cancel_is_set(cancel)) {
        pthread_cond_wait(&q->turn, &q->lock);
    }
    if (q->failed != DT_OK) {
        rc = q->failed;
    } else if (cancel_is_set(cancel)) {
        rc = DT_ERR_CANCELLED;
    } else {
        q->busy = true;
    }
    pthread_mutex_unlock(&q->lock);
    return rc;
}

static void
give_turn(struct outq *q, int rc)
{
    bool is_left;

    pthread_mutex_lock(&q->lock);
    q->busy = false;
    if (rc != DT_OK && rc != DT_ERR_CANCELLED && q->failed == DT_OK) {
        q->failed = rc;
    }
    if (q->posted.len) {
        if (buf_append(&q->kept, q->posted.data, q->posted.len) != DT_OK &&
            q->failed == DT_OK) {
            q->failed = DT_ERR_NOMEM;
        }
        q->posted.len = 0;
    }
    is_left = q->kept.len > 0;
    pthread_cond_broadcast(&q->turn);
    pthread_mutex_unlock(&q->lock);
    if (is_left && q->wake_fd >= 0) {
        eventfd_write(q->wake_fd, 1);
    }
}

void
outq_interrupt(struct outq *q)
{
    pthread_mutex_lock(&q->lock);
    pthread_cond_broadcast(&q->turn);
    pthread_mutex_unlock(&q->lock);
}

/* ---- the socket ---- */

/* Writes what the socket takes at once; *done grows. DT_AGAIN: it is full. */
static int
write_some(int fd, const char *data, size_t len, size_t *done)
{
    while (*done < len) {
        ssize_t n =
            send(fd, data + *done, len - *done, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n >= 0) {
            *done += (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return DT_AGAIN;
        } else if (errno != EINTR) {
            return DT_ERR_IO;
        }
    }
    return DT_OK;
}

static int
wait_writable(int fd, const struct cancel *cancel)
{
    struct pollfd p[2] = {
        {.fd = fd, .events = POLLOUT},
        {.fd = cancel ? cancel->fd : -1, .events = POLLIN},
    };
    int limit = cancel && cancel->hold_ms > 0 ? cancel->hold_ms : -1;
    bool is_held = false;
    int n;

    while ((n = poll(p, 2, limit)) <= 0) {
        if (n < 0 && errno != EINTR) {
            return DT_ERR_IO;
        }
        if (n == 0) {
            is_held = true;
            limit = -1;
            cancel->on_hold(cancel->hold_ctx, true);
        }
    }
    if (is_held) {
        cancel->on_hold(cancel->hold_ctx, false);
    }
    return p[1].revents ? DT_ERR_CANCELLED : DT_OK;
}

/* All of it, or, once cancelled, *done says how much. */
static int
write_all(struct outq *q, const char *data, size_t len, size_t *done,
          const struct cancel *cancel)
{
    int rc;

    while ((rc = write_some(q->fd, data, len, done)) == DT_AGAIN) {
        rc = wait_writable(q->fd, cancel);
        if (rc != DT_OK) {
            return rc;
        }
    }
    return rc;
}

static int
flush_kept(struct outq *q, const struct cancel *cancel)
{
    size_t done = 0;
    int rc;

    if (q->kept.len == 0) {
        return DT_OK;
    }
    rc = write_all(q, q->kept.data, q->kept.len, &done, cancel);
    buf_consume(&q->kept, done);
    buf_shrink(&q->kept, 0);
    return rc;
}

/* Two pieces as one unit; a unit that was begun goes out whole. */
static int
push_pieces(struct outq *q, const void *head, size_t head_len, const void *data,
            size_t len, const struct cancel *cancel)
{
    size_t head_done = 0, done = 0;
    int rc = flush_kept(q, cancel);

    if (rc != DT_OK) {
        return rc;
    }
    if (head_len) {
        struct iovec iov[2] = {{(void *)(uintptr_t)head, head_len},
                               {(void *)(uintptr_t)data, len}};
        struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
        ssize_t n = sendmsg(q->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return DT_ERR_IO;
        }
        head_done = n < 0 ? 0 : (size_t)n;
        if (head_done > head_len) {
            done = head_done - head_len;
            head_done = head_len;
        }
        rc = write_all(q, head, head_len, &head_done, cancel);
    }
    if (rc == DT_OK) {
        rc = write_all(q, data, len, &done, cancel);
    }
    if (rc == DT_ERR_CANCELLED && head_done + done > 0) {
        if (buf_append(&q->kept, (const char *)head + head_done,
                       head_len - head_done) != DT_OK ||
            buf_append(&q->kept, (const char *)data + done, len - done) !=
                DT_OK) {
            return DT_ERR_NOMEM; /* the stream is broken: everybody stops */
        }
    }
    return rc;
}

/* ---- frames ---- */

int
outq_push(struct outq *q, const struct wire_frame *frame,
          const struct cancel *cancel)
{
    uint8_t head[WIRE_MAX_FIXED];
    int rc = take_turn(q, cancel);

    if (rc != DT_OK) {
        return rc;
    }
    rc = q->sink ? q->sink->frame(q->ctx, frame, cancel)
                 : push_pieces(q, head, wire_encode(head, frame), frame->data,
                               frame->len, cancel);
    give_turn(q, rc);
    return rc;
}

/* Hands each frame of a run to the sink. */
static int
sink_run(struct outq *q, const char *data, size_t len,
         const struct cancel *cancel)
{
    struct wire_frame f;
    size_t used;
    int rc = DT_OK;

    while (len > 0 && rc == DT_OK) {
        if (wire_decode(data, len, WIRE_MAX_FRAME, &f, &used) != DT_OK) {
            return DT_ERR_INTERNAL;
        }
        rc = q->sink->frame(q->ctx, &f, cancel);
        data += used;
        len -= used;
    }
    return rc;
}

int
outq_push_encoded(struct outq *q, const void *data, size_t len,
                  const struct cancel *cancel)
{
    int rc = take_turn(q, cancel);

    if (rc != DT_OK) {
        return rc;
    }
    rc = q->sink ? sink_run(q, data, len, cancel)
                 : push_pieces(q, NULL, 0, data, len, cancel);
    give_turn(q, rc);
    return rc;
}

/* Encodes behind what is kept, or behind what is posted while busy. */
static int
post_locked(struct outq *q, const struct wire_frame *frame)
{
    struct buf *to = q->busy ? &q->posted : &q->kept;
    uint8_t head[WIRE_MAX_FIXED];
    size_t head_len = wire_encode(head, frame);

    if (q->failed != DT_OK) {
        return q->failed;
    }
    if (buf_reserve(to, head_len + frame->len) != DT_OK) {
        return q->failed = DT_ERR_NOMEM;
    }
    buf_append(to, head, head_len);
    buf_append(to, frame->data, frame->len);
    return DT_OK;
}

int
outq_post(struct outq *q, const struct wire_frame *frame)
{
    int rc;

    if (q->sink) {
        return outq_push(q, frame, NULL);
    }
    pthread_mutex_lock(&q->lock);
    rc = post_locked(q, frame);
    pthread_mutex_unlock(&q->lock);
    if (rc == DT_OK) {
        rc = outq_pump(q);
    }
    if (rc == DT_OK && q->wake_fd >= 0 && outq_poll_events(q)) {
        eventfd_write(q->wake_fd, 1); /* the owner must watch for room */
    }
    return rc;
}

int
outq_flush(struct outq *q, const struct cancel *cancel)
{
    int rc;

    if (q->sink && !q->sink->flush) {
        return DT_OK;
    }
    rc = take_turn(q, cancel);
    if (rc != DT_OK) {
        return rc;
    }
    rc = q->sink ? q->sink->flush(q->ctx, cancel) : flush_kept(q, cancel);
    give_turn(q, rc);
    return rc;
}

/* ---- the owner's loop ---- */

short
outq_poll_events(struct outq *q)
{
    short events;

    pthread_mutex_lock(&q->lock);
    /* While somebody writes, what is kept back is his. */
    events = !q->busy && q->kept.len && q->failed == DT_OK ? POLLOUT : 0;
    pthread_mutex_unlock(&q->lock);
    return events;
}

int
outq_pump(struct outq *q)
{
    size_t done = 0;
    int rc = DT_OK;

    pthread_mutex_lock(&q->lock);
    if (!q->busy && q->kept.len && q->failed == DT_OK) {
        rc = write_some(q->fd, q->kept.data, q->kept.len, &done);
        buf_consume(&q->kept, done);
        if (q->kept.len == 0) {
            buf_shrink(&q->kept, 0);
        }
        if (rc == DT_ERR_IO) {
            q->failed = rc;
        }
    }
    rc = q->failed;
    pthread_mutex_unlock(&q->lock);
    return rc;
}

bool
outq_is_full(struct outq *q)
{
    bool is_full;

    pthread_mutex_lock(&q->lock);
    is_full = (q->busy ? q->posted.len : q->kept.len) > FULL_BYTES;
    pthread_mutex_unlock(&q->lock);
    return is_full;
}

bool
outq_is_idle(struct outq *q)
{
    bool is_idle;

    pthread_mutex_lock(&q->lock);
    is_idle = !q->busy &&
              ((q->kept.len == 0 && q->posted.len == 0) || q->failed != DT_OK);
    pthread_mutex_unlock(&q->lock);
    return is_idle;
}
