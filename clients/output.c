/* SPDX-License-Identifier: Apache-2.0
 *
 * The client's standard output.
 */
#include "output.h"

#include "outq.h"
#include "statusline.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_SIZE (1 << 20)

enum kind {
    KIND_PLAIN, /* a write ends by itself: file, /dev/null */
    KIND_WAITS, /* pipe or terminal, opened again without blocking */
    KIND_SOCKET
};

struct output {
    int fd;
    int own_fd; /* -1, or the descriptor that we opened */
    enum kind kind;
    bool is_terminal;
    bool can_leave; /* the reader may hang up */
    int stop_fd;
    int release_fd; /* readable while not held */
    atomic_bool held;
    atomic_bool stopped;
    struct statusline *status; /* NULL: none */
    bool shares_terminal;      /* with that line */
    int error;
    uint64_t bytes;
    size_t len;
    char *buffer;
};

/* A second open of a pipe or terminal has status flags of its own, so that
 * O_NONBLOCK is not forced upon whoever else writes there. */
static void
open_again(struct output *o)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", o->fd);
    o->own_fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (o->own_fd >= 0) {
        o->kind = KIND_WAITS;
        o->fd = o->own_fd;
    }
}

static void
look_at_fd(struct output *o, bool follow)
{
    struct stat st;

    o->is_terminal = isatty(o->fd) == 1;
    if (fstat(o->fd, &st) != 0) {
        return;
    }
    if (S_ISSOCK(st.st_mode)) {
        o->kind = KIND_SOCKET;
        o->can_leave = true;
    } else if (S_ISFIFO(st.st_mode) || o->is_terminal) {
        o->can_leave = true;
        open_again(o);
        if (S_ISFIFO(st.st_mode) && !follow) {
            /* Refused beyond the user's quota of pipe pages: no harm. */
            (void)fcntl(o->fd, F_SETPIPE_SZ, PIPE_SIZE);
        }
    }
}

int
output_new(int fd, bool follow, struct output **out, struct error *err)
{
    struct output *o = calloc(1, sizeof(*o));

    if (!o) {
        return error_set(err, DT_ERR_NOMEM, "output: out of memory");
    }
    o->fd = fd;
    o->own_fd = -1;
    o->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    o->release_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    o->buffer = malloc(OUTPUT_BUFFER + OUTPUT_SLACK);
    if (!o->buffer || o->stop_fd < 0 || o->release_fd < 0) {
        int saved = o->buffer ? errno : ENOMEM;

        output_free(o);
        return error_errno(err, saved, "output");
    }
    look_at_fd(o, follow);
    *out = o;
    return DT_OK;
}

void
output_set_status(struct output *o, struct statusline *status)
{
    o->status = status;
    o->shares_terminal = statusline_is_at(status, o->fd);
}

void
output_free(struct output *o)
{
    if (!o) {
        return;
    }
    if (o->own_fd >= 0) {
        close(o->own_fd);
    }
    if (o->stop_fd >= 0) {
        close(o->stop_fd);
    }
    if (o->release_fd >= 0) {
        close(o->release_fd);
    }
    free(o->buffer);
    free(o);
}

/* Waits until `fd` has `events`, or the write is given up. */
static int
wait_for(struct output *o, int fd, short events, const struct cancel *cancel)
{
    struct pollfd p[3] = {
        {.fd = fd, .events = events},
        {.fd = o->stop_fd, .events = POLLIN},
        {.fd = cancel ? cancel->fd : -1, .events = POLLIN},
    };

    for (;;) {
        if (poll(p, 3, -1) < 0) {
            if (errno == EINTR) {
                continue;
            }
            o->error = errno;
            return DT_ERR_IO;
        }
        if (p[1].revents || p[2].revents) {
            return DT_ERR_CANCELLED;
        }
        if (p[0].revents) {
            return DT_OK;
        }
    }
}

