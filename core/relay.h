/* SPDX-License-Identifier: Apache-2.0
 *
 * The session's relay: bytes between one SSH channel and the worker's socket,
 * both ways, parsing nothing.
 *
 * Four rules keep it from hanging and from growing; each has cost a hang or
 * a leak to learn:
 *  - libssh handles packets inside most of its calls, and what it handles
 *    there wakes no later poll. So: act until nothing moves, then decide what
 *    to wait for with calls that handle no packets, then poll.
 *  - Two gates before the worker's next block is read: libssh's socket buffer
 *    is empty, and nothing sits in the queue it keeps during a key exchange
 *    that it began itself (which only the counters show). Else a client that
 *    stops reading fills the memory.
 *  - Two guards against clients: data beyond the window that they were given
 *    (libssh does not enforce it), and answers to requests that pile up.
 *  - What the channel holds is read at once and whole: each read that leaves
 *    something makes libssh open the window to 1.28 MB more, so that a client
 *    that keeps to it would pile up bytes without limit.
 *
 * One process, one thread. Nothing waits here.
 */
#ifndef CORE_RELAY_H
#define CORE_RELAY_H

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <stdbool.h>
#include <stdint.h>

#define RELAY_UP_MIN 32768u         /* room for bytes to the worker */
#define RELAY_MAX_UNREAD (2u << 20) /* bytes that a client may pile up */

struct relay {
    ssh_session ssh;
    ssh_channel channel; /* NULL: none yet */
    int worker_fd;       /* -1: none; owned */
    char *down;          /* worker → client, WIRE_BLOCK bytes */
    size_t down_off, down_len;
    char *up; /* client → worker, up_cap bytes */
    size_t up_off, up_len, up_cap;
    size_t unread;    /* bytes of the channel, as last told */
    bool has_input;   /* the channel holds data for the worker */
    bool peer_eof;    /* the client sends no more */
    bool up_closed;   /* nothing goes to the worker any more */
    bool worker_eof;  /* nothing comes from it any more */
    bool in_exchange; /* a key exchange holds libssh back */
    bool broken;      /* the channel failed */
    bool abused;      /* the client broke a guard */
    uint64_t mark;    /* raw.out_bytes once the last write has left */
    struct ssh_counter_struct sock, raw;
    struct ssh_counter_struct sock_base, raw_base; /* when last drained */
};

/* Before the first packet of the session: counters begin here. */
void relay_init(struct relay *r, ssh_session ssh);
void relay_fini(struct relay *r);
/* Begins to relay; takes the descriptor over. DT_OK or DT_ERR_NOMEM. */
int relay_start(struct relay *r, ssh_channel channel, int worker_fd);

/* For the channel's data callback: returns what the callback must return. */
int relay_data(struct relay *r, uint32_t len, bool is_stderr);

/* Moves what can be moved; true when there may be more to do at once. */
bool relay_act(struct relay *r);
/* Only towards the worker: what the client sent before it left. */
void relay_deliver(struct relay *r);
/* Closes the worker's socket: the client has left. */
void relay_close_worker(struct relay *r);

/* Everything from the worker has been written and has left libssh. */
bool relay_is_finished(const struct relay *r);
/* Nothing of what was written sits in libssh. */
bool relay_is_drained(const struct relay *r);
/* Writes to the channel's stderr what fits; returns the bytes, -1: failed. */
int relay_write_stderr(struct relay *r, const char *text, size_t len);

/* What to poll the worker's socket for; 0: nothing. */
short relay_worker_events(const struct relay *r);
/* After packets were handled: a held-back write may be tried again. */
void relay_pumped(struct relay *r);
/* Watches the guards; true: the client must go. */
bool relay_is_abused(struct relay *r);

#endif
