/* SPDX-License-Identifier: Apache-2.0
 *
 * What every SSH session of the server begins with.
 */
#include "sshbind.h"
#include "algorithms.h"
#include "cleanup.h"
#include "hostkey.h"
#include "wire.h"

#include <sys/socket.h>

#define WARM_UP_STEPS 1000

/* Sets one list of names. */
static int
set_list(ssh_bind bind, enum ssh_bind_options_e option, const char *key,
         const struct strv *names, struct log *log, struct error *err)
{
    struct buf joined = {0};
    struct strv dropped = {0};
    int st;

    if (names->nr == 0) {
        return DT_OK;
    }
    st = algorithms_join(names, &joined, &dropped, err);
    if (st == DT_OK &&
        ssh_bind_options_set(bind, option, joined.data) != SSH_OK) {
        st = error_set(err, DT_ERR_INVAL, "%s", ssh_get_error(bind));
    }
    if (st != DT_OK) {
        error_prefix(err, "Server.%s", key);
    }
    for (size_t i = 0; st == DT_OK && i < dropped.nr; i++) {
        log_warn(log, "settings|Server.%s|%s is not known to libssh %s", key,
                 dropped.v[i], ssh_version(0));
    }
    strv_fini(&dropped);
    buf_fini(&joined);
    return st;
}

static int
set_algorithms(ssh_bind bind, const struct config_server *c, struct log *log,
               struct error *err)
{
    const struct {
        enum ssh_bind_options_e option;
        const char *key;
        const struct strv *names;
    } lists[] = {
        {SSH_BIND_OPTIONS_KEY_EXCHANGE, "KeyExchanges", &c->key_exchanges},
        {SSH_BIND_OPTIONS_CIPHERS_C_S, "Ciphers", &c->ciphers},
        {SSH_BIND_OPTIONS_CIPHERS_S_C, "Ciphers", &c->ciphers},
        {SSH_BIND_OPTIONS_HMAC_C_S, "MACs", &c->macs},
        {SSH_BIND_OPTIONS_HMAC_S_C, "MACs", &c->macs},
        {SSH_BIND_OPTIONS_HOSTKEY_ALGORITHMS, "HostKeyAlgorithms",
         &c->host_key_algorithms},
        {SSH_BIND_OPTIONS_PUBKEY_ACCEPTED_KEY_TYPES, "PublicKeyAlgorithms",
         &c->public_key_algorithms},
    };

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        int st = set_list(bind, lists[i].option, lists[i].key, lists[i].names,
                          log, err);

        if (st != DT_OK) {
            return st;
        }
    }
    return DT_OK;
}

static int
add_host_key(ssh_bind bind, const char *path, struct error *err)
{
    if (ssh_bind_options_set(bind, SSH_BIND_OPTIONS_HOSTKEY, path) != SSH_OK) {
        return error_set(err, DT_ERR_INVAL, "host key %s: %s", path,
                         ssh_get_error(bind));
    }
    return DT_OK;
}

/* RSA, so that Go clients and old known_hosts stay right, and ed25519, which
 * the others take. One key of a type is kept. */
static int
set_host_keys(ssh_bind bind, const struct config_server *c, struct log *log,
              struct error *err)
{
    enum ssh_keytypes_e first, second;
    int st = hostkey_ensure(c->host_key_file, SSH_KEYTYPE_RSA, c->host_key_bits,
                            log, &first, err);

    if (st == DT_OK) {
        st = add_host_key(bind, c->host_key_file, err);
    }
    if (st != DT_OK || first == SSH_KEYTYPE_ED25519) {
        return st;
    }
    st = hostkey_ensure(c->host_key_file_ed25519, SSH_KEYTYPE_ED25519, 0, log,
                        &second, err);
    if (st == DT_OK) {
        st = add_host_key(bind, c->host_key_file_ed25519, err);
    }
    return st;
}

int
sshbind_new(const struct config *config, struct log *log, ssh_bind *out,
            struct error *err)
{
    const bool no = false;
    ssh_bind bind = ssh_bind_new();
    int st = DT_OK;

    if (!bind) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    if (ssh_bind_options_set(bind, SSH_BIND_OPTIONS_PROCESS_CONFIG, &no) !=
            SSH_OK ||
        ssh_bind_options_set(bind, SSH_BIND_OPTIONS_BANNER,
                             WIRE_SERVER_BANNER) != SSH_OK ||
        ssh_bind_options_set(
            bind, SSH_BIND_OPTIONS_PUBKEY_ACCEPTED_KEY_TYPES,
            algorithms_public_keys(*config->server.trusted_user_ca_keys)) !=
            SSH_OK) {
        st = error_set(err, DT_ERR_INTERNAL, "libssh %s refuses an option: %s",
                       ssh_version(0), ssh_get_error(bind));
    }
    if (st == DT_OK) {
        st = set_algorithms(bind, &config->server, log, err);
    }
    if (st == DT_OK) {
        st = set_host_keys(bind, &config->server, log, err);
    }
    if (st != DT_OK) {
        ssh_bind_free(bind);
        return st;
    }
    *out = bind;
    return DT_OK;
}

/* The client's end of the handshake with oneself. */
static bool
prepare_client(ssh_session client, int fd)
{
    const bool no = false;

    ssh_set_blocking(client, 0);
    return ssh_options_set(client, SSH_OPTIONS_FD, &fd) == SSH_OK &&
           ssh_options_set(client, SSH_OPTIONS_PROCESS_CONFIG, &no) == SSH_OK &&
           ssh_options_set(client, SSH_OPTIONS_HOST, "localhost") == SSH_OK &&
           ssh_options_set(client, SSH_OPTIONS_KNOWNHOSTS, "/dev/null") ==
               SSH_OK &&
           ssh_options_set(client, SSH_OPTIONS_GLOBAL_KNOWNHOSTS,
                           "/dev/null") == SSH_OK;
}

/* Both ends in turn until both are through. */
static int
shake_hands(ssh_session server, ssh_session client, struct error *err)
{
    int s = SSH_AGAIN, c = SSH_AGAIN;

    for (int i = 0; i < WARM_UP_STEPS; i++) {
        if (s == SSH_AGAIN) {
            s = ssh_handle_key_exchange(server);
        }
        if (c == SSH_AGAIN) {
            c = ssh_connect(client);
        }
        if (s != SSH_AGAIN && c != SSH_AGAIN) {
            break;
        }
    }
    if (s != SSH_OK || c != SSH_OK) {
        return error_set(err, DT_ERR_INTERNAL,
                         "the server cannot shake hands with itself: %s",
                         ssh_get_error(s != SSH_OK ? server : client));
    }
    return DT_OK;
}

int
sshbind_warm_up(ssh_bind bind, struct error *err)
{
    ssh_session server = ssh_new(), client = ssh_new();
    int pair[2] = {-1, -1};
    int st;

    if (!server || !client ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                   pair) != 0 ||
        !prepare_client(client, pair[1]) ||
        ssh_bind_accept_fd(bind, server, pair[0]) != SSH_OK) {
        st = error_set(err, DT_ERR_INTERNAL,
                       "cannot prepare a handshake with oneself");
    } else {
        ssh_set_blocking(server, 0);
        st = shake_hands(server, client, err);
    }
    if (client) {
        ssh_disconnect(client);
    }
    if (server) {
        ssh_disconnect(server);
    }
    ssh_free(client);
    ssh_free(server);
    if (pair[1] >= 0) {
        close(pair[1]);
    }
    return st;
}
