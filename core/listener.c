/* SPDX-License-Identifier: Apache-2.0
 *
 * The listener's loop: connections, signals, children, deadlines.
 */
#include "listener.h"
#include "admission.h"
#include "cleanup.h"
#include "clock.h"
#include "connection.h"
#include "emptyroot.h"
#include "entrance.h"
#include "jobhost.h"
#include "sight.h"
#include "socket.h"
#include "sshbind.h"
#include "trim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

/* After the grace time: for workers to notice that it is over before they are
 * killed, and for sessions to tell their clients. */
#define STOP_EXTRA_MS 500
#define STOP_TELL_MS 2000
/* Session processes that start at the same time, a processor: more of them
 * would only take the processor from each other, and from us, in an order that
 * the scheduler chooses and not the entrance. */
#define STARTS_A_PROCESSOR 2
#define MIN_FDS 64

struct listener {
    const struct listener_args *args;
    struct connection_shared shared;
    struct connection **conns;
    size_t nr, cap;
    struct pollfd *polls; /* room for 3, jobs, those of cap connections,
                             and of sight */
    size_t *nr_polled;    /* entries of each connection */
    int listen_fd;
    int signal_fd;
    struct entrance entrance;
    size_t max_starting; /* session processes at the same time */
    struct jobhost jobs;
    size_t max_job_polls; /* entries that there is room for */
    struct sight sight;
    int64_t stop_ms;         /* --shutdownAfter; CLOCK_NEVER */
    int64_t kill_workers_ms; /* once stopping */
    int64_t kill_sessions_ms;
};

/* ---- start and end ---- */

static int
open_signals(struct listener *l, struct error *err)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) {
        return error_errno(err, errno, "sigprocmask");
    }
    signal(SIGPIPE, SIG_IGN);
    l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (l->signal_fd < 0) {
        return error_errno(err, errno, "signalfd");
    }
    return DT_OK;
}

/* Each connection takes a few descriptors. With hardly any, whatever needs one
 * first would fail, for a reason that its message does not know. */
static int
raise_fd_limit(struct log *log, struct error *err)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return error_errno(err, errno, "limit of open files");
    }
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        log_warn(log, "limit of open files|%s", strerror(errno));
    }
    if (limit.rlim_cur < MIN_FDS) {
        return error_set(err, DT_ERR_LIMIT,
                         "the limit of open files (ulimit -n) is %llu, at "
                         "least %d are needed",
                         (unsigned long long)limit.rlim_cur, MIN_FDS);
    }
    return DT_OK;
}

/* Whom session processes become when we are root. */
static int
find_session_user(struct connection_shared *sh, struct error *err)
{
    const char *name = sh->config->server.session_user;
    struct error why = ERROR_INIT;
    const struct passwd *pw;

    sh->as_root = geteuid() == 0;
    if (!sh->as_root) {
        return DT_OK;
    }
    pw = getpwnam(name); /* before the first fork; one thread */
    if (!pw || pw->pw_uid == 0) {
        return error_set(err, DT_ERR_INVAL,
                         "Server.SessionUser: %s is %s; an account without "
                         "rights is needed when the server is started as root",
                         name, pw ? "root" : "no account");
    }
    sh->session_uid = pw->pw_uid;
    sh->session_gid = pw->pw_gid;
    sh->empty_fd = emptyroot_open(&why);
    if (sh->empty_fd < 0) {
        log_warn(sh->log, "session processes keep their root folder|%s",
                 why.text);
    }
    return DT_OK;
}

/* In integration tests one key lets everybody in: never with all rights, and
 * never unnoticed. */
static int
check_test_mode(const struct connection_shared *sh, struct error *err)
{
    if (!config_test_mode()) {
        return DT_OK;
    }
    if (sh->as_root) {
        return error_set(err, DT_ERR_INVAL,
                         "DTAIL_INTEGRATION_TEST_RUN_MODE is set: that is not "
                         "for a server that is started as root");
    }
    log_warn(sh->log, "DTAIL_INTEGRATION_TEST_RUN_MODE is set|the key in "
                      "./id_rsa.pub lets every user in");
    return DT_OK;
}

/* The host's name up to the first dot. */
static char *
short_host_name(void)
{
    char *name = config_host_name();

    if (name) {
        name[strcspn(name, ".")] = '\0';
    }
    return name;
}

/* Takes over what SIGHUP may have changed. */
static void
use_settings(struct listener *l)
{
    const struct config *config = l->args->settings->config;

    l->shared.config = config;
    l->shared.plugins = l->args->settings->plugins;
    l->shared.confine = l->args->settings->confine;
    slots_set_limits(&l->shared.slots, config->server.max_concurrent_cats,
                     config->server.max_concurrent_tails);
}

