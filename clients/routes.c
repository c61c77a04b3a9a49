/* SPDX-License-Identifier: Apache-2.0
 *
 * How each server is reached.
 */
#include "routes.h"

#include "config.h"
#include "setup.h"

#include <stdlib.h>
#include <strings.h>

/* Keys that some servers have in common. */
struct key_set {
    const struct sshconfig_host *said; /* of the first of them */
    struct clientauth *auth;
};

/* Known hosts that some servers have in common. */
struct host_set {
    const struct sshconfig_host *said;
    struct knownhosts *hosts;
    char *path;
};

struct routes {
    const struct client *c;
    struct sshconfig *config; /* NULL: none */
    struct keyring *keyring;
    struct route *v;
    struct sshconfig_host *said; /* by server */
    size_t nr;
    struct key_set *key_sets;
    size_t nr_key_sets;
    struct host_set *host_sets;
    size_t nr_host_sets;
};

static bool
same_list(const struct strv *a, const struct strv *b)
{
    if (a->nr != b->nr) {
        return false;
    }
    for (size_t i = 0; i < a->nr; i++) {
        if (strcmp(a->v[i], b->v[i]) != 0) {
            return false;
        }
    }
    return true;
}

static bool
same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The keys of a host, which others may have loaded. */
static int
find_keys(struct routes *r, const struct sshconfig_host *said,
          struct clientauth **out, struct error *err)
{
    struct key_set *sets;
    int rc;

    for (size_t i = 0; i < r->nr_key_sets; i++) {
        const struct sshconfig_host *other = r->key_sets[i].said;

        if (same_list(&said->identities, &other->identities) &&
            same_list(&said->certificates, &other->certificates) &&
            same_text(said->identity_agent, other->identity_agent) &&
            said->identities_only == other->identities_only) {
            *out = r->key_sets[i].auth;
            return DT_OK;
        }
    }
    sets = reallocarray(r->key_sets, r->nr_key_sets + 1, sizeof(*sets));
    if (!sets) {
        return error_set(err, DT_ERR_NOMEM, "private keys: out of memory");
    }
    r->key_sets = sets;
    rc = setup_keys(r->c, said, r->keyring, out, err);
    if (rc == DT_OK) {
        sets[r->nr_key_sets++] = (struct key_set){said, *out};
    }
    return rc;
}

static int
find_hosts(struct routes *r, const struct sshconfig_host *said,
           struct route *route, struct error *err)
{
    struct host_set *set = NULL, *sets;
    int rc;

    for (size_t i = 0; !set && i < r->nr_host_sets; i++) {
        const struct sshconfig_host *other = r->host_sets[i].said;

        if (same_list(&said->known_hosts, &other->known_hosts) &&
            same_list(&said->global_known_hosts, &other->global_known_hosts)) {
            set = &r->host_sets[i];
        }
    }
    if (!set) {
        sets = reallocarray(r->host_sets, r->nr_host_sets + 1, sizeof(*sets));
        if (!sets) {
            return error_set(err, DT_ERR_NOMEM, "known hosts: out of memory");
        }
        r->host_sets = sets;
        set = &sets[r->nr_host_sets++];
        *set = (struct host_set){.said = said};
        rc = setup_hosts(r->c, said, &set->hosts, &set->path, err);
        if (rc != DT_OK) {
            return rc;
        }
    }
    route->hosts = set->hosts;
    route->hosts_path = set->path;
    return DT_OK;
}

static int
make_route(struct routes *r, const struct server *server,
           struct sshconfig_host *said, struct route *route, struct error *err)
{
    const struct client *c = r->c;
    uint16_t port = server->has_port ? server->port
                    : c->has_port    ? (uint16_t)c->flags->port
                                     : 0;
    int rc = DT_OK;

    if (r->config) {
        rc = sshconfig_lookup(r->config, server->host,
                              c->has_user ? c->user : "", port, server->port,
                              said, err);
    }
    if (rc != DT_OK) {
        error_prefix(err, "%s", server->text);
        return rc;
    }
    *route = (struct route){
        .host = said->host_name ? said->host_name : server->host,
        .port = port         ? port
                : said->port ? said->port
                             : server->port,
        .user = said->user && !c->has_user ? said->user : c->user,
        .proxy = said->proxy,
        .family = said->family,
        .connect_ms =
            c->flags->connect_timeout ? (int)c->flags->connect_timeout * 1000
            : said->connect_ms        ? said->connect_ms
                               : c->config->common.ssh_connect_timeout_ms,
        .strict = said->strict,
    };
    route->key_name = said->key_alias ? said->key_alias : route->host;
    rc = find_keys(r, said, &route->auth, err);
    return rc == DT_OK ? find_hosts(r, said, route, err) : rc;
}

static int
load_config(struct routes *r, struct error *err)
{
    const struct client *c = r->c;
    const struct sshconfig_args args = {
        .path = c->flags->ssh_config,
        .home = c->home,
        .user = c->login,
        .host = c->host,
    };

    /* Who has a password is a program that knows where it goes. */
    if (c->password || strcasecmp(c->flags->ssh_config, "none") == 0) {
        return DT_OK;
    }
    return sshconfig_load(&args, &r->config, err);
}

int
routes_new(const struct client *c, const struct servers *servers,
           struct routes **out, struct error *err)
{
    const struct keyring_args keys = {
        .passphrase = getenv("DTAIL_KEY_PASSPHRASE"),
        .tty = c->flags->control_tty,
    };
    struct routes *r = calloc(1, sizeof(*r));
    int rc;

    if (!r) {
        return error_set(err, DT_ERR_NOMEM, "servers: out of memory");
    }
    r->c = c;
    r->nr = servers->nr;
    r->v = calloc(r->nr, sizeof(*r->v));
    r->said = calloc(r->nr, sizeof(*r->said));
    r->keyring = keyring_new(&keys);
    rc = r->v && r->said && r->keyring
             ? load_config(r, err)
             : error_set(err, DT_ERR_NOMEM, "servers: out of memory");
    for (size_t i = 0; rc == DT_OK && i < r->nr; i++) {
        rc = make_route(r, &servers->v[i], &r->said[i], &r->v[i], err);
    }
    if (rc != DT_OK) {
        routes_free(r);
        return rc;
    }
    *out = r;
    return DT_OK;
}

void
routes_free(struct routes *r)
{
    if (!r) {
        return;
    }
    for (size_t i = 0; i < r->nr_key_sets; i++) {
        clientauth_free(r->key_sets[i].auth);
    }
    for (size_t i = 0; i < r->nr_host_sets; i++) {
        knownhosts_free(r->host_sets[i].hosts);
        free(r->host_sets[i].path);
    }
    for (size_t i = 0; r->said && i < r->nr; i++) {
        sshconfig_host_fini(&r->said[i]);
    }
    keyring_free(r->keyring);
    sshconfig_free(r->config);
    free(r->key_sets);
    free(r->host_sets);
    free(r->said);
    free(r->v);
    free(r);
}

const struct route *
routes_get(const struct routes *r, size_t server)
{
    return &r->v[server];
}
