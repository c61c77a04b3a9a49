/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores the host keys that the user accepted, each file written once.
 *
 * Threads: the pool's.
 */
#ifndef CLIENTS_NEWKEYS_H
#define CLIENTS_NEWKEYS_H

#include "pool.h"

/* Adds the keys to the known hosts of their routes and to the files; says so,
 * or what went wrong. */
void newkeys_store(const struct pool_host *hosts, size_t nr,
                   const struct diag *diag);

#endif
