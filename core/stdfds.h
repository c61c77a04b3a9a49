/* SPDX-License-Identifier: Apache-2.0
 *
 * Standard descriptors that the caller of a program closed.
 */
#ifndef CORE_STDFDS_H
#define CORE_STDFDS_H

#include "error.h"

/* Opens /dev/null for those of 0, 1 and 2 that are not open: else a socket or
 * a file would get their numbers, and what is printed. `flags` as for open(2):
 * with O_RDONLY writing there stays an error. First thing in a program. DT_OK
 * or DT_ERR_IO. */
int stdfds_fill(int flags, struct error *err);

#endif
