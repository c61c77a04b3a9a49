/* SPDX-License-Identifier: Apache-2.0
 *
 * What connections need.
 */
#include "setup.h"

#include "auth-special.h"
#include "authkey.h"
#include "cleanup.h"
#include "config.h"
#include "wire.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define SPARE_FDS 64 /* descriptors for everything but connections */

static int
add_frame(struct buf *out, uint8_t type, const struct buf *json)
{
    const struct wire_frame f = {
        .type = type, .data = json->data, .len = json->len};
    uint8_t head[WIRE_MAX_FIXED];
    size_t len = wire_encode(head, &f);

    return buf_append(out, head, len) == DT_OK
               ? buf_append(out, json->data, json->len)
               : DT_ERR_NOMEM;
}

/* The key file in effect (spec clients 9.1): the flag's, the environment's,
 * the settings'; "": none. */
static const char *
key_path(const struct client *c)
{
    const char *const from[] = {
        c->flags->auth_key_path,
        getenv("DTAIL_AUTH_KEY_PATH"),
        getenv("DTAIL_SSH_PRIVATE_KEYFILE_PATH"),
        c->config->client.auth_key_path,
    };

    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
        if (from[i] && *from[i]) {
            return from[i];
        }
    }
    return "";
}

/* Asks the server to remember the key for the next log-ins. The users with a
 * password have no key. */
static int
add_authkey(const struct client *c, struct buf *out)
{
    const char *path = key_path(c), *why = "";
    struct buf key = {0}, json = {0};
    int rc = DT_OK;

    if (c->flags->no_auth_key || c->config->client.auth_key_disable || !*path ||
        auth_special_role(c->user) != AUTH_ROLE_USER) {
        return DT_OK;
    }
    if (authkey_read(path, &key, &why)) {
        rc = authkey_format(key.data, key.len, &json);
        if (rc == DT_OK) {
            rc = add_frame(out, WIRE_C_AUTHKEY, &json);
        }
    } else {
        log_debug(c->diag.log, "key not registered|%s|%s", path, why);
    }
    buf_fini(&key);
    buf_fini(&json);
    return rc;
}

int
setup_request(const struct client *c, const struct query_spec *queries,
              struct buf *out, struct error *err)
{
    const struct hello hello = {
        .protocol = WIRE_PROTOCOL,
        .version = (char *)(uintptr_t)PACKAGE_VERSION,
        .host = c->host,
    };
    struct buf json = {0};
    int rc = hello_format(&hello, &json);

    if (rc == DT_OK) {
        rc = add_frame(out, WIRE_C_HELLO, &json);
    }
    if (rc == DT_OK) {
        rc = add_authkey(c, out);
    }
    for (size_t i = 0; rc == DT_OK && i < c->nr_queries; i++) {
        json.len = 0;
        rc = query_spec_format(&queries[i], &json);
        if (rc == DT_OK && json.len >= WIRE_MAX_REQUEST) {
            rc = DT_ERR_LIMIT;
        }
        if (rc == DT_OK) {
            rc = add_frame(out, WIRE_C_QUERY, &json);
        }
    }
    buf_fini(&json);
    return rc == DT_OK ? DT_OK
                       : error_set(err, rc, "query: %s", dt_strerror(rc));
}

int
setup_update(const struct query_spec *spec, struct buf *out, struct error *err)
{
    struct buf json = {0};
    int rc = query_spec_format(spec, &json);

    if (rc == DT_OK && json.len >= WIRE_MAX_REQUEST) {
        rc = DT_ERR_LIMIT;
    }
    if (rc == DT_OK) {
        rc = add_frame(out, WIRE_C_UPDATE, &json);
    }
    buf_fini(&json);
    return rc == DT_OK ? DT_OK
                       : error_set(err, rc, "query: %s", dt_strerror(rc));
}

