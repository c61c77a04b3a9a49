/* SPDX-License-Identifier: Apache-2.0
 *
 * Scheduled and continuous queries (spec server 12): when each is due, what
 * became of it, and its end.
 *
 * Each run is a process of its own (jobrun.h), so that none waits for another
 * or keeps the listener waiting: whether the outfile is there already is found
 * out in that process, too. The listener's loop calls the functions here; time
 * comes in as an argument and processes through a table of functions, so that
 * unit tests run days in no time.
 *
 * A scheduled job is looked at every Server.JobCheckMs; one whose run failed,
 * or found nothing, is tried again after that time, then after twice as long,
 * up to an hour, and at the change of the day at once. A continuous one is
 * started anew when it ended.
 */
#ifndef CORE_JOBS_H
#define CORE_JOBS_H

#include "job.h"

struct jobs;

/* `log` is borrowed. NULL: out of memory. */
struct jobs *jobs_new(const struct jobs_ops *ops, struct log *log);
/* Kills what still runs. */
void jobs_free(struct jobs *j);

/* Takes over the enabled jobs of a configuration, which must live until the
 * next call. Jobs that are the same go on; those that have changed, or are
 * gone, are ended. DT_OK, or DT_ERR_NOMEM with as many jobs as there is memory
 * for. */
int jobs_use(struct jobs *j, const struct config *config,
             const struct jobs_now *now);

/* For the poll loop: when jobs_tick has something to do; CLOCK_NEVER. */
int64_t jobs_next_ms(const struct jobs *j);
/* Starts what is due and ends what must not go on. */
void jobs_tick(struct jobs *j, const struct jobs_now *now);

/* Descriptors of the runs: how many at most, and filling in up to `max`. */
size_t jobs_max_poll(const struct jobs *j);
struct pollfd;
size_t jobs_poll(const struct jobs *j, struct pollfd *p, size_t max);
/* Something has come on one of them. */
void jobs_event(struct jobs *j, int fd);
/* A child has ended (status of waitpid); false: it is no job's. */
bool jobs_reaped(struct jobs *j, pid_t pid, int status,
                 const struct jobs_now *now);

/* The server ends: nothing is started any more, what runs gets SIGTERM. A
 * continuous job then writes what it has; a scheduled one writes nothing. */
void jobs_stop(struct jobs *j, const struct jobs_now *now);
/* No waiting any more. */
void jobs_kill(struct jobs *j);
/* How many runs there are. */
size_t jobs_nr_running(const struct jobs *j);

/* As the status shows them (job.h). */
size_t jobs_count(const struct jobs *j);
void jobs_row_at(const struct jobs *j, size_t index, const struct jobs_now *now,
                 struct jobs_row *out);

#endif
