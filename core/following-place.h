/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a followed source has been fed to the plugin, and where another
 * session goes on with it after a broken connection.
 *
 * Threads: the one that feeds.
 */
#ifndef CORE_FOLLOWING_PLACE_H
#define CORE_FOLLOWING_PLACE_H

#include "lane.h"

/* What is known of a source at the plugin's side. */
struct place {
    struct input *input;
    uint64_t next_line;
    uint32_t generation;        /* of what was fed last … */
    uint64_t offset;            /* … up to here */
    uint64_t marked;            /* the client knows to go on about here … */
    uint32_t marked_generation; /* … in this file */
};

/* Lines that were given out say where to go on. Where none were for long, an
 * empty frame does: behind what was fed, or, if the plugin may hold lines
 * back, where it says. */
int place_mark(struct place *at, const struct lane *l,
               const struct lane_shared *sh);

/* The state in which the plugin goes on with the source, from an earlier
 * session; none: input->state stays NULL. */
void place_find_state(struct place *at, const struct query_spec *spec);

#endif
