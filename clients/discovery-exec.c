/* SPDX-License-Identifier: Apache-2.0
 *
 * Discovery by a program: runs it and keeps what it prints.
 */
#include "discovery.h"

#include "cleanup.h"
#include "clock.h"
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

/* The signals that end a client, which it keeps blocked. */
static void
fill_ends(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGQUIT);
}

/* Reads until the other end is closed. 1: it is, 0: there may be more. */
static int
read_some(const char *command, int fd, struct buf *out, struct error *err)
{
    ssize_t got;

    if (buf_reserve(out, 65536) != DT_OK) {
        return error_set(err, DT_ERR_NOMEM, "server list: out of memory");
    }
    got = read(fd, out->data + out->len, 65536);
    if (got < 0 && errno != EINTR && errno != EAGAIN) {
        return error_errno(err, errno, "output of %s", command);
    }
    out->len += got > 0 ? (size_t)got : 0;
    if (out->len > DISCOVERY_MAX_TEXT) {
        return error_set(err, DT_ERR_LIMIT, "%s prints more than %u bytes",
                         command, DISCOVERY_MAX_TEXT);
    }
    return got == 0;
}

/* Until its output is closed and it has ended. */
static int
collect(const char *command, int fd, int pid_fd, int signal_fd, struct buf *out,
        struct error *err)
{
    int64_t deadline = clock_now_ms() + DISCOVERY_EXEC_MS;
    bool is_closed = false, is_over = false;

    while (!is_closed || !is_over) {
        struct pollfd p[] = {
            {.fd = is_closed ? -1 : fd, .events = POLLIN},
            {.fd = is_over ? -1 : pid_fd, .events = POLLIN},
            {.fd = signal_fd, .events = POLLIN},
        };

        poll(p, 3, clock_poll_ms(deadline));
        if (p[2].revents) { /* stays pending, for others to see */
            return error_set(err, DT_ERR_CANCELLED, "%s was interrupted",
                             command);
        }
        if (p[0].revents) {
            int rc = read_some(command, fd, out, err);

            if (rc < 0) {
                return rc;
            }
            is_closed = rc == 1;
        }
        is_over |= p[1].revents != 0;
        if (clock_now_ms() >= deadline && (!is_closed || !is_over)) {
            return error_set(err, DT_ERR_IO, "%s has not ended within %d s",
                             command, DISCOVERY_EXEC_MS / 1000);
        }
    }
    return DT_OK;
}

static int
judge(const char *command, int status, struct error *err)
{
    if (WIFSIGNALED(status)) {
        return error_set(err, DT_ERR_IO, "%s: ended by signal %d", command,
                         WTERMSIG(status));
    }
    return WEXITSTATUS(status) == 0
               ? DT_OK
               : error_set(err, DT_ERR_IO, "%s: exit status %d", command,
                           WEXITSTATUS(status));
}

int
discovery_exec(const char *command, struct buf *out, struct error *err)
{
    CLEANUP_FD int read_fd = -1, write_fd = -1, pid_fd = -1, signal_fd = -1;
    int fds[2], status = 0, rc;
    sigset_t ends;
    pid_t pid;

    fill_ends(&ends);
    signal_fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd < 0 || pipe2(fds, O_CLOEXEC) != 0) {
        return error_errno(err, errno, "%s", command);
    }
    read_fd = fds[0];
    write_fd = fds[1];
    rc = shell_start(command, -1, write_fd, true, &pid);
    if (rc != 0) {
        return error_errno(err, rc, "%s", command);
    }
    close(STEAL_FD(write_fd));
    pid_fd = pidfd_open(pid, 0);
    rc = pid_fd < 0 ? error_errno(err, errno, "%s", command)
                    : collect(command, read_fd, pid_fd, signal_fd, out, err);
    if (rc != DT_OK) {
        kill(-pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return rc == DT_OK ? judge(command, status, err) : rc;
}
