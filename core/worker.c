/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker process: requests of one session to queries.
 *
 * One thread (this file) owns the session's and the listener's sockets; each
 * query has threads of its own and writes to the output queue.
 */
#include "worker.h"

#include "broker.h"
#include "clock.h"
#include "config.h"
#include "confine.h"
#include "health.h"
#include "permission.h"
#include "query.h"
#include "watch.h"
#include "worker-audit.h"
#include "worker-auth.h"
#include "worker-hello.h"
#include "worker-slots.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES (64u * 1024u)

/* A query of the session and its deadline. */
struct job {
    struct job *next;
    struct query *query;
    int64_t stop_at_ms;      /* 0: none */
    int row;                 /* of the counters that the listener sees */
    struct query_live spare; /* in place of them, where there is no row */
    struct query_live *live;
};

struct worker {
    const struct worker_args *a;
    struct query_env env;
    struct worker_slots *slots;
    struct worker_auth auth;
    struct worker_audit audit;
    struct permission *permission;
    struct job *jobs;
    size_t nr_jobs;
    struct buf in; /* requests as they come */
    int wake_fd;   /* eventfd: a query is done, or output is kept back */
    struct worker_order order;
    bool is_last; /* the session ends with its last query */
    bool is_eof;  /* no further request will come */
    bool is_gone; /* the client cannot be reached any more */
    bool is_draining;
    int64_t cancel_at_ms; /* draining: when readers are cancelled; 0: none */
    int64_t leave_at_ms;  /* when a query that does not end is left behind */
};

static void
log_line(void *ctx, enum dt_log_level level, const char *text)
{
    const struct worker *w = ctx;

    /* the listener puts user and peer in front */
    log_at(w->a->log, log_plugin_level(level), "%s", text);
}

/* Tells the client something of the whole session. */
static void
tell_session(struct worker *w, const char *text)
{
    const struct wire_frame f = {
        .type = WIRE_S_NOTE, .data = text, .len = strlen(text)};

    log_line(w, DT_LOG_WARN, text);
    outq_post(w->env.out, &f);
}

/* ---- queries ---- */

static void
cancel_all(struct worker *w, enum cancel_why why)
{
    for (struct job *j = w->jobs; j; j = j->next) {
        query_cancel(j->query, why);
    }
    if (w->leave_at_ms == 0) {
        w->leave_at_ms =
            clock_now_ms() + w->a->config->server.shutdown_grace_ms;
    }
}

/* The client is gone: nobody will read what the queries still have. */
static void
lose_client(struct worker *w)
{
    if (!w->is_gone) {
        w->is_gone = true;
        w->is_last = true;
        cancel_all(w, CANCEL_CLIENT);
    }
}

static void
reap_queries(struct worker *w)
{
    struct job **at = &w->jobs;

    while (*at) {
        struct job *j = *at;

        if (query_state(j->query) != QUERY_DONE) {
            at = &j->next;
            continue;
        }
        *at = j->next;
        w->nr_jobs--;
        worker_audit_end(&w->audit, query_id(j->query), j->row,
                         query_result(j->query), j->live);
        query_free(j->query);
        free(j);
    }
}

static bool
id_is_taken(const struct worker *w, uint32_t id)
{
    for (const struct job *j = w->jobs; j; j = j->next) {
        if (query_id(j->query) == id) {
            return true;
        }
    }
    return false;
}

/* `is_update`: the others will be cancelled, and may need a while to end. */
static int
begin_query(struct worker *w, const struct query_spec *spec, bool is_update,
            struct error *err)
{
    const struct config_server *limits = &w->a->config->server;
    size_t max = (size_t)limits->max_queries * (is_update ? 2 : 1);
    struct job *j;
    int rc;

    reap_queries(w);
    if (w->is_draining) {
        return error_set(err, DT_ERR_CANCELLED, "the server is shutting down");
    }
    if (w->nr_jobs >= max) {
        return error_set(err, DT_ERR_LIMIT,
                         "%zu queries run in this session already; "
                         "Server.MaxQueries allows %d",
                         w->nr_jobs, limits->max_queries);
    }
    if (spec->id == 0 || id_is_taken(w, spec->id)) {
        return error_set(err, DT_ERR_PROTO,
                         "query number %u is 0 or taken by a running query",
                         spec->id);
    }
    rc = auth_special_check_files(w->a->config, w->a->role, w->a->job,
                                  &spec->files, err);
    if (rc != DT_OK) {
        return rc;
    }
    j = calloc(1, sizeof(*j));
    if (!j) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    j->row = worker_audit_row(&w->audit, &j->live);
    if (!j->live) {
        j->live = &j->spare;
    }
    w->env.live = j->live;
    rc = query_start(&w->env, spec, &j->query, err);
    if (rc != DT_OK) {
        worker_audit_drop_row(&w->audit, j->row);
        free(j);
        return rc;
    }
    worker_audit_begin(&w->audit, spec, query_is_turbo(j->query), j->row);
    if (spec->timeout_ms > 0) {
        j->stop_at_ms = clock_now_ms() + spec->timeout_ms;
    }
    j->next = w->jobs;
    w->jobs = j;
    w->nr_jobs++;
    return DT_OK;
}

