/* SPDX-License-Identifier: Apache-2.0
 *
 * pcat: cat by several threads, for the test of slices and their order.
 */
#include <dtail/plugin.h>

static int
pcat_start(struct dt_query *q, void **self)
{
    if (dt_arg(q, "ordered", 0, NULL)) {
        dt_ordered(q);
    }
    *self = q;
    return DT_OK;
}

static int
pcat_feed(void *self, const struct dt_block *block)
{
    struct dt_line line = DT_LINE_INIT;
    int r = DT_OK;

    /* now by the block, now by the line */
    if (block->len && block->data[0] < 'g') {
        return dt_emit_block(self, block);
    }
    while (r == DT_OK && dt_next_line(block, &line)) {
        r = dt_emit_line(self, block, &line);
    }
    return r;
}

static const struct dt_stage pcat_map = {
    .size = sizeof(struct dt_stage),
    .start = pcat_start,
    .feed = pcat_feed,
};

static const struct dt_arg_spec pcat_args[] = {
    {.name = "ordered", .help = "one thread a source"},
    {.name = NULL},
};

static const struct dt_plugin plugin = {
    .abi = DT_PLUGIN_ABI,
    .flags = DT_TURBO | DT_PARALLEL,
    .size = sizeof(struct dt_plugin),
    .name = "pcat",
    .version = "1",
    .summary = "print whole files with several threads",
    .args = pcat_args,
    .map = &pcat_map,
};

DT_REGISTER_PLUGIN(plugin)
