/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's copy of a plugin's descriptor, checked and of today's size.
 */
#ifndef CORE_PLUGIN_DESCRIPTOR_H
#define CORE_PLUGIN_DESCRIPTOR_H

#include "error.h"

#define PLUGIN_MAX_SIZE 4096u /* of a struct that a plugin hands over */
#define PLUGIN_MAX_NAME 32u
#define PLUGIN_MAX_VERSION 64u
#define PLUGIN_MAX_TEXT 256u /* summary, help of an argument */
#define PLUGIN_MAX_USAGE 8192u
#define PLUGIN_MAX_ARGS 256u

/* Strings and functions belong to the plugin's object. `whole.map` and
 * `whole.reduce` point into this struct, which therefore does not move. */
struct plugin_descriptor {
    struct dt_plugin whole;
    struct dt_stage map;
    struct dt_stage reduce;
};

/* Checks `from` and copies it; what it does not have by its size is zero in
 * the copy. Errors: DT_ERR_ABI, or DT_ERR_INVAL with what is wrong. */
int plugin_descriptor_copy(struct plugin_descriptor *to,
                           const struct dt_plugin *from, struct error *err);

/* [a-z][a-z0-9-]{0,31} */
bool plugin_descriptor_is_name(const char *name);

#endif
