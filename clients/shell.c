/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting a shell command that the user named.
 */
#include "shell.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <unistd.h>

extern char **environ;

/* What clients block or ignore would be so in the command, too. */
static void
set_signals(posix_spawnattr_t *attr, bool has_group)
{
    static const int defaults[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t set;

    sigemptyset(&set);
    posix_spawnattr_setsigmask(attr, &set);
    for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++) {
        sigaddset(&set, defaults[i]);
    }
    posix_spawnattr_setsigdefault(attr, &set);
    if (has_group) {
        posix_spawnattr_setpgroup(attr, 0);
        flags |= POSIX_SPAWN_SETPGROUP;
    }
    posix_spawnattr_setflags(attr, flags);
}

int
shell_start(const char *command, int in, int out, bool has_group, pid_t *pid)
{
    char *const argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                          (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    int rc;

    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    set_signals(&attr, has_group);
    rc = in < 0 ? posix_spawn_file_actions_addopen(&files, STDIN_FILENO,
                                                   "/dev/null", O_RDONLY, 0)
                : posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    if (rc == 0) {
        rc = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    }
    if (rc == 0) {
        rc = posix_spawn(pid, "/bin/sh", &files, &attr, argv, environ);
    }
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}
