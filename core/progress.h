/* SPDX-License-Identifier: Apache-2.0
 *
 * How far the reading of a query has come: PROGRESS frames, some a second, for
 * queries that take longer than a moment. Nobody waits for them, and no result
 * depends on them.
 *
 * Threads: any, but for the making and the end.
 */
#ifndef CORE_PROGRESS_H
#define CORE_PROGRESS_H

#include "query.h"

#define PROGRESS_FIRST_MS 500 /* from the start of the query … */
#define PROGRESS_EVERY_MS 250 /* … and from frame to frame */

struct progress;

/* `env`, `cancel` and `targets` outlive it. NULL: no memory. */
struct progress *progress_new(const struct query_env *env, uint32_t query,
                              const struct cancel *cancel, int64_t now_ms);
void progress_free(struct progress *p);

/* What is going to be read, in that order. It stays as it is. */
void progress_expect(struct progress *p, const struct source_targets *targets);
/* Target number `index` is open. `is_endless`: it has no size. */
void progress_begin(struct progress *p, size_t index, uint64_t size,
                    bool is_endless);
/* So many more bytes of a source were read. */
void progress_add(struct progress *p, uint64_t bytes);
/* A source of that size is over: `counted` bytes were added, `read` is right.
 */
void progress_end(struct progress *p, uint64_t size, uint64_t counted,
                  uint64_t read);

/* Sends a frame if it is time for one. */
void progress_tick(struct progress *p, int64_t now_ms);

#endif
