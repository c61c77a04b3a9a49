/* SPDX-License-Identifier: Apache-2.0
 *
 * The result file of a job.
 */
#include "jobfile.h"

#include "cleanup.h"
#include "jobrun.h"
#include "jobtime.h"
#include "resultfile.h"
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct jobfile {
    struct resultfile result;
    bool is_continuous;
    bool is_complete; /* a scheduled one's result is there as a whole */
    int report_fd;
    uint64_t nr_lines; /* of the result under way, header included */
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

    for (size_t i = 0; i < len; i++) {
        f->nr_lines += data[i] == '\n';
    }
    resultfile_add(&f->result, data, len);
    return DT_OK;
}

/* Puts the result in its place; one without a row is dropped. */
static int
put(struct jobfile *f, struct error *err)
{
    uint64_t rows = f->nr_lines > 0 ? f->nr_lines - 1 : 0;
    int rc = DT_OK;

    f->nr_lines = 0;
    if (rows == 0 && !f->result.err[0]) {
        outfile_abort(f->result.file);
        return DT_OK;
    }
    rc = resultfile_commit(&f->result, err);
    if (rc == DT_OK) {
        dprintf(f->report_fd, JOBRUN_ROWS " %" PRIu64 "\n", rows);
    }
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
        outfile_abort(f->result.file);
        return status;
    }
    return put(f, err) == DT_OK ? RUN_OK : RUN_FAILED;
}

static void
jobfile_free(void *ctx)
{
    struct jobfile *f = ctx;

    resultfile_fini(&f->result);
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

    if (!f) {
        language_free(q);
    }
    if (!f || resultfile_init(&f->result, q) != DT_OK) {
        free(f);
        return DT_ERR_NOMEM;
    }
    f->is_continuous = is_continuous;
    f->report_fd = report_fd;
    *out = (struct sink){&ops, f};
    return DT_OK;
}
