/* SPDX-License-Identifier: Apache-2.0
 *
 * One SSH connection to one server: up to the running subsystem. Moving bytes
 * is in link-data.c.
 */
#include "link-data.h"

#include "clock.h"
#include "connect.h"
#include "diag.h"
#include "proxy.h"
#include "wire.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

/* The client's order wins. GB/s in measurements: 1.6, 1.5, 1.3, CTR 0.6. */
#define CIPHERS                                      \
    "aes128-gcm@openssh.com,aes256-gcm@openssh.com," \
    "chacha20-poly1305@openssh.com,aes256-ctr,aes128-ctr"

void
link_init(struct link *l, const struct link_env *env,
          const struct server *server, const struct route *route, size_t index)
{
    *l = (struct link){
        .env = env,
        .server = server,
        .route = route,
        .index = index,
        .request = env->request,
        .request_len = env->request_len,
        .fd = -1,
        .deadline = CLOCK_NEVER,
        .result = {.exit_status = -1},
    };
}

/* Gives everything back but the result and the unknown key. */
static void
disconnect(struct link *l)
{
    if (l->event) {
        ssh_event_remove_session(l->event, l->session);
        ssh_event_free(l->event);
        l->event = NULL;
    }
    if (l->channel) {
        /* Without waiting the first call may only send EOF. */
        if (ssh_channel_close(l->channel) == SSH_AGAIN) {
            ssh_channel_close(l->channel);
        }
        l->channel = NULL; /* freed with the session */
    }
    if (l->session) {
        ssh_disconnect(l->session);
        ssh_free(l->session);
        l->session = NULL;
    }
    if (l->fd >= 0) {
        close(l->fd);
        l->fd = -1;
    }
    if (l->proxy) {
        proxy_end(l->proxy);
        l->proxy = 0;
    }
    connect_free(l->connect);
    l->connect = NULL;
    l->deadline = CLOCK_NEVER;
    l->is_stalled = false;
}

static void
forget_key(struct link *l)
{
    free(l->key_type);
    ssh_string_free_char(l->key_base64);
    ssh_string_free_char(l->key_print);
    l->key_type = l->key_base64 = l->key_print = NULL;
}

void
link_fini(struct link *l)
{
    disconnect(l);
    forget_key(l);
    free(l->own_request);
}

void
link_pause(struct link *l, char *request, size_t len, int64_t at)
{
    forget_key(l);
    free(l->own_request);
    l->own_request = request;
    l->request = request;
    l->request_len = len;
    l->result = (struct link_result){.exit_status = -1};
    l->saw_eof = l->saw_close = false;
    l->is_unwanted = false;
    l->state = LINK_PAUSED;
    l->deadline = at;
}

void
link_end(struct link *l, const char *why)
{
    if (why && l->result.err.status == DT_OK) {
        error_set(&l->result.err, DT_ERR_IO, "%s", why);
    }
    disconnect(l);
    l->state = LINK_OVER;
}

/* ---- connect and key exchange ---- */

static bool
set_option(struct link *l, enum ssh_options_e option, const void *value)
{
    return ssh_options_set(l->session, option, value) == SSH_OK;
}

/* A session on our own socket. Files of libssh's choice are never read: it
 * would go through known_hosts twice for each session. */
static bool
make_session(struct link *l)
{
    static const char no_file[] = "/dev/null";
    const int no = 0;
    const long seconds = LINK_HANDSHAKE_MS / 1000;
    struct buf types = {0};
    bool good;

    l->session = ssh_new();
    good = l->session &&
           knownhosts_algorithms(l->route->hosts, l->route->key_name,
                                 l->route->port, l->is_thorough,
                                 &types) == DT_OK &&
           buf_append(&types, "", 1) == DT_OK &&
           set_option(l, SSH_OPTIONS_FD, &l->fd) &&
           set_option(l, SSH_OPTIONS_PROCESS_CONFIG, &(bool){no}) &&
           set_option(l, SSH_OPTIONS_TIMEOUT, &seconds) &&
           set_option(l, SSH_OPTIONS_KNOWNHOSTS, no_file) &&
           set_option(l, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, no_file) &&
           set_option(l, SSH_OPTIONS_CIPHERS_C_S, CIPHERS) &&
           set_option(l, SSH_OPTIONS_CIPHERS_S_C, CIPHERS) &&
           set_option(l, SSH_OPTIONS_HOSTKEYS, types.data);
    buf_fini(&types);
    if (good && !set_option(l, SSH_OPTIONS_USER, l->route->user)) {
        link_end(l, "the user name is not one that SSH takes");
        return false;
    }
    if (!good) {
        link_end(l, l->session ? ssh_get_error(l->session) : "out of memory");
        return false;
    }
    clientauth_prepare(l->route->auth, l->session);
    ssh_set_blocking(l->session, 0);
    ssh_set_counters(l->session, &l->socket_counter, NULL);
    return true;
}

