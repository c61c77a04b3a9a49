/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys that sessions have registered for their own user.
 */
#include "auth-cache.h"

#include <stdlib.h>
#include <string.h>

struct auth_cache_entry {
    TAILQ_ENTRY(auth_cache_entry) link;
    char *user;
    char *key;
    char *origin;
    time_t added;
};

void
auth_cache_init(struct auth_cache *c)
{
    TAILQ_INIT(&c->keys);
    c->nr = 0;
}

static void
entry_free(struct auth_cache_entry *e)
{
    free(e->user);
    free(e->key);
    free(e->origin);
    free(e);
}

static void
drop(struct auth_cache *c, struct auth_cache_entry *e)
{
    TAILQ_REMOVE(&c->keys, e, link);
    c->nr--;
    entry_free(e);
}

void
auth_cache_fini(struct auth_cache *c)
{
    struct auth_cache_entry *e;

    while ((e = TAILQ_FIRST(&c->keys))) {
        drop(c, e);
    }
}

/* They stand in the order of their time. */
static void
expire(struct auth_cache *c, const struct auth_cache_limits *limits, time_t now)
{
    struct auth_cache_entry *e;

    while ((e = TAILQ_FIRST(&c->keys)) &&
           now - e->added >= limits->ttl_seconds) {
        drop(c, e);
    }
}

static struct auth_cache_entry *
find(struct auth_cache *c, const char *user, const char *key)
{
    struct auth_cache_entry *e;

    TAILQ_FOREACH(e, &c->keys, link)
    {
        if (strcmp(e->user, user) == 0 && strcmp(e->key, key) == 0) {
            return e;
        }
    }
    return NULL;
}

/* Makes room for one more of this user. */
static void
trim(struct auth_cache *c, const struct auth_cache_limits *limits,
     const char *user)
{
    struct auth_cache_entry *e, *oldest = NULL;
    int nr = 0;

    TAILQ_FOREACH(e, &c->keys, link)
    {
        if (strcmp(e->user, user) == 0) {
            oldest = oldest ? oldest : e;
            nr++;
        }
    }
    if (oldest && nr >= limits->max_per_user) {
        drop(c, oldest);
    }
}

int
auth_cache_add(struct auth_cache *c, const struct auth_cache_limits *limits,
               const char *user, const char *key, const char *origin,
               time_t now)
{
    struct auth_cache_entry *e = calloc(1, sizeof(*e)), *old;

    if (!e) {
        return DT_ERR_NOMEM;
    }
    e->user = strdup(user);
    e->key = strdup(key);
    e->origin = strdup(origin);
    e->added = now;
    if (!e->user || !e->key || !e->origin) {
        entry_free(e);
        return DT_ERR_NOMEM;
    }
    expire(c, limits, now);
    old = find(c, user, key);
    if (old) {
        drop(c, old);
    }
    trim(c, limits, user);
    if (c->nr >= AUTH_CACHE_MAX_KEYS) {
        entry_free(e);
        return DT_ERR_LIMIT;
    }
    TAILQ_INSERT_TAIL(&c->keys, e, link);
    c->nr++;
    return DT_OK;
}

const char *
auth_cache_find(struct auth_cache *c, const struct auth_cache_limits *limits,
                const char *user, const char *key, time_t now)
{
    struct auth_cache_entry *e;

    expire(c, limits, now);
    e = find(c, user, key);
    return e ? e->origin : NULL;
}
