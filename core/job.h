/* SPDX-License-Identifier: Apache-2.0
 *
 * One job and its runs: starting one, hearing what it says, judging how it
 * ended, and when the next is due. jobs.h has all jobs and says more.
 */
#ifndef CORE_JOB_H
#define CORE_JOB_H

#include "config.h"
#include "joblines.h"
#include "jobrun.h"
#include "jobtime.h"
#include "log.h"

#include <sys/types.h>
#include <time.h>

#define JOBS_MAX_REASON 512 /* bytes */

/* One moment on both clocks. */
struct jobs_now {
    int64_t ms;  /* clock_now_ms */
    time_t wall; /* time(NULL): may jump */
};

/* What touches the system. */
struct jobs_ops {
    /* Starts a run; the descriptors of *out are the jobs' then. DT_OK, or an
     * error. */
    int (*start)(void *ctx, const struct config_job *job, bool is_continuous,
                 time_t wall, struct jobrun *out, struct error *err);
    void (*kill)(void *ctx, pid_t pid, int signal);
    void *ctx;
};

enum jobs_outcome {
    JOBS_NEVER_RAN = 0,
    JOBS_DONE,    /* a result was written */
    JOBS_EMPTY,   /* the run was good and found nothing */
    JOBS_EXISTS,  /* the outfile was there already */
    JOBS_FAILED,  /* `reason` says why */
    JOBS_STOPPED, /* by us: settings, the day or the server have changed */
};
/* For people. */
const char *job_outcome_name(enum jobs_outcome outcome);

/* A job as the status shows it. Strings are valid until the jobs are touched
 * again. */
struct jobs_row {
    const char *kind; /* schedule or continuous */
    const char *name;
    bool is_running;
    time_t started; /* the last run; 0: none */
    time_t ended;   /* of the last that is over; 0: none */
    enum jobs_outcome outcome;
    const char *reason;  /* "": none */
    uint64_t nr_rows;    /* that the last run has written, or writes */
    uint64_t nr_results; /* written in all */
    uint64_t nr_failed;  /* runs */
    int64_t next_in_ms;  /* until it is looked at; 0: now */
};
struct job {
    const struct jobs_ops *ops;
    struct log *log;
    const struct config_job *spec; /* NULL: not in the settings any more */
    int64_t check_ms;              /* Server.JobCheckMs */
    char *name;
    char *print; /* the settings as text: equal means unchanged */
    bool is_continuous;
    pid_t pid; /* 0: not running */
    struct joblines out, err;
    int64_t next_ms;    /* not running: when to look */
    int64_t started_ms; /* this run */
    time_t started;
    bool has_begun, exists;       /* the run said so */
    uint64_t nr_rows;             /* the run's last result */
    int64_t kill_ms;              /* CLOCK_NEVER; once it was told to end */
    const char *stopped_by;       /* by us, and why; NULL: not */
    bool is_overdue;              /* … which is a failure */
    char day[JOBTIME_DAY];        /* of the last start */
    unsigned nr_tries;            /* in a row that were in vain */
    int rank;                     /* of `said` */
    char said[JOBS_MAX_REASON];   /* the worst of this run's complaints */
    char told[JOBS_MAX_REASON];   /* the last one that was logged */
    char reason[JOBS_MAX_REASON]; /* of the last run that counts */
    struct jobs_row row;          /* what is kept of the runs */
};

/* `print` is taken, the rest borrowed. NULL: out of memory, print is freed. */
struct job *job_new(const struct jobs_ops *ops, struct log *log,
                    const char *name, bool is_continuous, char *print);
void job_free(struct job *job);

/* Reads what one of its descriptors has. */
void job_read_out(struct job *job);
void job_read_err(struct job *job);
/* Tells the run to end, and to be killed if it does not. */
void job_terminate(struct job *job, const char *why,
                   const struct jobs_now *now);
/* Its process has ended. */
void job_ended(struct job *job, int status, const struct jobs_now *now);

/* Starts what is due, ends what must not go on; and when that is. */
void job_tick(struct job *job, bool is_stopping, const struct jobs_now *now);
int64_t job_next_ms(const struct job *job, bool is_stopping,
                    const struct jobs_now *now);
void job_row(const struct job *job, const struct jobs_now *now,
             struct jobs_row *out);

#endif
