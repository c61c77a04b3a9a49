/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin "trouble" of tests/plugins, for unit tests: a group's set-up and
 * tear-down.
 */
#ifndef CORE_TEST_TROUBLE_H
#define CORE_TEST_TROUBLE_H

#include "plugin.h"

#include <stdio.h>

static struct plugins *plugins;
static const struct plugin *trouble;

static int
open_plugins(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    if (plugins_open(TEST_PLUGIN_DIR, NULL, &plugins, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    plugins_load(plugins, NULL);
    trouble = plugins_find(plugins, "trouble");
    return trouble ? 0 : -1;
}

static int
free_plugins(void **state)
{
    (void)state;
    plugins_free(plugins);
    return 0;
}

#endif