/* Room for what a turn waits for. */
static bool
make_polls(struct listener *l, size_t cap)
{
    size_t nr_jobs = l->jobs.jobs ? jobs_max_poll(l->jobs.jobs) : 0;
    struct pollfd *polls = reallocarray(
        l->polls, 3 + SIGHT_MAX_POLL + nr_jobs + cap * CONNECTION_MAX_POLL,
        sizeof(*polls));

    if (!polls) {
        return false;
    }
    l->polls = polls;
    l->max_job_polls = nr_jobs;
    return true;
}

/* For one more connection, with what the next turns need for it. */
static bool
make_room(struct listener *l)
{
    size_t cap = l->cap ? l->cap * 2 : 16;
    struct connection **conns;
    size_t *nr_polled;

    if (l->nr < l->cap) {
        return true;
    }
    nr_polled = reallocarray(l->nr_polled, cap, sizeof(*nr_polled));
    l->nr_polled = nr_polled ? nr_polled : l->nr_polled;
    conns = reallocarray(l->conns, cap, sizeof(*conns));
    l->conns = conns ? conns : l->conns;
    if (!make_polls(l, cap) || !nr_polled || !conns) {
        return false;
    }
    l->cap = cap;
    return true;
}

static int
start(struct listener *l, const struct listener_args *args, struct error *err)
{
    const struct config *config = args->settings->config;
    int port = 0, st;
    long nr_cpus;

    *l = (struct listener){.args = args,
                           .listen_fd = -1,
                           .signal_fd = -1,
                           .stop_ms = CLOCK_NEVER,
                           .kill_workers_ms = CLOCK_NEVER,
                           .kill_sessions_ms = CLOCK_NEVER};
    l->shared.log = args->log;
    l->shared.self = getpid();
    nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    l->max_starting = (nr_cpus > 0 ? (size_t)nr_cpus : 1) * STARTS_A_PROCESSOR;
    l->shared.empty_fd = -1;
    sight_init(&l->sight);
    slots_init(&l->shared.slots);
    auth_cache_init(&l->shared.cache);
    penalty_init(&l->shared.penalty);
    use_settings(l);
    st = raise_fd_limit(args->log, err);
    if (st != DT_OK) {
        return st;
    }
    l->shared.host = short_host_name();
    if (!l->shared.host || !make_room(l) ||
        entrance_init(&l->entrance, &l->shared) != DT_OK) {
        return error_set(err, DT_ERR_NOMEM, "out of memory or descriptors");
    }
    st = find_session_user(&l->shared, err);
    if (st == DT_OK) {
        st = check_test_mode(&l->shared, err);
    }
    if (st == DT_OK) {
        st = open_signals(l, err);
    }
    if (st == DT_OK) {
        st = sshbind_new(config, args->log, &l->shared.bind, err);
    }
    if (st == DT_OK) {
        st = sshbind_warm_up(l->shared.bind, err);
    }
    if (st == DT_OK) {
        l->listen_fd = socket_listen(config->server.ssh_bind_address,
                                     config->common.ssh_port, &port, err);
        st = l->listen_fd < 0 ? l->listen_fd : DT_OK;
    }
    if (st == DT_OK) {
        st = sight_open(&l->sight, &l->shared, port, err);
    }
    if (st == DT_OK && (jobhost_init(&l->jobs, &l->shared, port) != DT_OK ||
                        !make_polls(l, l->cap))) {
        st = error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    if (st != DT_OK) {
        return st;
    }
    if (args->shutdown_after_s > 0) {
        l->stop_ms = clock_now_ms() + (int64_t)args->shutdown_after_s * 1000;
    }
    log_info(args->log, "listening|%s|port %d|%s",
             config->server.ssh_bind_address, port,
             l->shared.as_root ? "workers get the rights of their users"
                               : "workers keep the rights of the server");
    trim_memory();
    args->ready(args->ctx, port);
    return DT_OK;
}

static void
close_all(struct listener *l)
{
    sight_close(&l->sight);
    jobhost_fini(&l->jobs);
    for (size_t i = 0; i < l->nr; i++) {
        connection_free(l->conns[i]);
    }
    free(l->conns);
    free(l->polls);
    free(l->nr_polled);
    if (l->listen_fd >= 0) {
        close(l->listen_fd);
    }
    if (l->signal_fd >= 0) {
        close(l->signal_fd);
    }
    entrance_fini(&l->entrance);
    if (l->shared.empty_fd >= 0) {
        close(l->shared.empty_fd);
    }
    if (l->shared.bind) {
        ssh_bind_free(l->shared.bind);
    }
    auth_cache_fini(&l->shared.cache);
    slots_fini(&l->shared.slots);
    free(l->shared.host);
}

/* ---- connections ---- */

static void
add_connection(struct listener *l, int fd, const struct sockaddr_storage *from)
{
    struct error err = ERROR_INIT;
    struct connection *c;

    if (!make_room(l)) {
        log_error(l->args->log, "connection refused|out of memory");
        close(fd);
        return;
    }
    if (connection_new(&l->shared, fd, from, &c, &err) != DT_OK) {
        log_error(l->args->log, "connection refused|%s", err.text);
        return;
    }
    l->conns[l->nr++] = c;
}

/* Gives session processes to those at the entrance who are next. */
static void
let_in(struct listener *l)
{
    struct sockaddr_storage from;
    int fd;

    for (size_t i = admission_starting(l->conns, l->nr); i < l->max_starting;
         i++) {
        fd =
            entrance_next(&l->entrance, l->conns, l->nr, clock_now_ms(), &from);
        if (fd < 0) {
            return;
        }
        add_connection(l, fd, &from);
    }
}

static void
remove_finished(struct listener *l)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->nr; i++) {
        if (connection_is_over(l->conns[i])) {
            connection_free(l->conns[i]);
        } else {
            l->conns[kept++] = l->conns[i];
        }
    }
    l->nr = kept;
}

