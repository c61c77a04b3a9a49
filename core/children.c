/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting the listener's children: session, worker, look-up.
 */
#include "children.h"
#include "auth.h"
#include "cleanup.h"
#include "confine.h"
#include "emptyroot.h"
#include "memlimit.h"
#include "sandbox.h"
#include "session.h"
#include "worker.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* Names as ps shows them. */
#define NAME_SESSION "dserver session"
#define NAME_WORKER "dserver worker"
#define NAME_LOOKUP "dserver lookup"

/* Bytes that a session process may take beside what it inherits. A few MB do
 * for all it should ever hold; this is for what one should not think of. */
#define SESSION_MEMORY (32u << 20)

static int
make_pair(int type, int pair[2], struct error *err)
{
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) !=
        0) {
        return error_errno(err, errno, "socketpair");
    }
    return DT_OK;
}

/* ---- session ---- */

/* In the child. */
static int
run_session(struct connection *c, int fd, int broker_fd)
{
    struct connection_shared *sh = c->shared;
    const int keep[] = {fd, broker_fd, sh->empty_fd};
    struct session_args args = {.config = sh->config,
                                .bind = sh->bind,
                                .fd = fd,
                                .broker_fd = broker_fd};
    struct error err = ERROR_INIT;
    enum log_level level = LOG_INFO;
    int st = DT_OK, result = 1;

    sandbox_keep_fds(keep, 3);
    sandbox_enter(sh->self, NAME_SESSION);
    log_level_parse(sh->config->common.log_level, &level, NULL);
    if (broker_log_new(broker_fd, level, &args.log) != DT_OK) {
        return 1;
    }
    st = memlimit_set(SESSION_MEMORY, &err);
    if (st == DT_OK && sh->empty_fd >= 0) {
        st = emptyroot_enter(sh->empty_fd, &err);
    }
    if (st == DT_OK && sh->as_root) {
        st = sandbox_become(sh->session_uid, sh->session_gid, NULL, &err);
    }
    if (st == DT_OK) {
        st = sandbox_harden(&err);
    }
    if (st == DT_OK) {
        st = confine(sh->confine, CONFINE_SESSION, &err);
    }
    if (st == DT_OK) {
        result = session_run(&args);
    } else {
        log_error(args.log, "session not started|%s", err.text);
    }
    log_free(args.log);
    return result;
}

int
children_start_session(struct connection *c, int fd, struct error *err)
{
    int pair[2];
    int st = make_pair(SOCK_SEQPACKET, pair, err);

    if (st != DT_OK) {
        return st;
    }
    c->session_pid = fork();
    if (c->session_pid == 0) {
        _exit(run_session(c, fd, pair[1]));
    }
    close(pair[1]);
    if (c->session_pid < 0) {
        c->session_pid = 0;
        st = error_errno(err, errno, "fork");
        close(pair[0]);
        return st;
    }
    c->session_fd = pair[0];
    return DT_OK;
}

/* ---- look-up ---- */

/* In the child: whether a password is right; the job's name goes along. */
static int
decide_special(const struct connection *c, struct broker_msg *msg,
               struct error *note)
{
    const struct auth_special_request request = {.config = c->shared->config,
                                                 .user = c->lookup_user,
                                                 .password = c->lookup_origin,
                                                 .password_len = c->lookup_len,
                                                 .address = c->address};
    const char *job;
    int st = DT_OK;

    /* Names in AllowFrom are looked up: root does not read answers of DNS. */
    if (c->shared->as_root) {
        st = sandbox_become(c->shared->session_uid, c->shared->session_gid,
                            NULL, note);
    }
    if (st == DT_OK) {
        st = auth_special_decide(&request, &job, note);
    }
    if (st == DT_OK) {
        msg->key_len = (uint32_t)strlen(job);
        memcpy(msg->key, job, msg->key_len);
    }
    return st;
}

/* In the child: decides and tells. */
static int
run_lookup(struct connection *c, int fd)
{
    const struct auth_request request = {.config = c->shared->config,
                                         .user = c->lookup_user,
                                         .key = c->lookup_origin,
                                         .address = c->address,
                                         .as_root = c->shared->as_root};
    struct broker_msg msg = {.type = BROKER_KEY_ANSWER};
    struct error note = ERROR_INIT;

    sandbox_keep_fds(&fd, 1);
    sandbox_enter(c->shared->self, NAME_LOOKUP);
    ssh_bind_free(c->shared->bind); /* the host keys are not for the user */
    if (sandbox_harden(&note) != DT_OK) {
        return 1;
    }
    msg.status = c->lookup_role == AUTH_ROLE_USER
                     ? auth_decide(&request, &note)
                     : decide_special(c, &msg, &note);
    snprintf(msg.text, sizeof(msg.text), "%.*s", (int)BROKER_MAX_TEXT,
             note.text);
    return broker_send(fd, &msg, -1) == DT_OK ? 0 : 1;
}

