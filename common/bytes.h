/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting and finding newlines in blocks, with SIMD where the processor has
 * it. Thread-safe; no allocation.
 */
#ifndef COMMON_BYTES_H
#define COMMON_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* Readable bytes that must stand behind every block that is searched: SIMD
 * tails and wide copies may run over. */
#define BYTES_SLACK 64u

/* How many newlines are in the block. */
size_t bytes_count_newlines(const char *data, size_t len);

#endif
