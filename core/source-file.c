/* SPDX-License-Identifier: Apache-2.0
 *
 * The bottom of a source's chain: bytes of a descriptor, read, never mapped
 * (a file that is truncated while it is mapped kills the reader).
 */
#include "source-decoder.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct decoder_file {
    struct decoder base;
    struct decoder_file_args args;
    uint64_t consumed;
};

/* Waits until the descriptor can be read or the wait is cancelled. A fifo
 * without a writer so far is not ready, although a read would answer 0. */
static int
wait_for_input(const struct decoder_file *f, int cancel_fd, struct error *err)
{
    struct pollfd p[2] = {{.fd = f->args.fd, .events = POLLIN},
                          {.fd = cancel_fd, .events = POLLIN}};

    for (;;) {
        if (poll(p, 2, -1) < 0) {
            if (errno == EINTR || errno == EAGAIN) {
                continue;
            }
            return error_errno(err, errno, "%s: cannot wait for input",
                               f->args.path);
        }
        if (p[1].revents) {
            return error_set(err, DT_ERR_CANCELLED, "%s: cancelled",
                             f->args.path);
        }
        if (p[0].revents) {
            return DT_OK;
        }
    }
}

int
decoder_file_check_size(int fd, const char *path, uint64_t end, uint64_t size,
                        struct error *err)
{
    struct stat st;

    if (end >= size || (fstat(fd, &st) == 0 && (uint64_t)st.st_size >= size)) {
        return DT_OK;
    }
    return error_set(err, DT_ERR_NOENT,
                     "%s shrank while it was read: %" PRIu64 " bytes missing",
                     path, size - end);
}

static ssize_t
file_read(struct decoder *d, void *data, size_t cap, int cancel_fd,
          struct error *err)
{
    struct decoder_file *f = (struct decoder_file *)d;
    const struct decoder_file_args *a = &f->args;
    uint64_t at = a->start + f->consumed;
    ssize_t n;

    do {
        int status = a->can_wait ? wait_for_input(f, cancel_fd, err) : DT_OK;

        if (status != DT_OK) {
            return status;
        }
        n = a->is_sized ? pread(a->fd, data, cap, (off_t)at)
                        : read(a->fd, data, cap);
    } while (n < 0 && (errno == EINTR || (errno == EAGAIN && a->can_wait)));
    if (n < 0) {
        return error_errno(err, errno, "%s: reading at byte %" PRIu64 " failed",
                           a->path, at);
    }
    if (n == 0 && a->is_sized) {
        return decoder_file_check_size(a->fd, a->path, at, a->size, err);
    }
    f->consumed += (uint64_t)n;
    return n;
}

static void
file_close(struct decoder *d)
{
    struct decoder_file *f = (struct decoder_file *)d;

    close(f->args.fd);
    free(f);
}

int
decoder_file_new(const struct decoder_file_args *args, struct decoder **out,
                 struct error *err)
{
    struct decoder_file *f = calloc(1, sizeof(*f));

    if (!f) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    f->base.read = file_read;
    f->base.close = file_close;
    f->args = *args;
    *out = &f->base;
    return DT_OK;
}

uint64_t
decoder_file_consumed(const struct decoder *d)
{
    return ((const struct decoder_file *)d)->consumed;
}

void
decoder_file_seek(struct decoder *d, uint64_t offset)
{
    ((struct decoder_file *)d)->consumed = offset;
}
