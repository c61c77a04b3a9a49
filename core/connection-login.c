/* SPDX-License-Identifier: Apache-2.0
 *
 * What a connection's processes ask about authentication.
 */
#include "connection-login.h"
#include "auth-keys.h"
#include "auth.h"
#include "children.h"
#include "cleanup.h"

#include <string.h>

/* A session asks twice for a key (would it do, and with the signature). */
#define MAX_LOOKUPS 20
/* A client registers one key a session; this is for one that goes on. */
#define MAX_ADDED_KEYS 10
/* Health checks at the same time, beside MaxConnections. */
#define MAX_HEALTH 10

static void
answer_lookup(struct connection *c, bool allowed)
{
    struct broker_msg msg = {.type = BROKER_KEY_ANSWER,
                             .status = allowed ? DT_OK : DT_ERR_ACCES};

    c->nr_refused += !allowed;
    if (c->session_fd >= 0 && broker_send(c->session_fd, &msg, -1) != DT_OK) {
        connection_kill_session(c);
    }
}

static struct auth_cache_limits
cache_limits(const struct connection *c)
{
    const struct config_server *s = &c->shared->config->server;

    return (struct auth_cache_limits){s->auth_key_ttl_seconds,
                                      s->auth_key_max_per_user};
}

/* Takes the key out of the message as text; NULL: not a key that may log in.
 * Certificates may, but are not registered. */
static char *
take_key(const struct broker_msg *msg, bool with_certificates)
{
    char *key = strndup(msg->key, msg->key_len);

    if (key && strlen(key) == msg->key_len &&
        (auth_keys_type_ok(key) ||
         (with_certificates && auth_keys_is_cert(key)))) {
        return key;
    }
    free(key);
    return NULL;
}

static void
forget_lookup(struct connection *c)
{
    if (c->lookup_origin) {
        explicit_bzero(c->lookup_origin, c->lookup_len);
    }
    free(c->lookup_origin);
    c->lookup_origin = NULL;
    c->lookup_len = 0;
}

/* The key that the look-up is about: the asked one, or the listed one through
 * which that was registered. NULL: malformed, or out of memory. */
static char *
key_to_look_up(struct connection *c, const struct broker_msg *msg)
{
    const struct auth_cache_limits limits = cache_limits(c);
    char *key = take_key(msg, true);
    const char *origin = NULL;
    char *copy;

    if (key && c->shared->config->server.auth_key_enabled) {
        origin = auth_cache_find(&c->shared->cache, &limits, msg->user, key,
                                 time(NULL));
    }
    if (!origin) {
        return key;
    }
    c->lookup_registered = true;
    copy = strdup(origin);
    free(key);
    return copy;
}

/* What the look-up is about, by its role: a key, or a password that may hold
 * any bytes. False: malformed, or out of memory. */
static bool
take_secret(struct connection *c, const struct broker_msg *msg)
{
    if (c->lookup_role == AUTH_ROLE_USER) {
        c->lookup_origin = key_to_look_up(c, msg);
        c->lookup_len = c->lookup_origin ? strlen(c->lookup_origin) : 0;
    } else if (msg->key_len <= AUTH_SPECIAL_MAX_PASSWORD &&
               (c->lookup_origin = calloc(1, msg->key_len + 1u))) {
        memcpy(c->lookup_origin, msg->key, msg->key_len);
        c->lookup_len = msg->key_len;
    }
    return c->lookup_origin != NULL;
}

static void
start_lookup(struct connection *c)
{
    struct error err = ERROR_INIT;

    if (children_start_lookup(c, &err) != DT_OK) {
        log_error(c->shared->log, "%s|look-up failed|%s", c->peer, err.text);
        answer_lookup(c, false);
    }
}

/* A user with a password has no key, and the others have no password. */
static bool
is_right_method(struct connection *c, const struct broker_msg *msg)
{
    bool is_user = auth_special_role(msg->user) == AUTH_ROLE_USER;

    if (is_user == (msg->type == BROKER_LOOKUP_KEY)) {
        return true;
    }
    if (connection_may_log(c)) {
        log_info(c->shared->log, "%s@%s|%s refused|%s", msg->user, c->peer,
                 is_user ? "password" : "key",
                 is_user ? "only the health check and jobs have passwords"
                         : "the health check and jobs have no keys");
    }
    return false;
}

void
connection_login_lookup(struct connection *c, const struct broker_msg *msg)
{
    struct error err = ERROR_INIT;

    /* A child that has answered may still be on its way out. */
    if (c->is_authenticated || c->lookup_fd >= 0 ||
        c->nr_lookups >= MAX_LOOKUPS) {
        connection_violation(c, "a look-up out of turn");
        return;
    }
    c->nr_lookups++;
    forget_lookup(c);
    if (auth_check_user(msg->user, &err) != DT_OK) {
        connection_violation(c, "a malformed look-up");
        return;
    }
    if (!is_right_method(c, msg)) {
        answer_lookup(c, false);
        return;
    }
    strcpy(c->lookup_user, msg->user);
    c->lookup_registered = false;
    c->lookup_role = auth_special_role(msg->user);
    if (!take_secret(c, msg)) {
        connection_violation(c, "a malformed look-up");
        return;
    }
    start_lookup(c);
}

/* What a look-up has allowed is what may log in, and nothing before it. */
static bool
allow(struct connection *c, const struct broker_msg *msg)
{
    free(c->origin);
    free(c->job);
    c->origin = NULL;
    c->job = strndup(msg->key, msg->key_len);
    c->is_registered = c->lookup_registered;
    snprintf(c->why, sizeof(c->why), "%.*s", (int)sizeof(c->why) - 1,
             msg->text);
    c->is_allowed = c->job != NULL;
    c->role = c->lookup_role;
    strcpy(c->user, c->lookup_user);
    if (c->role == AUTH_ROLE_USER) {
        c->origin = STEAL_PTR(c->lookup_origin);
    }
    return c->is_allowed;
}

