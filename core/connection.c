/* SPDX-License-Identifier: Apache-2.0
 *
 * One connection as the listener sees it: its life and its requests. The
 * processes themselves are started in children.c.
 */
#include "connection.h"
#include "children.h"
#include "cleanup.h"
#include "clock.h"
#include "connection-login.h"
#include "session.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define MAX_SESSION_LOG_LINES 64
/* The session ends itself at its limit; this is for one that does not. */
#define LOGIN_EXTRA_MS 2000
/* A worker cancels all work when its session is gone; this is for a plugin
 * that does not return. */
#define WORKER_LINGER_MS 3000

static void
close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

void
connection_free(struct connection *c)
{
    if (!c) {
        return;
    }
    close_fd(&c->session_fd);
    close_fd(&c->lookup_fd);
    close_fd(&c->worker_fd);
    if (c->crash) {
        munmap(c->crash, sizeof(*c->crash));
    }
    slots_drop(&c->shared->slots, &c->slots);
    connection_login_fini(c);
    audit_fini(&c->audit);
    free(c);
}

bool
connection_is_over(const struct connection *c)
{
    return c->session_pid == 0 && c->worker_pid == 0 && c->lookup_pid == 0;
}

void
connection_address(const struct sockaddr_storage *from,
                   char address[INET6_ADDRSTRLEN])
{
    const struct sockaddr_in6 *six = (const void *)from;
    const struct sockaddr_in *four = (const void *)from;

    if (from->ss_family != AF_INET6) {
        inet_ntop(AF_INET, &four->sin_addr, address, INET6_ADDRSTRLEN);
    } else if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
        inet_ntop(AF_INET, six->sin6_addr.s6_addr + 12, address,
                  INET6_ADDRSTRLEN);
    } else {
        inet_ntop(AF_INET6, &six->sin6_addr, address, INET6_ADDRSTRLEN);
    }
}

static void
name_peer(struct connection *c, const struct sockaddr_storage *from)
{
    const struct sockaddr_in6 *six = (const void *)from;
    const struct sockaddr_in *four = (const void *)from;
    unsigned port =
        ntohs(from->ss_family == AF_INET6 ? six->sin6_port : four->sin_port);

    connection_address(from, c->address);
    snprintf(c->peer, sizeof(c->peer),
             strchr(c->address, ':') ? "[%s]:%u" : "%s:%u", c->address, port);
}

int
connection_new(struct connection_shared *shared, int fd,
               const struct sockaddr_storage *from, struct connection **out,
               struct error *err)
{
    struct connection *c = calloc(1, sizeof(*c));
    int st;

