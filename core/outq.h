/* SPDX-License-Identifier: Apache-2.0
 *
 * The one way out of a worker: frames of all queries of a session, in order,
 * with back pressure. END takes the same way as the data, behind it.
 *
 * Threads: any. One writer at a time; the others wait, and a wait ends at
 * once when the writer's own query is cancelled.
 */
#ifndef CORE_OUTQ_H
#define CORE_OUTQ_H

#include "wire.h"

#include <sys/uio.h>

struct outq;

/* Lets one query leave its waits: set once, never cleared. */
struct cancel {
    _Atomic int why; /* enum cancel_why; 0: not cancelled */
    int fd;          /* eventfd, readable once cancelled */
    /* When the reader has taken nothing for hold_ms (0: never), on_hold(true)
     * is called by the thread that waits, and on_hold(false) when it goes on:
     * the query gives its read slots to others meanwhile. */
    int hold_ms;
    void (*on_hold)(void *ctx, bool is_held);
    void *hold_ctx;
};
enum cancel_why {
    CANCEL_NONE = 0,
    CANCEL_CLIENT = 1,   /* the client asked, or is gone */
    CANCEL_DEADLINE = 2, /* the query's own time limit */
    CANCEL_SHUTDOWN = 3, /* the server stops */
    CANCEL_FAILED = 4    /* another thread of the query failed */
};

/* Where frames go: a socket (outq_new_fd), or functions called in place
 * (serverless). `frame` may keep nothing of the frame. It answers DT_OK or an
 * error, which every later push of the session then gets as well. */
struct outq_sink {
    int (*frame)(void *ctx, const struct wire_frame *frame,
                 const struct cancel *cancel);
    /* All pushed so far should become visible now. May be NULL. */
    int (*flush)(void *ctx, const struct cancel *cancel);
};

/* fd: a non-blocking socket, not owned. `wake_fd`: an eventfd that is written
 * when outq_poll_events may have changed. */
struct outq *outq_new_fd(int fd, int wake_fd);
struct outq *outq_new_sink(const struct outq_sink *sink, void *ctx);
void outq_free(struct outq *q);

/* Writes one frame; waits for room. DT_OK, DT_ERR_CANCELLED (the frame may
 * still go out whole), DT_ERR_IO when the reader is gone. */
int outq_push(struct outq *q, const struct wire_frame *frame,
              const struct cancel *cancel);
/* The same for a run of encoded whole frames. */
int outq_push_encoded(struct outq *q, const void *data, size_t len,
                      const struct cancel *cancel);
/* Never waits: what does not go out now is kept and goes out in order, before
 * anything pushed later. For the small frames of the coordinator (END, NOTE).
 */
int outq_post(struct outq *q, const struct wire_frame *frame);
int outq_flush(struct outq *q, const struct cancel *cancel);
/* Wakes writers that wait for their turn, so that they look at their cancel. */
void outq_interrupt(struct outq *q);

int cancel_init(struct cancel *c);
void cancel_fini(struct cancel *c);
/* The first reason stays. Any thread. */
void cancel_set(struct cancel *c, enum cancel_why why);
/* True once set; NULL never is. */
bool cancel_is_set(const struct cancel *c);

/* For the owner's poll loop: POLLOUT when something is kept back, else 0;
 * outq_pump writes what the socket takes. DT_OK or DT_ERR_IO. */
short outq_poll_events(struct outq *q);
int outq_pump(struct outq *q);
/* As much is kept back as is good: its owner should cause no more of it. */
bool outq_is_full(struct outq *q);
/* Nothing is kept back and nobody is writing. */
bool outq_is_idle(struct outq *q);

#endif
