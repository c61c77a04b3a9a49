/* SPDX-License-Identifier: Apache-2.0
 *
 * How many lines a peer or a user may cause in the server's log.
 *
 * Each has LOGLIMIT_BURST lines, and LOGLIMIT_A_SECOND more with each second.
 * Lines beyond are not written but counted, and the count is: with the next
 * line that is written for him, by loglimit_tell, and when his place is given
 * to another. Nothing waits for it. When all places are taken by those who
 * are active, the others share one.
 *
 * The listener's thread.
 */
#ifndef CORE_LOGLIMIT_H
#define CORE_LOGLIMIT_H

#include "log.h"

#include <stdint.h>

#define LOGLIMIT_BURST 100
#define LOGLIMIT_A_SECOND 2
#define LOGLIMIT_MAX 256    /* places */
#define LOGLIMIT_MAX_WHO 80 /* bytes of a name, with the NUL */

struct loglimit_place {
    char who[LOGLIMIT_MAX_WHO]; /* "": nobody */
    int64_t full_ms;            /* when the whole burst is free again */
    uint64_t nr_suppressed;
};

struct loglimit {
    struct loglimit_place places[LOGLIMIT_MAX];
    struct loglimit_place others;
};

/* Whether a line about `who` may be written now; if so, what was withheld
 * before it is told first. */
bool loglimit_take(struct loglimit *l, struct log *log, const char *who,
                   int64_t now_ms);
/* Tells how many lines of `who` (NULL: of everybody) were withheld and not
 * told yet. */
void loglimit_tell(struct loglimit *l, struct log *log, const char *who);

#endif
