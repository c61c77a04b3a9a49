/* SPDX-License-Identifier: Apache-2.0
 *
 * How many distinct values: HyperLogLog, exact for few.
 *
 * Up to DISTINCT_EXACT values their 64-bit hashes are kept, so the count is
 * exact (but for a collision of hashes). Beyond, 2^14 registers are kept; the
 * standard error is 1.04 / sqrt(2^14) = 0.81 %. The state depends on the set
 * of values alone, so slicing, merging and order do not matter.
 */
#ifndef MAPR_DISTINCT_H
#define MAPR_DISTINCT_H

#include "arena.h"

#include <stdbool.h>

#define DISTINCT_EXACT 256u
#define DISTINCT_BITS 14u
#define DISTINCT_REGISTERS (1u << DISTINCT_BITS)

/* Memory of an arena; all zero is the empty set. */
struct distinct {
    uint64_t *hashes;   /* open addressing, 0 is free; NULL: none yet */
    uint8_t *registers; /* once there are too many hashes */
    uint32_t nr, cap;   /* hashes */
};

/* The hash that all hosts use. */
uint64_t distinct_hash(const void *data, size_t len);
/* Adds a hash. False: out of memory. */
bool distinct_add(struct distinct *d, uint64_t hash, struct arena *arena);
/* Adds a register of another set. False: out of memory. */
bool distinct_add_register(struct distinct *d, uint32_t index, uint8_t rank,
                           struct arena *arena);
uint64_t distinct_count(const struct distinct *d);

#endif
