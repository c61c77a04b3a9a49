/* SPDX-License-Identifier: Apache-2.0
 *
 * Is the client still there? Keepalives, and what TCP knows.
 *
 * A client that merely does not read (stopped, a pager) is there: its kernel
 * answers. So silence alone proves nothing; only unanswered TCP does.
 */
#ifndef CORE_PEER_H
#define CORE_PEER_H

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <stdbool.h>
#include <stdint.h>

struct peer {
    ssh_session ssh;
    int fd;
    int64_t interval_ms; /* 0: no keepalives */
    int64_t heard_ms;    /* when bytes came last */
    int64_t next_ms;     /* of the next look */
    uint64_t in_bytes;
};

/* Turns on TCP's own keepalive as well; seconds 0: none of both. */
void peer_init(struct peer *p, ssh_session ssh, int fd, int keepalive_seconds);

/* Takes a look when it is time for one; asks the client for a sign of life
 * unless output is stuck (`is_stuck`). True: it is gone. */
bool peer_is_gone(struct peer *p, const struct ssh_counter_struct *sock,
                  int64_t now_ms, bool is_stuck);
/* When to look next, clock_now_ms; CLOCK_NEVER: never. */
int64_t peer_next_ms(const struct peer *p);

#endif
