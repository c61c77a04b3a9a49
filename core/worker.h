/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker process: requests of one session to queries. It has the user's
 * rights and no network.
 */
#ifndef CORE_WORKER_H
#define CORE_WORKER_H

#include "auth-special.h"
#include "log.h"
#include "plugin.h"

struct worker_args {
    const struct config *config;
    struct plugins *plugins; /* opened, not yet loaded */
    const char *user;        /* authenticated name */
    enum auth_role role;     /* what the session may do */
    const char *job;         /* the jobs' roles: name of the job; else "" */
    const char *peer;        /* address:port, for the log */
    const char *host;        /* short host name */
    int session_fd;          /* SOCK_STREAM to the session, owned */
    int broker_fd;           /* SOCK_SEQPACKET to the listener, owned; see
                                broker.h */
    const struct confine *confine; /* NULL: not confined */
    bool check_mode; /* the process does not have the user's rights */
    struct plugin_crash *crash; /* shared with the listener */
    struct query_live *live;    /* likewise, AUDIT_LIVE_ROWS; NULL: none */
    struct log *log;
};

/* Runs until the session is over; rights must have been dropped before.
 * Returns the process's exit status: 0 the session ended well (queries may
 * have failed), else an errno-like reason was logged. */
int worker_run(const struct worker_args *args);

#endif
