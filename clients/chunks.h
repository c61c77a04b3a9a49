/* SPDX-License-Identifier: Apache-2.0
 *
 * The bounded queue between the pool's thread, which reads from the servers,
 * and the output thread, which decodes and prints.
 *
 * Threads: one producer, one consumer; chunks_close from any.
 */
#ifndef CLIENTS_CHUNKS_H
#define CLIENTS_CHUNKS_H

#include "error.h"

#define CHUNK_SIZE (256u * 1024u) /* bytes */
#define CHUNK_SLACK 64u           /* readable behind them */
#define CHUNKS_MAX 16u            /* on their way at a time */

struct chunk {
    struct chunk *next;
    size_t server;
    bool is_end; /* the server is over; no data */
    size_t len;
    char *data; /* CHUNK_SIZE + CHUNK_SLACK bytes */
};

struct chunks;

/* `wake_fd`: an eventfd of the producer, written when room came back after
 * chunks_get had none. */
int chunks_new(int wake_fd, struct chunks **out, struct error *err);
void chunks_free(struct chunks *q);

/* Producer: an empty chunk; NULL when CHUNKS_MAX are on their way (and not
 * `force`), or out of memory. */
struct chunk *chunks_get(struct chunks *q, bool force);
/* Producer: a chunk that only says that a server is over; never refused for
 * room. NULL: out of memory. */
struct chunk *chunks_get_end(struct chunks *q);
void chunks_push(struct chunks *q, struct chunk *c);

/* Consumer: the next one; waits when `wait`. NULL: none, or closed. */
struct chunk *chunks_pop(struct chunks *q, bool wait);
/* Gives a chunk back, from either side. */
void chunks_put(struct chunks *q, struct chunk *c);
/* The consumer's waits end, also the next ones. */
void chunks_close(struct chunks *q);

#endif
