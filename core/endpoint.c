/* SPDX-License-Identifier: Apache-2.0
 *
 * Serving a socket for askers on this machine.
 */
#include "endpoint.h"
#include "clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void
endpoint_init(struct endpoint *e)
{
    *e = (struct endpoint){.fd = -1};
}

static void
hang_up(struct endpoint *e, size_t i)
{
    close(e->clients[i].fd);
    buf_fini(&e->clients[i].answer);
    e->clients[i] = e->clients[--e->nr];
}

void
endpoint_close(struct endpoint *e)
{
    while (e->nr > 0) {
        hang_up(e, 0);
    }
    if (e->fd >= 0) {
        close(e->fd);
    }
    endpoint_remove(e);
    endpoint_init(e);
}

/* ---- clients ---- */

/* Whether the kernel says that the asker is root or who we are. */
static bool
is_own(int fd)
{
    struct ucred who;
    socklen_t len = sizeof(who);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
           (who.uid == 0 || who.uid == geteuid());
}

static void
let_in(struct endpoint *e, int64_t now_ms)
{
    int fd = accept4(e->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0) {
        return; /* it has left, or there is no descriptor: the next turn */
    }
    if (e->is_own_only && !is_own(fd)) {
        close(fd);
        return;
    }
    e->clients[e->nr] = (struct endpoint_client){
        .fd = fd, .until_ms = now_ms + ENDPOINT_TIME_MS};
    e->nr++;
}

/* Reads what there is of a request; what comes behind it is read and dropped,
 * since a socket that is closed with unread bytes loses its answer. False:
 * nothing more will come. */
static bool
read_some(struct endpoint_client *c)
{
    char rest[ENDPOINT_MAX_REQUEST];
    bool is_rest = c->is_answered;
    ssize_t n = recv(c->fd, is_rest ? rest : c->request + c->len,
                     is_rest ? sizeof(rest) : sizeof(c->request) - c->len, 0);

    if (n > 0 && !is_rest) {
        c->len += (size_t)n;
    }
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* False: it is gone. */
static bool
write_some(struct endpoint_client *c)
{
    size_t left = c->answer.len - c->sent;
    ssize_t n = send(c->fd, c->answer.data + c->sent, left, MSG_NOSIGNAL);

    if (n < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    c->sent += (size_t)n;
    if (c->sent == c->answer.len) {
        shutdown(c->fd, SHUT_WR);
    }
    return true;
}

/* False: hang up. */
static bool
serve(struct endpoint_client *c, short events, endpoint_answer_fn *answer,
      void *ctx)
{
    bool is_more = true;
    int st;

    if (events & (POLLIN | POLLHUP | POLLERR)) {
        is_more = read_some(c);
    }
    if (!c->is_answered) {
        bool is_full = c->len == sizeof(c->request);

        st = answer(ctx, c->request, c->len, is_full || !is_more, &c->answer);
        if (st != DT_OK) {
            return st == DT_AGAIN && is_more && !is_full;
        }
        c->is_answered = true;
    }
    if (c->sent < c->answer.len) {
        return write_some(c);
    }
    return is_more;
}

/* ---- the loop ---- */

size_t
endpoint_poll(const struct endpoint *e, struct pollfd *p)
{
    if (e->fd < 0) {
        return 0;
    }
    for (size_t i = 0; i < e->nr; i++) {
        const struct endpoint_client *c = &e->clients[i];
        bool is_due = c->is_answered && c->sent < c->answer.len;

        p[i] =
            (struct pollfd){.fd = c->fd, .events = is_due ? POLLOUT : POLLIN};
    }
    p[e->nr] = (struct pollfd){.fd = e->nr < ENDPOINT_MAX_CLIENTS ? e->fd : -1,
                               .events = POLLIN};
    return e->nr + 1;
}

void
endpoint_events(struct endpoint *e, const struct pollfd *p, size_t nr,
                endpoint_answer_fn *answer, void *ctx, int64_t now_ms)
{
    if (nr == 0) {
        return;
    }
    /* From behind: hang_up moves the last one, which has had its turn. */
    for (size_t i = nr - 1; i-- > 0;) {
        if (p[i].revents && !serve(&e->clients[i], p[i].revents, answer, ctx)) {
            hang_up(e, i);
        }
    }
    if (p[nr - 1].revents) {
        let_in(e, now_ms);
    }
}

int64_t
endpoint_next_ms(const struct endpoint *e)
{
    int64_t next = CLOCK_NEVER;

    for (size_t i = 0; i < e->nr; i++) {
        next = clock_earlier(next, e->clients[i].until_ms);
    }
    return next;
}

void
endpoint_check_time(struct endpoint *e, int64_t now_ms)
{
    for (size_t i = e->nr; i-- > 0;) {
        if (now_ms >= e->clients[i].until_ms) {
            hang_up(e, i);
        }
    }
}
