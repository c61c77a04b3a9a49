/* SPDX-License-Identifier: Apache-2.0
 *
 * Results as a picture of Unicode blocks, legible without colour.
 */
#ifndef MAPR_PLOT_H
#define MAPR_PLOT_H

#include "result.h"

/* Appends a chart at most `width` columns wide (0: 80): a curve when the rows
 * are buckets of time, else bars. It shows the first column that is a number;
 * rows as the table, without a limit as many as make sense. Nothing without
 * groups or without a column of numbers. */
void plot(const struct result *r, size_t width, struct text *out);

#endif
