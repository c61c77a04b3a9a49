/* SPDX-License-Identifier: Apache-2.0
 *
 * The listener's entrance.
 */
#include "entrance.h"
#include "admission.h"
#include "clock.h"
#include "socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define IDENTIFICATION "SSH-" /* what clients begin with (RFC 4253, 4.2) */
#define NR_BYTES (sizeof(IDENTIFICATION) - 1)

/* All that the kernel's queue holds: when it overflows, a client tries again
 * after a second at the earliest. */
#define ACCEPTS_A_TURN 4096
/* No memory for another socket: how long the port is left alone. */
#define ACCEPT_PAUSE_MS 1000

int
entrance_init(struct entrance *e, struct connection_shared *shared)
{
    struct rlimit limit = {0};

    *e = (struct entrance){.shared = shared, .max = ENTRANCE_MAX_GUESTS};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < e->max) {
        e->max = limit.rlim_cur / 4 + 1;
    }
    e->guests = calloc(e->max, sizeof(*e->guests));
    e->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return e->guests && e->spare_fd >= 0 ? DT_OK : DT_ERR_NOMEM;
}

void
entrance_fini(struct entrance *e)
{
    for (size_t i = 0; i < e->nr; i++) {
        close(e->guests[i].fd);
    }
    free(e->guests);
    if (e->guests && e->spare_fd >= 0) {
        close(e->spare_fd);
    }
    *e = (struct entrance){.spare_fd = -1};
}

/* ---- guests ---- */

static void
remove_guest(struct entrance *e, size_t i)
{
    e->nr--;
    memmove(&e->guests[i], &e->guests[i + 1], (e->nr - i) * sizeof(*e->guests));
}

static void
turn_away(struct entrance *e, size_t i)
{
    close(e->guests[i].fd);
    remove_guest(e, i);
}

/* The oldest of those who have said the least makes room; those who are ready
 * are too few for that (entrance_accepts). */
static void
make_room(struct entrance *e)
{
    for (int state = ENTRANCE_SILENT; state <= ENTRANCE_READY; state++) {
        for (size_t i = 0; i < e->nr; i++) {
            if (e->guests[i].state == (enum entrance_state)state) {
                turn_away(e, i);
                return;
            }
        }
    }
}

static void
add_guest(struct entrance *e, int fd, const struct sockaddr_storage *from,
          int64_t now_ms)
{
    const struct penalty_limits limits =
        connection_penalty_limits(e->shared->config);
    char address[INET6_ADDRSTRLEN];

    connection_address(from, address);
    if (penalty_is_blocked(&e->shared->penalty, &limits, address, now_ms)) {
        log_debug(e->shared->log, "connection refused|%s|failed log-ins",
                  address);
        close(fd);
        return;
    }
    if (e->nr == e->max) {
        make_room(e);
    }
    e->guests[e->nr++] =
        (struct entrance_guest){.fd = fd, .since_ms = now_ms, .from = *from};
}

/* No descriptor is left: take the connection with the spare one, so that it
 * is refused and does not wake us again and again. */
static void
refuse_with_spare(struct entrance *e, int listen_fd)
{
    struct sockaddr_storage from;
    int fd;

    log_error(e->shared->log, "connection refused|%s", strerror(errno));
    if (e->spare_fd >= 0) {
        close(e->spare_fd);
    }
    fd = socket_accept(listen_fd, &from);
    if (fd >= 0) {
        close(fd);
    }
    e->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void
entrance_accept(struct entrance *e, int listen_fd, int64_t now_ms)
{
    struct sockaddr_storage from;

    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
        int fd = socket_accept(listen_fd, &from);

        if (fd >= 0) {
            add_guest(e, fd, &from, now_ms);
        } else if (errno == EMFILE || errno == ENFILE) {
            refuse_with_spare(e, listen_fd);
            return;
        } else if (errno == ENOMEM || errno == ENOBUFS) {
            log_error(e->shared->log, "accept|%s", strerror(errno));
            e->accept_after_ms = now_ms + ACCEPT_PAUSE_MS;
            return;
        } else if (errno != ECONNABORTED) {
            return;
        }
    }
}

bool
entrance_accepts(const struct entrance *e, int64_t now_ms)
{
    size_t nr_ready = 0;

    for (size_t i = 0; i < e->nr; i++) {
        nr_ready += e->guests[i].state == ENTRANCE_READY;
    }
    /* further ones wait in the kernel's queue */
    return now_ms >= e->accept_after_ms && nr_ready < e->max / 2;
}

/* ---- what they say ---- */

size_t
entrance_poll(const struct entrance *e, struct pollfd *p)
{
    for (size_t i = 0; i < e->nr; i++) {
        const struct entrance_guest *g = &e->guests[i];

        p[i] = (struct pollfd){.fd = g->state == ENTRANCE_SILENT ? g->fd : -1,
                               .events = POLLIN};
    }
    return e->nr;
}

