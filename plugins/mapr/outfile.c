/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of `outfile [append] PATH`.
 */
#include "outfile.h"

#include "csvtext.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct outfile {
    const struct language_query *q;
    char *path, *tmp, *query, *query_tmp;
    int fd;           /* of the temporary file; -1: no result is under way */
    struct text rows; /* append: collected, written at once */
    bool has_failed;
};

static char *
path_with(struct str path, const char *suffix)
{
    char *s = NULL;

    return asprintf(&s, "%.*s%s", (int)path.n, path.p, suffix) < 0 ? NULL : s;
}

struct outfile *
outfile_new(const struct language_query *q)
{
    struct outfile *o = calloc(1, sizeof(*o));

    if (!o) {
        return NULL;
    }
    o->q = q;
    o->fd = -1;
    o->path = path_with(q->outfile, "");
    o->tmp = path_with(q->outfile, ".tmp");
    o->query = path_with(q->outfile, ".query");
    o->query_tmp = path_with(q->outfile, ".query.tmp");
    if (!o->path || !o->tmp || !o->query || !o->query_tmp) {
        outfile_free(o);
        return NULL;
    }
    return o;
}

void
outfile_abort(struct outfile *o)
{
    if (o->fd >= 0) {
        close(o->fd);
        o->fd = -1;
        unlink(o->tmp);
    }
    o->rows.len = 0;
    o->rows.failed = false;
    o->has_failed = false;
}

void
outfile_free(struct outfile *o)
{
    if (!o) {
        return;
    }
    outfile_abort(o);
    text_fini(&o->rows);
    free(o->path);
    free(o->tmp);
    free(o->query);
    free(o->query_tmp);
    free(o);
}

static int
fail(const char *what, const char *path, char *err, size_t err_size)
{
    snprintf(err, err_size, "Unable to write final mapreduce result|%s %s: %s",
             what, path, strerror(errno));
    return DT_ERR_IO;
}

/* A link that somebody put there is not followed. */
static int
create(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                0666);
}

static bool
write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return false;
        }
        p += done;
        n -= (size_t)done;
    }
    return true;
}

int
outfile_add(struct outfile *o, const void *data, size_t len, char *err,
            size_t err_size)
{
    if (len == 0 || o->has_failed) {
        return DT_OK;
    }
    if (o->q->is_append) {
        text_add(&o->rows, data, len);
        if (o->rows.failed) {
            o->has_failed = true;
            snprintf(err, err_size, "out of memory for %s", o->path);
            return DT_ERR_NOMEM;
        }
        return DT_OK;
    }
    if (o->fd < 0) {
        o->fd = create(o->tmp);
        if (o->fd < 0) {
            o->has_failed = true;
            return fail("cannot create", o->tmp, err, err_size);
        }
    }
    if (!write_all(o->fd, data, len)) {
        o->has_failed = true;
        return fail("cannot write", o->tmp, err, err_size);
    }
    return DT_OK;
}

/* Syncs, closes and renames; removes the temporary file when that fails. */
static int
replace(int fd, const char *tmp, const char *path, char *err, size_t err_size)
{
    int saved = 0;

    if (fsync(fd) < 0 && errno != EINVAL && errno != EROFS) {
        saved = errno; /* EINVAL: a device or pipe has nothing to sync */
    }
    if (close(fd) < 0 && !saved) {
        saved = errno;
    }
    if (!saved && rename(tmp, path) < 0) {
        saved = errno;
    }
    if (saved) {
        unlink(tmp);
        errno = saved;
        return fail("cannot write", path, err, err_size);
    }
    return DT_OK;
}

static int
write_query(struct outfile *o, char *err, size_t err_size)
{
    int fd = create(o->query_tmp);

    if (fd < 0) {
        return fail("cannot create", o->query_tmp, err, err_size);
    }
    if (!write_all(fd, o->q->text.p, o->q->text.n)) {
        int saved = errno;

        close(fd);
        unlink(o->query_tmp);
        errno = saved;
        return fail("cannot write", o->query_tmp, err, err_size);
    }
    return replace(fd, o->query_tmp, o->query, err, err_size);
}

/* Half of a result may have been written, on a full disk. */
static void
take_back(int fd, const struct stat *before)
{
    if (S_ISREG(before->st_mode)) {
        (void)!ftruncate(fd, before->st_size);
    }
}

/* The header only where nothing stands yet. */
static int
append(struct outfile *o, char *err, size_t err_size)
{
    int fd = open(o->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    struct text header = {0};
    struct stat st;
    size_t skip = 0;
    int status = DT_OK;

    csvtext_header(o->q, false, &header);
    if (fd < 0 || header.failed || fstat(fd, &st) < 0) {
        status = fail("cannot open", o->path, err, err_size);
    } else {
        if (st.st_size > 0 && o->rows.len >= header.len) {
            skip = header.len;
        }
        if (!write_all(fd, o->rows.data + skip, o->rows.len - skip) ||
            (fsync(fd) < 0 && errno != EINVAL && errno != EROFS)) {
            status = fail("cannot write", o->path, err, err_size);
            take_back(fd, &st);
        }
    }
    if (fd >= 0 && close(fd) < 0 && status == DT_OK) {
        status = fail("cannot write", o->path, err, err_size);
    }
    text_fini(&header);
    return status;
}

int
outfile_commit(struct outfile *o, char *err, size_t err_size)
{
    int fd = o->fd, status;

    if (o->has_failed) {
        outfile_abort(o);
        snprintf(err, err_size, "Unable to write final mapreduce result|%s",
                 o->path);
        return DT_ERR_IO;
    }
    if (fd < 0 && o->rows.len == 0) {
        return DT_OK;
    }
    status = write_query(o, err, err_size);
    if (status < 0) {
        outfile_abort(o);
        return status;
    }
    if (o->q->is_append) {
        status = append(o, err, err_size);
        o->rows.len = 0;
        return status;
    }
    o->fd = -1;
    return replace(fd, o->tmp, o->path, err, err_size);
}
