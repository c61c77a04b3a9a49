/* SPDX-License-Identifier: Apache-2.0
 *
 * Results on a terminal that replace each other.
 *
 * A new result goes to the place of the last one if that still stands right
 * above the cursor, in as many rows as were counted; else below what is there.
 * Whatever else was written in between (the log, statistics at Ctrl-C, the
 * shell after a stop) and a change of width that may have wrapped its lines
 * differently make that uncertain, so the result stands below then.
 *
 * Threads: one at a time.
 */
#ifndef CLIENTS_SCREEN_H
#define CLIENTS_SCREEN_H

#include "printer.h"

struct log;
struct screen;

/* Shows through `p`, whose output is a terminal. The text's control bytes
 * must be newlines and sequences of colours only. NULL: out of memory. */
struct screen *screen_new(struct printer *p, const struct log *log);
void screen_free(struct screen *s);

/* A piece of a result. DT_OK, or as output_write. */
int screen_add(struct screen *s, const char *data, size_t len,
               const struct cancel *cancel);
/* The result is complete: the next piece begins another one. */
void screen_commit(struct screen *s);

#endif
