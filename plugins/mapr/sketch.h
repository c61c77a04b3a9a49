/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantiles: DDSketch (Masson, Rim, Lee, 2019). A quantile is within 1 % of
 * a value that stands at that rank, whatever the distribution, and sketches
 * merge without loss: slicing, servers and order do not matter.
 *
 * The bound holds as long as the values of one sign span fewer than
 * SKETCH_SPAN buckets (a ratio of 10^35); beyond, the smallest magnitudes are
 * counted as the smallest that is kept.
 */
#ifndef MAPR_SKETCH_H
#define MAPR_SKETCH_H

#include "arena.h"

#include <stdbool.h>

#define SKETCH_SPAN 4096u
#define SKETCH_ERROR 0.01
#define SKETCH_MIN_INDEX (-40000) /* beyond the range of a double */
#define SKETCH_MAX_INDEX 40000

/* Counts of consecutive buckets, from number `base` on. */
struct sketch_store {
    uint64_t *counts; /* of an arena; NULL: none */
    int32_t base;
    uint32_t nr, cap;
};

/* All zero is empty. */
struct sketch {
    struct sketch_store positive, negative;
    uint64_t zero, pos_inf, neg_inf;
    double min, max; /* of the finite values; valid when there is one */
    bool has_finite;
};

/* Adds a value; NaN is nothing. False: out of memory. */
bool sketch_add(struct sketch *s, double value, struct arena *arena);
/* Adds `count` to a bucket. False: out of memory. */
bool sketch_add_bucket(struct sketch_store *st, int32_t index, uint64_t count,
                       struct arena *arena);
/* Widens min and max. */
void sketch_add_range(struct sketch *s, double min, double max);
/* The value at quantile q (0 … 1); 0 when empty. */
double sketch_quantile(const struct sketch *s, double q);

#endif