/* ---- requests ---- */

/* Query `id` runs in place of the others. */
static void
replace_others(struct worker *w, uint32_t id)
{
    const struct wire_frame f = {
        .type = WIRE_S_UPDATED, .query = id, .data = ""};

    for (struct job *j = w->jobs; j; j = j->next) {
        if (query_id(j->query) != id) {
            query_cancel(j->query, CANCEL_CLIENT);
        }
    }
    outq_post(w->env.out, &f);
}

/* The one thing that a health session may ask, and that nobody else can. */
static bool
is_health_check(const struct worker *w, const struct query_spec *spec)
{
    return w->a->role == AUTH_ROLE_HEALTH && spec->id != 0 &&
           strcmp(spec->plugin ? spec->plugin : "", HEALTH_COMMAND) == 0;
}

/* QUERY and UPDATE. */
static int
on_query(struct worker *w, const struct wire_frame *f, struct error *err)
{
    struct query_spec spec = {0};
    bool is_update = f->type == WIRE_C_UPDATE;
    int rc = query_spec_parse(f->data, f->len, &spec, err);

    if (rc == DT_OK && is_health_check(w, &spec)) {
        rc = health_check(w->a->plugins, err);
        query_post_end(w->env.out, spec.id, rc, rc == DT_OK ? NULL : err->text);
        rc = DT_OK;
    } else if (rc == DT_OK) {
        rc = begin_query(w, &spec, is_update, err);
    }
    if (rc == DT_OK && is_update) {
        replace_others(w, spec.id);
    }
    if (spec.last) {
        w->is_last = w->order.is_over = true;
    }
    if (rc != DT_OK && spec.id != 0) {
        log_line(w, DT_LOG_WARN, err->text);
        if (!id_is_taken(w, spec.id)) {
            worker_audit_refused(&w->audit, &spec, rc, err->text);
        }
        query_post_end(w->env.out, spec.id, rc, err->text);
        rc = DT_OK; /* a query that cannot run does not end the session */
    }
    query_spec_fini(&spec);
    return rc;
}

static int
on_cancel(struct worker *w, const struct wire_frame *f, struct error *err)
{
    uint32_t id;
    bool finish;
    int rc = cancel_parse(f->data, f->len, &id, &finish, err);

    for (struct job *j = w->jobs; rc == DT_OK && j; j = j->next) {
        if (query_id(j->query) == id && finish) {
            query_stop_reading(j->query);
        } else if (query_id(j->query) == id) {
            query_cancel(j->query, CANCEL_CLIENT);
        }
    }
    return rc; /* one that is done already is no error */
}

static int
on_frame(struct worker *w, const struct wire_frame *f, struct error *err)
{
    int rc = worker_check_order(&w->order, f, err);

    switch (rc == DT_OK ? f->type : 0) {
    case WIRE_C_HELLO:
        rc = worker_check_hello(f, err);
        break;
    case WIRE_C_QUERY:
    case WIRE_C_UPDATE:
        rc = on_query(w, f, err);
        break;
    case WIRE_C_CANCEL:
        rc = on_cancel(w, f, err);
        break;
    case WIRE_C_BYE:
        w->is_last = true;
        break;
    case WIRE_C_AUTHKEY:
        rc = worker_auth_request(&w->auth, f->data, f->len, err);
        break;
    default:
        break; /* unknown types are skipped */
    }
    if (rc != DT_OK) {
        error_prefix(err, "bad %s request", wire_type_name(f->type));
    }
    return rc;
}