int
children_start_lookup(struct connection *c, struct error *err)
{
    int pair[2];
    int st = make_pair(SOCK_SEQPACKET, pair, err);

    if (st != DT_OK) {
        return st;
    }
    c->lookup_pid = fork();
    if (c->lookup_pid == 0) {
        _exit(run_lookup(c, pair[1]));
    }
    close(pair[1]);
    if (c->lookup_pid < 0) {
        c->lookup_pid = 0;
        st = error_errno(err, errno, "fork");
        close(pair[0]);
        return st;
    }
    c->lookup_fd = pair[0];
    return DT_OK;
}

/* ---- worker ---- */

/* The account whose rights a worker gets; NULL: the session processes'. */
static const char *
worker_account(const struct connection *c)
{
    const char *job_user = c->shared->config->server.job_user;

    if (c->role == AUTH_ROLE_USER) {
        return c->user;
    }
    return c->role != AUTH_ROLE_HEALTH && *job_user ? job_user : NULL;
}

static int
take_identity(const struct connection *c, struct error *err)
{
    const char *name = worker_account(c);
    struct auth_account account = {0};
    int st;

    if (!c->shared->as_root) {
        return DT_OK;
    }
    if (!name) {
        return sandbox_become(c->shared->session_uid, c->shared->session_gid,
                              NULL, err);
    }
    st = auth_account_get(name, true, &account, err);
    if (st == DT_OK) {
        st = sandbox_become(account.uid, account.gid, account.name, err);
    }
    auth_account_fini(&account);
    return st;
}

/* In the child. */
static int
run_worker(struct connection *c, int stream_fd, int broker_fd)
{
    struct connection_shared *sh = c->shared;
    const int keep[] = {stream_fd, broker_fd};
    struct worker_args args = {.config = sh->config,
                               .plugins = sh->plugins,
                               .user = c->user,
                               .peer = c->peer,
                               .host = sh->host,
                               .session_fd = stream_fd,
                               .broker_fd = broker_fd,
                               .role = c->role,
                               .job = c->job,
                               .check_mode =
                                   !sh->as_root && c->role == AUTH_ROLE_USER,
                               .confine = sh->confine,
                               .crash = c->crash,
                               .live = c->audit.live};
    struct error err = ERROR_INIT;
    enum log_level level = LOG_INFO;
    int st, result = 1;

    sandbox_keep_fds(keep, 2);
    sandbox_enter(sh->self, NAME_WORKER);
    ssh_bind_free(sh->bind); /* the host keys are not for the user */
    log_level_parse(sh->config->common.log_level, &level, NULL);
    if (broker_log_new(broker_fd, level, &args.log) != DT_OK) {
        return 1;
    }
    st = take_identity(c, &err);
    if (st == DT_OK) {
        st = sandbox_harden(&err);
    }
    if (st == DT_OK) {
        result = worker_run(&args);
    } else {
        log_error(args.log, "worker not started|%s", err.text);
    }
    log_free(args.log);
    return result;
}

/* Memory that worker and listener share, and that later children of the
 * listener do not have. */
static int
make_crash_page(struct connection *c, struct error *err)
{
    void *page = mmap(NULL, sizeof(*c->crash), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED) {
        return error_errno(err, errno, "mmap");
    }
    c->crash = page;
    return DT_OK;
}

int
children_start_worker(struct connection *c, int *session_fd, struct error *err)
{
    int stream[2] = {-1, -1}, broker[2] = {-1, -1};
    int st = make_crash_page(c, err);

    if (st == DT_OK && audit_share(&c->audit) != DT_OK) {
        st = error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    if (st == DT_OK) {
        st = make_pair(SOCK_STREAM, stream, err);
    }
    if (st == DT_OK) {
        st = make_pair(SOCK_SEQPACKET, broker, err);
    }
    if (st == DT_OK) {
        c->worker_pid = fork();
        if (c->worker_pid == 0) {
            _exit(run_worker(c, stream[1], broker[1]));
        }
        if (c->worker_pid < 0) {
            c->worker_pid = 0;
            st = error_errno(err, errno, "fork");
        }
    }
    for (int i = 0; i < 2; i++) {
        bool stays = st == DT_OK && i == 0;

        if (!stays && stream[i] >= 0) {
            close(stream[i]);
        }
        if (!stays && broker[i] >= 0) {
            close(broker[i]);
        }
    }
    if (st != DT_OK) {
        return st;
    }
    madvise(c->crash, sizeof(*c->crash), MADV_DONTFORK);
    audit_shared(&c->audit);
    c->worker_fd = broker[0];
    *session_fd = stream[0];
    return DT_OK;
}
