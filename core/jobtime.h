/* SPDX-License-Identifier: Apache-2.0
 *
 * Days and hours of jobs, by the local calendar (spec server 12): date tokens
 * in the names of files, time ranges, the change of the day.
 *
 * Time comes in as an argument, so that a test can run days.
 */
#ifndef CORE_JOBTIME_H
#define CORE_JOBTIME_H

#include "buf.h"

#include <time.h>

#define JOBTIME_DAY 9u /* bytes: YYYYMMDD and NUL */

/* Local date. */
void jobtime_day(time_t now, char out[JOBTIME_DAY]);

/* Appends `text` with $today, $yesterday, $yyesterday, $yyyesterday and
 * $tomorrow filled in, and a NUL behind its end. Days are those of the
 * calendar: also where one has 23 or 25 hours. DT_OK or DT_ERR_NOMEM. */
int jobtime_expand(const char *text, time_t now, struct buf *out);

/* The length of the date token that `text` begins with; 0: none. */
size_t jobtime_token(const char *text, size_t len);

/* Whether the local hour is in [from, to). From 22 to 4 goes over midnight; a
 * range whose ends are the same has no hour. */
bool jobtime_in_range(const int range[2], time_t now);

/* Seconds to the next local day, at least 1. */
int64_t jobtime_to_next_day(time_t now);

#endif
