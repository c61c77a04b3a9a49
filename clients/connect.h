/* SPDX-License-Identifier: Apache-2.0
 *
 * A TCP connection to a named host, without waiting: name look-up in a thread
 * of its own, then every address in turn, each with a time limit.
 *
 * Done here and not by libssh, whose look-up blocks the thread, which tries
 * only the first address that does not fail at once, and which refuses names
 * with an underscore.
 *
 * Threads: the owner's, but for the look-up thread, which outlives a look-up
 * that was given up and then ends by itself.
 */
#ifndef CLIENTS_CONNECT_H
#define CLIENTS_CONNECT_H

#include "error.h"

#define CONNECT_LOOKUP_MS 5000 /* limit of a name look-up */

struct connect;

enum connect_state {
    CONNECT_AGAIN = 0, /* poll, or wait for wake_fd, then step again */
    CONNECT_DONE,
    CONNECT_FAILED
};

/* `family`: AF_…, AF_UNSPEC for any. `connect_ms`: limit for each address.
 * `wake_fd`: an eventfd that is written when the look-up is over. NULL: out of
 * memory or threads, err is set. */
struct connect *connect_new(const char *host, uint16_t port, int family,
                            int connect_ms, int wake_fd, struct error *err);
/* Ends it, whatever its state. Accepts NULL. */
void connect_free(struct connect *c);

enum connect_state connect_step(struct connect *c, struct error *err);
/* The descriptor to poll for POLLOUT, -1 while the name is looked up. */
int connect_poll_fd(const struct connect *c);
int64_t connect_deadline(const struct connect *c); /* clock_now_ms */
/* After CONNECT_DONE: the socket (non-blocking, TCP_NODELAY, keepalive on),
 * now the caller's. */
int connect_take_fd(struct connect *c);

#endif
