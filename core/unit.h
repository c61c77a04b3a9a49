/* SPDX-License-Identifier: Apache-2.0
 *
 * A unit of work on one source, and how its bytes become runs of whole lines.
 *
 * Threads: a unit and its memory belong to the thread that got it from
 * inputs_next.
 */
#ifndef CORE_UNIT_H
#define CORE_UNIT_H

#include "progress.h"

#include <pthread.h>

#include <stdatomic.h>

#define INPUTS_SLICE (256u * 1024u) /* bytes: stays in the L2 cache */

struct inputs_args {
    const struct query_env *env;
    const struct query_spec *spec;
    struct cancel *cancel;
    struct progress *progress; /* made and freed by inputs.c */
    int stop_fd;    /* of the inputs: readable once no more is to be read */
    bool verbatim;  /* no BOM and UTF-16 handling */
    bool by_slices; /* cut plain files for several threads */
};

/* One opened source; made and freed by inputs.c. */
struct input {
    uint32_t id;
    struct source *source; /* NULL once closed */
    struct source_target target;
    unsigned refs; /* units in work, and the list while it is current */
    _Atomic bool is_stopped;
    bool is_random;
    bool is_begun;                      /* its first unit was given out */
    bool is_exhausted;                  /* all its bytes were given out */
    _Atomic bool has_failed, is_broken; /* is_broken: not merely shrunk */
    pthread_mutex_t failure_lock;
    uint64_t failed_at; /* the first place, by bytes, that cannot be read */
    char *failure;      /* what is to be said of it; NULL: nothing */
    uint64_t next;      /* random: offset of the next slice */
    uint64_t offset;    /* stream: offset of the next chunk */
    uint64_t size;      /* at the start */
    struct buf carry;   /* stream: the unfinished line */
    bool is_inside;     /* stream: the last chunk ended in a cut line */
    _Atomic uint64_t nr_long;
    uint64_t raw_size;         /* bytes of the file, at the start … */
    _Atomic uint64_t raw_done; /* … and read, as far as was told */
    bool has_head; /* it was looked for; under the lock of the inputs */
    char *head;    /* the first line; NULL: not known */
    size_t head_len;
    uint64_t head_offset;
    /* Following: of the plugin where an earlier session stopped; borrowed. */
    const char *state;
    size_t state_len;
};

/* One unit. Zero it before the first inputs_next. `mem` is the thread's block
 * buffer, kept from unit to unit; the run below points into it. Bytes lie in
 * it at the place of a page that they have in the file: the kernel copies them
 * faster so. */
struct unit {
    struct input *input;
    uint64_t seq;  /* order over all sources, from 0 */
    bool is_first; /* of its source */
    bool is_last;  /* no bytes: the source is at its end */
    bool has_more; /* another run may follow this one */
    /* the present run of whole lines */
    char *data;
    size_t len;
    uint32_t flags; /* DT_BLOCK_NOEOL, DT_BLOCK_CUT at its end */
    uint64_t offset;
    /* private */
    struct buf mem;
    size_t at;         /* in mem: the first byte that was not handed on yet */
    uint64_t pos, end; /* slices: bytes of the file; pos is that of `at` */
    bool is_slice, is_aligned, is_inside, is_fresh;
};

/* Fills a fresh unit with the next chunk of a stream; only by the holder of
 * the turn (inputs_next). len 0: the stream is at its end. */
int unit_read_chunk(const struct inputs_args *a, struct unit *u);
/* The next run of the unit: DT_OK, DT_STOP when there is no more, or
 * DT_ERR_CANCELLED, DT_ERR_NOMEM. A source that cannot be read further has
 * been noted and counts as failed; what was read is given out. */
int unit_next_run(const struct inputs_args *a, struct unit *u);
/* Takes the memory of the present run out of the unit: it is in *other
 * afterwards (data and len of the run stay valid there), and the unit goes on
 * with what was in *other. */
int unit_detach(struct unit *u, struct buf *other);
void unit_fini(struct unit *u);
/* Notes that the source could not be read to its end, if so, and where: the
 * first such place, whichever thread was there first. Once all its units are
 * back. */
void input_tell_failure(const struct inputs_args *a, const struct input *in);
/* Fills in what plugins may know of it, but for the host; by out->size. */
void input_describe(const struct input *in, struct dt_source *out);
/* The number of the line at an offset of a plain file; 0: cannot tell. */
uint64_t input_line_at(const struct input *in, uint64_t offset);

/* A note to the user, beside the data (WIRE_S_NOTE). */
void query_note(const struct query_env *env, uint32_t query,
                const struct cancel *cancel, const char *format, ...)
    DT_PRINTF(4, 5);

#endif
