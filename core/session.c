/* SPDX-License-Identifier: Apache-2.0
 *
 * The session process: the SSH end of one connection.
 *
 * One poll loop over the connection, the worker's socket and the listener's:
 * act from the state, decide, sleep, and handle packets in one place (pump).
 * Callbacks of libssh only note what happened. See relay.h for why.
 */
#include "session.h"
#include "broker.h"
#include "clock.h"
#include "login.h"
#include "peer.h"
#include "relay.h"
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define END_MS 10000 /* for what is left to say once the worker is done */

enum session_state {
    SESSION_LOGIN = 0, /* until the subsystem runs */
    SESSION_RELAY,
    SESSION_WAIT,  /* the worker's last byte has left; how did it end? */
    SESSION_SAY,   /* text to stderr, then the exit status */
    SESSION_CLOSE, /* until the peer has closed the channel as well */
    SESSION_OVER
};

struct session {
    const struct session_args *args;
    ssh_session ssh;
    ssh_event event;
    ssh_channel channel;
    struct ssh_server_callbacks_struct server_cb;
    struct ssh_channel_callbacks_struct channel_cb;
    struct login login;
    struct relay relay;
    struct peer peer;
    enum session_state state;
    int64_t deadline_ms; /* of the state; CLOCK_NEVER while relaying */
    int key_exchange;    /* SSH_AGAIN until the first one is through */
    bool is_attached;    /* the subsystem was asked for */
    bool is_shell;       /* the old protocol was */
    bool has_worker;     /* the listener has answered */
    int worker_fd;       /* until the relay takes it */
    bool worker_ended;
    bool is_stopping; /* the server stops */
    bool peer_closed;
    bool close_sent;
    int exit_status;
    char text[BROKER_MAX_TEXT + 2]; /* for the channel's stderr */
    size_t text_off;
};

static void
enter(struct session *s, enum session_state state, int64_t deadline_ms)
{
    s->state = state;
    s->deadline_ms = deadline_ms;
}

static int64_t
end_deadline(void)
{
    return clock_now_ms() + END_MS;
}

/* Ends the connection with a reason for the peer; only outside callbacks. */
static void
hang_up(struct session *s, const char *reason)
{
    log_info(s->args->log, "connection ended|%s", reason);
    ssh_session_set_disconnect_message(s->ssh, reason);
    enter(s, SESSION_OVER, CLOCK_NEVER);
}

static void
say(struct session *s, int exit_status, const char *text)
{
    s->exit_status = exit_status;
    s->text_off = 0;
    snprintf(s->text, sizeof(s->text), "%s%s", text, *text ? "\n" : "");
}

/* ---- callbacks of libssh: they note, and call nothing that sends ---- */

static int
on_none(ssh_session ssh, const char *user, void *userdata)
{
    struct session *s = userdata;

    ssh_set_auth_methods(ssh, login_methods(user));
    login_none(&s->login);
    return SSH_AUTH_DENIED;
}

static int
on_password(ssh_session ssh, const char *user, const char *password,
            void *userdata)
{
    struct session *s = userdata;

    ssh_set_auth_methods(ssh, login_methods(user));
    return login_password(&s->login, user, password);
}

/* These two wait: for the listener's answer. */
static int
on_pubkey(ssh_session ssh, const char *user, struct ssh_key_struct *key,
          char state, void *userdata)
{
    struct session *s = userdata;

    ssh_set_auth_methods(ssh, login_methods(user));
    return login_pubkey(&s->login, user, key, state);
}

static int
on_data(ssh_session ssh, ssh_channel channel, void *data, uint32_t len,
        int is_stderr, void *userdata)
{
    struct session *s = userdata;

    (void)ssh;
    (void)channel;
    (void)data;
    return relay_data(&s->relay, len, is_stderr != 0);
}

static void
on_eof(ssh_session ssh, ssh_channel channel, void *userdata)
{
    struct session *s = userdata;

    (void)ssh;
    (void)channel;
    s->relay.peer_eof = true;
}

static void
on_close(ssh_session ssh, ssh_channel channel, void *userdata)
{
    struct session *s = userdata;

    (void)ssh;
    (void)channel;
    s->peer_closed = true;
}

