/* SPDX-License-Identifier: Apache-2.0
 *
 * --before, --after and --max: which lines are given out around the selected
 * ones. Works on runs of lines instead of single ones; the rules are those of
 * the specification "reading", section 8:
 *
 *   selected:      the remembered lines and the line are given out; with
 *                  `max`, the max-th ends the source, or, if there is an
 *                  `after`, its trailing lines or the next selected line do
 *   not selected:  given out while `after` lines are owed, else remembered,
 *                  of which the last `before` are kept
 *
 * Threads: one state a source, in one thread at a time.
 */
#ifndef COMMON_CONTEXT_H
#define COMMON_CONTEXT_H

#include "buf.h"
#include "runs.h"

/* What may be remembered for one source, in bytes. */
#define CONTEXT_MAX_BYTES ((size_t)64 * 1024 * 1024)

/* 0: not wanted. */
struct context_args {
    uint64_t before, after, max; /* lines */
};

/* What goes on behind lines that were given out (dt_lines.state): the hits so
 * far and the trailing lines still to come, two numbers of 64 bits, big
 * endian. No lines are remembered there: what stands before the first line
 * that was not given out has been given out, or is not wanted any more. */
#define CONTEXT_STATE_LEN 16u

struct context_held; /* lines remembered from earlier blocks */

/* Caller's memory; all zero, then args set, is the start of a source. */
struct context {
    struct context_args args;
    uint64_t hits;  /* selected lines so far */
    uint64_t owed;  /* trailing lines still to come */
    bool is_ending; /* all hits were given out, only trailing lines are */
    /* remembered: of earlier blocks, oldest first … */
    struct buf bytes;
    struct context_held *held;
    size_t nr_held, first_held, cap_held;
    uint64_t held_lines;
    /* … and [rest_from, rest_to) of the present block */
    size_t rest_from, rest_to;
    unsigned char state[CONTEXT_STATE_LEN]; /* goes with lines given out */
};

/* Gives out lines; what it returns below 0 ends the call. */
typedef int (*context_emit_fn)(void *ctx, const struct dt_lines *lines);

void context_fini(struct context *c);

/* The lines [from, to) of the cursor's block, all selected or all not. Calls
 * come in the order of the lines and leave none out. DT_OK; DT_STOP: the rest
 * of the source is not wanted, do not call again; or an error: what `emit`
 * said, DT_ERR_NOMEM, DT_ERR_LIMIT (more than CONTEXT_MAX_BYTES). */
int context_feed(struct context *c, struct run_cursor *cursor, size_t from,
                 size_t to, bool is_selected, context_emit_fn emit, void *ctx);

/* The end of the cursor's block, whose bytes go away. DT_OK or an error. */
int context_end_block(struct context *c, struct run_cursor *cursor);

/* Behind context_end_block: where reading can go on later with that state, as
 * struct dt_lines without lines: at the first remembered line, or behind the
 * block. */
struct dt_lines context_place(struct context *c,
                              const struct run_cursor *cursor);
/* A source that goes on in a state, which may be any bytes. DT_OK, or DT_STOP:
 * all its hits have been given out. */
int context_restore(struct context *c, const void *state, size_t len);

#endif
