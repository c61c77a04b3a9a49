/* SPDX-License-Identifier: Apache-2.0
 *
 * The `Config` object that a plugin's load hook gets.
 */
#include "plugin-settings.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Old places of settings that belong to one plugin today. */
struct moved {
    const char *plugin, *member;
    char *(*value)(const struct config *c);
};

static char *
mapreduce_log_format(const struct config *c)
{
    return c->server.mapreduce_log_format;
}

static const struct moved moved[] = {
    {"map", "MapreduceLogFormat", mapreduce_log_format},
};

/* Adds what applies; false: nothing does. */
static bool
add_moved(json_t *object, const struct config *config, const char *name)
{
    bool any = false;

    for (size_t i = 0; i < sizeof(moved) / sizeof(*moved); i++) {
        const char *value =
            strcmp(moved[i].plugin, name) == 0 ? moved[i].value(config) : NULL;

        if (value && *value && !json_object_get(object, moved[i].member)) {
            json_object_set_new(object, moved[i].member, json_string(value));
            any = true;
        }
    }
    return any;
}

char *
plugin_settings_json(const struct config *config, const char *name)
{
    const struct config_plugin *c = config_find_plugin(config, name);
    const char *given = c && c->config ? c->config : "{}";
    json_t *object = config ? json_loads(given, 0, NULL) : NULL;
    char *text = json_is_object(object) && add_moved(object, config, name)
                     ? json_dumps(object, JSON_COMPACT)
                     : strdup(given);

    json_decref(object);
    return text;
}
