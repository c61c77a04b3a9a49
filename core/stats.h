/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of the server's log that dmap can query (spec server 13.3), and
 * when the one with the numbers of connections is due.
 *
 * STATS is written every STATS_EVERY_MS, and when a number has changed, but
 * then at most once in STATS_PAUSE_MS: strangers change numbers, too. The
 * listener's thread; time comes in as an argument.
 */
#ifndef CORE_STATS_H
#define CORE_STATS_H

#include "log.h"

#include <stdint.h>

#define STATS_EVERY_MS 10000
#define STATS_PAUSE_MS 1000
#define STATS_MAX_HEAD 256u /* bytes */

struct stats_counts {
    size_t current;    /* logged in */
    uint64_t lifetime; /* log-ins since the start */
    size_t pre_auth;   /* not logged in yet */
};

struct stats {
    struct stats_counts told;
    int64_t told_ms;
};

/* The fields that such lines begin with behind level and time: pid, caller,
 * CPUs, tasks, 0 (of Go's), load, uptime, MAPREDUCE:TABLE. */
void stats_head(char *out, size_t cap, const char *table, const char *file,
                int line, size_t nr_tasks);
/* An uptime as Go writes it: 471h0m21s, 12m30s, 5s. */
void stats_uptime(char *out, size_t cap, int64_t seconds);

/* The first line is due at once. */
void stats_init(struct stats *s, int64_t now_ms);
/* When stats_check has to be called next if the numbers stay as they are. */
int64_t stats_next_ms(const struct stats *s, const struct stats_counts *now);
/* Writes the line if it is due. */
void stats_check(struct stats *s, struct log *log,
                 const struct stats_counts *now, size_t nr_tasks,
                 int64_t now_ms);

#endif
