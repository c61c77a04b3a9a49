/* SPDX-License-Identifier: Apache-2.0
 *
 * The normal variant: one thread reads, one feeds line by line, a bounded
 * queue between them. (Turbo is lane_run: no queue, several threads.)
 */
#ifndef CORE_NORMAL_H
#define CORE_NORMAL_H

#include "lane.h"

/* Reads in a thread of its own and feeds the lane in the caller's until the
 * inputs are exhausted: DT_OK, or what ended it early. */
int normal_run(struct lane *l, struct lane_shared *shared);

#endif
