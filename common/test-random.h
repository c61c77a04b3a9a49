/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers for tests: the same sequence for the same seed, everywhere.
 * The seed is printed, and taken from $TEST_SEED when it is set; how much is
 * tried is multiplied by $TEST_EFFORT (default 1).
 */
#ifndef COMMON_TEST_RANDOM_H
#define COMMON_TEST_RANDOM_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct rng {
    uint64_t state;
};

/* splitmix64 */
static inline uint64_t
rng_next(struct rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 … n - 1 */
static inline unsigned
rng_below(struct rng *r, unsigned n)
{
    return (unsigned)((rng_next(r) >> 32) * n >> 32);
}

/* $TEST_SEED, else `fallback`; tells which. */
static inline struct rng
rng_new(uint64_t fallback)
{
    const char *text = getenv("TEST_SEED");
    struct rng r = {text ? strtoull(text, NULL, 0) : fallback};

    printf("# TEST_SEED=%" PRIu64 "\n", r.state);
    return r;
}

static inline unsigned long
test_effort(unsigned long base)
{
    const char *text = getenv("TEST_EFFORT");

    return base * (text ? strtoul(text, NULL, 10) : 1);
}

#endif
