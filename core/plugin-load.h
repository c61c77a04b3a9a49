/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin's load and unload hook, and the host that they see.
 */
#ifndef CORE_PLUGIN_LOAD_H
#define CORE_PLUGIN_LOAD_H

#include "error.h"

struct log;

/* Of one plugin; all zero but name and log, does not move. The plugin may keep
 * &query for its own threads until unload. */
struct plugin_loader {
    struct dt_query query;
    const char *name;
    struct log *log;  /* or NULL */
    struct error err; /* what the hook told with dt_error */
    bool is_loading;  /* inside the load hook */
    bool is_loaded;   /* it answered DT_OK, or there is none */
};

/* Calls the load hook. DT_OK, or the hook's error with "load failed: …". */
int plugin_load_run(struct plugin_loader *l, const struct dt_plugin *plugin,
                    const char *config, struct error *err);
/* Calls the unload hook if load went well. */
void plugin_load_undo(struct plugin_loader *l, const struct dt_plugin *plugin);

#endif