/* The connection is there, or as good as there. */
static void
start_exchange(struct link *l)
{
    l->deadline = clock_now_ms() + LINK_HANDSHAKE_MS;
    l->state = LINK_EXCHANGING;
}

void
link_start(struct link *l)
{
    const struct route *r = l->route;
    struct error err = ERROR_INIT;

    l->place = (struct clientauth_place){0};
    l->sent = 0;
    l->since = SIZE_MAX / 2; /* the first read opens the window */
    if (r->proxy) {
        if (proxy_start(r->proxy, &l->fd, &l->proxy, &err) != DT_OK) {
            link_end(l, err.text);
            return;
        }
        start_exchange(l);
        (void)make_session(l);
        return;
    }
    l->connect = connect_new(r->host, r->port, r->family, r->connect_ms,
                             l->env->wake_fd, &err);
    if (!l->connect) {
        link_end(l, err.text);
        return;
    }
    l->state = LINK_CONNECTING;
    l->deadline = connect_deadline(l->connect);
}

static bool
step_connect(struct link *l)
{
    struct error err = ERROR_INIT;

    switch (connect_step(l->connect, &err)) {
    case CONNECT_AGAIN:
        l->deadline = connect_deadline(l->connect);
        return false;
    case CONNECT_FAILED:
        error_set(&l->result.err, err.status,
                  "failed to dial TCP connection to %s:%u: %s", l->route->host,
                  l->route->port, err.text);
        link_end(l, NULL);
        return false;
    default:
        break;
    }
    l->fd = connect_take_fd(l->connect);
    connect_free(l->connect);
    l->connect = NULL;
    start_exchange(l);
    return make_session(l);
}

/* ---- the host key ---- */

static void
key_refused(struct link *l, const char *type, const char *print,
            enum knownhosts_verdict verdict,
            const struct knownhosts_where *where)
{
    const char *name = l->route->host;
    unsigned port = l->route->port;

    if (verdict == KNOWNHOSTS_REVOKED) {
        error_set(&l->result.err, DT_ERR_ACCES,
                  "SSH handshake failed for %s:%u: its host key (%s %s) is "
                  "marked as revoked in %s line %zu",
                  name, port, type, print, where->file, where->line);
    } else {
        error_set(&l->result.err, DT_ERR_ACCES,
                  "SSH handshake failed for %s:%u: THE HOST KEY HAS CHANGED. "
                  "%s line %zu has another one (%s); the server shows %s %s. "
                  "Somebody may be listening in. If the change is right, "
                  "remove that line",
                  name, port, where->file, where->line, where->type, type,
                  print);
    }
    link_end(l, NULL);
}

/* Accepts the key of this session and remembers it. */
static void
trust_key(struct link *l)
{
    const struct knownhosts_entry entry = {
        .host = l->route->key_name,
        .port = l->route->port,
        .type = l->key_type,
        .base64 = l->key_base64,
    };
    struct error err = ERROR_INIT;

    if (knownhosts_add(l->route->hosts, l->route->hosts_path, &entry, 1,
                       &err) != DT_OK) {
        log_warn(l->env->diag->log, "%s", err.text);
    } else if (!*l->env->has_told) {
        *l->env->has_told = true;
        log_info(l->env->diag->log, "Added hosts to known hosts file|%s",
                 l->route->hosts_path);
    }
}

