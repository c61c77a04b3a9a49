/* SPDX-License-Identifier: Apache-2.0
 *
 * Who makes room when as many connections as allowed have not logged in yet.
 */
#include "admission.h"
#include "clock.h"

#include <string.h>

/* Not logged in, or logged in when all places were taken. */
static bool
is_waiting(const struct connection *c)
{
    return c->session_pid && !c->place && !c->is_killed;
}

size_t
admission_count(struct connection *const *conns, size_t nr)
{
    size_t n = 0;

    for (size_t i = 0; i < nr; i++) {
        n += is_waiting(conns[i]);
    }
    return n;
}

size_t
admission_starting(struct connection *const *conns, size_t nr)
{
    size_t n = 0;

    for (size_t i = 0; i < nr; i++) {
        n += conns[i]->is_starting;
    }
    return n;
}

/* When a connection may be dropped. */
static int64_t
drop_ms(const struct connection *c, bool is_own)
{
    return c->began_ms + (c->nr_lookups > 0 ? ADMISSION_SLOW_MS
                          : is_own          ? ADMISSION_OWN_MS
                                            : ADMISSION_SILENT_MS);
}

struct connection *
admission_victim(struct connection *const *conns, size_t nr,
                 const char *address, int64_t now_ms, int64_t *retry_ms)
{
    struct connection *oldest = NULL, *own = NULL;

    *retry_ms = CLOCK_NEVER;
    for (size_t i = 0; i < nr && !own; i++) {
        struct connection *c = conns[i];
        bool is_own = strcmp(c->address, address) == 0;

        if (!is_waiting(c)) {
            continue;
        }
        *retry_ms = clock_earlier(*retry_ms, drop_ms(c, is_own));
        if (drop_ms(c, is_own) > now_ms) {
            continue;
        }
        oldest = oldest ? oldest : c;
        own = is_own ? c : NULL;
    }
    return own ? own : oldest;
}
