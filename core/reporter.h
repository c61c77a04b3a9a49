/* SPDX-License-Identifier: Apache-2.0
 *
 * Interim results of a query in turbo while lanes wait for input: a pipe on
 * which nothing comes for long, or a lane whose turn does not come.
 *
 * Threads: one of its own; the functions are for the query's.
 */
#ifndef CORE_REPORTER_H
#define CORE_REPORTER_H

#include "lane.h"

struct reporter;

/* Starts when the query has an interval; *out stays NULL when not. `lanes`
 * outlive it. DT_OK, DT_ERR_NOMEM or DT_ERR_LIMIT. */
int reporter_new(struct lane_shared *sh, struct lane *const *lanes, int nr,
                 struct reporter **out);
/* Ends it; waits for a report under way. */
void reporter_free(struct reporter *r);

#endif
