/* SPDX-License-Identifier: Apache-2.0
 *
 * The result file of a job.
 */
#include "jobfile.h"

#include "cleanup.h"
#include "jobrun.h"
#include "jobtime.h"
#include "run.h"

#include "mapr/outfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct jobfile {
    struct language_query *q;
    struct outfile *file;
    bool is_continuous;
    bool is_complete; /* a scheduled one's result is there as a whole */
    int report_fd;
    uint64_t nr_lines;        /* of the result under way, header included */
    char err[ERROR_TEXT_MAX]; /* of the result under way; "": none */
};

struct jobfile_name
jobfile_name(const char *outfile)
{
    static const char append[] = "append ";
    struct jobfile_name name = {outfile, false};

    if (strncmp(outfile, append, sizeof(append) - 1) == 0) {
        name.path = outfile + sizeof(append) - 1;
        name.path += strspn(name.path, " ");
        name.is_append = true;
    }
    return name;
}

int
jobfile_is_done(const struct jobfile_name *name, time_t now, struct error *err)
{
    char today[JOBTIME_DAY], then[JOBTIME_DAY];
    CLEANUP_FREE char *path = NULL;
    struct stat st;

    if (asprintf(&path, "%s%s", name->path, name->is_append ? ".query" : "") <
        0) {
        path = NULL;
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    if (stat(path, &st) != 0) {
        return errno == ENOENT || errno == ENOTDIR
                   ? DT_OK
                   : error_errno(err, errno, "Outfile: %s", path);
    }
    if (!name->is_append) {
        return DT_STOP;
    }
    jobtime_day(now, today);
    jobtime_day(st.st_mtime, then);
    return strcmp(today, then) == 0 ? DT_STOP : DT_OK;
}

int
jobfile_query(const char *query, const struct jobfile_name *name,
              struct buf *out)
{
    return buf_printf(out, "%s outfile %s\"%s\"", query,
                      name->is_append ? "append " : "", name->path);
}

/* ---- the sink ---- */

static int
add(void *ctx, const char *data, size_t len)
{
    struct jobfile *f = ctx;
    char err[ERROR_TEXT_MAX];

    for (size_t i = 0; i < len; i++) {
        f->nr_lines += data[i] == '\n';
    }
    if (outfile_add(f->file, data, len, err, sizeof(err)) != DT_OK &&
        !f->err[0]) {
        snprintf(f->err, sizeof(f->err), "%s", err);
    }
    return DT_OK;
}

/* Puts the result in its place; one without a row is dropped. */
static int
put(struct jobfile *f, struct error *err)
{
    char text[ERROR_TEXT_MAX] = "";
    uint64_t rows = f->nr_lines > 0 ? f->nr_lines - 1 : 0;
    int rc = DT_OK;

    f->nr_lines = 0;
    if (rows == 0 && !f->err[0]) {
        outfile_abort(f->file);
        return DT_OK;
    }
    rc = outfile_commit(f->file, text, sizeof(text));
    if (rc == DT_OK) {
        dprintf(f->report_fd, JOBRUN_ROWS " %" PRIu64 "\n", rows);
    } else {
        error_set(err, rc, "%s", f->err[0] ? f->err : text);
    }
    f->err[0] = '\0';
    return rc;
}

static int
commit(void *ctx, struct error *err)
{
    struct jobfile *f = ctx;

    if (f->is_continuous) {
        return put(f, err);
    }
    f->is_complete = true;
    return DT_OK;
}

static int
finish(void *ctx, int status, struct error *err)
{
    struct jobfile *f = ctx;

    if (f->is_continuous) {
        return status;
    }
    if (status != RUN_OK || !f->is_complete) {
        outfile_abort(f->file);
        return status;
    }
    return put(f, err) == DT_OK ? RUN_OK : RUN_FAILED;
}

static void
jobfile_free(void *ctx)
{
    struct jobfile *f = ctx;

    outfile_free(f->file);
    language_free(f->q);
    free(f);
}

static const struct sink_ops ops = {
    .add = add,
    .commit = commit,
    .finish = finish,
    .free = jobfile_free,
};

int
jobfile_new(struct language_query *q, bool is_continuous, int report_fd,
            struct sink *out)
{
    struct jobfile *f = calloc(1, sizeof(*f));

    if (f) {
        f->q = q;
        f->file = outfile_new(q);
    }
    if (!f || !f->file) {
        free(f);
        language_free(q);
        return DT_ERR_NOMEM;
    }
    f->is_continuous = is_continuous;
    f->report_fd = report_fd;
    *out = (struct sink){&ops, f};
    return DT_OK;
}
