/* SPDX-License-Identifier: Apache-2.0
 *
 * How many lines a peer or a user may cause in the server's log.
 */
#include "loglimit.h"

#include <string.h>

#define LINE_MS (1000 / LOGLIMIT_A_SECOND)

static void
tell(struct loglimit_place *p, struct log *log, const char *name)
{
    if (p->nr_suppressed > 0) {
        log_warn(log, "%s|%llu similar messages suppressed", name,
                 (unsigned long long)p->nr_suppressed);
        p->nr_suppressed = 0;
    }
}

/* The place of `who`: his own, a free one, or one whose owner has been quiet
 * for so long that he has all his lines again; NULL: none. */
static struct loglimit_place *
find(struct loglimit *l, struct log *log, const char *who, int64_t now_ms)
{
    struct loglimit_place *idle = NULL;

    for (size_t i = 0; i < LOGLIMIT_MAX; i++) {
        struct loglimit_place *p = &l->places[i];

        if (strncmp(p->who, who, sizeof(p->who) - 1) == 0) {
            return p;
        }
        if (!idle && p->full_ms <= now_ms) {
            idle = p;
        }
    }
    if (idle) {
        tell(idle, log, idle->who);
        *idle = (struct loglimit_place){0};
        snprintf(idle->who, sizeof(idle->who), "%s", who);
    }
    return idle;
}

bool
loglimit_take(struct loglimit *l, struct log *log, const char *who,
              int64_t now_ms)
{
    struct loglimit_place *p = find(l, log, who, now_ms);
    int64_t from;

    if (!p) {
        p = &l->others;
    }
    from = p->full_ms > now_ms ? p->full_ms : now_ms;
    if (from + LINE_MS > now_ms + (int64_t)LOGLIMIT_BURST * LINE_MS) {
        p->nr_suppressed++;
        return false;
    }
    p->full_ms = from + LINE_MS;
    tell(p, log, p == &l->others ? "further peers" : who);
    return true;
}

void
loglimit_tell(struct loglimit *l, struct log *log, const char *who)
{
    for (size_t i = 0; i < LOGLIMIT_MAX; i++) {
        struct loglimit_place *p = &l->places[i];

        if (!who || strncmp(p->who, who, sizeof(p->who) - 1) == 0) {
            tell(p, log, p->who);
        }
    }
    if (!who) {
        tell(&l->others, log, "further peers");
    }
}