    if (!c) {
        close(fd);
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    c->shared = shared;
    c->session_fd = c->lookup_fd = c->worker_fd = -1;
    c->worker_kill_ms = CLOCK_NEVER;
    c->began_ms = clock_now_ms();
    slots_holder_init(&c->slots);
    name_peer(c, from);
    st = children_start_session(c, fd, err);
    close(fd);
    if (st != DT_OK) {
        connection_free(c);
        return st;
    }
    c->is_starting = true;
    log_debug(shared->log, "%s|connected|pid %d", c->peer, (int)c->session_pid);
    *out = c;
    return DT_OK;
}

/* ---- requests of the session ---- */

void
connection_violation(struct connection *c, const char *what)
{
    log_error(c->shared->log, "%s|session killed|%s", c->peer, what);
    c->is_abuse = true;
    connection_kill_session(c);
}

/* Who pays for the lines of this connection. */
static void
name_payer(const struct connection *c, char who[LOGLIMIT_MAX_WHO])
{
    snprintf(who, LOGLIMIT_MAX_WHO, "%s%s", c->is_authenticated ? "user " : "",
             c->is_authenticated ? c->user : c->address);
}

bool
connection_may_log(struct connection *c)
{
    char who[LOGLIMIT_MAX_WHO];

    name_payer(c, who);
    return loglimit_take(&c->shared->loglimit, c->shared->log, who,
                         clock_now_ms());
}

/* A line for the log from a child: who it is stands in front, the level and
 * the text are its own. */
static void
on_log(struct connection *c, const struct broker_msg *msg)
{
    enum log_level level = LOG_ERROR;

    if (msg->status > LOG_ERROR && msg->status <= LOG_ALL) {
        level = (enum log_level)msg->status;
    }
    if (!log_wants(c->shared->log, level) || !connection_may_log(c)) {
        return;
    }
    log_at(c->shared->log, level, "%s%s%s|%s", c->user,
           c->is_authenticated ? "@" : "", c->peer, msg->text);
}

static void
on_session_message(struct connection *c, const struct broker_msg *msg)
{
    switch (msg->type) {
    case BROKER_WAITS:
        if (!c->is_starting) {
            connection_violation(c, "it started twice");
        }
        c->is_starting = false;
        break;
    case BROKER_LOOKUP_KEY:
    case BROKER_LOOKUP_PASSWORD:
        connection_login_lookup(c, msg);
        break;
    case BROKER_START_WORKER:
        connection_login_start(c, msg);
        break;
    case BROKER_LOG:
        if (++c->nr_log_lines > MAX_SESSION_LOG_LINES) {
            connection_violation(c, "too many log lines");
        } else {
            on_log(c, msg);
        }
        break;
    default:
        connection_violation(c, "a request that sessions do not have");
        break;
    }
}

/* ---- requests of the worker ---- */

static void
kill_worker_for(struct connection *c, const char *what)
{
    log_error(c->shared->log, "%s@%s|worker killed|%s", c->user, c->peer, what);
    connection_kill_worker(c);
}

static struct audit_who
who_is(const struct connection *c)
{
    return (struct audit_who){.user = c->user, .peer = c->peer, .job = c->job};
}

/* A query has begun or ended. */
static int
on_query(struct connection *c, const struct broker_msg *msg)
{
    struct connection_shared *sh = c->shared;
    const struct audit_who who = who_is(c);

    if (msg->type == BROKER_QUERY_BEGIN) {
        return audit_begin(&c->audit, &sh->totals, msg,
                           plugins_find(sh->plugins, msg->user) != NULL,
                           clock_now_ms());
    }
    return audit_end(&c->audit, &sh->totals, sh->log, &who, msg,
                     clock_now_ms());
}

static void
on_worker_message(struct connection *c, const struct broker_msg *msg)
{
    enum slots_pool pool = msg->flags & 1 ? SLOTS_TAIL : SLOTS_CAT;
    const char *what = "a request that workers do not have";
    int st = DT_OK;

    switch (msg->type) {
    case BROKER_TAKE_SLOT:
        what = "asks for too many slots";
        st = slots_take(&c->shared->slots, &c->slots, msg->id, pool);
        break;
    case BROKER_GIVE_SLOT:
        what = "gives back a slot that it does not have";
        st = slots_give(&c->shared->slots, &c->slots, msg->id, pool);
        break;
    case BROKER_QUERY_BEGIN:
    case BROKER_QUERY_END:
        what = "begins or ends a query out of turn";
        st = on_query(c, msg);
        break;
    case BROKER_ADD_KEY:
        connection_login_add_key(c, msg);
        break;
    case BROKER_LOG:
        on_log(c, msg);
        break;
    default:
        st = DT_ERR_PROTO;
        break;
    }
    if (st != DT_OK) {
        kill_worker_for(c, what);
    }
}

/* ---- events ---- */

/* Reads all messages of one child; at its end, or when it does not keep to
 * the form, the socket is closed. */
static void
read_messages(struct connection *c, int *sock,
              void (*handle)(struct connection *, const struct broker_msg *))
{
    struct broker_msg msg;
    int fd, st;

    while (*sock >= 0 && (st = broker_recv(*sock, &msg, &fd)) != DT_AGAIN) {
        if (st != DT_OK) {
            close_fd(sock);
            return;
        }
        close_fd(&fd); /* children have nothing to hand over */
        handle(c, &msg);
    }
}

size_t
connection_poll(const struct connection *c, struct pollfd *p)
{
    enum slots_pool pool;
    uint32_t id;
    size_t n = 0;

    if (c->session_fd >= 0) {
        p[n++] = (struct pollfd){.fd = c->session_fd, .events = POLLIN};
    }
    if (c->lookup_fd >= 0) {
        p[n++] = (struct pollfd){.fd = c->lookup_fd, .events = POLLIN};
    }
    if (c->worker_fd >= 0) {
        bool due = c->drain_due || slots_untold(&c->slots, &id, &pool);

        p[n++] =
            (struct pollfd){.fd = c->worker_fd,
                            .events = (short)(POLLIN | (due ? POLLOUT : 0))};
    }
    return n;
}

void
connection_event(struct connection *c, int fd)
{
    if (fd == c->session_fd) {
        read_messages(c, &c->session_fd, on_session_message);
    } else if (fd == c->lookup_fd) {
        connection_login_answered(c);
    } else if (fd == c->worker_fd) {
        read_messages(c, &c->worker_fd, on_worker_message);
    }
}

void
connection_flush(struct connection *c)
{
    struct broker_msg msg = {.type = BROKER_SLOT};
    enum slots_pool pool;

    while (c->worker_fd >= 0 && slots_untold(&c->slots, &msg.id, &pool)) {
        msg.flags = pool == SLOTS_TAIL ? 1 : 0;
        if (broker_send(c->worker_fd, &msg, -1) != DT_OK) {
            return; /* full, or gone, which its end will tell */
        }
        slots_told(&c->slots);
    }
    if (c->worker_fd >= 0 && c->drain_due) {
        msg = (struct broker_msg){
            .type = BROKER_DRAIN,
            .value = c->shared->config->server.shutdown_grace_ms};
        c->drain_due = broker_send(c->worker_fd, &msg, -1) == DT_AGAIN;
    }
}

/* ---- the end of children ---- */

/* What the client is told about the worker's end; returns the exit status. */
static int
describe_end(const struct connection *c, int status, char *text, size_t size)
{
    struct plugin_crash crash = *c->crash; /* anything may stand there */
    bool was_stopped = c->shared->is_stopping;

    crash.plugin[sizeof(crash.plugin) - 1] = '\0';
    crash.hook[sizeof(crash.hook) - 1] = '\0';
    *text = '\0';
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return 0;
    }
    if (was_stopped && (WIFEXITED(status) || WTERMSIG(status) == SIGKILL)) {
        snprintf(text, size, "dserver: the server was shut down");
        return SESSION_EXIT_SHUTDOWN;
    }
    if (WIFEXITED(status)) {
        snprintf(text, size,
                 "dserver: the worker of this session failed (status %d)",
                 WEXITSTATUS(status));
    } else if (crash.signal != 0 && crash.plugin[0]) {
        snprintf(text, size, "dserver: plugin %s died of SIG%s in %s",
                 crash.plugin, sigabbrev_np(WTERMSIG(status)), crash.hook);
    } else {
        snprintf(text, size,
                 "dserver: the worker of this session died of SIG%s",
                 sigabbrev_np(WTERMSIG(status)));
    }
    return SESSION_EXIT_CRASHED;
}

