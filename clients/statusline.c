/* SPDX-License-Identifier: Apache-2.0
 *
 * One line on a terminal that comes and goes.
 */
#include "statusline.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define WIDTH_MAX 200u    /* columns; a longer line is not easier to read */
#define WIDTH_UNKNOWN 80u /* when the terminal does not say */
#define CLEAR "\r\033[J"  /* to the end of the screen: it may be wrapped */

struct statusline {
    int fd; /* ours */
    pthread_mutex_t lock;
    bool is_shown;
    bool is_amid;    /* the last of the data was no newline */
    bool is_touched; /* others write: the next line is passed over */
    bool is_held;
};

struct statusline *
statusline_new(int fd)
{
    const char *term = getenv("TERM");
    struct statusline *s;
    char path[64];

    if (isatty(fd) != 1 || !term || !*term || strcmp(term, "dumb") == 0) {
        return NULL;
    }
    s = calloc(1, sizeof(*s));
    if (!s) {
        return NULL;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    s->fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (s->fd < 0) {
        free(s);
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

bool
statusline_is_at(const struct statusline *s, int fd)
{
    struct stat own, other;

    return s && fstat(s->fd, &own) == 0 && fstat(fd, &other) == 0 &&
           S_ISCHR(other.st_mode) && own.st_rdev == other.st_rdev;
}

size_t
statusline_width(const struct statusline *s)
{
    struct winsize size = {0};
    size_t width = WIDTH_UNKNOWN;

    if (s && ioctl(s->fd, TIOCGWINSZ, &size) == 0 && size.ws_col) {
        width = size.ws_col;
    }
    return width > WIDTH_MAX ? WIDTH_MAX : width - 1;
}

/* False: the terminal takes nothing now. */
static bool
remove_locked(struct statusline *s)
{
    if (s->is_shown &&
        write(s->fd, CLEAR, sizeof(CLEAR) - 1) == (ssize_t)sizeof(CLEAR) - 1) {
        s->is_shown = false;
    }
    return !s->is_shown;
}

void
statusline_show(struct statusline *s, const char *text, size_t len)
{
    char line[sizeof(CLEAR) + WIDTH_MAX + 1];
    int total;

    if (!s) {
        return;
    }
    len = len > WIDTH_MAX ? WIDTH_MAX : len;
    total = snprintf(line, sizeof(line), CLEAR "%.*s\r", (int)len, text);
    pthread_mutex_lock(&s->lock);
    if (!s->is_touched && !s->is_held && !s->is_amid) {
        /* what did not go out whole is removed all the same */
        s->is_shown = write(s->fd, line, (size_t)total) > 0 || s->is_shown;
    }
    s->is_touched = false;
    pthread_mutex_unlock(&s->lock);
}

void
statusline_clear(struct statusline *s)
{
    if (s) {
        pthread_mutex_lock(&s->lock);
        (void)remove_locked(s);
        s->is_touched = true;
        pthread_mutex_unlock(&s->lock);
    }
}

void
statusline_hold(struct statusline *s, bool is_held)
{
    if (s) {
        pthread_mutex_lock(&s->lock);
        (void)remove_locked(s);
        s->is_held = is_held;
        pthread_mutex_unlock(&s->lock);
    }
}

bool
statusline_begin(struct statusline *s)
{
    if (s) {
        pthread_mutex_lock(&s->lock);
        if (!remove_locked(s)) {
            pthread_mutex_unlock(&s->lock);
            return false;
        }
    }
    return true;
}

void
statusline_end(struct statusline *s, const char *last)
{
    if (s) {
        if (last) {
            s->is_amid = *last != '\n';
        }
        pthread_mutex_unlock(&s->lock);
    }
}

void
statusline_free(struct statusline *s)
{
    if (s) {
        (void)remove_locked(s);
        close(s->fd);
        pthread_mutex_destroy(&s->lock);
        free(s);
    }
}
