/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of a job.
 */
#include "jobrun.h"

#include "auth-special.h"
#include "auth.h"
#include "cleanup.h"
#include "config-table.h"
#include "jobtime.h"
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NOT_STARTED 127

/* ---- settings ---- */

/* What the listener is reached at: its own address. */
static int
own_server(const struct config *c, struct strv *out)
{
    const char *address = c->server.ssh_bind_address;
    struct buf name = {0};
    bool is_bare = strchr(address, ':') && *address != '[';
    int rc = buf_printf(&name, is_bare ? "[%s]" : "%s", address);

    rc = rc == DT_OK ? strv_add_n(out, name.data, name.len) : rc;
    buf_fini(&name);
    return rc;
}

/* Fills *job with what a run needs; strings of *buffers or borrowed. */
static int
fill_job(const struct jobrun_args *a, struct buf buffers[2],
         struct strv *servers, struct config_job *job)
{
    int rc = jobtime_expand(a->job->files, a->wall, &buffers[0]);

    rc = rc ? rc : jobtime_expand(a->job->outfile, a->wall, &buffers[1]);
    if (rc == DT_OK && a->job->servers.nr == 0) {
        rc = own_server(a->config, servers);
    }
    *job = *a->job;
    job->password = (char *)(uintptr_t)auth_special_secret(a->job);
    job->files = buffers[0].data;
    job->outfile = buffers[1].data;
    job->servers = a->job->servers.nr ? a->job->servers : *servers;
    job->allow_from = (struct strv){0};
    return rc;
}

/* Settings that borrow all they have from the server's. */
static void
fill_config(const struct jobrun_args *a, struct config_job *job,
            struct config *c)
{
    const struct config *from = a->config;
    bool is_own = a->job->servers.nr == 0;

    c->common.ssh_connect_timeout_ms = from->common.ssh_connect_timeout_ms;
    c->common.ssh_port =
        is_own || from->common.ssh_port == 0 ? a->port : from->common.ssh_port;
    c->server.plugins = from->server.plugins;
    c->server.nr_plugins = from->server.nr_plugins;
    if (a->is_continuous) {
        c->server.continuous = job;
        c->server.nr_continuous = 1;
    } else {
        c->server.schedule = job;
        c->server.nr_schedule = 1;
    }
}

int
jobrun_settings(const struct jobrun_args *args, struct buf *out,
                struct error *err)
{
    struct buf buffers[2] = {{0}, {0}};
    struct strv servers = {0};
    struct config_job job;
    struct config c = {0};
    char *own_dir = NULL;
    int rc = config_set_defaults("", &c);

    rc = rc ? rc : fill_job(args, buffers, &servers, &job);
    if (rc == DT_OK) {
        fill_config(args, &job, &c);
        own_dir = c.server.plugin_dir;
        c.server.plugin_dir = args->config->server.plugin_dir;
        rc = config_dump(&c, out);
        c.server.plugin_dir = own_dir;
    }
    c.server.plugins = NULL;
    c.server.schedule = c.server.continuous = NULL;
    c.server.nr_plugins = c.server.nr_schedule = c.server.nr_continuous = 0;
    config_clear("", &c);
    strv_fini(&servers);
    buf_fini(&buffers[0]);
    buf_fini(&buffers[1]);
    return rc == DT_OK ? DT_OK
                       : error_set(err, rc, "settings: %s", dt_strerror(rc));
}

static int
settings_fd(const struct jobrun_args *args, int *out, struct error *err)
{
    CLEANUP_FD int fd = memfd_create("dtail-job", MFD_CLOEXEC);
    struct buf text = {0};
    size_t done = 0;
    int st = fd < 0 ? error_errno(err, errno, "memfd_create")
                    : jobrun_settings(args, &text, err);

    while (st == DT_OK && done < text.len) {
        ssize_t n = write(fd, text.data + done, text.len - done);

        if (n <= 0 && errno != EINTR) {
            st = error_errno(err, errno, "memory file");
        }
        done += n > 0 ? (size_t)n : 0;
    }
    if (st == DT_OK && lseek(fd, 0, SEEK_SET) < 0) {
        st = error_errno(err, errno, "memory file");
    }
    buf_fini(&text);
    if (st == DT_OK) {
        *out = STEAL_FD(fd);
    }
    return st;
}

