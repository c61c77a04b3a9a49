/* SPDX-License-Identifier: Apache-2.0
 *
 * Which word may have been meant: how far names are from each other.
 *
 * Threads: any.
 */
#ifndef CORE_GUESS_H
#define CORE_GUESS_H

#include <dtail/plugin.h>

#define GUESS_MAX 64u /* bytes of a name that is worth a guess */

/* How many letters must be changed, added or left out to get from one name to
 * the other (Levenshtein); upper and lower case are the same. Both are below
 * GUESS_MAX bytes. */
size_t guess_distance(const char *a, const char *b);

#endif
