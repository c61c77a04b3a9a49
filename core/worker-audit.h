/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker's side of the audit: tells the listener of each query that
 * begins and ends. The worker's own thread.
 */
#ifndef CORE_WORKER_AUDIT_H
#define CORE_WORKER_AUDIT_H

#include "audit.h"
#include "query.h"

struct worker_audit {
    int broker_fd;           /* borrowed */
    struct query_live *live; /* AUDIT_LIVE_ROWS; NULL: none */
    uint64_t rows;           /* bits: those that are in use */
    struct broker_msg msg;   /* kept here: it is big, and always there */
};

/* A row of counters for a query that is about to begin; AUDIT_NO_ROW, and NULL
 * in *live: none is free. */
int worker_audit_row(struct worker_audit *a, struct query_live **live);
/* It has not begun. */
void worker_audit_drop_row(struct worker_audit *a, int row);
void worker_audit_begin(struct worker_audit *a, const struct query_spec *spec,
                        bool turbo, int row);
/* It has ended; the row is free again. */
void worker_audit_end(struct worker_audit *a, uint32_t id, int row,
                      const struct query_end *end,
                      const struct query_live *sent);
/* A query was refused: its beginning and its end. */
void worker_audit_refused(struct worker_audit *a, const struct query_spec *spec,
                          int status, const char *why);

#endif
