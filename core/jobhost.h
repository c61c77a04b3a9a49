/* SPDX-License-Identifier: Apache-2.0
 *
 * The jobs of the listener: its clocks, its processes and its settings for
 * jobs.h.
 */
#ifndef CORE_JOBHOST_H
#define CORE_JOBHOST_H

#include "connection.h"
#include "jobs.h"

struct jobhost {
    const struct connection_shared *shared;
    int port; /* that the server listens on */
    struct jobs *jobs;
};

/* Takes over the enabled jobs of the settings in *shared, which is borrowed.
 * DT_OK or DT_ERR_NOMEM. */
int jobhost_init(struct jobhost *h, const struct connection_shared *shared,
                 int port);
void jobhost_fini(struct jobhost *h);
/* The settings were replaced. */
void jobhost_reload(struct jobhost *h);
/* When jobhost_tick has something to do; and doing it. */
int64_t jobhost_next_ms(const struct jobhost *h);
void jobhost_tick(struct jobhost *h);
/* A child has ended; false: it was no job's. */
bool jobhost_reaped(struct jobhost *h, pid_t pid, int status);
/* The server ends. */
void jobhost_stop(struct jobhost *h);

#endif
