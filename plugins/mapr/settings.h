/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin's `Config` object, read once by the load hook.
 *
 * Members: "MapreduceLogFormat" (the format of queries with a table and
 * without `logformat`), "MemoryBudgetMiB" (of one instance), "Custom1" and
 * "Custom2" (patterns with named groups: the log formats of these names).
 */
#ifndef MAPR_SETTINGS_H
#define MAPR_SETTINGS_H

#include "text.h"

#define SETTINGS_BUDGET_MIB 512
#define SETTINGS_MAX_BUDGET_MIB (1024 * 1024)

/* Const after settings_read; owned strings, NULL: not given. */
struct settings {
    char *logformat;
    char *custom[2];
    size_t budget; /* bytes */
};

/* DT_OK; DT_ERR_INVAL with the reason in err; DT_ERR_NOMEM. On an error there
 * is nothing to free. */
int settings_read(struct settings *s, const char *json, char *err,
                  size_t err_size);
void settings_fini(struct settings *s);

#endif
