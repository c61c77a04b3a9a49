/* SPDX-License-Identifier: Apache-2.0
 *
 * Monotonic milliseconds for deadlines.
 */
#ifndef CLIENTS_CLOCK_H
#define CLIENTS_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NEVER INT64_MAX

static inline int64_t
clock_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* For poll: milliseconds until `deadline`, -1 for never. */
static inline int
clock_left(int64_t deadline)
{
    int64_t left;

    if (deadline == CLOCK_NEVER) {
        return -1;
    }
    left = deadline - clock_ms();
    return left < 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

#endif
