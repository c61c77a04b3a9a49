/* SPDX-License-Identifier: Apache-2.0
 *
 * The result file of a job: a sink (sink.h) that never leaves half a result,
 * nor an empty one, in the place of one that is there.
 *
 * A scheduled job's file is written when its run was a complete success; a
 * continuous one's at each interval that brought something.
 */
#ifndef CLIENTS_JOBFILE_H
#define CLIENTS_JOBFILE_H

#include "buf.h"
#include "sink.h"

#include "mapr/language.h"

#include <time.h>

/* The Outfile of a job, with dates filled in: "PATH" or "append PATH". */
struct jobfile_name {
    const char *path;
    bool is_append;
};
struct jobfile_name jobfile_name(const char *outfile);

/* Whether a scheduled job has done its work already: the file exists, or, for
 * one that is appended to, PATH.query was written on this day. DT_STOP: it has;
 * DT_OK: it has not; DT_ERR_IO: that cannot be seen; DT_ERR_NOMEM. */
int jobfile_is_done(const struct jobfile_name *name, time_t now,
                    struct error *err);

/* Appends the query with its outfile clause. DT_OK or DT_ERR_NOMEM. */
int jobfile_query(const char *query, const struct jobfile_name *name,
                  struct buf *out);

/* A sink for a parsed query with an outfile, which it takes, also when it
 * fails. `report_fd` is told of each result (jobrun.h). DT_OK or
 * DT_ERR_NOMEM. */
int jobfile_new(struct language_query *q, bool is_continuous, int report_fd,
                struct sink *out);

#endif
