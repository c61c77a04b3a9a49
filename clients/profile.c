/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run has used.
 */
#include "profile.h"

#include "cleanup.h"
#include "clock.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static double
seconds(struct timeval tv)
{
    return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static void
write_file(const struct client *c, const char *kind, const char *line)
{
    char when[32], path[4096];
    time_t now = time(NULL);
    struct tm tm;

    if (!localtime_r(&now, &tm) ||
        strftime(when, sizeof(when), "%Y%m%d_%H%M%S", &tm) == 0) {
        return;
    }
    snprintf(path, sizeof(path), "%s/%s_%s_%s.txt", c->flags->profile_dir,
             c->command->name, kind, when);
    mkdir(c->flags->profile_dir, 0755); /* what failed shows at the open */
    CLEANUP_FILE FILE *file = fopen(path, "we");
    if (!file || fputs(line, file) == EOF || fflush(file) != 0) {
        log_warn(c->diag.log, "profile %s: %s", path, strerrordesc_np(errno));
    }
}

void
profile_report(const struct client *c, int64_t start_ms, uint64_t bytes,
               uint64_t lines)
{
    const struct flags *f = c->flags;
    char line[512], counted[64] = "";
    struct rusage used;

    if (!f->profile && !f->cpuprofile && !f->memprofile) {
        return;
    }
    getrusage(RUSAGE_SELF, &used);
    if (lines) {
        snprintf(counted, sizeof(counted), "|lines=%" PRIu64, lines);
    }
    snprintf(line, sizeof(line),
             "PROFILE|%s|elapsed=%.3fs|user=%.3fs|system=%.3fs|"
             "maxrss=%ldKiB|bytes=%" PRIu64 "%s\n",
             c->command->name, (double)(clock_now_ms() - start_ms) / 1e3,
             seconds(used.ru_utime), seconds(used.ru_stime), used.ru_maxrss,
             bytes, counted);
    fputs(line, stderr);
    if (f->profile || f->cpuprofile) {
        write_file(c, "cpu", line);
    }
    if (f->profile || f->memprofile) {
        write_file(c, "mem", line);
    }
}
