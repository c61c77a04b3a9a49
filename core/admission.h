/* SPDX-License-Identifier: Apache-2.0
 *
 * Who makes room when as many connections as allowed have not logged in yet.
 *
 * Strangers must not keep others out by connecting and saying nothing, and
 * many clients that come at the same time must not push each other out. So
 * whoever is slow makes room, and who is quick waits in the kernel's queue.
 */
#ifndef CORE_ADMISSION_H
#define CORE_ADMISSION_H

#include "connection.h"

/* A connection that has tried no key after this time may be dropped, … */
#define ADMISSION_SILENT_MS 500
/* … for another of the same address after this one, … */
#define ADMISSION_OWN_MS 150
/* … and one that has not logged in after this one. */
#define ADMISSION_SLOW_MS 2000

/* Connections that have not logged in, but for those on their way out. */
size_t admission_count(struct connection *const *conns, size_t nr);

/* Connections whose session process does not wait for its peer yet. */
size_t admission_starting(struct connection *const *conns, size_t nr);

/* The one to drop for another connection; the oldest that may be, of
 * `address` itself if there is one: who comes often stands in his own way.
 * `conns` are in the order in which they came. NULL: none may be dropped
 * before *retry_ms. */
struct connection *admission_victim(struct connection *const *conns, size_t nr,
                                    const char *address, int64_t now_ms,
                                    int64_t *retry_ms);

#endif
