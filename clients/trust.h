/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the user about unknown host keys, on the controlling terminal and
 * nowhere else: standard input and output belong to the data.
 *
 * Threads: the main thread.
 */
#ifndef CLIENTS_TRUST_H
#define CLIENTS_TRUST_H

#include "output.h"
#include "pool.h"

struct log;
struct trust;

/* `tty`: path of the terminal. `out` is held back while a question is open;
 * `log` is told that the terminal is written to. */
int trust_new(struct pool *pool, struct output *out, struct log *log,
              const char *tty, struct trust **t, struct error *err);
void trust_free(struct trust *t);
/* Opens a question if the pool has one. */
void trust_look(struct trust *t);
/* The terminal to poll while a question is open, else -1. */
int trust_fd(const struct trust *t);
/* The terminal is readable. */
void trust_read(struct trust *t);

#endif
