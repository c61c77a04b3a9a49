/* SPDX-License-Identifier: Apache-2.0
 *
 * Asking a server on this machine for its status.
 */
#include "cleanup.h"
#include "clock.h"
#include "status.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The whole name, for messages. */
static void
name_socket(char *out, size_t cap, const char *path)
{
    char *dir = *path == '/' ? NULL : getcwd(NULL, 0);

    while (dir && strncmp(path, "./", 2) == 0) {
        path += 2;
    }
    snprintf(out, cap, "%s%s%s", dir ? dir : "", dir ? "/" : "", path);
    free(dir);
}

static int
no_answer(const char *path, const char *why, struct error *err)
{
    char name[4096];

    name_socket(name, sizeof(name), path);
    return error_set(err, DT_ERR_NOENT,
                     "no server answers at %s (Server.StatusSocket): %s", name,
                     why);
}

/* Whether the kernel says that root or the caller's user answers; anybody may
 * have made a socket in a folder that all can write to. */
static bool
is_trusted(int fd)
{
    struct ucred who;
    socklen_t len = sizeof(who);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
           (geteuid() == 0 || who.uid == 0 || who.uid == geteuid());
}

static int
open_socket(const char *path, struct error *err)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    CLEANUP_FD int fd =
        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (strlen(path) >= sizeof(sa.sun_path)) {
        return no_answer(path, "the name is too long", err);
    }
    strcpy(sa.sun_path, path);
    if (fd < 0) {
        return error_errno(err, errno, "socket");
    }
    if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) != 0) {
        return no_answer(path, errno == EAGAIN ? "it is busy" : strerror(errno),
                         err);
    }
    if (!is_trusted(fd)) {
        return no_answer(path, "another user answers there", err);
    }
    return STEAL_FD(fd);
}

/* Until the end of the answer. */
static int
read_answer(int fd, const char *path, int64_t until_ms, struct buf *out,
            struct error *err)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ssize_t n = 1;

    while (n != 0) {
        if (poll(&p, 1, clock_poll_ms(until_ms)) == 0) {
            return no_answer(path, "it does not answer in time", err);
        }
        if (out->len > STATUS_MAX_BYTES) {
            return no_answer(path, "its answer is too long", err);
        }
        if (buf_reserve(out, 65536) != DT_OK) {
            return error_set(err, DT_ERR_NOMEM, "out of memory");
        }
        n = recv(fd, out->data + out->len, 65536, 0);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return no_answer(path, strerror(errno), err);
        }
        out->len += n > 0 ? (size_t)n : 0;
    }
    return out->len > 0 ? DT_OK
                        : no_answer(path,
                                    "it lets only root and its own user "
                                    "ask",
                                    err);
}

int
status_ask(const char *path, int wait_ms, struct buf *out, struct error *err)
{
    static const char request[] = STATUS_REQUEST;
    CLEANUP_FD int fd = -1;

    if (*path == '\0') {
        return error_set(err, DT_ERR_INVAL,
                         "Server.StatusSocket is empty: the server has no "
                         "status");
    }
    fd = open_socket(path, err);
    if (fd < 0) {
        return err->status;
    }
    /* a few bytes always fit; that nobody takes them is seen below */
    if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0 &&
        errno != EPIPE) {
        return no_answer(path, strerror(errno), err);
    }
    return read_answer(fd, path, clock_now_ms() + wait_ms, out, err);
}
