/* SPDX-License-Identifier: Apache-2.0
 *
 * Time for deadlines: milliseconds that never jump.
 */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

#define CLOCK_NEVER INT64_MAX

static inline int64_t
clock_now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The earlier of two points in time. */
static inline int64_t
clock_earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* For poll: milliseconds until `deadline`, -1 for CLOCK_NEVER. */
static inline int
clock_poll_ms(int64_t deadline)
{
    int64_t left;

    if (deadline == CLOCK_NEVER) {
        return -1;
    }
    left = deadline - clock_now_ms();
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

#endif
