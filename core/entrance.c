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
#define EVENTS_AT_ONCE 64

int
entrance_init(struct entrance *e, struct connection_shared *shared)
{
    struct rlimit limit = {0};
    size_t max = ENTRANCE_MAX_GUESTS;

    *e = (struct entrance){.shared = shared};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < max) {
        max = limit.rlim_cur / 4 + 1;
    }
    e->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return guests_init(&e->guests, max) == DT_OK && e->spare_fd >= 0
               ? DT_OK
               : DT_ERR_NOMEM;
}

void
entrance_fini(struct entrance *e)
{
    if (!e->shared) { /* never begun, or over */
        return;
    }
    guests_fini(&e->guests);
    if (e->spare_fd >= 0) {
        close(e->spare_fd);
    }
    *e = (struct entrance){.spare_fd = -1, .guests.epoll_fd = -1};
}

/* ---- guests ---- */

static void
turn_away(struct entrance *e, uint32_t i)
{
    close(guests_take(&e->guests, i));
}

/* The oldest of those who have said the least makes room; those who are ready
 * are too few for that (entrance_accepts). */
static void
make_room(struct entrance *e)
{
    for (int state = GUEST_SILENT; state <= GUEST_READY; state++) {
        if (e->guests.states[state].first != GUESTS_NONE) {
            turn_away(e, e->guests.states[state].first);
            return;
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
    if (e->guests.nr == e->guests.max) {
        make_room(e);
    }
    if (!guests_add(&e->guests, fd, from, now_ms)) {
        log_error(e->shared->log, "connection refused|%s", strerror(errno));
        close(fd);
    }
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
    /* further ones wait in the kernel's queue */
    return now_ms >= e->accept_after_ms &&
           e->guests.nr_ready < e->guests.max / 2;
}

/* ---- what they say ---- */

int
entrance_fd(const struct entrance *e)
{
    return e->guests.epoll_fd;
}

static void
fine(struct entrance *e, const struct guest *g, int64_t now_ms)
{
    const struct penalty_limits limits =
        connection_penalty_limits(e->shared->config);
    char address[INET6_ADDRSTRLEN];

    connection_address((const void *)&g->from, address);
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
listen_to(struct entrance *e, uint32_t i, int64_t now_ms)
{
    const struct guest *g = &e->guests.v[i];
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
    guests_move(&e->guests, i,
                (size_t)n == NR_BYTES ? GUEST_READY : GUEST_BEGUN);
    return true;
}

void
entrance_events(struct entrance *e, int64_t now_ms)
{
    int64_t grace_ms = e->shared->config->server.login_grace_ms;
    uint32_t places[EVENTS_AT_ONCE];
    size_t n;

    /* each is looked at once a turn: those who only hang about stay silent */
    do {
        n = guests_events(&e->guests, places, EVENTS_AT_ONCE);
        for (size_t i = 0; i < n; i++) {
            if (!listen_to(e, places[i], now_ms)) {
                turn_away(e, places[i]);
            }
        }
    } while (n == EVENTS_AT_ONCE);
    for (int state = GUEST_SILENT; state <= GUEST_READY; state++) {
        const struct guest_list *list = &e->guests.states[state];

        while (list->first != GUESTS_NONE &&
               now_ms - e->guests.v[list->first].since_ms >= grace_ms) {
            turn_away(e, list->first);
        }
    }
}

/* ---- who is next ---- */

static size_t
max_startups(const struct entrance *e)
{
    return (size_t)e->shared->config->server.max_startups;
}

/* Who has said what a client says; GUESTS_NONE: nobody. Whoever is next by
 * the turns of the sources, and in turn with him the oldest of all, once that
 * one has waited for long. */
static uint32_t
find_ready(const struct entrance *e, int64_t now_ms)
{
    uint32_t oldest = e->guests.states[GUEST_READY].first;

    if (oldest == GUESTS_NONE ||
        (e->nr_let_in % 2 == 0 &&
         now_ms - e->guests.v[oldest].since_ms >= ENTRANCE_LONG_MS)) {
        return oldest;
    }
    return guests_next(&e->guests);
}

/* The oldest of the others. They get half of the places. */
static uint32_t
find_silent(const struct entrance *e, size_t nr_waiting)
{
    uint32_t silent = e->guests.states[GUEST_SILENT].first;
    uint32_t begun = e->guests.states[GUEST_BEGUN].first;

    if (nr_waiting >= (max_startups(e) + 1) / 2) {
        return GUESTS_NONE;
    }
    if (silent == GUESTS_NONE || begun == GUESTS_NONE) {
        return silent == GUESTS_NONE ? begun : silent;
    }
    return e->guests.v[begun].since_ms < e->guests.v[silent].since_ms ? begun
                                                                      : silent;
}

/* True: there is a place for the guest, perhaps one that another had. */
static bool
make_place(struct entrance *e, const struct guest *g,
           struct connection *const *conns, size_t nr, size_t nr_waiting,
           int64_t now_ms)
{
    char address[INET6_ADDRSTRLEN];
    struct connection *c;
    int64_t retry_ms;

    if (nr_waiting < max_startups(e)) {
        return true;
    }
    connection_address((const void *)&g->from, address);
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
    size_t nr_waiting = admission_count(conns, nr);
    const struct guest *v = e->guests.v;
    uint32_t i = find_ready(e, now_ms);

    if (i == GUESTS_NONE ||
        !make_place(e, &v[i], conns, nr, nr_waiting, now_ms)) {
        i = find_silent(e, nr_waiting);
        if (i == GUESTS_NONE || now_ms - v[i].since_ms < ENTRANCE_SILENT_MS) {
            return -1;
        }
    }
    memset(from, 0, sizeof(*from));
    memcpy(from, &v[i].from, sizeof(v[i].from));
    guests_had_turn(&e->guests, v[i].source);
    e->nr_let_in++;
    return guests_take(&e->guests, i);
}

/* When the first of them has stood for too long. */
static int64_t
first_end_ms(const struct entrance *e)
{
    int64_t since = CLOCK_NEVER;

    for (int state = GUEST_SILENT; state <= GUEST_READY; state++) {
        uint32_t i = e->guests.states[state].first;

        since = clock_earlier(
            since, i == GUESTS_NONE ? CLOCK_NEVER : e->guests.v[i].since_ms);
    }
    return since == CLOCK_NEVER
               ? since
               : since + e->shared->config->server.login_grace_ms;
}

int64_t
entrance_next_ms(const struct entrance *e, struct connection *const *conns,
                 size_t nr, int64_t now_ms)
{
    size_t nr_waiting = admission_count(conns, nr);
    uint32_t silent = find_silent(e, nr_waiting);
    uint32_t ready = find_ready(e, now_ms);
    int64_t next = first_end_ms(e), retry_ms = CLOCK_NEVER;

    if (silent != GUESTS_NONE) {
        next = clock_earlier(next,
                             e->guests.v[silent].since_ms + ENTRANCE_SILENT_MS);
    }
    if (ready != GUESTS_NONE) {
        if (nr_waiting >= max_startups(e)) {
            char address[INET6_ADDRSTRLEN];

            connection_address((const void *)&e->guests.v[ready].from, address);
            admission_victim(conns, nr, address, now_ms, &retry_ms);
        }
        next = nr_waiting < max_startups(e) ? now_ms
                                            : clock_earlier(next, retry_ms);
    }
    return next;
}
