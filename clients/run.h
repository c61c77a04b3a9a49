/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the queries of a client: at servers, or serverless in this process.
 *
 * Threads: the main thread, which owns signals, questions and the end.
 */
#ifndef CLIENTS_RUN_H
#define CLIENTS_RUN_H

#include "client.h"
#include "output.h"
#include "reduce.h"

struct servers;

/* Exit statuses (docs/architecture.md). */
enum run_status {
    RUN_OK = 0,
    RUN_FAILED = 1, /* no server session was completed */
    RUN_USAGE = 2,
    RUN_PARTLY = 3, /* some servers failed, named on standard error */
    RUN_INTERRUPTED = 130
};

int run_serverless(const struct client *c);
int run_servers(const struct client *c, const struct servers *servers);

#endif
