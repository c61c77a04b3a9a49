/* SPDX-License-Identifier: Apache-2.0
 *
 * A limit of the memory that a process that faces strangers can take: what it
 * has at the start, and some more.
 */
#ifndef CORE_MEMLIMIT_H
#define CORE_MEMLIMIT_H

#include "error.h"

/* From now on the process gets at most `more` further bytes of memory of its
 * own. Without /proc, and under sanitizers, which keep books of their own,
 * nothing is limited. DT_OK, or an error of the system. */
int memlimit_set(size_t more, struct error *err);

#endif
