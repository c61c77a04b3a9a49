/* SPDX-License-Identifier: Apache-2.0
 *
 * The listener's entrance: connections that were accepted and have no session
 * process yet, and who of them gets one next.
 *
 * A process is worth more than a descriptor, so it is for those who say
 * something: whoever hangs up, or begins with anything but "SSH-", costs no
 * process, and whoever says nothing gets one after a moment, as there are
 * clients that wait for the server's first word, while there are few of them.
 * Sources have turns, so that one that sends thousands does not keep out who
 * comes from elsewhere. Of one source the newest goes first: when more come
 * than can be served, he is the one who is still there; who has waited for
 * long goes in turn with him. These four bytes are compared, and not read off,
 * here; no other byte of the network is looked at in the listener.
 */
#ifndef CORE_ENTRANCE_H
#define CORE_ENTRANCE_H

#include "connection.h"
#include "guests.h"

#define ENTRANCE_MAX_GUESTS 8192u
#define ENTRANCE_SILENT_MS 200 /* before one who says nothing is let in */
#define ENTRANCE_LONG_MS 300   /* before the newest has to share his turns */

struct entrance {
    struct connection_shared *shared; /* borrowed */
    struct guests guests;
    unsigned nr_let_in;
    int spare_fd; /* given up to accept, and refuse, when none is left */
    int64_t accept_after_ms;
};

/* DT_OK, or DT_ERR_NOMEM. */
int entrance_init(struct entrance *e, struct connection_shared *shared);
/* Closes whoever is still there. */
void entrance_fini(struct entrance *e);

/* For the poll loop: whether to look at the listening socket, and the
 * descriptor that is readable once a guest has said something. */
bool entrance_accepts(const struct entrance *e, int64_t now_ms);
int entrance_fd(const struct entrance *e);
/* Looks at what the guests have said, and turns away who stood for too long. */
void entrance_events(struct entrance *e, int64_t now_ms);
/* Takes some connections off the listening socket. */
void entrance_accept(struct entrance *e, int listen_fd, int64_t now_ms);

/* Who gets a session next, for which one of `conns` may be dropped
 * (admission.h). The descriptor is the caller's then; -1: nobody. */
int entrance_next(struct entrance *e, struct connection *const *conns,
                  size_t nr, int64_t now_ms, struct sockaddr_storage *from);
/* When to ask again without an event. */
int64_t entrance_next_ms(const struct entrance *e,
                         struct connection *const *conns, size_t nr,
                         int64_t now_ms);

#endif
