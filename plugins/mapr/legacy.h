/* SPDX-License-Identifier: Apache-2.0
 *
 * Aggregates as DTail 4 sends them (spec protocol 7.4), both ways, so that
 * old peers can be mixed with ours.
 *
 * At a server, a reduce stage with output=legacy gives out what changed since
 * the last drain, one message a line: the data that stands behind
 * `AGGREGATE|host|` and before the message's end. At a client, the reduce
 * stage is fed each message as a partial, from `AGGREGATE|` on.
 */
#ifndef MAPR_LEGACY_H
#define MAPR_LEGACY_H

#include "partial.h"

#define LEGACY_PREFIX "AGGREGATE|"

/* Appends the messages of all groups. What their protocol cannot carry in keys
 * and values becomes U+FFFD. */
void legacy_write(const struct plan *p, const struct groups *groups,
                  struct text *out);
/* Merges a message; one that is not well-formed is ignored, as the client of
 * DTail 4 does. `sequence` grows with each. DT_OK or DT_ERR_NOMEM. */
int legacy_read(struct partial_sink *s, const void *data, size_t len,
                uint64_t sequence);

#endif