/* ---- signals ---- */

static void
reap(struct listener *l)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (jobhost_reaped(&l->jobs, pid, status)) {
            continue;
        }
        for (size_t i = 0; i < l->nr; i++) {
            if (connection_reaped(l->conns[i], pid, status)) {
                break;
            }
        }
    }
}

static void
reload(struct listener *l)
{
    struct error err = ERROR_INIT;

    log_reopen(l->args->log);
    loglimit_tell(&l->shared.loglimit, l->args->log, NULL);
    if (l->args->reload(l->args->ctx, &err) != DT_OK) {
        log_error(l->args->log, "reload failed, the old settings stay|%s",
                  err.text);
        return;
    }
    use_settings(l);
    jobhost_reload(&l->jobs);
    if (!make_polls(l, l->cap)) {
        log_error(l->args->log, "out of memory: jobs are not heard");
    }
    log_info(l->args->log,
             "reloaded|new sessions get the new settings; address, port, host "
             "keys, algorithms and logging stay until a restart");
    trim_memory();
}

/* The first request to stop drains, a second one ends at once. */
static void
stop(struct listener *l, const char *why)
{
    int64_t now = clock_now_ms();
    int64_t grace = l->shared.config->server.shutdown_grace_ms;

    if (l->shared.is_stopping) {
        l->kill_workers_ms = l->kill_sessions_ms = now;
        return;
    }
    log_info(l->args->log, "stopping|%s|%zu connections", why, l->nr);
    l->shared.is_stopping = true;
    l->stop_ms = CLOCK_NEVER;
    entrance_fini(&l->entrance);
    close(l->listen_fd);
    l->listen_fd = -1;
    l->kill_workers_ms = now + grace + STOP_EXTRA_MS;
    l->kill_sessions_ms = l->kill_workers_ms + STOP_TELL_MS;
    jobhost_stop(&l->jobs);
    for (size_t i = 0; i < l->nr; i++) {
        connection_shutdown(l->conns[i]);
    }
}

