/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of a job: a process with the program dtail-job (clients/djob.c), a
 * client like others. It reads its settings, the job's secret among them, from
 * descriptor 0, tells on descriptor 1 what it does, and complains on 2.
 *
 * What it tells, a line each: "exists" (the outfile is there, nothing to do),
 * "begin" (the query is about to be asked), "rows N" (a result with that many
 * rows was written). It ends with 0 when all went well.
 */
#ifndef CORE_JOBRUN_H
#define CORE_JOBRUN_H

#include "config.h"
#include "error.h"

#include <sys/types.h>
#include <time.h>

#define JOBRUN_EXISTS "exists"
#define JOBRUN_BEGIN "begin"
#define JOBRUN_ROWS "rows"

struct jobrun_args {
    const struct config *config;
    const struct config_job *job;
    bool is_continuous;
    bool as_root; /* the server is: the run becomes Server.JobUser */
    int port;     /* that this server listens on */
    time_t wall;  /* for date tokens */
};

/* The listener's side of a run. */
struct jobrun {
    pid_t pid;
    int out_fd; /* what it tells; does not block */
    int err_fd; /* what it complains about; does not block */
};

/* Starts the process. DT_OK, or why not. That the program itself cannot be
 * started is told by the child. */
int jobrun_start(const struct jobrun_args *args, struct jobrun *out,
                 struct error *err);

/* Appends what the program reads: settings (config.h) with the one job in
 * Schedule or Continuous, dates filled in, and the servers to ask. */
int jobrun_settings(const struct jobrun_args *args, struct buf *out,
                    struct error *err);

#endif