static bool
read_key(struct link *l)
{
    ssh_key key = NULL;
    unsigned char *hash = NULL;
    size_t hash_len;
    bool good = ssh_get_server_publickey(l->session, &key) == SSH_OK;

    forget_key(l);
    if (good) {
        const char *type = ssh_key_type_to_char(ssh_key_type(key));

        l->key_type = type ? strdup(type) : NULL;
        good = l->key_type &&
               ssh_pki_export_pubkey_base64(key, &l->key_base64) == SSH_OK &&
               ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash,
                                      &hash_len) == SSH_OK &&
               (l->key_print = ssh_get_fingerprint_hash(
                    SSH_PUBLICKEY_HASH_SHA256, hash, hash_len)) != NULL;
    }
    ssh_clean_pubkey_hash(&hash);
    ssh_key_free(key);
    return good;
}

/* Are unknown keys accepted without a question? */
static bool
accepts_new(const struct link *l)
{
    return l->env->trust_all || l->route->strict == SSHCONFIG_ACCEPT;
}

void
link_key_unknown(struct link *l, const char *why)
{
    const struct knownhosts_where *ca = &l->authority;
    char authority[320] = "";

    if (ca->file) {
        snprintf(
            authority, sizeof(authority),
            " (%.160s line %zu has an authority for it, but certificates "
            "of hosts cannot be checked here: its own key has to be known)",
            ca->file, ca->line);
    }
    error_set(&l->result.err, DT_ERR_ACCES,
              "SSH handshake failed for %s:%u: its host key (%s %s) is not "
              "known%s%s",
              l->route->host, l->route->port, l->key_type, l->key_print,
              authority, why);
    link_end(l, NULL);
}

static bool
check_key(struct link *l)
{
    struct knownhosts_where where;
    enum knownhosts_verdict verdict;

    if (l->env->takes_any_host) {
        l->state = LINK_LOGGING_IN;
        return true;
    }
    if (!read_key(l)) {
        link_end(l, "the server's host key cannot be read");
        return false;
    }
    verdict =
        knownhosts_check(l->route->hosts, l->route->key_name, l->route->port,
                         l->key_type, l->key_base64, &where);
    if (verdict == KNOWNHOSTS_CHANGED && !l->is_thorough &&
        strcmp(where.type, l->key_type) != 0) {
        /* Perhaps the type was not asked for first. */
        l->is_thorough = true;
        disconnect(l);
        link_start(l);
        return l->state != LINK_OVER;
    }
    if (verdict == KNOWNHOSTS_CHANGED || verdict == KNOWNHOSTS_REVOKED) {
        key_refused(l, l->key_type, l->key_print, verdict, &where);
        return false;
    }
    l->authority = where;
    if (verdict == KNOWNHOSTS_UNKNOWN && !accepts_new(l)) {
        if (l->route->strict == SSHCONFIG_REFUSE) {
            link_key_unknown(l, ", and StrictHostKeyChecking forbids to ask");
            return false;
        }
        /* The server's patience is shorter than the user's: connect anew
         * after the answer. */
        disconnect(l);
        l->state = LINK_ASKING;
        return false;
    }
    if (verdict == KNOWNHOSTS_UNKNOWN) {
        trust_key(l);
    }
    forget_key(l);
    l->state = LINK_LOGGING_IN;
    return true;
}

static bool
step_exchange(struct link *l)
{
    int rc = ssh_connect(l->session);

    if (rc == SSH_AGAIN) {
        return false;
    }
    if (rc != SSH_OK) {
        error_set(&l->result.err, DT_ERR_IO,
                  "SSH handshake failed for %s:%u%s%.100s%s: %s",
                  l->route->host, l->route->port,
                  l->route->proxy ? " through \"" : "",
                  l->route->proxy ? l->route->proxy : "",
                  l->route->proxy ? "\"" : "", ssh_get_error(l->session));
        link_end(l, NULL);
        return false;
    }
    /* libssh makes the socket wait once it is connected. */
    (void)fcntl(l->fd, F_SETFL, fcntl(l->fd, F_GETFL) | O_NONBLOCK);
    return check_key(l);
}

/* ---- authentication, channel, subsystem ---- */