static int
may_write(struct output *o, const struct cancel *cancel)
{
    if (o->error) {
        return DT_ERR_IO;
    }
    while (atomic_load(&o->held)) {
        int rc = wait_for(o, o->release_fd, POLLIN, cancel);

        if (rc != DT_OK) {
            return rc;
        }
    }
    return atomic_load(&o->stopped) ? DT_ERR_CANCELLED : DT_OK;
}

/* As write(2). */
static ssize_t
write_some(struct output *o, const char *data, size_t len)
{
    ssize_t put;

    if (o->kind == KIND_SOCKET) {
        return send(o->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (!o->shares_terminal) {
        return write(o->fd, data, len);
    }
    if (!statusline_begin(o->status)) {
        errno = EAGAIN;
        return -1;
    }
    put = write(o->fd, data, len);
    statusline_end(o->status, put > 0 ? data + put - 1 : NULL);
    return put;
}

static int
write_out(struct output *o, const char *data, size_t len,
          const struct cancel *cancel)
{
    while (len) {
        ssize_t put;
        int rc = may_write(o, cancel);

        if (rc != DT_OK) {
            return rc;
        }
        put = write_some(o, data, len);
        if (put >= 0) {
            data += put;
            len -= (size_t)put;
            o->bytes += (uint64_t)put;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            rc = wait_for(o, o->fd, POLLOUT, cancel);
            if (rc != DT_OK) {
                return rc;
            }
        } else if (errno != EINTR) {
            o->error = errno;
            return DT_ERR_IO;
        }
    }
    return DT_OK;
}

int
output_flush(struct output *o, const struct cancel *cancel)
{
    size_t len = o->len;

    o->len = 0;
    return write_out(o, o->buffer, len, cancel);
}

int
output_reserve(struct output *o, size_t need, const struct cancel *cancel,
               char **at)
{
    int rc = DT_OK;

    if (OUTPUT_BUFFER - o->len < need) {
        rc = output_flush(o, cancel);
    }
    *at = o->buffer + o->len;
    return rc;
}

void
output_commit(struct output *o, size_t len)
{
    o->len += len;
}

int
output_write(struct output *o, const void *data, size_t len,
             const struct cancel *cancel)
{
    int rc = DT_OK;

    if (len >= OUTPUT_DIRECT) {
        if (o->len) {
            rc = output_flush(o, cancel);
        }
        return rc == DT_OK ? write_out(o, data, len, cancel) : rc;
    }
    if (OUTPUT_BUFFER - o->len < len) {
        rc = output_flush(o, cancel);
    }
    if (rc == DT_OK && len) {
        memcpy(o->buffer + o->len, data, len);
        o->len += len;
    }
    return rc;
}

int
output_error(const struct output *o)
{
    return o->error;
}

bool
output_is_terminal(const struct output *o)
{
    return o->is_terminal;
}

void
output_size(const struct output *o, size_t *width, size_t *height)
{
    struct winsize size = {0};

    if (!o->is_terminal || ioctl(o->fd, TIOCGWINSZ, &size) != 0) {
        size = (struct winsize){0};
    }
    *width = size.ws_col;
    *height = size.ws_row;
}

uint64_t
output_bytes(const struct output *o)
{
    return o->bytes + o->len;
}

int
output_watch_fd(const struct output *o)
{
    return o->can_leave ? o->fd : -1;
}

static void
signal_fd(int fd)
{
    uint64_t one = 1;

    /* Only a counter that is full already can refuse. */
    (void)!write(fd, &one, sizeof(one));
}

void
output_stop(struct output *o)
{
    atomic_store(&o->stopped, true);
    signal_fd(o->stop_fd);
}

bool
output_is_stopped(const struct output *o)
{
    return atomic_load(&o->stopped);
}

void
output_hold(struct output *o)
{
    uint64_t count;

    statusline_hold(o->status, true);
    atomic_store(&o->held, true);
    (void)!read(o->release_fd, &count, sizeof(count));
}

void
output_release(struct output *o)
{
    atomic_store(&o->held, false);
    statusline_hold(o->status, false);
    signal_fd(o->release_fd);
}
