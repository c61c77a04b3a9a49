/* SPDX-License-Identifier: Apache-2.0
 *
 * The sources of a query, one after the other, as numbered units of work that
 * several threads can take: a slice of a plain file, the next chunk of a
 * stream, or the end of a source.
 *
 * Threads: inputs_next from any; a unit and its memory belong to the thread
 * that got it.
 */
#ifndef CORE_INPUTS_H
#define CORE_INPUTS_H

#include "holding.h"
#include "unit.h"

struct inputs;

struct inputs *inputs_new(const struct inputs_args *args);
/* All units must have been released. */
void inputs_free(struct inputs *ins);

const struct inputs_args *inputs_args(const struct inputs *ins);

/* Whether plain files are cut for several threads; before inputs_next. */
void inputs_by_slices(struct inputs *ins, bool by_slices);

/* Expands the file arguments; problems become notes and failed sources. */
int inputs_expand(struct inputs *ins, struct error *err);

/* The next unit; DT_STOP when all sources are at their end, or
 * DT_ERR_CANCELLED. Waits for a read slot when it opens a source. */
int inputs_next(struct inputs *ins, struct unit *u);
/* Gives a unit back (its memory stays for the next). */
void inputs_release(struct inputs *ins, struct unit *u);
/* The read slots of the query. */
struct holding *inputs_holding(struct inputs *ins);

/* No further units: inputs_next says DT_STOP. Any thread. */
void inputs_stop(struct inputs *ins);
bool inputs_is_stopping(struct inputs *ins);
/* Readable once inputs_stop was called. */
int inputs_stop_fd(const struct inputs *ins);

/* Following: lists a source that the follow engine reads; NULL: no memory.
 * `first`: what its file begins with, where it is read from further on. */
struct input *inputs_add_followed(struct inputs *ins, const char *name,
                                  const char *path, const char *first,
                                  size_t len);
/* Tells the client the number and name of a source, and its present file. */
int inputs_announce(struct inputs *ins, const struct input *in,
                    const struct source_desc *desc);
void inputs_count_bytes(struct inputs *ins, size_t len);

/* Wakes threads that wait for their turn, so that they look at the cancel. */
void inputs_interrupt(struct inputs *ins);

/* For dt_source(). DT_OK or DT_ERR_NOENT. */
int inputs_lookup(struct inputs *ins, uint32_t id, struct dt_source *out);

/* For dt_line_at(): reads a plain file again up to `offset`; 0: cannot tell.
 * A unit of the source must be in work. */
uint64_t inputs_line_at(struct inputs *ins, uint32_t id, uint64_t offset);

/* What was read so far. */
void inputs_counters(struct inputs *ins, struct query_end *end);

#endif
