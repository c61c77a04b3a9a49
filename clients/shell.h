/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting a shell command that the user named.
 *
 * Threads: any.
 */
#ifndef CLIENTS_SHELL_H
#define CLIENTS_SHELL_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts "sh -c COMMAND" with standard input `in` (-1: nothing to read) and
 * output `out`, no signal blocked, and those that end a client as they are by
 * default; has_group: in a process group of its own, which a signal can end as
 * a whole. The caller waits for *pid. 0, or the number of an error. */
int shell_start(const char *command, int in, int out, bool has_group,
                pid_t *pid);

#endif