static void
fine(struct entrance *e, const struct entrance_guest *g, int64_t now_ms)
{
    const struct penalty_limits limits =
        connection_penalty_limits(e->shared->config);
    char address[INET6_ADDRSTRLEN];

    connection_address(&g->from, address);
    log_info(e->shared->log,
             "%s|connection ended|before the session began|it does not speak "
             "SSH",
             address);
    if (penalty_add(&e->shared->penalty, &limits, address, PENALTY_NO_LOGIN,
                    now_ms) > 0) {
        log_warn(e->shared->log, "%s|connections from there are refused",
                 address);
    }
}

/* False: it is turned away. */
static bool
listen_to(struct entrance *e, struct entrance_guest *g, int64_t now_ms)
{
    char bytes[NR_BYTES];
    ssize_t n = recv(g->fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    if (n <= 0) {
        return false;
    }
    if (memcmp(bytes, IDENTIFICATION, (size_t)n) != 0) {
        fine(e, g, now_ms);
        return false;
    }
    g->state = (size_t)n == NR_BYTES ? ENTRANCE_READY : ENTRANCE_BEGUN;
    return true;
}

void
entrance_events(struct entrance *e, const struct pollfd *p, int64_t now_ms)
{
    int64_t grace_ms = e->shared->config->server.login_grace_ms;

    /* from the last one on, so that the others keep their places */
    for (size_t i = e->nr; i-- > 0;) {
        struct entrance_guest *g = &e->guests[i];

        if ((p[i].revents && !listen_to(e, g, now_ms)) ||
            now_ms - g->since_ms >= grace_ms) {
            turn_away(e, i);
        }
    }
}

/* ---- who is next ---- */

static size_t
max_startups(const struct entrance *e)
{
    return (size_t)e->shared->config->server.max_startups;
}

/* Who has said what a client says; nr: nobody. The newest, and in turn with
 * him the oldest, once that one has waited for long. */
static size_t
find_ready(const struct entrance *e, int64_t now_ms)
{
    size_t oldest = 0, newest = e->nr;

    while (oldest < e->nr && e->guests[oldest].state != ENTRANCE_READY) {
        oldest++;
    }
    if (oldest == e->nr ||
        (e->nr_let_in % 2 == 0 &&
         now_ms - e->guests[oldest].since_ms >= ENTRANCE_LONG_MS)) {
        return oldest;
    }
    while (e->guests[newest - 1].state != ENTRANCE_READY) {
        newest--;
    }
    return newest - 1;
}

/* The oldest of the others. They get half of the places. */
static size_t
find_silent(const struct entrance *e, size_t nr_waiting)
{
    for (size_t i = 0; nr_waiting < (max_startups(e) + 1) / 2 && i < e->nr;
         i++) {
        if (e->guests[i].state != ENTRANCE_READY) {
            return i;
        }
    }
    return e->nr;
}

/* True: there is a place for the guest, perhaps one that another had. */
static bool
make_place(struct entrance *e, const struct entrance_guest *g,
           struct connection *const *conns, size_t nr, size_t nr_waiting,
           int64_t now_ms)
{
    char address[INET6_ADDRSTRLEN];
    struct connection *c;
    int64_t retry_ms;

    if (nr_waiting < max_startups(e)) {
        return true;
    }
    connection_address(&g->from, address);
    c = admission_victim(conns, nr, address, now_ms, &retry_ms);
    if (!c) {
        return false;
    }
    log_info(e->shared->log,
             "%s|dropped before the log-in|MaxStartups (%zu) reached", c->peer,
             max_startups(e));
    connection_kill_session(c);
    return true;
}

int
entrance_next(struct entrance *e, struct connection *const *conns, size_t nr,
              int64_t now_ms, struct sockaddr_storage *from)
{
    size_t nr_waiting = admission_count(conns, nr), i;
    int fd;

    i = find_ready(e, now_ms);

    if (i == e->nr ||
        !make_place(e, &e->guests[i], conns, nr, nr_waiting, now_ms)) {
        i = find_silent(e, nr_waiting);
        if (i == e->nr || now_ms - e->guests[i].since_ms < ENTRANCE_SILENT_MS) {
            return -1;
        }
    }
    fd = e->guests[i].fd;
    *from = e->guests[i].from;
    e->nr_let_in++;
    remove_guest(e, i);
    return fd;
}

int64_t
entrance_next_ms(const struct entrance *e, struct connection *const *conns,
                 size_t nr, int64_t now_ms)
{
    size_t nr_waiting = admission_count(conns, nr);
    size_t silent = find_silent(e, nr_waiting);
    size_t ready = find_ready(e, now_ms);
    int64_t next = CLOCK_NEVER, retry_ms = CLOCK_NEVER;

    if (e->nr > 0) {
        next = e->guests[0].since_ms + e->shared->config->server.login_grace_ms;
    }
    if (silent < e->nr) {
        next = clock_earlier(next,
                             e->guests[silent].since_ms + ENTRANCE_SILENT_MS);
    }
    if (ready < e->nr) {
        if (nr_waiting >= max_startups(e)) {
            char address[INET6_ADDRSTRLEN];

            connection_address(&e->guests[ready].from, address);
            admission_victim(conns, nr, address, now_ms, &retry_ms);
        }
        next = nr_waiting < max_startups(e) ? now_ms
                                            : clock_earlier(next, retry_ms);
    }
    return next;
}