int
setup_finish(const struct client *c, struct buf *out, struct error *err)
{
    struct buf json = {0};
    int rc = DT_OK;

    for (size_t i = 0; rc == DT_OK && i < c->nr_queries; i++) {
        json.len = 0;
        rc = cancel_format(c->queries[i].id, true, &json);
        if (rc == DT_OK) {
            rc = add_frame(out, WIRE_C_CANCEL, &json);
        }
    }
    buf_fini(&json);
    return rc == DT_OK ? DT_OK : error_set(err, rc, "%s", dt_strerror(rc));
}

static int
add_all(struct strv *out, const struct strv *more)
{
    int rc = DT_OK;

    for (size_t i = 0; rc == DT_OK && i < more->nr; i++) {
        rc = strv_add(out, more->v[i]);
    }
    return rc;
}

/* The user's files; the first is the one to write to. */
static int
add_user_hosts(const struct client *c, const struct sshconfig_host *said,
               struct strv *out)
{
    static const char *const names[] = {"known_hosts", "known_hosts2"};
    int rc = DT_OK;

    if (config_test_mode()) {
        return strv_add(out, "./known_hosts");
    }
    if (said->known_hosts.nr) {
        return add_all(out, &said->known_hosts);
    }
    for (size_t i = 0; rc == DT_OK && i < 2; i++) {
        CLEANUP_FREE char *path = NULL;

        if (asprintf(&path, "%s/.ssh/%s", c->home, names[i]) < 0) {
            path = NULL;
            return DT_ERR_NOMEM;
        }
        rc = strv_add(out, path);
    }
    return rc;
}

int
setup_hosts(const struct client *c, const struct sshconfig_host *said,
            struct knownhosts **hosts, char **path, struct error *err)
{
    struct strv paths = {0};
    int rc = DT_OK;

    if (c->takes_any_host) {
        *path = strdup("");
        rc = *path ? knownhosts_load(&paths, hosts, err)
                   : error_set(err, DT_ERR_NOMEM, "out of memory");
        return rc;
    }
    rc = add_user_hosts(c, said, &paths);
    *path = rc == DT_OK ? strdup(paths.v[0]) : NULL;
    if (said->global_known_hosts.nr) {
        rc = rc == DT_OK ? add_all(&paths, &said->global_known_hosts) : rc;
    } else if (rc == DT_OK &&
               (strv_add(&paths, "/etc/ssh/ssh_known_hosts") != DT_OK ||
                strv_add(&paths, "/etc/ssh/ssh_known_hosts2") != DT_OK)) {
        rc = DT_ERR_NOMEM;
    }
    rc = rc == DT_OK && *path ? knownhosts_load(&paths, hosts, err)
                              : error_set(err, DT_ERR_NOMEM, "out of memory");
    strv_fini(&paths);
    return rc;
}

int
setup_keys(const struct client *c, const struct sshconfig_host *said,
           struct keyring *keyring, struct clientauth **auth, struct error *err)
{
    const struct clientauth_args args = {
        .password = c->password,
        .key_path = key_path(c),
        .key_is_wanted = *c->flags->auth_key_path,
        .home = c->home,
        .is_test_mode = config_test_mode(),
        .agent = said->identity_agent ? said->identity_agent
                                      : getenv("SSH_AUTH_SOCK"),
        .agent_index = c->flags->agent_key_index,
        .identities = &said->identities,
        .certificates = &said->certificates,
        .identities_only = said->identities_only,
    };
    int rc = DT_OK;

    if (config_test_mode() && !c->password && *args.key_path) {
        rc = authkey_make(args.key_path, c->diag.log, err);
    }
    return rc == DT_OK ? clientauth_load(&args, keyring, auth, err) : rc;
}

size_t
setup_raise_open_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 512;
    }
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

size_t
setup_max_open(const struct client *c, size_t nr_servers)
{
    size_t limit = setup_raise_open_files();
    size_t fits = limit > 2 * SPARE_FDS ? limit - SPARE_FDS : SPARE_FDS / 2;
    if (fits < nr_servers) {
        log_warn(c->diag.log,
                 "the limit of %zu descriptors (ulimit -n) allows %zu of %zu "
                 "connections at a time",
                 limit, fits, nr_servers);
    }
    return fits;
}
