/* SPDX-License-Identifier: Apache-2.0
 *
 * The host that a lane is for its plugin.
 *
 * Threads: calls come from inside a hook of the lane's instance.
 */
#ifndef CORE_LANE_HOST_H
#define CORE_LANE_HOST_H

#include "lane.h"

/* The struct dt_query it is called with is a lane's `base`. */
extern const struct dt_host lane_host;

#endif
