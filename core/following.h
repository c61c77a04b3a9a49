/* SPDX-License-Identifier: Apache-2.0
 *
 * A query over growing files: one thread watches and reads (core/follow.h),
 * one feeds the plugin, a bounded queue between them, so that files are
 * watched also while the client reads nothing.
 */
#ifndef CORE_FOLLOWING_H
#define CORE_FOLLOWING_H

#include "lane.h"

/* Follows until the query is cancelled, its inputs are stopped, or the plugin
 * wants no more of any source: DT_OK, or what ended it early. */
int following_run(struct lane *l, struct lane_shared *shared);

#endif
