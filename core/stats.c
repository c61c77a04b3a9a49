/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of the server's log that dmap can query.
 */
#include "stats.h"
#include "clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

void
stats_uptime(char *out, size_t cap, int64_t seconds)
{
    long long s = seconds < 0 ? 0 : seconds;

    if (s >= 3600) {
        snprintf(out, cap, "%lldh%lldm%llds", s / 3600, s / 60 % 60, s % 60);
    } else if (s >= 60) {
        snprintf(out, cap, "%lldm%llds", s / 60, s % 60);
    } else {
        snprintf(out, cap, "%llds", s);
    }
}

void
stats_head(char *out, size_t cap, const char *table, const char *file, int line,
           size_t nr_tasks)
{
    char uptime[32], load[32] = "";
    struct timespec up = {0};
    double one;

    clock_gettime(CLOCK_BOOTTIME, &up);
    stats_uptime(uptime, sizeof(uptime), up.tv_sec);
    if (getloadavg(&one, 1) == 1) {
        snprintf(load, sizeof(load), "%.2f", one);
    }
    snprintf(out, cap, "%d|%s:%d|%ld|%zu|0|%s|%s|MAPREDUCE:%s", (int)getpid(),
             file, line, sysconf(_SC_NPROCESSORS_ONLN), nr_tasks, load, uptime,
             table);
}

void
stats_init(struct stats *s, int64_t now_ms)
{
    *s = (struct stats){.told_ms = now_ms - STATS_EVERY_MS};
}

static bool
is_same(const struct stats_counts *a, const struct stats_counts *b)
{
    return a->current == b->current && a->lifetime == b->lifetime &&
           a->pre_auth == b->pre_auth;
}

int64_t
stats_next_ms(const struct stats *s, const struct stats_counts *now)
{
    return s->told_ms +
           (is_same(&s->told, now) ? STATS_EVERY_MS : STATS_PAUSE_MS);
}

void
stats_check(struct stats *s, struct log *log, const struct stats_counts *now,
            size_t nr_tasks, int64_t now_ms)
{
    char head[STATS_MAX_HEAD];

    if (now_ms < stats_next_ms(s, now)) {
        return;
    }
    s->told = *now;
    s->told_ms = now_ms;
    if (!log_wants(log, LOG_INFO)) {
        return;
    }
    stats_head(head, sizeof(head), "STATS", __FILE_NAME__, __LINE__, nr_tasks);
    log_info(log,
             "%s|currentConnections=%zu|lifetimeConnections=%" PRIu64
             "|preAuthConnections=%zu",
             head, now->current, now->lifetime, now->pre_auth);
}