/* ---- the child ---- */

/* Whose files the result is written to, and whose home is looked at. */
static int
take_identity(const struct jobrun_args *a, struct error *err)
{
    const struct config_server *s = &a->config->server;
    struct auth_account account = {0};
    int st;

    if (!a->as_root) {
        return DT_OK;
    }
    st = auth_account_get(*s->job_user ? s->job_user : s->session_user, true,
                          &account, err);
    if (st == DT_OK) {
        st = sandbox_become(account.uid, account.gid, account.name, err);
    }
    if (st == DT_OK && (setenv("HOME", account.home, 1) != 0 ||
                        setenv("USER", account.name, 1) != 0 ||
                        setenv("LOGNAME", account.name, 1) != 0)) {
        st = error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    auth_account_fini(&account);
    return st;
}

/* The client waits for signals itself: none is ignored or held back. */
static int
reset_signals(pid_t parent, struct error *err)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD};
    sigset_t none;

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        signal(all[i], SIG_DFL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
        return error_errno(err, errno, "PR_SET_PDEATHSIG");
    }
    if (getppid() != parent) { /* gone before the prctl */
        raise(SIGKILL);
    }
    return DT_OK;
}

/* What is meant for the server, or for its user's own log-ins. */
static void
clean_environment(void)
{
    static const char *const names[] = {"NOTIFY_SOCKET",
                                        "SSH_AUTH_SOCK",
                                        "DTAIL_KEY_PASSPHRASE",
                                        "DTAIL_AUTH_KEY_PATH",
                                        "LISTEN_FDS",
                                        "LISTEN_PID",
                                        "DTAIL_SSH_PRIVATE_KEYFILE_PATH"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        unsetenv(names[i]);
    }
}

/* Does not return. fds: what become 0, 1 and 2. */
static void
run(const struct jobrun_args *a, pid_t parent, const int fds[3])
{
    const char *program = *a->config->server.job_program
                              ? a->config->server.job_program
                              : JOB_PROGRAM;
    char *argv[] = {(char *)(uintptr_t)program, NULL};
    struct error err = ERROR_INIT;
    int st = DT_OK;

    for (int i = 0; i < 3; i++) {
        if (dup2(fds[i], i) < 0) {
            _exit(NOT_STARTED);
        }
    }
    sandbox_keep_fds(NULL, 0);
    clean_environment();
    st = reset_signals(parent, &err);
    if (st == DT_OK) {
        st = take_identity(a, &err);
    }
    if (st == DT_OK) {
        st = sandbox_harden(&err);
    }
    if (st == DT_OK) {
        execv(program, argv);
        error_errno(&err, errno, "cannot start %s", program);
    }
    dprintf(STDERR_FILENO, "%s\n", err.text);
    _exit(NOT_STARTED);
}

/* ---- starting ---- */

static void
close_all(int *fds, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
}

int
jobrun_start(const struct jobrun_args *args, struct jobrun *out,
             struct error *err)
{
    int out_pipe[2] = {-1, -1}, err_pipe[2] = {-1, -1}, settings = -1;
    pid_t self = getpid();
    int st = settings_fd(args, &settings, err);

    if (st == DT_OK &&
        (pipe2(out_pipe, O_CLOEXEC) != 0 || pipe2(err_pipe, O_CLOEXEC) != 0)) {
        st = error_errno(err, errno, "pipe");
    }
    if (st == DT_OK) {
        fcntl(out_pipe[0], F_SETFL, O_NONBLOCK);
        fcntl(err_pipe[0], F_SETFL, O_NONBLOCK);
        out->pid = fork();
        if (out->pid == 0) {
            run(args, self, (const int[]){settings, out_pipe[1], err_pipe[1]});
        }
        if (out->pid < 0) {
            st = error_errno(err, errno, "fork");
        }
    }
    close_all((int[]){settings, out_pipe[1], err_pipe[1]}, 3);
    if (st != DT_OK) {
        close_all((int[]){out_pipe[0], err_pipe[0]}, 2);
        return st;
    }
    out->out_fd = out_pipe[0];
    out->err_fd = err_pipe[0];
    return DT_OK;
}
