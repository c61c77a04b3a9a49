/* SPDX-License-Identifier: Apache-2.0
 *
 * The pool as pool.c and pool-question.c see it.
 *
 * Threads: the pool's, but for what the lock covers.
 */
#ifndef CLIENTS_POOL_STATE_H
#define CLIENTS_POOL_STATE_H

#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>

/* A question waits for further unknown hosts, but not longer than this for
 * servers that are slow to answer. */
#define POOL_ASK_MS 5000

/* A server to which another connection is to be made. */
struct restart {
    char *request;     /* NULL: none */
    struct chunk *end; /* what will tell of its end */
    size_t len;
    int64_t at;
};

/* What a running link is to send. */
struct more {
    char *request; /* NULL: nothing */
    size_t len;
};

struct pool {
    struct pool_args args;
    struct link *links;
    struct chunk **ends; /* by server: made beforehand, so that telling of an
                            end cannot fail */
    size_t nr;
    struct pollfd *polls; /* of the open links only: poll fails with more
                             entries than the limit of descriptors */
    size_t nr_polls;
    size_t *slots; /* by server: its entry in polls; 0: none */
    size_t *queue; /* links that are to be started: a ring of nr */
    size_t queue_at, queue_len;
    size_t nr_over;
    int wake_fd;
    bool has_told; /* that host keys were stored */
    pthread_t thread;
    bool is_started;
    atomic_bool must_stop;
    atomic_bool must_finish;
    atomic_bool *dropped; /* by server */
    atomic_size_t nr_connected, nr_establishing;
    /* The question; the lock covers what both threads touch. */
    pthread_mutex_t lock;
    struct restart *restarts; /* by server */
    struct more *more;        /* by server */
    int64_t wait_until;       /* clock_now_ms */
    int64_t ask_at;           /* clock_now_ms; CLOCK_NEVER: nobody is unknown */
    struct pool_host *asked;
    size_t nr_asked; /* 0: no question is open */
    int answer;      /* enum pool_answer; 0: none yet */
};

void pool_wake(int fd);
/* A link that is to be started when there is room. */
void pool_enqueue(struct pool *p, size_t index);
/* A link that has come to its end is told, once. */
void pool_tell_end(struct pool *p, struct link *l);

/* Opens the question when no other host can join it soon. */
void pool_open_question(struct pool *p);
/* What the user said about the hosts of the question. */
void pool_take_answer(struct pool *p);

#endif
