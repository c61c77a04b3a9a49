/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection through a command.
 */
#include "proxy.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

extern char **environ;

/* In our process group: an ssh that asks for something needs the terminal. */
static int
spawn(const char *command, int end, pid_t *pid)
{
    char *const argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                          (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, defaults;
    int rc;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    rc = posix_spawn_file_actions_adddup2(&files, end, STDIN_FILENO);
    if (rc == 0) {
        rc = posix_spawn_file_actions_adddup2(&files, end, STDOUT_FILENO);
    }
    posix_spawnattr_setflags(&attr,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &defaults);
    if (rc == 0) {
        rc = posix_spawn(pid, "/bin/sh", &files, &attr, argv, environ);
    }
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

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
    rc = fcntl(ours, F_SETFL, O_NONBLOCK) == 0 ? spawn(command, theirs, pid)
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
