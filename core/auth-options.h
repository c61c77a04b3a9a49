/* SPDX-License-Identifier: Apache-2.0
 *
 * The options in front of a key in authorized_keys: honoured, or the key is
 * refused, never ignored.
 *
 * Honoured: from="…" (addresses, address patterns and address/bits; no host
 * names, as they would be looked up in the peer's own DNS), expiry-time="…",
 * and those about what this server never gives: restrict, terminals, user-rc,
 * and forwarding of all kinds.
 */
#ifndef CORE_AUTH_OPTIONS_H
#define CORE_AUTH_OPTIONS_H

#include "error.h"

#include <time.h>

/* Who asks, and when. */
struct auth_peer {
    const char *address; /* numeric, without port */
    time_t now;
};

/* The length of the options field that `text` begins with: up to the first
 * blank outside quotes. `len` when there is none. */
size_t auth_options_span(const char *text, size_t len);

/* Checks an options field. DT_OK, or DT_ERR_ACCES with the reason. */
int auth_options_check(const char *options, size_t len,
                       const struct auth_peer *peer, struct error *err);

#endif
