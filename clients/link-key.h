/* SPDX-License-Identifier: Apache-2.0
 *
 * What link.c and link-key.c share.
 *
 * Threads: the pool's.
 */
#ifndef CLIENTS_LINK_KEY_H
#define CLIENTS_LINK_KEY_H

#include "link.h"

/* After the key exchange: decides about the host key. True: goes on to log in.
 * False: the link is over, asks, or connects anew. */
bool link_check_key(struct link *l);
void link_forget_key(struct link *l);

/* Goes on to a phase, which has a limit of its own. */
void link_enter(struct link *l, enum link_state state);
/* Gives everything back but the result and the unknown key. */
void link_disconnect(struct link *l);

#endif