static bool
step_login(struct link *l)
{
    struct error err = ERROR_INIT;
    const char *banner;

    switch (clientauth_step(l->route->auth, &l->place, l->session,
                            l->route->user, &err)) {
    case SSH_AUTH_SUCCESS:
        break;
    case SSH_AUTH_AGAIN:
        return false;
    default:
        link_end(l, err.text);
        return false;
    }
    banner = ssh_get_serverbanner(l->session);
    if (banner && strncmp(banner, "SSH-2.0-Go", 10) == 0) {
        link_end(l, "the server is a Go DTail server, whose protocol this "
                    "client does not speak");
        return false;
    }
    l->channel = ssh_channel_new(l->session);
    if (!l->channel) {
        link_end(l, ssh_get_error(l->session));
        return false;
    }
    link_data_watch(l);
    l->state = LINK_OPENING;
    return true;
}

static bool
step_open(struct link *l)
{
    int rc = ssh_channel_open_session(l->channel);

    if (rc == SSH_AGAIN) {
        return false;
    }
    if (rc != SSH_OK) {
        error_set(&l->result.err, DT_ERR_IO, "no session at the server: %s",
                  ssh_get_error(l->session));
        link_end(l, NULL);
        return false;
    }
    l->state = LINK_STARTING;
    return true;
}

static bool
step_subsystem(struct link *l)
{
    int rc = ssh_channel_request_subsystem(l->channel, WIRE_SUBSYSTEM);

    if (rc == SSH_AGAIN) {
        return false;
    }
    if (rc != SSH_OK) {
        const char *banner = ssh_get_serverbanner(l->session);

        error_set(&l->result.err, DT_ERR_PROTO,
                  "%s is no DTail server (%s): it has no subsystem \"%s\"",
                  l->server->text, banner ? banner : "?", WIRE_SUBSYSTEM);
        link_end(l, NULL);
        return false;
    }
    l->state = LINK_RUNNING;
    l->deadline = CLOCK_NEVER;
    return true;
}

static bool
is_late(struct link *l)
{
    const char *what = l->state == LINK_EXCHANGING ? "SSH handshake"
                       : l->state == LINK_LOGGING_IN
                           ? "end of the authentication"
                           : "answer to the session request";

    if (l->state == LINK_CONNECTING || clock_now_ms() < l->deadline) {
        return false; /* connect.c minds its own limits */
    }
    if (l->state == LINK_ENDING) {
        link_end(l, NULL); /* everything has come but the good-bye */
        return true;
    }
    error_set(&l->result.err, DT_ERR_IO, "no %s with %s:%u within %d s", what,
              l->route->host, l->route->port, LINK_HANDSHAKE_MS / 1000);
    link_end(l, NULL);
    return true;
}

bool
link_step(struct link *l)
{
    bool more = true;

    while (more && l->state != LINK_OVER) {
        if (is_late(l)) {
            return false;
        }
        switch (l->state) {
        case LINK_CONNECTING:
            more = step_connect(l);
            break;
        case LINK_EXCHANGING:
            more = step_exchange(l);
            break;
        case LINK_LOGGING_IN:
            more = step_login(l);
            break;
        case LINK_OPENING:
            more = step_open(l);
            break;
        case LINK_STARTING:
            more = step_subsystem(l);
            break;
        case LINK_RUNNING:
        case LINK_ENDING:
            return link_data_step(l);
        default:
            return false;
        }
    }
    return false;
}

bool
link_finish(struct link *l)
{
    if (l->state == LINK_RUNNING && l->request == l->env->finish) {
        return true;
    }
    if (l->state != LINK_RUNNING || l->sent < l->request_len) {
        return false;
    }
    l->request = l->env->finish;
    l->request_len = l->env->finish_len;
    l->sent = 0;
    return true;
}

bool
link_is_establishing(const struct link *l)
{
    return l->state == LINK_CONNECTING || l->state == LINK_EXCHANGING ||
           (l->state >= LINK_LOGGING_IN && l->state <= LINK_STARTING) ||
           (l->state == LINK_RUNNING && l->sent < l->request_len);
}

int
link_poll_fd(const struct link *l, short *events)
{
    if (l->state == LINK_CONNECTING) {
        *events = POLLOUT;
        return connect_poll_fd(l->connect);
    }
    *events = POLLIN;
    if (l->session && ssh_get_status(l->session) & SSH_WRITE_PENDING) {
        *events |= POLLOUT;
    }
    return l->fd;
}
