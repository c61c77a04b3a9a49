/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of `outfile [append] PATH` and PATH.query beside it (spec mapreduce
 * 15). For the clients: plugins open no paths. A client runs the reduce stage
 * with the argument output=outfile (the default for such a query) and hands
 * the text of each drain to outfile_add, then calls outfile_commit.
 *
 * Nobody ever sees half a result: a temporary file is written, synced and
 * renamed. One thread.
 */
#ifndef MAPR_OUTFILE_H
#define MAPR_OUTFILE_H

#include "language.h"

struct outfile;

/* For a query that has an outfile, which must outlive it. NULL: out of
 * memory. Touches no file. */
struct outfile *outfile_new(const struct language_query *q);
void outfile_free(struct outfile *o);

/* Bytes of a result that is under way. DT_OK, or an error with a text in err:
 * then the result is dropped at the next commit. */
int outfile_add(struct outfile *o, const void *data, size_t len, char *err,
                size_t err_size);
/* The result is complete. DT_OK, or DT_ERR_IO with a text in err that names
 * the file. Without bytes since the last commit nothing happens, which is how
 * interim results of a one-shot `append` look. */
int outfile_commit(struct outfile *o, char *err, size_t err_size);
/* Drops what was added since the last commit. */
void outfile_abort(struct outfile *o);

#endif
