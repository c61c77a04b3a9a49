/* SPDX-License-Identifier: Apache-2.0
 *
 * A TCP connection to a named host, without waiting.
 */
#include "connect.h"

#include "cleanup.h"
#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

#define LOOKUP_STACK (256u * 1024u) /* bytes; NSS modules want some */
#define KEEPALIVE_IDLE 30           /* seconds */
#define KEEPALIVE_INTERVAL 10
#define KEEPALIVE_COUNT 3

/* Shared by the owner and the look-up thread; the last one frees it. */
struct lookup {
    atomic_int refs;
    atomic_bool done;
    int family;
    int wake_fd; /* a copy, so that it outlives the owner's */
    int rc;      /* of getaddrinfo */
    int saved_errno;
    struct addrinfo *list;
    char host[256];
    char port[8];
};

struct connect {
    struct lookup *lookup;
    const struct addrinfo *next; /* address to try next */
    int fd;                      /* being connected, or connected; -1 */
    int connect_ms;
    int64_t deadline;
    char reasons[512]; /* of the addresses that failed */
};

static void
lookup_unref(struct lookup *l)
{
    if (atomic_fetch_sub(&l->refs, 1) == 1) {
        if (l->list) {
            freeaddrinfo(l->list);
        }
        if (l->wake_fd >= 0) {
            close(l->wake_fd);
        }
        free(l);
    }
}

static void
lookup_run(struct lookup *l, int flags)
{
    const struct addrinfo hints = {
        .ai_family = l->family,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | flags,
    };

    l->rc = getaddrinfo(l->host, l->port, &hints, &l->list);
    l->saved_errno = errno;
}

static void *
lookup_thread(void *arg)
{
    struct lookup *l = arg;
    uint64_t one = 1;

    lookup_run(l, AI_ADDRCONFIG);
    atomic_store(&l->done, true);
    (void)!write(l->wake_fd, &one, sizeof(one));
    lookup_unref(l);
    return NULL;
}

/* Starts the thread, unless the name is an address already. */
static int
lookup_start(struct lookup *l, struct error *err)
{
    pthread_attr_t attr;
    pthread_t thread;
    int rc;

    lookup_run(l, AI_NUMERICHOST);
    if (l->rc == 0) {
        atomic_store(&l->done, true);
        return DT_OK;
    }
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, LOOKUP_STACK);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    atomic_fetch_add(&l->refs, 1);
    rc = pthread_create(&thread, &attr, lookup_thread, l);
    pthread_attr_destroy(&attr);
    if (rc != 0) {
        atomic_fetch_sub(&l->refs, 1);
        return error_errno(err, rc, "look-up of %s", l->host);
    }
    return DT_OK;
}

struct connect *
connect_new(const char *host, uint16_t port, int family, int connect_ms,
            int wake_fd, struct error *err)
{
    struct connect *c = calloc(1, sizeof(*c));
    struct lookup *l = calloc(1, sizeof(*l));

    if (!c || !l) {
        free(c);
        free(l);
        error_set(err, DT_ERR_NOMEM, "connect: out of memory");
        return NULL;
    }
    c->lookup = l;
    c->fd = -1;
    c->connect_ms = connect_ms;
    c->deadline = clock_now_ms() + CONNECT_LOOKUP_MS;
    atomic_init(&l->refs, 1);
    snprintf(l->host, sizeof(l->host), "%s", host);
    snprintf(l->port, sizeof(l->port), "%u", port);
    l->family = family;
    l->wake_fd = fcntl(wake_fd, F_DUPFD_CLOEXEC, 0);
    if (l->wake_fd < 0) {
        error_errno(err, errno, "connect to %s", host);
    } else if (lookup_start(l, err) == DT_OK) {
        return c;
    }
    connect_free(c);
    return NULL;
}

void
connect_free(struct connect *c)
{
    if (!c) {
        return;
    }
    if (c->fd >= 0) {
        close(c->fd);
    }
    lookup_unref(c->lookup);
    free(c);
}

