/* SPDX-License-Identifier: Apache-2.0
 *
 * The session process: the SSH end of one connection, from the handshake to
 * the last byte. It opens no file and has no rights; what it relays it does
 * not read. One thread.
 */
#ifndef CORE_SESSION_H
#define CORE_SESSION_H

#include "config.h"
#include "log.h"

#include <libssh/libssh.h>
#include <libssh/server.h>

/* Exit statuses that the client gets. */
#define SESSION_EXIT_NO_LEGACY 69 /* EX_UNAVAILABLE */
#define SESSION_EXIT_CRASHED 70   /* EX_SOFTWARE: the worker died */
#define SESSION_EXIT_SHUTDOWN 75  /* EX_TEMPFAIL: the server stops */
#define SESSION_EXIT_FULL 75      /* EX_TEMPFAIL: MaxConnections */

struct session_args {
    const struct config *config;
    ssh_bind bind;
    int fd;        /* the connection, non-blocking */
    int broker_fd; /* SOCK_SEQPACKET to the listener, non-blocking */
    struct log *log;
};

/* Runs until the connection is over; the rights must have been given up
 * before. Returns the exit status of the process. */
int session_run(const struct session_args *args);

#endif