/* Takes the whole frames out of what was read. */
static int
take_frames(struct worker *w, struct error *err)
{
    size_t at = 0, used;
    struct wire_frame f;
    unsigned max = (unsigned)w->a->config->server.max_command_frame_size;
    int rc;

    for (;;) {
        rc = wire_decode(w->in.data + at, w->in.len - at, max, &f, &used);
        if (rc != DT_OK) {
            break;
        }
        rc = on_frame(w, &f, err);
        if (rc != DT_OK) {
            return rc;
        }
        at += used;
    }
    buf_consume(&w->in, at);
    if (rc == DT_ERR_LIMIT) {
        return error_set(err, rc,
                         "a request is longer than the %u bytes that "
                         "Server.MaxCommandFrameSize allows",
                         max);
    }
    if (rc == DT_ERR_PROTO) {
        return error_set(err, rc, "a request frame is too short for its type");
    }
    buf_shrink(&w->in, READ_BYTES);
    return DT_OK;
}

/* A broken frame ends the session with an error that names it. */
static void
refuse_session(struct worker *w, const struct error *err)
{
    tell_session(w, err->text);
    cancel_all(w, CANCEL_CLIENT);
    w->is_last = true;
    w->is_eof = true;
    w->in.len = 0;
    shutdown(w->a->session_fd, SHUT_RD);
}

static void
read_requests(struct worker *w)
{
    struct error err = ERROR_INIT;
    ssize_t n;

    if (buf_reserve(&w->in, READ_BYTES) != DT_OK) {
        lose_client(w);
        return;
    }
    n = recv(w->a->session_fd, w->in.data + w->in.len, READ_BYTES,
             MSG_DONTWAIT);
    if (n > 0) {
        w->in.len += (size_t)n;
        if (take_frames(w, &err) != DT_OK) {
            refuse_session(w, &err);
        }
    } else if (n == 0) {
        w->is_last = true; /* answers are still read */
        w->is_eof = true;
        if (w->in.len) {
            w->in.len = 0;
            error_set(&err, DT_ERR_PROTO,
                      "the requests end in the middle of a frame");
            refuse_session(w, &err);
        }
    } else if (errno != EAGAIN && errno != EINTR) {
        lose_client(w);
    }
}

/* ---- the listener ---- */

static void
begin_drain(struct worker *w, int64_t grace_ms)
{
    w->is_draining = true;
    w->is_last = true;
    w->cancel_at_ms = clock_now_ms() + (grace_ms > 0 ? grace_ms : 0);
    for (struct job *j = w->jobs; j; j = j->next) {
        query_finish_following(j->query);
    }
}

static void
read_broker(struct worker *w, int *broker_fd)
{
    struct broker_msg *msg = calloc(1, sizeof(*msg));
    int fd = -1;
    int rc = msg ? broker_recv(*broker_fd, msg, &fd) : DT_ERR_NOMEM;

    if (fd >= 0) {
        close(fd);
    }
    if (rc == DT_OK && msg->type == BROKER_SLOT) {
        worker_slots_granted(w->slots, msg->id, (msg->flags & 1) != 0);
    } else if (rc == DT_OK && msg->type == BROKER_DRAIN) {
        begin_drain(w, msg->value);
    } else if (rc == DT_OK && msg->type == BROKER_KEY_ADDED) {
        worker_auth_answered(&w->auth, msg);
    } else if (rc != DT_OK && rc != DT_AGAIN) {
        *broker_fd = -1; /* the listener is gone: finish what was begun */
        worker_slots_broken(w->slots);
        w->auth.nr_pending = 0;
        begin_drain(w, w->a->config->server.shutdown_grace_ms);
    }
    free(msg);
}

/* ---- the loop ---- */

/* Acts on deadlines that have passed; returns the ms to the next, -1: none. */
static int
check_deadlines(struct worker *w)
{
    int64_t now = clock_now_ms(), next = INT64_MAX;

    if (w->cancel_at_ms && now >= w->cancel_at_ms) {
        w->cancel_at_ms = 0;
        cancel_all(w, CANCEL_SHUTDOWN);
    } else if (w->cancel_at_ms) {
        next = w->cancel_at_ms;
    }
    for (struct job *j = w->jobs; j; j = j->next) {
        if (j->stop_at_ms && now >= j->stop_at_ms) {
            j->stop_at_ms = 0;
            query_stop_reading(j->query);
        } else if (j->stop_at_ms && j->stop_at_ms < next) {
            next = j->stop_at_ms;
        }
    }
    if (w->leave_at_ms && w->leave_at_ms < next) {
        next = w->leave_at_ms;
    }
    if (next == INT64_MAX) {
        return -1;
    }
    return next <= now ? 0 : next - now > 60000 ? 60000 : (int)(next - now);
}

