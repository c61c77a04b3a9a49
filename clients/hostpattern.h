/* SPDX-License-Identifier: Apache-2.0
 *
 * The patterns of SSH's files (ssh_config(5), PATTERNS): lists of names with
 * "*" and "?", of which those with "!" in front rule out.
 *
 * Threads: any.
 */
#ifndef CLIENTS_HOSTPATTERN_H
#define CLIENTS_HOSTPATTERN_H

#include <dtail/plugin.h>

/* Does the list, with commas between, match the name (in lower case)? One
 * pattern has to, and no negated one may. */
bool hostpattern_matches(const char *list, const char *name);

#endif