static void
on_worker_end(struct connection *c, int status)
{
    struct broker_msg msg = {.type = BROKER_WORKER_ENDED};
    const struct audit_who reader = who_is(c);
    char who[LOGLIMIT_MAX_WHO];

    c->worker_pid = 0; /* its number may soon be another's */
    read_messages(c, &c->worker_fd, on_worker_message); /* last log lines */
    close_fd(&c->worker_fd);
    name_payer(c, who);
    loglimit_tell(&c->shared->loglimit, c->shared->log, who);
    c->worker_kill_ms = CLOCK_NEVER;
    slots_drop(&c->shared->slots, &c->slots);
    msg.status = describe_end(c, status, msg.text, sizeof(msg.text));
    if (msg.status != 0) {
        c->shared->totals.nr_crashes += msg.status == SESSION_EXIT_CRASHED;
        log_error(c->shared->log, "%s@%s|%s", c->user, c->peer, msg.text);
    }
    audit_abandon(&c->audit, &c->shared->totals, c->shared->log, &reader,
                  *msg.text ? msg.text : "the worker ended", clock_now_ms());
    if (c->session_fd >= 0 && broker_send(c->session_fd, &msg, -1) != DT_OK) {
        connection_kill_session(c);
    }
}

struct penalty_limits
connection_penalty_limits(const struct config *config)
{
    const struct config_server *s = &config->server;

    return (struct penalty_limits){s->failure_penalty_ms,
                                   s->failure_penalty_max_ms,
                                   &s->failure_penalty_exempt};
}

