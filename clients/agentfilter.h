/* SPDX-License-Identifier: Apache-2.0
 *
 * --agentKeyIndex: an SSH agent that shows only one key of the user's agent.
 *
 * libssh offers all keys of an agent and has no way to choose one; servers
 * commonly allow six tries. So its sessions speak to this filter, which hands
 * requests on and shortens the list of keys (draft-miller-ssh-agent).
 *
 * Threads: one of its own; the functions may be called from any.
 */
#ifndef CLIENTS_AGENTFILTER_H
#define CLIENTS_AGENTFILTER_H

#include "error.h"

#define AGENTFILTER_MAX (256u * 1024u) /* bytes of a message, as in OpenSSH */

struct agentfilter;

/* `path`: socket of the user's agent; `index`: the key to show, from 0; beyond
 * the last: none. */
int agentfilter_new(const char *path, uint64_t index, struct agentfilter **out,
                    struct error *err);
void agentfilter_free(struct agentfilter *f);
/* A connection to the filter, the caller's; -1: none can be made. */
int agentfilter_open(struct agentfilter *f);

/* Keeps one key of an answer to "request identities" (type, count, keys).
 * Returns the new length, 0 when the answer is malformed. */
size_t agentfilter_shorten(uint8_t *answer, size_t len, uint64_t index);

#endif