void
connection_login_answered(struct connection *c)
{
    const char *what = c->lookup_role == AUTH_ROLE_USER ? "key" : "password";
    struct broker_msg msg;
    bool allowed = false;
    int fd, st = broker_recv(c->lookup_fd, &msg, &fd);

    if (st == DT_AGAIN) {
        return;
    }
    if (fd >= 0) {
        close(fd);
    }
    close(c->lookup_fd);
    c->lookup_fd = -1;
    if (st == DT_OK && msg.type == BROKER_KEY_ANSWER) {
        allowed = msg.status == DT_OK && allow(c, &msg);
        if (allowed || connection_may_log(c)) {
            log_at(c->shared->log, allowed ? LOG_DEBUG : LOG_INFO,
                   "%s@%s|%s%s %s|%s", c->lookup_user, c->peer,
                   c->lookup_registered ? "registered " : "", what,
                   allowed ? "accepted" : "refused", msg.text);
        }
    } else {
        log_error(c->shared->log, "%s@%s|%s refused|the look-up died",
                  c->lookup_user, c->peer, what);
    }
    forget_lookup(c);
    answer_lookup(c, allowed);
}

/* Health checks have places of their own, so that a server that is full is not
 * taken for one that is down. */
static int
take_place(struct connection *c, struct error *err)
{
    struct connection_shared *sh = c->shared;
    bool is_health = c->role == AUTH_ROLE_HEALTH;
    size_t *nr = is_health ? &sh->nr_health : &sh->nr_users;
    int max = is_health ? MAX_HEALTH : sh->config->server.max_connections;

    if (*nr >= (size_t)max) {
        return error_set(err, DT_ERR_LIMIT,
                         is_health
                             ? "too many health checks at once (%d)"
                             : "too many connections (MaxConnections is %d)",
                         max);
    }
    ++*nr;
    c->place = nr;
    sh->nr_logins++;
    return DT_OK;
}

void
connection_login_start(struct connection *c, const struct broker_msg *msg)
{
    struct broker_msg answer = {.type = BROKER_WORKER_STARTED};
    struct error err = ERROR_INIT;
    CLEANUP_FD int fd = -1;

    if (c->is_authenticated || !c->is_allowed ||
        strcmp(msg->user, c->user) != 0) {
        connection_violation(c, "a log-in that no look-up has allowed");
        return;
    }
    c->is_authenticated = true;
    log_info(c->shared->log, "%s@%s|logged in|%s|%s%s", c->user, c->peer,
             msg->text, c->is_registered ? "registered key behind " : "",
             c->why);
    if (c->shared->is_stopping) {
        answer.status =
            error_set(&err, DT_ERR_CANCELLED, "the server is shutting down");
    } else if ((answer.status = take_place(c, &err)) == DT_OK) {
        answer.status = children_start_worker(c, &fd, &err);
    }
    if (answer.status != DT_OK) {
        log_error(c->shared->log, "%s@%s|no worker|%s", c->user, c->peer,
                  err.text);
        snprintf(answer.text, sizeof(answer.text), "dserver: %.400s", err.text);
    }
    if (broker_send(c->session_fd, &answer, fd) != DT_OK) {
        connection_kill_session(c);
    }
}

/* ---- registered keys ---- */

static int
add_key(struct connection *c, const struct broker_msg *msg, struct error *err)
{
    const struct auth_cache_limits limits = cache_limits(c);
    CLEANUP_FREE char *key = NULL;
    int st;

    if (c->role != AUTH_ROLE_USER || !c->origin) {
        return error_set(err, DT_ERR_ACCES, "%s may not register keys",
                         c->user);
    }
    if (!c->shared->config->server.auth_key_enabled) {
        return error_set(err, DT_ERR_ACCES, "feature disabled");
    }
    key = take_key(msg, false);
    if (!key) {
        return error_set(err, DT_ERR_INVAL, "invalid public key");
    }
    if (strcmp(key, c->origin) == 0) {
        return DT_OK; /* it is listed, and stays good for as long as it is */
    }
    st = auth_cache_add(&c->shared->cache, &limits, c->user, key, c->origin,
                        time(NULL));
    if (st == DT_OK) {
        log_info(c->shared->log, "%s@%s|key registered", c->user, c->peer);
    }
    return st == DT_OK ? st : error_set(err, st, "%s", dt_strerror(st));
}

void
connection_login_add_key(struct connection *c, const struct broker_msg *msg)
{
    struct broker_msg answer = {.type = BROKER_KEY_ADDED};
    struct error err = ERROR_INIT;

    if (++c->nr_keys_added > MAX_ADDED_KEYS) {
        error_set(&err, DT_ERR_LIMIT, "more than %d keys in one session",
                  MAX_ADDED_KEYS);
    } else {
        (void)add_key(c, msg, &err);
    }
    if (err.status != DT_OK && c->nr_keys_added <= MAX_ADDED_KEYS + 1) {
        log_info(c->shared->log, "%s@%s|key not registered|%s", c->user,
                 c->peer, err.text);
    }
    answer.status = err.status;
    snprintf(answer.text, sizeof(answer.text), "%.400s", err.text);
    /* A worker that reads none of its answers needs none. */
    (void)broker_send(c->worker_fd, &answer, -1);
}

void
connection_login_fini(struct connection *c)
{
    forget_lookup(c);
    free(c->origin);
    free(c->job);
    if (c->place) {
        --*c->place;
    }
}
