/* SPDX-License-Identifier: Apache-2.0
 *
 * escape: tries what a confined worker may not do, as its arguments say, and
 * prints what came of it: "WHAT: done" or "WHAT: " and the error's name.
 */
#include <dtail/plugin.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef ESCAPE_NAME
#define ESCAPE_NAME "escape"
#define ESCAPE_NEEDS 0
#endif

/* Each attempt answers 0 or errno; `file` lies in a folder that everybody may
 * write to. */

static int
closed(int fd)
{
    return fd < 0 ? errno : close(fd);
}

static int
try_create(const char *file)
{
    return closed(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

/* There is a file already: opened for writing, without a flag that makes. */
static int
try_append(const char *file)
{
    return closed(open(file, O_WRONLY | O_APPEND | O_CLOEXEC));
}

/* openat2 has its flags in memory, which a filter of calls does not see. */
static int
try_openat2(const char *file)
{
    const struct {
        uint64_t flags, mode, resolve;
    } how = {O_WRONLY | O_CLOEXEC, 0, 0};

    return closed((int)syscall(SYS_openat2, AT_FDCWD, file, &how, sizeof(how)));
}

static int
try_unlink(const char *file)
{
    return unlink(file) ? errno : 0;
}

static int
try_chmod(const char *file)
{
    return chmod(file, 0777) ? errno : 0;
}

static int
try_mkdir(const char *file)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s.d", file);
    return mkdir(path, 0755) ? errno : 0;
}

static int
await(pid_t pid)
{
    int status;

    if (waitpid(pid, &status, 0) < 0) {
        return errno;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static int
try_fork(const char *file)
{
    pid_t pid = fork();

    (void)file;
    if (pid == 0) {
        _exit(0);
    }
    return pid < 0 ? errno : await(pid);
}

static int
try_spawn(const char *file)
{
    static char *argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 0", NULL};
    pid_t pid;
    int e = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, NULL);

    (void)file;
    return e ? e : await(pid);
}

/* Does not come back unless refused; so it is no attempt to run unconfined. */
static int
try_exec(const char *file)
{
    static char *argv[] = {(char *)"true", NULL};

    (void)file;
    execve("/bin/true", argv, NULL);
    return errno;
}

static int
try_tcp(const char *file)
{
    (void)file;
    return closed(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int
try_unix(const char *file)
{
    (void)file;
    return closed(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

/* Of a process that is not traced, which a kernel that is asked answers with
 * ESRCH; being traced would stop this one for good. */
static int
try_ptrace(const char *file)
{
    (void)file;
    ptrace(PTRACE_PEEKDATA, getppid(), NULL, NULL);
    return errno == ESRCH ? 0 : errno;
}

static int
try_signal(const char *file)
{
    (void)file;
    return kill(getpid(), 0) ? errno : 0;
}

static int
try_io_uring(const char *file)
{
    char params[120] = {0};

    (void)file;
    return closed((int)syscall(SYS_io_uring_setup, 1, params));
}

static const struct {
    const char *name;
    int (*run)(const char *file);
} attempts[] = {
    {"create", try_create},   {"append", try_append},
    {"openat2", try_openat2}, {"chmod", try_chmod},
    {"mkdir", try_mkdir},     {"unlink", try_unlink},
    {"fork", try_fork},       {"spawn", try_spawn},
    {"exec", try_exec},       {"tcp", try_tcp},
    {"unix", try_unix},       {"ptrace", try_ptrace},
    {"signal", try_signal},   {"io_uring", try_io_uring},
};

static int
escape_start(struct dt_query *q, void **self)
{
    const char *what = dt_arg(q, "do", 0, NULL);
    const char *file = dt_arg(q, "file", 0, NULL);

    for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
        if (what && file && strcmp(what, attempts[i].name) == 0) {
            int e = attempts[i].run(file);
            char line[100];
            int len = snprintf(line, sizeof(line), "%s: %s\n", what,
                               e ? strerrorname_np(e) : "done");

            *self = q;
            return dt_emit_text(q, line, (size_t)len);
        }
    }
    return dt_error(q, DT_ERR_INVAL, "do=%s: no such attempt, or no file",
                    what ? what : "");
}

static int
escape_feed(void *self, const struct dt_block *block)
{
    (void)self;
    (void)block;
    return DT_OK;
}

static const struct dt_stage escape_map = {
    .size = sizeof(struct dt_stage),
    .start = escape_start,
    .feed = escape_feed,
};

static const struct dt_arg_spec escape_args[] = {
    {"do", "what is tried", 0, 0},
    {"file", "where", 0, 0},
    {NULL, NULL, 0, 0},
};

static const struct dt_plugin plugin = {
    .abi = DT_PLUGIN_ABI,
    .flags = DT_TURBO | ESCAPE_NEEDS,
    .size = sizeof(struct dt_plugin),
    .name = ESCAPE_NAME,
    .version = "1.0",
    .summary = "tries to get out",
    .args = escape_args,
    .map = &escape_map,
};

DT_REGISTER_PLUGIN(plugin)
