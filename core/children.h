/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting the listener's children: session, worker, look-up.
 *
 * Each gives up what it does not need before it does anything else. They end
 * by _exit: what the listener has open or unwritten is not theirs.
 */
#ifndef CORE_CHILDREN_H
#define CORE_CHILDREN_H

#include "connection.h"

/* The session process of an accepted connection; `fd` stays the caller's. */
int children_start_session(struct connection *c, int fd, struct error *err);
/* The look-up of c->lookup_origin for c->lookup_user. */
int children_start_lookup(struct connection *c, struct error *err);
/* The worker of c->user; *session_fd is the session's end of its stream. */
int children_start_worker(struct connection *c, int *session_fd,
                          struct error *err);

#endif
