/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys that sessions have registered for their own user (AUTHKEY), in the
 * listener's memory: bounded, forgotten after a time and at restart.
 *
 * Each remembers the key of authorized_keys that its session came in with:
 * when that one is withdrawn, so are those it brought.
 */
#ifndef CORE_AUTH_CACHE_H
#define CORE_AUTH_CACHE_H

#include "error.h"

#include <sys/queue.h>
#include <time.h>

#define AUTH_CACHE_MAX_KEYS 10000u /* over all users */

struct auth_cache_entry;
TAILQ_HEAD(auth_cache_list, auth_cache_entry);

struct auth_cache {
    struct auth_cache_list keys; /* oldest first */
    size_t nr;
};

/* From the configuration. */
struct auth_cache_limits {
    int ttl_seconds;
    int max_per_user; /* the oldest make room */
};

void auth_cache_init(struct auth_cache *c);
void auth_cache_fini(struct auth_cache *c);
/* Adds or renews `key` (base64) for `user`; `origin` is the listed key behind
 * it. DT_OK, DT_ERR_LIMIT (AUTH_CACHE_MAX_KEYS) or DT_ERR_NOMEM. */
int auth_cache_add(struct auth_cache *c, const struct auth_cache_limits *limits,
                   const char *user, const char *key, const char *origin,
                   time_t now);
/* The listed key behind a registered one; NULL: not registered, or expired.
 * Borrowed until the next call that changes the cache. */
const char *auth_cache_find(struct auth_cache *c,
                            const struct auth_cache_limits *limits,
                            const char *user, const char *key, time_t now);

#endif
