/* SPDX-License-Identifier: Apache-2.0
 *
 * One SSH connection to one server: up to the running subsystem. Moving bytes
 * is in link-data.c, host keys are in link-key.c.
 */
#include "link-data.h"
#include "link-key.h"

#include "clock.h"
#include "connect.h"
#include "diag.h"
#include "proxy.h"
#include "wire.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#define RETRY_MS 250 /* first pause after a drop; doubled each time */

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

void
link_disconnect(struct link *l)
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

void
link_fini(struct link *l)
{
    link_disconnect(l);
    link_forget_key(l);
    free(l->own_request);
}

void
link_pause(struct link *l, char *request, size_t len, int64_t at)
{
    link_forget_key(l);
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
    link_disconnect(l);
    l->state = LINK_OVER;
}

void
link_enter(struct link *l, enum link_state state)
{
    l->state = state;
    l->deadline = clock_now_ms() + l->env->handshake_ms;
}

/* ---- connect ---- */

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
    const long seconds = l->env->handshake_ms / 1000;
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
    link_enter(l, LINK_EXCHANGING);
}

void
link_start(struct link *l)
{
    const struct route *r = l->route;
    struct error err = ERROR_INIT;

    l->place = (struct clientauth_place){0};
    l->sent = 0;
    l->has_bytes = false;
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

/* What to do about a connection that failed. */
static const char *
advice(const char *why)
{
    if (strstr(why, "refused")) {
        return " (does dserver run there, at this port? --port, HOST:PORT)";
    }
    if (strstr(why, "no answer in time")) {
        return " (is it up, and does a firewall let this port through? "
               "--connect-timeout)";
    }
    return strstr(why, "look-up") ? " (is the name right?)" : "";
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
                  "failed to dial TCP connection to %s:%u: %s%s",
                  l->route->host, l->route->port, err.text, advice(err.text));
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

/* ---- key exchange ---- */

/* Did the server hang up, and did it say nothing of why? So does one that has
 * more connections than it takes at a time (MaxStartups), for which waiting
 * helps; libssh has only texts for it. */
static bool
was_dropped(struct link *l)
{
    const char *why = ssh_get_error(l->session);

    return strstr(why, "Socket error: disconnected") ||
           strstr(why, "Connection reset by peer");
}

/* Pauses a link whose server hung up, so that it is started again; each time
 * for longer, and never for as long as others. False: it was the last try, and
 * *why says so. */
static bool
try_again(struct link *l, char *why, size_t size)
{
    uint32_t random = 0;
    int64_t delay = RETRY_MS;

    if (!was_dropped(l) || l->route->proxy) {
        snprintf(why, size, "%s", ssh_get_error(l->session));
        return false;
    }
    if (++l->nr_drops == LINK_MAX_DROPS) {
        snprintf(why, size,
                 "the server closed the connection before the log-in, %u times "
                 "(%s): it has too many at once (its MaxStartups, "
                 "MaxConnections; fewer at a time: --cpc), or is no SSH server",
                 l->nr_drops, ssh_get_error(l->session));
        return false;
    }
    (void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
    delay <<= l->nr_drops - 1;
    delay += random % delay;
    log_debug(l->env->diag->log, "%s|dropped before the log-in|%s",
              l->server->text, ssh_get_error(l->session));
    link_disconnect(l);
    l->state = LINK_PAUSED;
    l->deadline = clock_now_ms() + delay;
    return true;
}

static bool
step_exchange(struct link *l)
{
    char why[512];

    int rc = ssh_connect(l->session);

    if (rc == SSH_AGAIN) {
        return false;
    }
    if (rc != SSH_OK && !try_again(l, why, sizeof(why))) {
        error_set(&l->result.err, DT_ERR_IO,
                  "SSH handshake failed for %s:%u%s%.100s%s: %s",
                  l->route->host, l->route->port,
                  l->route->proxy ? " through \"" : "",
                  l->route->proxy ? l->route->proxy : "",
                  l->route->proxy ? "\"" : "", why);
        link_end(l, NULL);
    }
    if (rc != SSH_OK) {
        return false;
    }
    /* libssh makes the socket wait once it is connected. */
    (void)fcntl(l->fd, F_SETFL, fcntl(l->fd, F_GETFL) | O_NONBLOCK);
    return link_check_key(l);
}

/* ---- authentication, channel, subsystem ---- */

static bool
step_login(struct link *l)
{
    struct error err = ERROR_INIT;
    const char *banner;
    char why[512];

    switch (clientauth_step(l->route->auth, &l->place, l->session,
                            l->route->user, &err)) {
    case SSH_AUTH_SUCCESS:
        break;
    case SSH_AUTH_AGAIN:
        return false;
    case SSH_AUTH_ERROR:
        /* before a key was tried: later it means that they were too many */
        if (l->place.asked_methods || !was_dropped(l)) {
            link_end(l, err.text);
        } else if (!try_again(l, why, sizeof(why))) {
            link_end(l, why);
        }
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
    link_enter(l, LINK_OPENING);
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
              l->route->host, l->route->port, l->env->handshake_ms / 1000);
    link_end(l, NULL);
    return true;
}

bool
link_step(struct link *l)
{
    bool more = true;

    while (more && l->state != LINK_OVER && l->state != LINK_PAUSED) {
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
link_send(struct link *l, char *request, size_t len)
{
    if (l->state != LINK_RUNNING || l->sent < l->request_len) {
        return false;
    }
    free(l->own_request);
    l->own_request = request;
    l->request = request;
    l->request_len = len;
    l->sent = 0;
    return true;
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
