/* SPDX-License-Identifier: Apache-2.0
 *
 * What a connection's processes ask about authentication: whether a key or a
 * password may log in, the worker, a key to remember.
 *
 * The listener decides all of it. A session names a user only in a look-up,
 * and gets the worker of no other; a worker adds keys for its own user.
 */
#ifndef CORE_CONNECTION_LOGIN_H
#define CORE_CONNECTION_LOGIN_H

#include "connection.h"

/* BROKER_LOOKUP_KEY, BROKER_LOOKUP_PASSWORD: starts the look-up, whose answer
 * goes to the session. */
void connection_login_lookup(struct connection *c,
                             const struct broker_msg *msg);
/* The look-up's child has something to say, or is gone, which is a no. */
void connection_login_answered(struct connection *c);
/* BROKER_START_WORKER: the session's user has logged in. */
void connection_login_start(struct connection *c, const struct broker_msg *msg);
/* BROKER_ADD_KEY: remembers a key for the worker's user, and answers. */
void connection_login_add_key(struct connection *c,
                              const struct broker_msg *msg);
void connection_login_fini(struct connection *c);

#endif
