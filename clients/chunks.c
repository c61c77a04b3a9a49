/* SPDX-License-Identifier: Apache-2.0
 *
 * The bounded queue between reading and printing.
 */
#include "chunks.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct chunks {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct chunk *first, **last; /* filled ones */
    struct chunk *spare;         /* empty ones */
    size_t nr_out;               /* handed out, not given back */
    bool starved;                /* the producer found none */
    bool closed;
    int wake_fd;
};

int
chunks_new(int wake_fd, struct chunks **out, struct error *err)
{
    struct chunks *q = calloc(1, sizeof(*q));

    if (!q) {
        return error_set(err, DT_ERR_NOMEM, "chunks: out of memory");
    }
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->filled, NULL);
    q->last = &q->first;
    q->wake_fd = wake_fd;
    *out = q;
    return DT_OK;
}

static void
free_list(struct chunk *c)
{
    while (c) {
        struct chunk *next = c->next;

        free(c->data);
        free(c);
        c = next;
    }
}

void
chunks_free(struct chunks *q)
{
    if (!q) {
        return;
    }
    free_list(q->first);
    free_list(q->spare);
    pthread_cond_destroy(&q->filled);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

static struct chunk *
new_chunk(size_t size)
{
    struct chunk *c = calloc(1, sizeof(*c));

    if (c && size && !(c->data = malloc(size))) {
        free(c);
        return NULL;
    }
    return c;
}

struct chunk *
chunks_get(struct chunks *q, bool force)
{
    struct chunk *c = NULL;

    pthread_mutex_lock(&q->lock);
    if (q->nr_out >= CHUNKS_MAX && !force) {
        q->starved = true;
    } else if (q->spare) {
        c = q->spare;
        q->spare = c->next;
        c->len = 0;
    } else {
        c = new_chunk(CHUNK_SIZE + CHUNK_SLACK);
        if (c) {
            memset(c->data + CHUNK_SIZE, 0, CHUNK_SLACK);
        }
    }
    q->nr_out += c != NULL;
    pthread_mutex_unlock(&q->lock);
    return c;
}

struct chunk *
chunks_get_end(struct chunks *q)
{
    struct chunk *c = new_chunk(0);

    (void)q;
    if (c) {
        c->is_end = true;
    }
    return c;
}

void
chunks_push(struct chunks *q, struct chunk *c)
{
    c->next = NULL;
    pthread_mutex_lock(&q->lock);
    *q->last = c;
    q->last = &c->next;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

struct chunk *
chunks_pop(struct chunks *q, bool wait)
{
    struct chunk *c;

    pthread_mutex_lock(&q->lock);
    while (wait && !q->first && !q->closed) {
        pthread_cond_wait(&q->filled, &q->lock);
    }
    c = q->closed ? NULL : q->first;
    if (c) {
        q->first = c->next;
        if (!q->first) {
            q->last = &q->first;
        }
    }
    pthread_mutex_unlock(&q->lock);
    return c;
}

void
chunks_put(struct chunks *q, struct chunk *c)
{
    bool wake = false;

    if (c->is_end) {
        free(c);
        return;
    }
    pthread_mutex_lock(&q->lock);
    q->nr_out--;
    if (q->nr_out >= CHUNKS_MAX) { /* a forced one */
        c->next = NULL;
        free_list(c);
    } else {
        c->next = q->spare;
        q->spare = c;
    }
    /* Not at the first free chunk: the producer then takes several at once. */
    if (q->starved && q->nr_out <= CHUNKS_MAX / 2) {
        q->starved = false;
        wake = true;
    }
    pthread_mutex_unlock(&q->lock);
    if (wake) {
        uint64_t one = 1;

        (void)!write(q->wake_fd, &one, sizeof(one));
    }
}

void
chunks_close(struct chunks *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->lock);
}
