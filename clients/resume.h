/* SPDX-License-Identifier: Apache-2.0
 *
 * Where following goes on after a broken connection: what one server said of
 * its files, and how far their lines have been printed.
 *
 * The position of a source moves with its LINES frames only, so a file that
 * was replaced without a line from its successor is still the old one.
 *
 * Threads: the output thread.
 */
#ifndef CLIENTS_RESUME_H
#define CLIENTS_RESUME_H

#include "request.h"
#include "wire.h"

struct resume_source;

/* All zero is empty: nothing is known. */
struct resume {
    struct resume_source *sources; /* by the number of the session */
    size_t nr_sources;
    struct source_desc *positions; /* of earlier sessions, by path */
    size_t nr_positions;
    bool is_settled; /* every file of the session's beginning is known */
};

void resume_fini(struct resume *r);
/* Takes notice of a frame whose lines, if any, have been printed. DT_OK or
 * DT_ERR_NOMEM; frames that do not matter are DT_OK. */
int resume_frame(struct resume *r, const struct wire_frame *f);
/* The session is over: what it knew becomes the beginning of the next. */
int resume_end_session(struct resume *r);
/* Makes `spec`, a copy of the query, go on from there. DT_OK or an error. */
int resume_apply(const struct resume *r, struct query_spec *spec);

#endif
