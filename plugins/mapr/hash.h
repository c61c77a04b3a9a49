/* SPDX-License-Identifier: Apache-2.0
 *
 * The hash of group keys and of distinct values: XXH3, inlined.
 */
#ifndef MAPR_HASH_H
#define MAPR_HASH_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#define XXH_INLINE_ALL
#include <xxhash.h>
#pragma GCC diagnostic pop

#endif
