/* SPDX-License-Identifier: Apache-2.0
 *
 * tail: gives out the lines that patterns select, of files that grow. The
 * core follows the files; what is done with their lines is in
 * common/select.c, which grep shares.
 */
#include "select.h"

static const struct dt_plugin plugin = {
    .abi = DT_PLUGIN_ABI,
    .flags = DT_TURBO | DT_FOLLOW | DT_PRINTED,
    .size = sizeof(struct dt_plugin),
    .name = "tail",
    .version = "5.0.0",
    .summary = "follow files and select lines by patterns",
    .usage = "dtail [--regex PATTERN] [--lines N] FILE...\n"
             "Patterns are in Go's (RE2) syntax; see dgrep(1).\n",
    .partial_format = SELECT_PARTIAL_FORMAT,
    .args = select_arg_specs,
    .map = &select_map,
    .reduce = &select_reduce,
};

DT_REGISTER_PLUGIN(plugin)