static void
read_signals(struct listener *l)
{
    struct signalfd_siginfo info;

    while (read(l->signal_fd, &info, sizeof(info)) == sizeof(info)) {
        if (info.ssi_signo == SIGCHLD) {
            continue; /* one may stand for many: reap looks at all */
        }
        if (info.ssi_signo == SIGHUP) {
            reload(l);
        } else {
            stop(l, info.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT");
        }
    }
    reap(l);
}

/* ---- the loop ---- */

/* What those who want to know may see. */
static struct sight_view
view(const struct listener *l)
{
    return (struct sight_view){.shared = &l->shared,
                               .conns = l->conns,
                               .nr = l->nr,
                               .nr_guests = l->entrance.guests.nr,
                               .jobs = l->jobs.jobs};
}

static void
check_time(struct listener *l)
{
    const struct sight_view v = view(l);
    int64_t now = clock_now_ms();

    if (now >= l->stop_ms) {
        stop(l, "--shutdownAfter");
    }
    for (size_t i = 0; i < l->nr; i++) {
        connection_check_time(l->conns[i], now);
        if (now >= l->kill_workers_ms) {
            connection_kill_worker(l->conns[i]);
        }
        if (now >= l->kill_sessions_ms) {
            connection_kill_session(l->conns[i]);
        }
    }
    jobhost_tick(&l->jobs);
    sight_tick(&l->sight, &v, now);
    if (now >= l->kill_workers_ms) {
        l->kill_workers_ms = CLOCK_NEVER;
        jobs_kill(l->jobs.jobs);
    }
    if (now >= l->kill_sessions_ms) {
        l->kill_sessions_ms = CLOCK_NEVER;
    }
}

static int64_t
next_deadline(const struct listener *l)
{
    int64_t next = clock_earlier(l->kill_workers_ms, l->kill_sessions_ms);
    int64_t now = clock_now_ms();
    const struct sight_view v = view(l);

    next = clock_earlier(next, sight_next_ms(&l->sight, &v));
    next = clock_earlier(next, l->stop_ms);
    next = clock_earlier(next, jobhost_next_ms(&l->jobs));
    if (l->listen_fd >= 0) {
        /* else the next one is let in when a session has started */
        if (admission_starting(l->conns, l->nr) < l->max_starting) {
            next = clock_earlier(
                next, entrance_next_ms(&l->entrance, l->conns, l->nr, now));
        }
        next = clock_earlier(next, l->entrance.accept_after_ms > now
                                       ? l->entrance.accept_after_ms
                                       : CLOCK_NEVER);
    }
    for (size_t i = 0; i < l->nr; i++) {
        next = clock_earlier(next, connection_next_ms(l->conns[i]));
    }
    return next;
}

/* One turn: waits, and handles what has come. Connections are only added and
 * removed here, after the events of all. */
static int
turn(struct listener *l, struct error *err)
{
    size_t nr_conns = l->nr, nr_jobs, n;
    const struct sight_view v = view(l);
    struct pollfd *p = l->polls;
    bool accepts =
        l->listen_fd >= 0 && entrance_accepts(&l->entrance, clock_now_ms());
    bool is_knocked;

    p[0] = (struct pollfd){.fd = l->signal_fd, .events = POLLIN};
    p[1] = (struct pollfd){.fd = accepts ? l->listen_fd : -1, .events = POLLIN};
    p[2] = (struct pollfd){.fd = entrance_fd(&l->entrance), .events = POLLIN};
    nr_jobs = jobs_poll(l->jobs.jobs, p + 3, l->max_job_polls);
    n = 3 + nr_jobs;
    for (size_t i = 0; i < nr_conns; i++) {
        l->nr_polled[i] = connection_poll(l->conns[i], p + n);
        n += l->nr_polled[i];
    }
    n += sight_poll(&l->sight, p + n);
    if (poll(p, n, clock_poll_ms(next_deadline(l))) < 0 && errno != EINTR) {
        return error_errno(err, errno, "listener: poll");
    }
    for (n = 3; n < 3 + nr_jobs; n++) {
        if (p[n].revents) {
            jobs_event(l->jobs.jobs, p[n].fd);
        }
    }
    for (size_t i = 0; i < nr_conns; i++) {
        for (size_t k = 0; k < l->nr_polled[i]; k++, n++) {
            if (p[n].revents) {
                connection_event(l->conns[i], p[n].fd);
            }
        }
    }
    sight_events(&l->sight, &v, p + n);
    if (l->listen_fd >= 0) {
        entrance_events(&l->entrance, clock_now_ms());
    }
    is_knocked = p[1].revents != 0;
    if (p[0].revents) {
        read_signals(l); /* a reload may move what p points to */
    }
    check_time(l);
    for (size_t i = 0; i < l->nr; i++) {
        connection_flush(l->conns[i]);
    }
    remove_finished(l);
    if (l->listen_fd >= 0) {
        if (is_knocked) {
            entrance_accept(&l->entrance, l->listen_fd, clock_now_ms());
        }
        let_in(l);
    }
    return DT_OK;
}

int
listener_run(const struct listener_args *args, struct error *err)
{
    struct listener l;
    int st = start(&l, args, err);

    while (st == DT_OK && (!l.shared.is_stopping || l.nr > 0 ||
                           jobs_nr_running(l.jobs.jobs) > 0)) {
        st = turn(&l, err);
    }
    if (st == DT_OK) {
        loglimit_tell(&l.shared.loglimit, args->log, NULL);
        log_info(args->log, "stopped");
    }
    close_all(&l);
    return st;
}
