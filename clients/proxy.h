/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection through a command (ProxyCommand of ssh_config), whose standard
 * input and output are the other end.
 *
 * Threads: the pool's.
 */
#ifndef CLIENTS_PROXY_H
#define CLIENTS_PROXY_H

#include "error.h"

#include <sys/types.h>

#define PROXY_END_MS 200 /* for the command to end by itself */

/* Starts the shell command. *fd is the connection (non-blocking), the
 * caller's. DT_OK, DT_ERR_IO. */
int proxy_start(const char *command, int *fd, pid_t *pid, struct error *err);
/* Ends the command, after its connection was closed, and waits for it. */
void proxy_end(pid_t pid);

#endif
