/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a file by a user's path, and checking what was opened.
 */
#include "source-open.h"

#include "cleanup.h"
#include "permission.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#define OPEN_MAX_TRIES 10

/* "/proc/self/fd/N", through which the kernel gives out exactly the file that
 * the descriptor stands for. */
struct fd_path {
    char text[32];
};

static struct fd_path
fd_path(int fd)
{
    struct fd_path p;

    snprintf(p.text, sizeof(p.text), "/proc/self/fd/%d", fd);
    return p;
}

static const char *
type_name(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a fifo";
    case S_IFSOCK:
        return "a socket";
    case S_IFCHR:
    case S_IFBLK:
        return "a device";
    default:
        return "not a file";
    }
}

/* A file of /proc about one process. Its mode lets everybody read some of them,
 * but what the kernel then checks are the rights of this process, and those
 * tell where the programs of the server are in memory. */
static bool
is_process_file(int fd, const char *real)
{
    static const char mount[] = "/proc/";
    struct statfs fs;

    return !strncmp(real, mount, sizeof(mount) - 1) &&
           isdigit((unsigned char)real[sizeof(mount) - 1]) &&
           fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* The path of what was opened. DT_AGAIN: it was unlinked just now, so the
 * name in /proc is not its name any more; somebody else may have it, or it
 * may dodge a rule by the " (deleted)" at its end. */
static int
real_path(int fd, const char *path, const struct stat *st, char *out,
          size_t cap, struct error *err)
{
    static const char mark[] = " (deleted)";
    struct fd_path name = fd_path(fd);
    ssize_t n = readlink(name.text, out, cap);
    struct stat now;

    if (n < 0) {
        return error_errno(err, errno,
                           "%s: real path not known (is /proc "
                           "mounted?)",
                           path);
    }
    if ((size_t)n >= cap) {
        return error_set(err, DT_ERR_ACCES, "%s: real path too long", path);
    }
    out[n] = '\0';
    if ((size_t)n >= sizeof(mark) - 1 &&
        !strcmp(out + n - (sizeof(mark) - 1), mark) &&
        (lstat(out, &now) < 0 || now.st_dev != st->st_dev ||
         now.st_ino != st->st_ino)) {
        return DT_AGAIN;
    }
    return DT_OK;
}

static int
check(int fd, const char *path, const struct permission *permission,
      const struct stat *st, struct error *err)
{
    char real[PATH_MAX + 1];
    int status;

    if (!permission) {
        return DT_OK;
    }
    status = real_path(fd, path, st, real, sizeof(real), err);
    if (status != DT_OK) {
        return status;
    }
    if (real[0] != '/') {
        return S_ISFIFO(st->st_mode)
                   ? DT_OK
                   : error_set(err, DT_ERR_ACCES, "%s: has no path to check",
                               path);
    }
    if (is_process_file(fd, real)) {
        return error_set(err, DT_ERR_ACCES, "%s: belongs to a process", path);
    }
    return permission_check(permission, fd, real, err);
}

/* Opens again, for reading, what `fd` stands for. */
static int
reopen(int fd, const char *path, struct stat *st, int *out, struct error *err)
{
    struct fd_path name = fd_path(fd);
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;

    if (S_ISFIFO(st->st_mode)) {
        flags |= O_NONBLOCK; /* no writer may be there yet */
    }
    do {
        *out = open(name.text, flags);
    } while (*out < 0 && errno == EINTR);
    if (*out < 0) {
        return error_errno(err, errno, "%s: cannot open", path);
    }
    if (fstat(*out, st) < 0) { /* the size may be another by now */
        int status = error_errno(err, errno, "%s: cannot be examined", path);

        close(STEAL_FD(*out));
        return status;
    }
    return DT_OK;
}

static int
open_once(const char *path, const struct permission *permission,
          bool allow_fifo, struct stat *st, int *out, struct error *err)
{
    CLEANUP_FD int fd = open(path, O_PATH | O_CLOEXEC);
    int status;

    if (fd < 0) {
        return error_errno(err, errno, "%s: cannot open", path);
    }
    if (fstat(fd, st) < 0) {
        return error_errno(err, errno, "%s: cannot be examined", path);
    }
    if (!S_ISREG(st->st_mode) && !(allow_fifo && S_ISFIFO(st->st_mode))) {
        return error_set(
            err, DT_ERR_INVAL, "%s: is %s; only regular files are read%s", path,
            type_name(st->st_mode), allow_fifo ? " (and fifos)" : "");
    }
    status = check(fd, path, permission, st, err);
    return status == DT_OK ? reopen(fd, path, st, out, err) : status;
}

int
source_open_checked(const char *path, const struct permission *permission,
                    bool allow_fifo, struct stat *st, struct error *err)
{
    int status = DT_AGAIN;
    int fd = -1;

    for (int i = 0; status == DT_AGAIN && i < OPEN_MAX_TRIES; i++) {
        status = open_once(path, permission, allow_fifo, st, &fd, err);
    }
    if (status == DT_AGAIN) {
        status = error_set(err, DT_ERR_NOENT,
                           "%s: replaced again and again while opening", path);
    }
    return status == DT_OK ? fd : status;
}

int
source_open_refuse_output(const char *path, const struct stat *st,
                          struct error *err)
{
    struct stat out;

    if (!S_ISREG(st->st_mode) || fstat(STDOUT_FILENO, &out) < 0 ||
        out.st_dev != st->st_dev || out.st_ino != st->st_ino) {
        return DT_OK;
    }
    return error_set(err, DT_ERR_IO, "%s: is the output as well", path);
}

uint64_t
source_measure(const char *path, const struct permission *permission,
               bool *is_endless)
{
    CLEANUP_FD int fd = open(path, O_PATH | O_CLOEXEC);
    struct error err = ERROR_INIT;
    struct stat st;

    *is_endless = false;
    if (fd < 0 || fstat(fd, &st) < 0) {
        return 0;
    }
    *is_endless = S_ISFIFO(st.st_mode);
    return S_ISREG(st.st_mode) &&
                   check(fd, path, permission, &st, &err) == DT_OK
               ? (uint64_t)st.st_size
               : 0;
}

const char *
source_denied(const struct permission *permission)
{
    return permission
               ? "permission denied, for a reason that the server's log has"
               : dt_strerror(DT_ERR_ACCES);
}