/* 0: go on; 1: the session ended well; -1: a query could not be ended. */
static int
check_end(struct worker *w)
{
    if (w->nr_jobs == 0 && w->is_gone) {
        return 1;
    }
    if (w->nr_jobs == 0 && w->auth.nr_pending == 0 && w->is_last &&
        outq_is_idle(w->env.out)) {
        return 1;
    }
    return w->leave_at_ms && clock_now_ms() >= w->leave_at_ms ? -1 : 0;
}

static int
loop(struct worker *w)
{
    int broker_fd = w->a->broker_fd;
    int end;

    while ((end = check_end(w)) == 0) {
        /* Requests have answers: who does not read them may not cause more. */
        bool is_deaf = w->is_eof || outq_is_full(w->env.out);
        short in = is_deaf ? 0 : POLLIN;
        struct pollfd p[3] = {
            {.fd = w->a->session_fd,
             .events = (short)(in | outq_poll_events(w->env.out))},
            {.fd = broker_fd, .events = POLLIN},
            {.fd = w->wake_fd, .events = POLLIN},
        };
        eventfd_t ignored;

        if (w->is_gone) {
            p[0].fd = -1;
        }
        if (poll(p, 3, check_deadlines(w)) < 0 && errno != EINTR) {
            return -1;
        }
        if (p[2].revents) {
            eventfd_read(w->wake_fd, &ignored);
        }
        if (p[1].revents) {
            read_broker(w, &broker_fd);
        }
        if (p[0].revents & POLLIN) {
            read_requests(w);
        }
        if (((p[0].revents & POLLOUT) && outq_pump(w->env.out) != DT_OK) ||
            (p[0].revents & (POLLHUP | POLLERR))) {
            lose_client(w);
        }
        reap_queries(w);
    }
    return end;
}

/* ---- beginning and end ---- */

static int
worker_init(struct worker *w, const struct worker_args *args)
{
    struct error err = ERROR_INIT;
    int rc;

    w->a = args;
    w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->slots = worker_slots_new(args->broker_fd);
    w->env = (struct query_env){
        .config = args->config,
        .plugins = args->plugins,
        .user = args->user,
        .host = args->host,
        .done_fd = w->wake_fd,
        .watch = watch_new(),
        .log = log_line,
        .log_ctx = w,
    };
    w->env.out = outq_new_fd(args->session_fd, w->wake_fd);
    w->auth = (struct worker_auth){args->broker_fd, w->env.out, 0};
    w->audit.broker_fd = args->broker_fd;
    w->audit.live = args->live;
    if (w->wake_fd < 0 || !w->slots || !w->env.out || !w->env.watch) {
        return DT_ERR_NOMEM;
    }
    w->env.slots = worker_slots_api(w->slots);
    rc = permission_new(
        args->user, auth_special_rules(args->config, args->role, args->user),
        args->check_mode, &w->permission, &err);
    w->env.permission = w->permission;
    if (rc != DT_OK) {
        tell_session(w, err.text);
        w->is_last = true;
        w->is_eof = true;
        return DT_OK; /* the loop delivers the text and ends */
    }
    /* A directory service may have been asked above; from here on only what
     * reading and plugins need. */
    if (confine(args->confine, CONFINE_WORKER, &err) != DT_OK) {
        log_error(args->log, "worker not started|%s", err.text);
        return err.status;
    }
    plugins_load(args->plugins, args->log);
    return worker_hello(args, w->env.out);
}

static void
worker_fini(struct worker *w)
{
    outq_free(w->env.out);
    watch_free(w->env.watch);
    worker_slots_free(w->slots);
    permission_free(w->permission);
    buf_fini(&w->in);
    if (w->wake_fd >= 0) {
        close(w->wake_fd);
    }
    close(w->a->session_fd);
    close(w->a->broker_fd);
}

int
worker_run(const struct worker_args *args)
{
    struct worker w = {0};
    int end;

    plugin_catch_crashes(args->crash, -1, 0);
    if (worker_init(&w, args) != DT_OK) {
        log_error(args->log, "%s@%s|cannot start the worker", args->user,
                  args->peer);
        worker_fini(&w);
        return 1;
    }
    end = loop(&w);
    if (end < 0) {
        /* its threads still use all this: the process's end frees it */
        log_error(args->log, "%s@%s|a query did not end in time", args->user,
                  args->peer);
        return 1;
    }
    worker_fini(&w);
    return 0;
}
