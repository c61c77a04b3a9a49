/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of numbers in a server's name: "web[01-20].example:2222".
 *
 * Threads: none of its own, no state.
 */
#ifndef CLIENTS_HOSTRANGE_H
#define CLIENTS_HOSTRANGE_H

#include "error.h"

#define HOSTRANGE_MAX 4u         /* ranges in a name */
#define HOSTRANGE_MAX_DIGITS 9u  /* of a number */
#define HOSTRANGE_MAX_NAME 300u  /* bytes of an item, expanded or not */
#define HOSTRANGE_MAX_NR 100000u /* names that an item may become */

/* Takes one name, not NUL-terminated and gone after the call. Anything but
 * DT_OK ends the expansion. */
typedef int hostrange_take_fn(void *ctx, const char *name, size_t len,
                              struct error *err);

/* Hands each name of a trimmed item to `take`, the last range counting
 * fastest. Numbers have at least as many digits as the first of their range:
 * [8-11] gives 8, 9, 10, 11, and [08-11] gives 08, 09, 10, 11. An item without
 * a range, "[IPV6]:PORT" among them, is handed on as it is.
 * DT_ERR_INVAL and DT_ERR_LIMIT name the item and what is allowed; else what
 * `take` returned. */
int hostrange_expand(const char *text, size_t len, hostrange_take_fn *take,
                     void *ctx, struct error *err);

#endif
