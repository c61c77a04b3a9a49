/* SPDX-License-Identifier: Apache-2.0
 *
 * The `Config` object that a plugin's load hook gets.
 */
#ifndef CORE_PLUGIN_SETTINGS_H
#define CORE_PLUGIN_SETTINGS_H

#include "config.h"

/* The object as text: Server.Plugins.NAME.Config, and in it the settings of
 * this plugin that stand elsewhere, as the Go program has them. `config` may
 * be NULL. A new string; NULL when out of memory. */
char *plugin_settings_json(const struct config *config, const char *name);

#endif
