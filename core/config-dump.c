/* SPDX-License-Identifier: Apache-2.0
 *
 * The effective settings as JSON, in the order of the table.
 */
#include "config-table.h"

#include <jansson.h>

static json_t *dump_members(const char *prefix, const void *base);

static json_t *
dump_strings(const struct strv *strings)
{
    json_t *array = json_array();

    for (size_t i = 0; i < strings->nr; i++) {
        if (json_array_append_new(array, json_string(strings->v[i]))) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *
dump_hours(const int hours[2])
{
    json_t *array = json_array();

    if (json_array_append_new(array, json_integer(hours[0])) ||
        json_array_append_new(array, json_integer(hours[1]))) {
        json_decref(array);
        return NULL;
    }
    return array;
}

/* The elements as members of an object by their name, or as an array. */
static json_t *
dump_elements(const struct config_row *row, const void *base)
{
    const char *elements = *(char **)config_row_value(row, base);
    size_t nr = *config_row_nr(row, base);
    json_t *list = row->type == CONFIG_JOBS ? json_array() : json_object();
    char prefix[CONFIG_PREFIX_MAX];
    int failed = 0;

    config_row_element(row, prefix);
    for (size_t i = 0; i < nr && !failed; i++) {
        const void *element = elements + i * config_row_element_size(row);
        const struct config_plugin *plugin = element;
        const struct config_user_rules *user = element;

        switch (row->type) {
        case CONFIG_PLUGINS:
            failed = json_object_set_new(list, plugin->name,
                                         dump_members(prefix, element));
            break;
        case CONFIG_USERS:
            failed = json_object_set_new(list, user->user,
                                         dump_strings(&user->rules));
            break;
        default:
            failed = json_array_append_new(list, dump_members(prefix, element));
            break;
        }
    }
    if (failed) {
        json_decref(list);
        return NULL;
    }
    return list;
}

/* A new reference; NULL: out of memory or not UTF-8. */
static json_t *
dump_value(const struct config_row *row, const void *base)
{
    const void *value = config_row_value(row, base);

    switch (row->type) {
    case CONFIG_SECTION:
        return dump_members(row->path, base);
    case CONFIG_BOOL:
        return json_boolean(*(const bool *)value);
    case CONFIG_TRISTATE:
        switch (*(const enum config_tristate *)value) {
        case CONFIG_UNSET:
            return json_null();
        case CONFIG_NO:
            return json_false();
        default:
            return json_true();
        }
    case CONFIG_INT:
        return json_integer(*(const int *)value);
    case CONFIG_STRINGS:
        return dump_strings(value);
    case CONFIG_HOURS:
        return dump_hours(value);
    case CONFIG_OBJECT:
    case CONFIG_COLORS:
        return json_loads(*(char *const *)value, 0, NULL);
    case CONFIG_PLUGINS:
    case CONFIG_USERS:
    case CONFIG_JOBS:
        return dump_elements(row, base);
    default:
        return json_string(*(char *const *)value);
    }
}

/* The members of the object at `prefix`, keys of the Go program left out. */
static json_t *
dump_members(const char *prefix, const void *base)
{
    json_t *object = json_object();

    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];

        if (row->type == CONFIG_FOREIGN || !config_row_is_child(row, prefix)) {
            continue;
        }
        if (json_object_set_new(object, config_row_name(row),
                                dump_value(row, base))) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static int
append(const char *data, size_t len, void *ctx)
{
    return buf_append(ctx, data, len) == DT_OK ? 0 : -1;
}

int
config_dump(const struct config *c, struct buf *out)
{
    json_t *whole = dump_members("", c);
    size_t before = out->len;
    int rc = DT_OK;

    if (!whole || json_dump_callback(whole, append, out, JSON_INDENT(4)) ||
        buf_puts(out, "\n") != DT_OK) {
        out->len = before;
        rc = DT_ERR_NOMEM;
    }
    json_decref(whole);
    return rc;
}
