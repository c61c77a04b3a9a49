/* SPDX-License-Identifier: Apache-2.0
 *
 * --profile, --cpuprofile, --memprofile: what a run has used, in one line on
 * standard error and in a file each (spec clients 16).
 */
#ifndef CLIENTS_PROFILE_H
#define CLIENTS_PROFILE_H

#include "client.h"

/* Prints and writes what was asked for. `start_ms`: clock_now_ms at the start;
 * `bytes`, `lines`: output, lines 0 when nobody counted them. Failures to write
 * are told and change nothing. */
void profile_report(const struct client *c, int64_t start_ms, uint64_t bytes,
                    uint64_t lines);

#endif
