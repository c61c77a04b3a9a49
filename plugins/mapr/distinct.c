/* SPDX-License-Identifier: Apache-2.0
 *
 * How many distinct values. The estimate is the "improved raw estimator" of
 * O. Ertl, New cardinality estimation algorithms for HyperLogLog sketches
 * (2017), which needs no table of bias.
 */
#include "distinct.h"

#include "hash.h"

#include <math.h>

#define RANKS (64u - DISTINCT_BITS + 2) /* 0 … 51 */

uint64_t
distinct_hash(const void *data, size_t len)
{
    uint64_t h = XXH3_64bits(data, len);

    return h ? h : 1;
}

static void
set_register(struct distinct *d, uint32_t index, uint8_t rank)
{
    if (d->registers[index] < rank) {
        d->registers[index] = rank;
    }
}

static void
to_register(struct distinct *d, uint64_t hash)
{
    uint64_t rest = hash << DISTINCT_BITS | (uint64_t)1 << (DISTINCT_BITS - 1);

    set_register(d, (uint32_t)(hash >> (64 - DISTINCT_BITS)),
                 (uint8_t)(__builtin_clzll(rest) + 1));
}

/* From hashes to registers. */
static bool
make_dense(struct distinct *d, struct arena *arena)
{
    d->registers = arena_alloc(arena, DISTINCT_REGISTERS);
    if (!d->registers) {
        return false;
    }
    for (uint32_t i = 0; i < d->cap; i++) {
        if (d->hashes[i]) {
            to_register(d, d->hashes[i]);
        }
    }
    d->hashes = NULL;
    d->nr = d->cap = 0;
    return true;
}

static bool
insert(struct distinct *d, uint64_t hash)
{
    uint32_t mask = d->cap - 1, at = (uint32_t)hash & mask;

    while (d->hashes[at] && d->hashes[at] != hash) {
        at = (at + 1) & mask;
    }
    if (d->hashes[at] == hash) {
        return false;
    }
    d->hashes[at] = hash;
    return true;
}

static bool
grow(struct distinct *d, struct arena *arena)
{
    uint64_t *old = d->hashes;
    uint32_t old_cap = d->cap;

    d->cap = old_cap ? 2 * old_cap : 8;
    d->hashes = arena_alloc(arena, d->cap * sizeof(*d->hashes));
    if (!d->hashes) {
        d->hashes = old;
        d->cap = old_cap;
        return false;
    }
    for (uint32_t i = 0; i < old_cap; i++) {
        if (old[i]) {
            insert(d, old[i]);
        }
    }
    return true;
}

bool
distinct_add(struct distinct *d, uint64_t hash, struct arena *arena)
{
    if (!d->registers) {
        if (2 * d->nr >= d->cap && !grow(d, arena)) {
            return false;
        }
        d->nr += insert(d, hash);
        return d->nr <= DISTINCT_EXACT || make_dense(d, arena);
    }
    to_register(d, hash);
    return true;
}

bool
distinct_add_register(struct distinct *d, uint32_t index, uint8_t rank,
                      struct arena *arena)
{
    if (!d->registers && !make_dense(d, arena)) {
        return false;
    }
    if (index < DISTINCT_REGISTERS && rank < RANKS) {
        set_register(d, index, rank);
    }
    return true;
}

static double
sigma(double x)
{
    double y = 1, z = x, before;

    if (x >= 1) {
        return HUGE_VAL;
    }
    do {
        x *= x;
        before = z;
        z += x * y;
        y += y;
    } while (z > before);
    return z;
}

static double
tau(double x)
{
    double y = 1, z = 1 - x, before;

    if (x <= 0 || x >= 1) {
        return 0;
    }
    do {
        x = sqrt(x);
        before = z;
        y *= 0.5;
        z -= (1 - x) * (1 - x) * y;
    } while (z < before);
    return z / 3;
}

uint64_t
distinct_count(const struct distinct *d)
{
    uint32_t nr[RANKS] = {0};
    double m = DISTINCT_REGISTERS, z;

    if (!d->registers) {
        return d->nr;
    }
    for (uint32_t i = 0; i < DISTINCT_REGISTERS; i++) {
        nr[d->registers[i]]++;
    }
    z = m * tau(1 - nr[RANKS - 1] / m);
    for (uint32_t k = RANKS - 2; k >= 1; k--) {
        z = 0.5 * (z + nr[k]);
    }
    z += m * sigma(nr[0] / m);
    return (uint64_t)(m * m / (2 * log(2.0)) / z + 0.5);
}
