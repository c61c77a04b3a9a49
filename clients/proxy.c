/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection through a command.
 */
#include "proxy.h"

#include "cleanup.h"
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

int
proxy_start(const char *command, int *fd, pid_t *pid, struct error *err)
{
    CLEANUP_FD int ours = -1, theirs = -1;
    int pair[2], rc;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return error_errno(err, errno, "ProxyCommand %s", command);
    }
    ours = pair[0];
    theirs = pair[1];
    /* in our process group: an ssh that asks for something needs the terminal
     */
    rc = fcntl(ours, F_SETFL, O_NONBLOCK) == 0
             ? shell_start(command, theirs, theirs, false, pid)
             : errno;
    if (rc != 0) {
        return error_errno(err, rc, "ProxyCommand %s", command);
    }
    *fd = STEAL_FD(ours);
    return DT_OK;
}

void
proxy_end(pid_t pid)
{
    CLEANUP_FD int fd = pidfd_open(pid, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};

    kill(pid, SIGTERM);
    if (fd < 0 || poll(&p, 1, PROXY_END_MS) != 1) {
        kill(pid, SIGKILL);
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}
