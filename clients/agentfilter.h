/* SPDX-License-Identifier: Apache-2.0
 *
 * --agentKeyIndex and IdentitiesOnly: an SSH agent that shows only some keys of
 * the user's agent.
 *
 * libssh offers all keys of an agent and has no way to choose some; servers
 * commonly allow six tries. So its sessions speak to this filter, which hands
 * requests on and shortens the list of keys (draft-miller-ssh-agent).
 *
 * Threads: one of its own; the functions may be called from any.
 */
#ifndef CLIENTS_AGENTFILTER_H
#define CLIENTS_AGENTFILTER_H

#include "buf.h"
#include "error.h"

#define AGENTFILTER_MAX (256u * 1024u) /* bytes of a message, as in OpenSSH */
#define AGENTFILTER_LIST_MS 2000       /* for an agent to list its keys */

struct agentfilter;

/* Which keys to show: those that fit both. */
struct agentfilter_choice {
    int64_t index;           /* from 0, beyond the last: none; < 0: any */
    const struct strv *only; /* public keys in base64; NULL: any */
};

/* `path`: socket of the user's agent. The choice's list has to outlive the
 * filter. */
int agentfilter_new(const char *path, const struct agentfilter_choice *choice,
                    struct agentfilter **out, struct error *err);
void agentfilter_free(struct agentfilter *f);
/* A connection to the filter, the caller's; -1: none can be made. */
int agentfilter_open(struct agentfilter *f);

/* Keeps the chosen keys of an answer to "request identities" (type, count,
 * keys). Returns the new length, 0 when the answer is malformed. */
size_t agentfilter_shorten(uint8_t *answer, size_t len,
                           const struct agentfilter_choice *choice);

/* Adds the public keys (base64) that the agent behind a socket has. DT_OK,
 * DT_ERR_IO (no agent answers there), DT_ERR_NOMEM. */
int agentfilter_list(const char *path, struct strv *out);

#endif
