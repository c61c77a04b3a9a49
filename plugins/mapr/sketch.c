/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantiles: DDSketch.
 */
#include "sketch.h"

#include <math.h>
#include <string.h>

/* Bucket i holds the magnitudes in (gamma^(i-1), gamma^i]. */
#define GAMMA ((1 + SKETCH_ERROR) / (1 - SKETCH_ERROR))

static int32_t
index_of(double magnitude)
{
    return (int32_t)ceil(log(magnitude) / log(GAMMA));
}

static double
value_of(int32_t index)
{
    return 2 * pow(GAMMA, index) / (GAMMA + 1);
}

/* Makes the store reach from `low` to `high`, both included; at most
 * SKETCH_SPAN buckets. */
static bool
reach(struct sketch_store *st, int32_t low, int32_t high, struct arena *arena)
{
    uint32_t nr = (uint32_t)(high - low) + 1;
    uint32_t cap = st->cap ? st->cap : 32;
    uint32_t shift = (uint32_t)(st->base - low);
    uint64_t *counts = st->counts;

    if (nr > st->cap) {
        while (cap < nr) {
            cap *= 2;
        }
        counts = arena_alloc(arena, cap * sizeof(*counts));
        if (!counts) {
            return false;
        }
        st->cap = cap;
    }
    if (st->nr) {
        memmove(counts + shift, st->counts, st->nr * sizeof(*counts));
    }
    memset(counts, 0, shift * sizeof(*counts));
    memset(counts + shift + st->nr, 0, (nr - shift - st->nr) * sizeof(*counts));
    st->counts = counts;
    st->base = low;
    st->nr = nr;
    return true;
}

/* Moves the counts below `low` into bucket `low`. */
static void
collapse(struct sketch_store *st, int32_t low)
{
    uint32_t drop = (uint32_t)(low - st->base);
    uint64_t sum = 0;

    if (drop >= st->nr) {
        drop = st->nr - 1;
    }
    for (uint32_t i = 0; i <= drop; i++) {
        sum += st->counts[i];
    }
    memmove(st->counts, st->counts + drop,
            (st->nr - drop) * sizeof(*st->counts));
    st->counts[0] = sum;
    st->nr -= drop;
    st->base = low;
}

bool
sketch_add_bucket(struct sketch_store *st, int32_t index, uint64_t count,
                  struct arena *arena)
{
    int32_t low, high;

    if (st->nr == 0) {
        st->base = index;
        if (!reach(st, index, index, arena)) {
            return false;
        }
    }
    low = st->base;
    high = st->base + (int32_t)st->nr - 1;
    if (index > high) {
        int32_t least = index - (int32_t)SKETCH_SPAN + 1;

        if (low < least) {
            collapse(st, least);
            low = st->base;
        }
        if (!reach(st, low, index, arena)) {
            return false;
        }
    } else if (index < low) {
        int32_t least = high - (int32_t)SKETCH_SPAN + 1;

        if (index < least) {
            index = least;
        }
        if (index < low && !reach(st, index, high, arena)) {
            return false;
        }
    }
    st->counts[index - st->base] += count;
    return true;
}

void
sketch_add_range(struct sketch *s, double min, double max)
{
    if (!s->has_finite || min < s->min) {
        s->min = min;
    }
    if (!s->has_finite || max > s->max) {
        s->max = max;
    }
    s->has_finite = true;
}

bool
sketch_add(struct sketch *s, double value, struct arena *arena)
{
    if (isnan(value)) {
        return true;
    }
    if (isinf(value)) {
        *(value > 0 ? &s->pos_inf : &s->neg_inf) += 1;
        return true;
    }
    sketch_add_range(s, value, value);
    if (value == 0) {
        s->zero++;
        return true;
    }
    return sketch_add_bucket(value > 0 ? &s->positive : &s->negative,
                             index_of(fabs(value)), 1, arena);
}

static uint64_t
store_sum(const struct sketch_store *st)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < st->nr; i++) {
        sum += st->counts[i];
    }
    return sum;
}

static double
within(const struct sketch *s, double value)
{
    return value < s->min ? s->min : value > s->max ? s->max : value;
}

double
sketch_quantile(const struct sketch *s, double q)
{
    uint64_t total = s->zero + s->pos_inf + s->neg_inf +
                     store_sum(&s->positive) + store_sum(&s->negative);
    double rank = q * (double)(total - 1);
    uint64_t seen = s->neg_inf;

    if (total == 0) {
        return 0;
    }
    if ((double)seen > rank) {
        return -HUGE_VAL;
    }
    for (uint32_t i = s->negative.nr; i-- > 0;) {
        seen += s->negative.counts[i];
        if ((double)seen > rank) {
            return within(s, -value_of(s->negative.base + (int32_t)i));
        }
    }
    seen += s->zero;
    if ((double)seen > rank) {
        return 0;
    }
    for (uint32_t i = 0; i < s->positive.nr; i++) {
        seen += s->positive.counts[i];
        if ((double)seen > rank) {
            return within(s, value_of(s->positive.base + (int32_t)i));
        }
    }
    return HUGE_VAL;
}