static void
add_reason(struct connect *c, const struct addrinfo *ai, const char *reason)
{
    char host[NI_MAXHOST] = "?";
    size_t len = strlen(c->reasons);

    getnameinfo(ai->ai_addr, ai->ai_addrlen, host, sizeof(host), NULL, 0,
                NI_NUMERICHOST);
    snprintf(c->reasons + len, sizeof(c->reasons) - len, "%s%s: %s",
             len ? "; " : "", host, reason);
}

static void
add_errno(struct connect *c, const struct addrinfo *ai, int saved)
{
    char text[128];

    add_reason(c, ai, strerror_r(saved, text, sizeof(text)));
}

static void
set_options(int fd)
{
    const int on = 1, idle = KEEPALIVE_IDLE, interval = KEEPALIVE_INTERVAL;
    const int count = KEEPALIVE_COUNT;

    /* Each of them only makes things better; none is worth a failure. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

/* Begins with the next address; false when none is left. */
static bool
try_next(struct connect *c, const struct addrinfo **trying)
{
    while (c->next) {
        const struct addrinfo *ai = c->next;
        CLEANUP_FD int fd =
            socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                   ai->ai_protocol);

        c->next = ai->ai_next;
        if (fd < 0) {
            add_errno(c, ai, errno);
            continue;
        }
        set_options(fd);
        if (connect(fd, ai->ai_addr, ai->ai_addrlen) == 0 ||
            errno == EINPROGRESS) {
            c->fd = STEAL_FD(fd);
            c->deadline = clock_now_ms() + c->connect_ms;
            *trying = ai;
            return true;
        }
        add_errno(c, ai, errno);
    }
    return false;
}

/* The address that is being connected stands before `next` in the list. */
static const struct addrinfo *
current(const struct connect *c)
{
    const struct addrinfo *ai = c->lookup->list;

    while (ai->ai_next && ai->ai_next != c->next) {
        ai = ai->ai_next;
    }
    return ai;
}

static enum connect_state
look_up(struct connect *c, struct error *err)
{
    struct lookup *l = c->lookup;
    const struct addrinfo *trying;

    if (!atomic_load(&l->done)) {
        if (clock_now_ms() < c->deadline) {
            return CONNECT_AGAIN;
        }
        error_set(err, DT_ERR_IO, "no answer to the look-up of %s within %d s",
                  l->host, CONNECT_LOOKUP_MS / 1000);
        return CONNECT_FAILED;
    }
    if (l->rc != 0) {
        error_set(err, DT_ERR_NOENT, "look-up of %s: %s", l->host,
                  l->rc == EAI_SYSTEM ? strerrordesc_np(l->saved_errno)
                                      : gai_strerror(l->rc));
        return CONNECT_FAILED;
    }
    c->next = l->list;
    if (try_next(c, &trying)) {
        return CONNECT_AGAIN;
    }
    error_set(err, DT_ERR_IO, "%s", c->reasons);
    return CONNECT_FAILED;
}

enum connect_state
connect_step(struct connect *c, struct error *err)
{
    const struct addrinfo *trying;

    if (c->fd < 0 && look_up(c, err) == CONNECT_FAILED) {
        return CONNECT_FAILED;
    }
    while (c->fd >= 0) {
        struct pollfd p = {.fd = c->fd, .events = POLLOUT};
        int failed = 0;
        socklen_t len = sizeof(failed);

        trying = current(c);
        if (poll(&p, 1, 0) == 1) {
            if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &failed, &len) == 0 &&
                failed == 0) {
                return CONNECT_DONE;
            }
            add_errno(c, trying, failed);
        } else if (clock_now_ms() < c->deadline) {
            return CONNECT_AGAIN;
        } else {
            add_reason(c, trying, "no answer in time");
        }
        close(c->fd);
        c->fd = -1;
        if (!try_next(c, &trying)) {
            error_set(err, DT_ERR_IO, "%s", c->reasons);
            return CONNECT_FAILED;
        }
    }
    return CONNECT_AGAIN;
}

int
connect_poll_fd(const struct connect *c)
{
    return c->fd;
}

int64_t
connect_deadline(const struct connect *c)
{
    return c->deadline;
}

int
connect_take_fd(struct connect *c)
{
    return STEAL_FD(c->fd);
}
