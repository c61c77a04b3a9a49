/* SPDX-License-Identifier: Apache-2.0
 *
 * When a client that follows connects to a server again.
 */
#include "reconnect.h"

#include "clock.h"

#include <sys/random.h>

#define FIRST_MS 2000
#define LAST_MS 60000
#define GOOD_MS 60000 /* a session this long starts the count anew */

void
reconnect_established(struct reconnect *r)
{
    r->established_ms = clock_now_ms();
}

int64_t
reconnect_delay_ms(struct reconnect *r)
{
    int64_t delay = FIRST_MS;
    uint32_t random = 0;

    if (r->established_ms && clock_now_ms() - r->established_ms >= GOOD_MS) {
        r->nr_failed = 0;
    }
    r->established_ms = 0;
    for (unsigned i = 0; i < r->nr_failed && delay < LAST_MS; i++) {
        delay *= 2;
    }
    delay = delay < LAST_MS ? delay : LAST_MS;
    r->nr_failed++;
    (void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
    return delay * (800 + random % 401) / 1000;
}

bool
reconnect_helps(const struct link_result *link,
                const struct reduce_summary *sum, size_t nr_queries)
{
    if (sum->nr_ended == nr_queries) {
        /* a server that stops sends its clients home */
        return sum->status == DT_ERR_CANCELLED;
    }
    return link->err.status != DT_ERR_ACCES && link->err.status != DT_ERR_INVAL;
}
