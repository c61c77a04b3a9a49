/* SPDX-License-Identifier: Apache-2.0
 *
 * The listener: dserver's first process. It owns the port, the limits and the
 * key cache, starts a session process for each connection, and answers the
 * requests of its children. It never parses a byte from the network and never
 * waits for anything but its poll.
 */
#ifndef CORE_LISTENER_H
#define CORE_LISTENER_H

#include "config.h"
#include "log.h"
#include "plugin.h"

/* What SIGHUP replaces; main's, and only read here. */
struct listener_settings {
    struct config *config;
    struct plugins *plugins;
    struct confine *confine;
};

struct listener_args {
    const struct listener_settings *settings;
    struct log *log;
    /* SIGHUP: replaces *settings, or leaves it as it is and says why not. */
    int (*reload)(void *ctx, struct error *err);
    /* The port is open: tells whoever waits for that. */
    void (*ready)(void *ctx, int port);
    void *ctx;
    int shutdown_after_s; /* 0: never */
};

/* Runs until SIGTERM or SIGINT and the drain that follows. DT_OK, or why it
 * could not start. SIGTERM, SIGINT, SIGHUP and SIGCHLD are blocked
 * afterwards, SIGPIPE is ignored. */
int listener_run(const struct listener_args *args, struct error *err);

#endif