/* A session that ends without a log-in costs its peer something. */
static void
add_penalty(struct connection *c, int64_t now)
{
    const struct penalty_limits limits =
        connection_penalty_limits(c->shared->config);
    int64_t grace = c->shared->config->server.login_grace_ms, ms;
    enum penalty_kind kind = PENALTY_NO_LOGIN;

    if (c->is_abuse) {
        kind = PENALTY_ABUSE;
    } else if (c->is_authenticated || c->shared->is_stopping) {
        return;
    } else if (c->is_late || now - c->began_ms >= grace) {
        kind = PENALTY_TOO_SLOW;
    } else if (c->nr_refused > 0) {
        kind = PENALTY_FAILURE;
    }
    ms = penalty_add(&c->shared->penalty, &limits, c->address, kind, now);
    if (ms > 0) {
        log_warn(c->shared->log,
                 "%s|too many failed log-ins|connections from there are "
                 "refused for %lld s",
                 c->address, (long long)(ms + 999) / 1000);
    }
}

static void
on_session_end(struct connection *c, int status)
{
    struct log *log = c->shared->log;
    int64_t now = clock_now_ms();
    double seconds = (double)(now - c->began_ms) / 1000.0;

    c->session_pid = 0; /* its number may soon be another's */
    read_messages(c, &c->session_fd, on_session_message);
    c->is_starting = false;
    close_fd(&c->session_fd);
    add_penalty(c, now);
    if (c->lookup_pid) {
        kill(c->lookup_pid, SIGKILL);
    }
    if (c->worker_pid) {
        c->worker_kill_ms =
            clock_earlier(c->worker_kill_ms, now + WORKER_LINGER_MS);
    }
    if (WIFSIGNALED(status) && (WTERMSIG(status) != SIGKILL || !c->is_killed)) {
        log_error(log, "%s|session died of SIG%s", c->peer,
                  sigabbrev_np(WTERMSIG(status)));
    }
    log_at(log, c->is_authenticated ? LOG_INFO : LOG_DEBUG,
           "%s%s%s|disconnected|%.3f s", c->user,
           c->is_authenticated ? "@" : "", c->peer, seconds);
}

bool
connection_reaped(struct connection *c, pid_t pid, int status)
{
    if (pid == c->session_pid) {
        on_session_end(c, status);
    } else if (pid == c->worker_pid) {
        on_worker_end(c, status);
    } else if (pid == c->lookup_pid) {
        c->lookup_pid = 0;
        if (c->lookup_fd >= 0) {
            connection_login_answered(c);
        }
    } else {
        return false;
    }
    return true;
}

/* ---- time ---- */

static int64_t
login_end_ms(const struct connection *c)
{
    if (c->session_pid == 0 || c->is_authenticated || c->is_killed) {
        return CLOCK_NEVER;
    }
    return c->began_ms + c->shared->config->server.login_grace_ms +
           LOGIN_EXTRA_MS;
}

int64_t
connection_next_ms(const struct connection *c)
{
    return clock_earlier(login_end_ms(c), c->worker_kill_ms);
}

void
connection_check_time(struct connection *c, int64_t now_ms)
{
    if (now_ms >= login_end_ms(c)) {
        if (connection_may_log(c)) {
            log_error(c->shared->log, "%s|session killed|no log-in in time",
                      c->peer);
        }
        c->is_late = true;
        connection_kill_session(c);
    }
    if (now_ms >= c->worker_kill_ms) {
        c->worker_kill_ms = CLOCK_NEVER;
        kill_worker_for(c, "it did not end after its session");
    }
}

void
connection_shutdown(struct connection *c)
{
    struct broker_msg msg = {.type = BROKER_SHUTDOWN};

    if (c->session_fd >= 0) {
        snprintf(msg.text, sizeof(msg.text), "the server is shutting down");
        if (broker_send(c->session_fd, &msg, -1) != DT_OK) {
            connection_kill_session(c);
        }
    }
    c->drain_due = c->worker_pid != 0;
    connection_flush(c);
}

void
connection_kill_worker(struct connection *c)
{
    if (c->worker_pid) {
        kill(c->worker_pid, SIGKILL);
    }
}

void
connection_kill_session(struct connection *c)
{
    if (c->session_pid) {
        c->is_killed = true;
        kill(c->session_pid, SIGKILL);
    }
}