static int
on_subsystem(ssh_session ssh, ssh_channel channel, const char *name,
             void *userdata)
{
    struct session *s = userdata;

    (void)ssh;
    (void)channel;
    if (s->is_attached || s->is_shell || strcmp(name, WIRE_SUBSYSTEM) != 0) {
        return 1;
    }
    s->is_attached = true;
    return 0;
}

/* The place of the Go program's protocol. */
static int
on_shell(ssh_session ssh, ssh_channel channel, void *userdata)
{
    struct session *s = userdata;

    (void)ssh;
    (void)channel;
    if (s->is_attached || s->is_shell) {
        return 1;
    }
    s->is_shell = true;
    return 0;
}

/* One channel a connection. */
static ssh_channel
on_channel(ssh_session ssh, void *userdata)
{
    struct session *s = userdata;

    if (s->channel) {
        return NULL;
    }
    s->channel = ssh_channel_new(ssh);
    if (!s->channel) {
        return NULL;
    }
    s->channel_cb = (struct ssh_channel_callbacks_struct){
        .userdata = s,
        .channel_data_function = on_data,
        .channel_eof_function = on_eof,
        .channel_close_function = on_close,
        .channel_shell_request_function = on_shell,
        .channel_subsystem_request_function = on_subsystem,
    };
    ssh_callbacks_init(&s->channel_cb);
    ssh_set_channel_callbacks(s->channel, &s->channel_cb);
    return s->channel;
}

/* ---- the listener ---- */

