/* SPDX-License-Identifier: Apache-2.0
 *
 * grep: gives out the lines that patterns select, or counts them. What it
 * does is in common/select.c, which tail shares.
 */
#include "select.h"

static const struct dt_plugin plugin = {
    .abi = DT_PLUGIN_ABI,
    .flags = DT_TURBO | DT_PARALLEL | DT_PRINTED,
    .size = sizeof(struct dt_plugin),
    .name = "grep",
    .version = "5.0.0",
    .summary = "select lines by patterns",
    .usage = "dgrep --regex PATTERN [--and PATTERN] [--not PATTERN] FILE...\n"
             "drun grep --arg regex=PATTERN --files FILE\n"
             "Patterns are in Go's (RE2) syntax; see dgrep(1).\n",
    .partial_format = SELECT_PARTIAL_FORMAT,
    .args = select_arg_specs,
    .map = &select_map,
    .reduce = &select_reduce,
};

DT_REGISTER_PLUGIN(plugin)
