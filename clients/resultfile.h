/* SPDX-License-Identifier: Apache-2.0
 *
 * The result file of a query (its outfile clause), as sinks (sink.h) need it.
 */
#ifndef CLIENTS_RESULTFILE_H
#define CLIENTS_RESULTFILE_H

#include "error.h"

#include "mapr/language.h"
#include "mapr/outfile.h"

struct resultfile {
    struct language_query *q;
    struct outfile *file;
    char err[ERROR_TEXT_MAX]; /* of the result under way; "": none */
};

/* Takes the parsed query, which has an outfile, also when it fails. DT_OK or
 * DT_ERR_NOMEM. */
int resultfile_init(struct resultfile *f, struct language_query *q);
/* Adds to the result under way; resultfile_commit says what went wrong. */
void resultfile_add(struct resultfile *f, const char *data, size_t len);
/* Puts the result in its place. DT_OK, or what went wrong since the last one.
 */
int resultfile_commit(struct resultfile *f, struct error *err);
void resultfile_fini(struct resultfile *f);

#endif