static void
on_message(void *ctx, const struct broker_msg *msg, int fd)
{
    struct session *s = ctx;

    switch (msg->type) {
    case BROKER_WORKER_STARTED:
        if (!s->has_worker) {
            s->has_worker = true;
            s->worker_fd = fd;
            fd = -1;
            if (msg->status != DT_OK) {
                s->worker_ended = true;
                say(s,
                    msg->status == DT_ERR_LIMIT ? SESSION_EXIT_FULL
                                                : SESSION_EXIT_CRASHED,
                    msg->text);
            }
        }
        break;
    case BROKER_WORKER_ENDED:
        s->worker_ended = true;
        s->has_worker = true; /* there will be no other answer */
        say(s, msg->status,
            s->is_stopping && !msg->text[0]
                ? "dserver: the server is shutting down"
                : msg->text);
        break;
    case BROKER_SHUTDOWN:
        s->is_stopping = true;
        break;
    default:
        break;
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void
read_broker(struct session *s)
{
    struct broker_msg msg;
    int fd, st;

    while ((st = broker_recv(s->args->broker_fd, &msg, &fd)) == DT_OK) {
        on_message(s, &msg, fd);
    }
    if (st != DT_AGAIN) {
        s->login.is_lost = true;
    }
}

/* ---- acting from the state; true: something changed ---- */

static bool
act_login(struct session *s)
{
    struct relay *r = &s->relay;

    if (s->is_stopping &&
        (!s->login.is_done || (s->worker_ended && !s->is_attached))) {
        hang_up(s, "the server is shutting down");
    } else if (s->login.nr_refused >= LOGIN_MAX_REFUSED) {
        hang_up(s, "too many authentication failures");
    } else if (s->is_shell) {
        say(s, SESSION_EXIT_NO_LEGACY,
            "dserver: the protocol of DTail 4 (a shell request) is not "
            "offered; this server speaks the subsystem \"dtail\"");
        r->channel = s->channel;
        enter(s, SESSION_SAY, end_deadline());
    } else if (s->peer_closed) {
        enter(s, SESSION_CLOSE, end_deadline());
    } else if (s->is_attached && s->has_worker) {
        if (relay_start(r, s->channel, s->worker_fd) != DT_OK) {
            hang_up(s, "out of memory");
            return true;
        }
        r->worker_eof = s->worker_fd < 0;
        s->worker_fd = -1;
        enter(s, SESSION_RELAY, CLOCK_NEVER);
    } else {
        return false;
    }
    return true;
}

static bool
act_relay(struct session *s)
{
    struct relay *r = &s->relay;
    bool busy = relay_act(r);

    if (s->peer_closed || r->broken) {
        relay_deliver(r);
        relay_close_worker(r);
        enter(s, SESSION_CLOSE, end_deadline());
        return true;
    }
    if (relay_is_finished(r)) {
        enter(s, SESSION_WAIT, end_deadline());
        return true;
    }
    return busy;
}

static bool
act_wait(struct session *s)
{
    if (s->worker_ended) {
        relay_close_worker(&s->relay);
        enter(s, SESSION_SAY, end_deadline());
    } else if (s->peer_closed) {
        enter(s, SESSION_CLOSE, end_deadline());
    } else {
        return false;
    }
    return true;
}

static bool
act_say(struct session *s)
{
    size_t left = strlen(s->text) - s->text_off;
    int n = 0;

    if (!s->peer_closed && left > 0) {
        n = relay_write_stderr(&s->relay, s->text + s->text_off, left);
        s->text_off += n > 0 ? (size_t)n : 0;
        if (n >= 0 && (size_t)n < left) {
            return n > 0;
        }
    }
    if (!s->peer_closed) {
        ssh_channel_request_send_exit_status(s->channel, s->exit_status);
    }
    enter(s, SESSION_CLOSE, end_deadline());
    return true;
}

static bool
act_close(struct session *s)
{
    /* It can answer SSH_AGAIN after having sent no more than EOF. */
    if (!s->close_sent) {
        int st = ssh_channel_close(s->channel);

        s->close_sent = st == SSH_OK || st == SSH_ERROR;
    }
    if (s->close_sent && s->peer_closed && relay_is_drained(&s->relay)) {
        enter(s, SESSION_OVER, CLOCK_NEVER);
        return true;
    }
    return false;
}

static bool
act_once(struct session *s)
{
    switch (s->state) {
    case SESSION_LOGIN:
        return act_login(s);
    case SESSION_RELAY:
        return act_relay(s);
    case SESSION_WAIT:
        return act_wait(s);
    case SESSION_SAY:
        return act_say(s);
    case SESSION_CLOSE:
        return act_close(s);
    default:
        return false;
    }
}

/* True: there is more to do at once, look at the descriptors without
 * waiting. */
static bool
act(struct session *s)
{
    enum session_state before;
    bool busy;

    do {
        before = s->state;
        busy = act_once(s);
    } while (s->state != before);
    return busy && s->state != SESSION_OVER;
}

/* ---- sleeping ---- */

static const char *
deadline_reason(const struct session *s)
{
    switch (s->state) {
    case SESSION_LOGIN:
        return s->key_exchange != SSH_OK ? "no key exchange in time"
               : !s->login.is_done       ? "no log-in in time"
                                         : "no subsystem request in time";
    case SESSION_WAIT:
        return "the worker did not end in time";
    default:
        return "the client did not close the channel in time";
    }
}

static void
log_early_end(const struct session *s)
{
    log_info(s->args->log, "connection ended|before the session began|%s",
             s->ssh ? ssh_get_error(s->ssh) : "out of memory");
}

/* Handles the packets that have come. */
static void
pump(struct session *s)
{
    bool ok = true;

    relay_pumped(&s->relay);
    if (s->event) {
        ok = ssh_event_dopoll(s->event, 0) != SSH_ERROR;
    }
    if (ok && s->key_exchange == SSH_AGAIN) {
        s->key_exchange = ssh_handle_key_exchange(s->ssh);
        ok = s->key_exchange != SSH_ERROR;
    }
    if (ok && !(ssh_get_status(s->ssh) & (SSH_CLOSED | SSH_CLOSED_ERROR))) {
        return;
    }
    if (s->state == SESSION_LOGIN) {
        log_early_end(s);
    }
    relay_deliver(&s->relay); /* what stood right before the end */
    enter(s, SESSION_OVER, CLOCK_NEVER);
}

static void
check_limits(struct session *s)
{
    int64_t now = clock_now_ms();

    if (s->state == SESSION_OVER) {
        return;
    }
    if (s->login.is_lost) {
        hang_up(s, "the server ended");
    } else if (relay_is_abused(&s->relay)) {
        hang_up(s, "more unread data than allowed");
    } else if (now >= s->deadline_ms) {
        hang_up(s, deadline_reason(s));
    } else if (s->state == SESSION_RELAY &&
               peer_is_gone(&s->peer, &s->relay.sock, now,
                            !relay_is_drained(&s->relay))) {
        hang_up(s, "the client does not answer any more");
    }
}

static void
wait_for_events(struct session *s, bool busy)
{
    struct relay *r = &s->relay;
    short worker = s->state == SESSION_RELAY ? relay_worker_events(r) : 0;
    bool pending = (ssh_get_status(s->ssh) & SSH_WRITE_PENDING) != 0;
    int64_t until = s->deadline_ms;
    struct pollfd p[] = {
        {.fd = s->args->fd,
         .events = (short)(POLLIN | (pending ? POLLOUT : 0))},
        {.fd = worker ? r->worker_fd : -1, .events = worker},
        {.fd = s->args->broker_fd, .events = POLLIN},
    };

    if (s->state == SESSION_RELAY) {
        until = clock_earlier(until, peer_next_ms(&s->peer));
    }
    if (poll(p, 3, busy ? 0 : clock_poll_ms(until)) < 0) {
        return; /* EINTR; nothing else is possible with these arguments */
    }
    if (p[2].revents) {
        read_broker(s);
    }
    if (p[0].revents) {
        pump(s);
    }
    check_limits(s);
}

/* ---- beginning and end ---- */

static bool
begin(struct session *s)
{
    const struct session_args *a = s->args;
    int64_t deadline = clock_now_ms() + a->config->server.login_grace_ms;

    s->worker_fd = -1;
    s->ssh = ssh_new();
    if (!s->ssh) {
        return false;
    }
    relay_init(&s->relay, s->ssh);
    s->login = (struct login){.ssh = s->ssh,
                              .broker_fd = a->broker_fd,
                              .log = a->log,
                              .deadline_ms = deadline,
                              .other = on_message,
                              .ctx = s};
    enter(s, SESSION_LOGIN, deadline);
    if (ssh_bind_accept_fd(a->bind, s->ssh, a->fd) != SSH_OK) {
        return false;
    }
    ssh_set_blocking(s->ssh, 0);
    s->server_cb = (struct ssh_server_callbacks_struct){
        .userdata = s,
        .auth_none_function = on_none,
        .auth_password_function = on_password,
        .auth_pubkey_function = on_pubkey,
        .channel_open_request_session_function = on_channel,
    };
    ssh_callbacks_init(&s->server_cb);
    ssh_set_server_callbacks(s->ssh, &s->server_cb);
    ssh_set_auth_methods(s->ssh, SSH_AUTH_METHOD_PUBLICKEY);
    peer_init(&s->peer, s->ssh, a->fd, a->config->server.keepalive_seconds);
    /* ssh_event_add_session fails before the first call of this one. */
    s->key_exchange = ssh_handle_key_exchange(s->ssh);
    s->event = ssh_event_new();
    return s->key_exchange != SSH_ERROR && s->event &&
           ssh_event_add_session(s->event, s->ssh) == SSH_OK;
}

/* The listener starts the next one. */
static void
tell_started(const struct session *s)
{
    const struct broker_msg msg = {.type = BROKER_WAITS};

    broker_send(s->args->broker_fd, &msg, -1); /* the first one: it fits */
}

static void
finish(struct session *s)
{
    relay_fini(&s->relay);
    if (s->worker_fd >= 0) {
        close(s->worker_fd);
    }
    if (s->event) {
        ssh_event_remove_session(s->event, s->ssh);
        ssh_event_free(s->event);
    }
    if (s->ssh) {
        ssh_disconnect(s->ssh);
        ssh_free(s->ssh);
    }
}

int
session_run(const struct session_args *args)
{
    struct session s = {.args = args};
    bool ok = begin(&s);

    if (ok) {
        tell_started(&s);
    } else {
        log_early_end(&s);
    }
    while (ok && s.state != SESSION_OVER) {
        bool busy = act(&s);

        if (s.state != SESSION_OVER) {
            wait_for_events(&s, busy);
        }
    }
    finish(&s);
    return ok ? 0 : 1;
}
