/* SPDX-License-Identifier: Apache-2.0
 *
 * Plugins that must be refused at load, or only just not: one object for each
 * REFUSE_… that the Makefile defines. All else of them is right.
 */
#include <dtail/plugin.h>

#include <stdlib.h>

#if !defined(REFUSE_NO_START) && !defined(REFUSE_NO_MAP)
static int
refused_start(struct dt_query *q, void **self)
{
    *self = q;
    return DT_OK;
}
#endif

#if !defined(REFUSE_NO_FEED) && !defined(REFUSE_NO_MAP)
static int
refused_feed(void *self, const struct dt_block *block)
{
    return dt_emit_block((struct dt_query *)self, block);
}
#endif

#ifndef NAME
#define NAME "refused"
#endif

#if defined(REFUSE_SHORT_STAGE)
#define STAGE_SIZE offsetof(struct dt_stage, close)
#else
#define STAGE_SIZE sizeof(struct dt_stage)
#endif

#ifndef REFUSE_NO_MAP
static const struct dt_stage refused_map = {
    .size = STAGE_SIZE,
#ifndef REFUSE_NO_START
    .start = refused_start,
#endif
#ifndef REFUSE_NO_FEED
    .feed = refused_feed,
#endif
};
#endif

#ifdef REFUSE_LOAD
static int
refused_load(struct dt_query *q, const char *config_json)
{
    dt_log(q, DT_LOG_WARN, "about to fail");
    return dt_error(q, DT_ERR_INVAL, "the Config is %s, which is not enough",
                    config_json);
}
#endif

#ifdef REFUSE_ARGS
static const struct dt_arg_spec refused_args[] = {
    {"good", "is good", 0, 0},
    {"a=b", "cannot be given on a command line", 0, 0},
    {NULL, NULL, 0, 0},
};
#endif

#ifdef REFUSE_TWO_SYMBOLS
DT_EXPORT int dt_trouble_second(void);
int
dt_trouble_second(void)
{
    return 2;
}
#endif

/* No code of a file that is refused by its looks may run. */
__attribute__((constructor)) static void
refused_ran(void)
{
    setenv("DTAIL_TEST_RAN", NAME, 1);
}

/* A later release: more at the end than this host knows. */
struct future {
    struct dt_plugin plugin;
    void *later[4];
};

static const struct future descriptor = {
    .plugin =
        {
#ifdef REFUSE_ABI
            .abi = DT_PLUGIN_ABI + 1,
#else
            .abi = DT_PLUGIN_ABI,
#endif
#ifdef REFUSE_COMBINE
            .flags = DT_COMBINE,
#else
            .flags = DT_TURBO,
#endif
#if defined(REFUSE_SHORT_STRUCT)
            .size = offsetof(struct dt_plugin, map),
#elif defined(REFUSE_HUGE_STRUCT)
            .size = (size_t)1 << 40,
#elif defined(FUTURE)
            .size = sizeof(struct future),
#else
            .size = sizeof(struct dt_plugin),
#endif
            .name = NAME,
#ifdef REFUSE_VERSION
            .version = "1.0\033[31m",
#else
            .version = "1.0",
#endif
            .summary = "is not what it should be",
#ifdef REFUSE_ARGS
            .args = refused_args,
#endif
#ifdef REFUSE_LOAD
            .load = refused_load,
#endif
#ifndef REFUSE_NO_MAP
            .map = &refused_map,
#endif
        },
    .later = {NULL, NULL, NULL, NULL},
};

#if defined(REFUSE_NULL)
DT_EXPORT const struct dt_plugin *dt_plugin_entry(void);
const struct dt_plugin *
dt_plugin_entry(void)
{
    return descriptor.plugin.abi ? NULL : &descriptor.plugin;
}
#elif defined(REFUSE_NO_ENTRY)
DT_EXPORT const struct dt_plugin *dt_plugin_descriptor(void);
const struct dt_plugin *
dt_plugin_descriptor(void)
{
    return &descriptor.plugin;
}
#else
DT_REGISTER_PLUGIN(descriptor.plugin)
#endif
