/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks for a passphrase on the terminal.
 */
#include "prompt.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <termios.h>

static int
open_signals(void)
{
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigaddset(&ends, SIGQUIT);
    return signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A byte at a time, so that what is typed behind the line stays. */
static int
read_line(int tty, char *out, size_t cap)
{
    CLEANUP_FD int signals = open_signals();
    size_t len = 0;

    for (;;) {
        struct pollfd p[] = {{.fd = tty, .events = POLLIN},
                             {.fd = signals, .events = POLLIN}};
        ssize_t got;
        char c;

        poll(p, 2, -1);
        if (p[1].revents) { /* stays pending, for others to see */
            return DT_ERR_CANCELLED;
        }
        if (!p[0].revents) {
            continue;
        }
        got = read(tty, &c, 1);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (got <= 0) {
            return DT_ERR_CANCELLED;
        }
        if (c == '\n' || c == '\r') {
            out[len] = '\0';
            return DT_OK;
        }
        if (len + 1 < cap) {
            out[len++] = c;
        }
    }
}

int
prompt_passphrase(const char *tty, const char *text, char *out, size_t cap)
{
    CLEANUP_FD int fd = open(tty, O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct termios before, silent;
    int rc;

    if (fd < 0 || isatty(fd) != 1 || tcgetattr(fd, &before) != 0) {
        return DT_ERR_NOENT;
    }
    silent = before;
    silent.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
    silent.c_lflag |= ICANON;
    /* What is typed already is not thrown away: it may be the answer. */
    if (tcsetattr(fd, TCSADRAIN, &silent) != 0) {
        return DT_ERR_NOENT;
    }
    (void)!write(fd, text, strlen(text));
    rc = read_line(fd, out, cap);
    tcsetattr(fd, TCSADRAIN, &before);
    (void)!write(fd, "\n", 1);
    return rc;
}
