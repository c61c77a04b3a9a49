/* SPDX-License-Identifier: Apache-2.0
 *
 * cat: gives out every line. The smallest real plugin: read this first.
 */
#include <dtail/plugin.h>

static int
cat_start(struct dt_query *q, void **self)
{
    *self = q; /* nothing to remember but the way back to the host */
    return DT_OK;
}

static int
cat_feed(void *self, const struct dt_block *block)
{
    return block->len ? dt_emit_block(self, block) : DT_OK;
}

static const struct dt_stage cat_map = {
    .size = sizeof(struct dt_stage),
    .start = cat_start,
    .feed = cat_feed,
};

static const struct dt_plugin plugin = {
    .abi = DT_PLUGIN_ABI,
    .flags = DT_TURBO | DT_VERBATIM,
    .size = sizeof(struct dt_plugin),
    .name = "cat",
    .version = "5.0.0",
    .summary = "print whole files",
    .map = &cat_map,
};

DT_REGISTER_PLUGIN(plugin)
