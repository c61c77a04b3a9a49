/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of lines of a block as struct dt_lines, with their numbers: newlines
 * are counted from run to run, and only when anybody wants numbers.
 *
 * Threads: a cursor belongs to one thread; nothing is allocated.
 */
#ifndef COMMON_RUNS_H
#define COMMON_RUNS_H

#include "bytes.h"

#include <dtail/plugin.h>

/* A place in a block that only moves forward. Caller's memory. */
struct run_cursor {
    const struct dt_block *block;
    size_t at;     /* bytes of the block behind which lines are not counted */
    uint64_t line; /* number of the line there; 0: not counted */
};

static inline void
run_cursor_init(struct run_cursor *c, const struct dt_block *block)
{
    *c = (struct run_cursor){block, 0, block->first_line};
}

/* How many lines are in the bytes; a last one without newline counts. */
static inline uint64_t
run_count(const char *data, size_t len)
{
    return len ? bytes_count_newlines(data, len) + (data[len - 1] != '\n') : 0;
}

/* The lines [from, to) of the block, `nr` of them (0: to be counted); `from`
 * not before the run of the last call. The bytes are the block's. */
static inline struct dt_lines
run_lines(struct run_cursor *c, size_t from, size_t to, uint64_t nr)
{
    const struct dt_block *b = c->block;
    struct dt_lines l = {
        .size = sizeof(l),
        .source = b->source,
        .offset = b->offset + to,
        .data = b->data + from,
        .len = to - from,
        .generation = dt_block_generation(b),
    };

    if (to == b->len) {
        l.flags = b->flags & (DT_BLOCK_NOEOL | DT_BLOCK_CUT);
    }
    if (c->line) {
        l.nr_lines = nr ? nr : run_count(l.data, l.len);
        l.first_line =
            c->line + bytes_count_newlines(b->data + c->at, from - c->at);
        /* a last line without newline has none behind it */
        c->line = l.first_line + l.nr_lines;
        c->at = to;
    }
    return l;
}

#endif
