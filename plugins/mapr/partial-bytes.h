/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks in a partial, for partial-write.c and partial-read.c.
 */
#ifndef MAPR_PARTIAL_BYTES_H
#define MAPR_PARTIAL_BYTES_H

#include <stdlib.h>

#define PARTIAL_MAGIC "DTM"
/* Kinds of records. */
#define PARTIAL_GROUP 'g'
#define PARTIAL_OTHER 'o'
#define PARTIAL_STATS 's'
/* Forms of a set of distinct values. */
#define PARTIAL_HASHES 0
#define PARTIAL_REGISTERS 1

#endif
