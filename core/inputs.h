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
/* While the client reads nothing, others may have the slots of this query; to
 * go on it waits for them again. By the thread that writes. */
void inputs_yield_slots(struct inputs *ins);
void inputs_regain_slots(struct inputs *ins);

/* No further units: inputs_next says DT_STOP. Any thread. */
void inputs_stop(struct inputs *ins);
/* Wakes threads that wait for their turn, so that they look at the cancel. */
void inputs_interrupt(struct inputs *ins);

/* For dt_source(). DT_OK or DT_ERR_NOENT. */
int inputs_lookup(struct inputs *ins, uint32_t id, struct dt_source *out);

/* What was read so far. */
void inputs_counters(struct inputs *ins, struct query_end *end);

#endif
