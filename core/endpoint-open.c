/* SPDX-License-Identifier: Apache-2.0
 *
 * Making a socket for askers on this machine, and removing it.
 */
#include "cleanup.h"
#include "endpoint.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 16

/* ---- Unix ---- */

static int
set_path(struct sockaddr_un *sa, const char *path, struct error *err)
{
    if (*path == '\0' || strlen(path) > ENDPOINT_MAX_PATH) {
        return error_set(err, DT_ERR_INVAL,
                         "socket %s: 1 to %u bytes are allowed", path,
                         ENDPOINT_MAX_PATH);
    }
    *sa = (struct sockaddr_un){.sun_family = AF_UNIX};
    strcpy(sa->sun_path, path);
    return DT_OK;
}

/* Removes the socket of a server that is gone. One that is answered, or not a
 * socket, stays. */
static int
remove_stale(const struct sockaddr_un *sa, struct error *err)
{
    CLEANUP_FD int fd =
        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct stat st;

    if (lstat(sa->sun_path, &st) != 0) {
        return errno == ENOENT
                   ? DT_OK
                   : error_errno(err, errno, "socket %s", sa->sun_path);
    }
    if (!S_ISSOCK(st.st_mode)) {
        return error_set(err, DT_ERR_INVAL,
                         "socket %s: there is something else of that name",
                         sa->sun_path);
    }
    if (fd < 0) {
        return error_errno(err, errno, "socket");
    }
    if (connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0 ||
        errno != ECONNREFUSED) {
        return error_set(err, DT_ERR_LIMIT, "socket %s: another server uses it",
                         sa->sun_path);
    }
    return unlink(sa->sun_path) == 0 || errno == ENOENT
               ? DT_OK
               : error_errno(err, errno, "socket %s", sa->sun_path);
}

int
endpoint_open_unix(struct endpoint *e, const char *path, bool is_shared,
                   struct error *err)
{
    struct sockaddr_un sa;
    CLEANUP_FD int fd = -1;
    struct stat made;
    mode_t mask;
    int failure, rc = set_path(&sa, path, err);

    if (rc == DT_OK) {
        rc = remove_stale(&sa, err);
    }
    if (rc != DT_OK) {
        return rc;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return error_errno(err, errno, "socket");
    }
    /* The name appears with its mode; one thread, so nobody else's files are
     * made meanwhile. */
    mask = umask(is_shared ? 0117 : 0177);
    failure = bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ? errno : 0;
    umask(mask);
    if (failure == 0 && (lstat(path, &made) || listen(fd, BACKLOG))) {
        failure = errno;
    }
    if (failure) {
        return error_errno(err, failure, "socket %s", path);
    }
    e->path = strdup(path);
    if (!e->path) {
        unlink(path);
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    e->dev = made.st_dev;
    e->ino = made.st_ino;
    e->is_own_only = !is_shared;
    e->fd = STEAL_FD(fd);
    return DT_OK;
}

void
endpoint_remove(struct endpoint *e)
{
    struct stat st;

    if (e->path && lstat(e->path, &st) == 0 && st.st_dev == e->dev &&
        st.st_ino == e->ino) {
        unlink(e->path);
    }
    free(e->path);
    e->path = NULL;
}

/* ---- TCP ---- */

int
endpoint_open_loopback(struct endpoint *e, int port, struct error *err)
{
    const struct sockaddr_in sa = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CLEANUP_FD int fd =
        socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;

    if (fd < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) != 0 ||
        listen(fd, BACKLOG) != 0) {
        return error_errno(err, errno, "cannot listen on 127.0.0.1 port %d",
                           port);
    }
    e->fd = STEAL_FD(fd);
    return DT_OK;
}
