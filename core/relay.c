/* SPDX-License-Identifier: Apache-2.0
 *
 * The session's relay: bytes between one SSH channel and the worker's socket.
 */
#include "relay.h"
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Bytes that a packet has beside its payload, roughly: length, padding, tag. */
#define PACKET_OVERHEAD 25

#define MAX_TURNS 8 /* of acting before the other descriptors get a look */

void
relay_init(struct relay *r, ssh_session ssh)
{
    *r = (struct relay){.ssh = ssh, .worker_fd = -1};
    ssh_set_counters(ssh, &r->sock, &r->raw);
}

void
relay_fini(struct relay *r)
{
    relay_close_worker(r);
    free(r->down);
    free(r->up);
    r->down = NULL;
    r->up = NULL;
}

int
relay_start(struct relay *r, ssh_channel channel, int worker_fd)
{
    r->channel = channel;
    r->worker_fd = worker_fd;
    r->down = malloc(WIRE_BLOCK);
    r->up = malloc(RELAY_UP_MIN);
    r->up_cap = RELAY_UP_MIN;
    return r->down && r->up ? DT_OK : DT_ERR_NOMEM;
}

int
relay_data(struct relay *r, uint32_t len, bool is_stderr)
{
    if (is_stderr) {
        return (int)len; /* nobody wants it, but it must not eat the window */
    }
    /* `len` is everything that is buffered. */
    r->abused = r->abused || len > RELAY_MAX_UNREAD;
    r->unread = len;
    r->has_input = true;
    return 0;
}

bool
relay_is_drained(const struct relay *r)
{
    return !(ssh_get_status(r->ssh) & SSH_WRITE_PENDING) &&
           r->raw.out_bytes >= r->mark;
}

static bool
is_down_empty(const struct relay *r)
{
    return r->down_off == r->down_len;
}

static bool
wants_block(const struct relay *r)
{
    return r->worker_fd >= 0 && !r->worker_eof && is_down_empty(r) &&
           relay_is_drained(r);
}

static bool
can_push_down(const struct relay *r)
{
    return !r->broken && !r->in_exchange && !is_down_empty(r) &&
           relay_is_drained(r) && ssh_channel_window_size(r->channel) > 0;
}

static bool
can_pull_up(const struct relay *r)
{
    return r->has_input && !r->up_closed && r->up_len == 0;
}

/* The client's EOF is due to the worker. */
static bool
owes_eof(const struct relay *r)
{
    return r->peer_eof && !r->up_closed && !r->has_input && r->up_len == 0;
}

