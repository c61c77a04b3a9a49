/* SPDX-License-Identifier: Apache-2.0
 *
 * The result file of a query, as sinks need it.
 */
#include "resultfile.h"

#include <stdio.h>

int
resultfile_init(struct resultfile *f, struct language_query *q)
{
    *f = (struct resultfile){.q = q, .file = outfile_new(q)};
    if (!f->file) {
        resultfile_fini(f);
        return DT_ERR_NOMEM;
    }
    return DT_OK;
}

void
resultfile_add(struct resultfile *f, const char *data, size_t len)
{
    char err[ERROR_TEXT_MAX];

    if (outfile_add(f->file, data, len, err, sizeof(err)) != DT_OK &&
        !f->err[0]) {
        snprintf(f->err, sizeof(f->err), "%s", err);
    }
}

int
resultfile_commit(struct resultfile *f, struct error *err)
{
    char text[ERROR_TEXT_MAX] = "";
    int rc = outfile_commit(f->file, text, sizeof(text));

    if (rc != DT_OK) {
        error_set(err, rc, "%s", f->err[0] ? f->err : text);
    }
    f->err[0] = '\0';
    return rc;
}

void
resultfile_fini(struct resultfile *f)
{
    outfile_free(f->file);
    language_free(f->q);
    *f = (struct resultfile){0};
}