/* Reads the worker's next block. */
static void
read_block(struct relay *r)
{
    ssize_t n = recv(r->worker_fd, r->down, WIRE_BLOCK, MSG_DONTWAIT);

    if (n > 0) {
        r->down_off = 0;
        r->down_len = (size_t)n;
    } else if (n == 0 ||
               (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        r->worker_eof = true;
    }
}

/* Remembers how far the counter must come for a write of `n` bytes to have
 * left. */
static void
note_write(struct relay *r, uint64_t before, int n)
{
    r->mark = before + (uint64_t)n;
    r->in_exchange = n == 0;
}

static void
push_down(struct relay *r)
{
    uint64_t before = r->raw.out_bytes;
    size_t len = r->down_len - r->down_off;
    uint32_t window = ssh_channel_window_size(r->channel);
    int n = ssh_channel_write(r->channel, r->down + r->down_off,
                              (uint32_t)(len < window ? len : window));

    if (n < 0) {
        r->broken = true;
        return;
    }
    note_write(r, before, n);
    r->down_off += (size_t)n;
}

int
relay_write_stderr(struct relay *r, const char *text, size_t len)
{
    uint64_t before = r->raw.out_bytes;
    uint32_t window = ssh_channel_window_size(r->channel);
    int n;

    if (window == 0 || r->in_exchange || !relay_is_drained(r)) {
        return 0;
    }
    n = ssh_channel_write_stderr(r->channel, text,
                                 (uint32_t)(len < window ? len : window));
    if (n >= 0) {
        note_write(r, before, n);
    }
    return n < 0 ? -1 : n;
}

/* Makes the empty upward buffer as big as what is unread, or as small as it
 * began; without memory it stays. */
static void
fit_up(struct relay *r)
{
    size_t cap = r->unread > RELAY_UP_MIN ? r->unread : RELAY_UP_MIN;
    char *up;

    if (r->up_len > 0 || r->up_cap == cap || cap > RELAY_MAX_UNREAD) {
        return;
    }
    up = realloc(r->up, cap);
    if (up) {
        r->up = up;
        r->up_cap = cap;
    }
}

static void
pull_up(struct relay *r)
{
    int n;

    fit_up(r);
    n = ssh_channel_read_nonblocking(r->channel, r->up, (uint32_t)r->up_cap, 0);
    if (n > 0) {
        r->unread -= (size_t)n < r->unread ? (size_t)n : r->unread;
        r->up_off = 0;
        r->up_len = (size_t)n;
    } else { /* nothing left, SSH_EOF, or an error that others see too */
        r->has_input = false;
    }
}

static void
close_up(struct relay *r)
{
    r->up_len = 0;
    r->up_closed = true;
    if (r->worker_fd >= 0) {
        shutdown(r->worker_fd, SHUT_WR);
    }
}

/* Writes to the worker what it takes; the client's EOF follows the last
 * byte. */
static void
flush_up(struct relay *r)
{
    if (r->up_closed || r->worker_fd < 0) {
        return;
    }
    if (r->up_len > 0) {
        ssize_t n = send(r->worker_fd, r->up + r->up_off, r->up_len,
                         MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n >= 0) {
            r->up_off += (size_t)n;
            r->up_len -= (size_t)n;
            fit_up(r);
        } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
            close_up(r); /* the worker is gone; its end is read elsewhere */
        }
    }
    if (owes_eof(r)) {
        close_up(r);
    }
}

bool
relay_act(struct relay *r)
{
    bool busy = true;

    for (int turn = 0; busy && turn < MAX_TURNS; turn++) {
        if (can_pull_up(r)) {
            pull_up(r);
        }
        flush_up(r);
        if (wants_block(r)) {
            read_block(r);
        }
        if (can_push_down(r)) {
            push_down(r);
        }
        /* What libssh has handled inside these calls wakes no poll. */
        busy = can_push_down(r) || can_pull_up(r) || owes_eof(r);
    }
    return busy;
}

void
relay_deliver(struct relay *r)
{
    if (!r->up) { /* not begun */
        return;
    }
    do {
        if (can_pull_up(r)) {
            pull_up(r);
        }
        flush_up(r);
    } while (can_pull_up(r));
}

void
relay_close_worker(struct relay *r)
{
    if (r->worker_fd >= 0) {
        close(r->worker_fd);
        r->worker_fd = -1;
    }
    r->up_closed = true;
    r->worker_eof = true;
}

bool
relay_is_finished(const struct relay *r)
{
    return r->worker_eof && is_down_empty(r) && relay_is_drained(r);
}

short
relay_worker_events(const struct relay *r)
{
    short events = 0;

    if (r->worker_fd < 0) {
        return 0;
    }
    if (wants_block(r)) {
        events |= POLLIN;
    }
    if (r->up_len > 0 && !r->up_closed) {
        events |= POLLOUT;
    }
    return events;
}

void
relay_pumped(struct relay *r)
{
    r->in_exchange = false;
}

/* Bytes that have been given to libssh and not yet to the kernel; the base is
 * moved whenever there are none. */
static int64_t
backlog(struct relay *r)
{
    if (!(ssh_get_status(r->ssh) & SSH_WRITE_PENDING)) {
        r->raw_base = r->raw;
        r->sock_base = r->sock;
        return 0;
    }
    return (int64_t)(r->raw.out_bytes - r->raw_base.out_bytes) +
           PACKET_OVERHEAD *
               (int64_t)(r->raw.out_packets - r->raw_base.out_packets) -
           (int64_t)(r->sock.out_bytes - r->sock_base.out_bytes);
}

bool
relay_is_abused(struct relay *r)
{
    r->abused = r->abused || backlog(r) > (int64_t)RELAY_MAX_UNREAD;
    return r->abused;
}
