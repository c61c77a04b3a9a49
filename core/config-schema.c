/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON schema of the settings (draft 7), from the table: for editors and
 * for checks before a file is rolled out. What it lets pass may still be
 * refused by --check-config (patterns, addresses, lengths in bytes); what it
 * refuses is refused there, but for names in other letter cases.
 */
#include "config-table.h"
#include "config-value.h"

#include <ctype.h>
#include <jansson.h>

#define SCHEMA "http://json-schema.org/draft-07/schema#"

/* All of these return a new reference; NULL: out of memory. What is put into
 * an object is taken in any case. */
static json_t *members(const char *prefix);

/* "null leaves the default" everywhere. */
static json_t *
type_or_null(const char *type)
{
    return json_pack("{s:[ss]}", "type", type, "null");
}

/* A word in any letter case: "^([nN][oO]|…)$". */
static json_t *
word_pattern(const struct config_row *row)
{
    struct buf text = {0};
    json_t *pattern = NULL;
    int rc = buf_puts(&text, row->empty_word ? "^(|" : "^(");

    for (size_t i = 0; rc == DT_OK && row->words[i]; i++) {
        rc = buf_puts(&text, i ? "|" : "");
        for (const char *p = row->words[i]; rc == DT_OK && *p; p++) {
            rc = buf_printf(&text, "[%c%c]", tolower((unsigned char)*p),
                            toupper((unsigned char)*p));
        }
    }
    rc = rc ? rc : buf_puts(&text, ")$");
    if (rc == DT_OK) {
        pattern = json_stringn(text.data, text.len);
    }
    buf_fini(&text);
    return pattern;
}

static json_t *
of_word(const struct config_row *row)
{
    json_t *s = type_or_null("string");

    if (!(row->flags & CONFIG_OTHER_IS_LAST)) {
        json_object_set_new(s, "pattern", word_pattern(row));
    }
    return s;
}

static json_t *
of_int(const struct config_row *row)
{
    json_t *s = type_or_null("integer");

    if (!(row->flags & CONFIG_DEFAULT_IF_NONE)) {
        json_object_set_new(s, "minimum", json_integer(row->min));
    } else if (row->min > 1) {
        json_object_set_new(s, "anyOf",
                            json_pack("[{s:i}, {s:I}]", "maximum", 0, "minimum",
                                      (json_int_t)row->min));
    }
    json_object_set_new(s, "maximum", json_integer(row->max));
    return s;
}

static json_t *
of_string(const struct config_row *row)
{
    json_t *s = type_or_null("string");

    if (row->min > 0 && !(row->flags & CONFIG_DEFAULT_IF_NONE)) {
        json_object_set_new(s, "minLength", json_integer(row->min));
    }
    json_object_set_new(s, "maxLength", json_integer(row->max));
    return s;
}

/* The first two count, and may be missing. */
static json_t *
of_hours(void)
{
    json_t *s = type_or_null("array");
    json_t *hour = json_pack("{s:s, s:i, s:i}", "type", "integer", "minimum", 0,
                             "maximum", 24);

    json_object_set_new(s, "items", json_pack("[OO]", hour, hour));
    json_decref(hour);
    return s;
}

static json_t *
of_strings(const struct config_row *row)
{
    return json_pack("{s:[ss], s:{s:s, s:I}, s:I}", "type", "array", "null",
                     "items", "type", "string", "maxLength",
                     (json_int_t)CONFIG_MAX_STRING, "maxItems",
                     (json_int_t)row->max);
}

static json_t *
of_colors(void)
{
    static const char *const suffixes[] = {"Fg", "Bg", "Attr"};
    json_t *groups = json_object();

    for (size_t g = 0; config_colors[g].group; g++) {
        json_t *group = json_object();

        for (size_t e = 0; config_colors[g].elements[e]; e++) {
            for (size_t i = 0; i < 3; i++) {
                char name[64];

                snprintf(name, sizeof(name), "%s%s",
                         config_colors[g].elements[e], suffixes[i]);
                json_object_set_new(group, name, type_or_null("string"));
            }
        }
        json_object_set_new(groups, config_colors[g].group,
                            json_pack("{s:[ss], s:o, s:o}", "type", "object",
                                      "null", "properties", group,
                                      "additionalProperties",
                                      type_or_null("string")));
    }
    return json_pack("{s:[ss], s:o}", "type", "object", "null", "properties",
                     groups);
}

static json_t *
of_elements(const struct config_row *row)
{
    char prefix[CONFIG_PREFIX_MAX];
    json_t *s;

    config_row_element(row, prefix);
    switch (row->type) {
    case CONFIG_JOBS:
        s = members(prefix);
        json_object_set_new(s, "required", json_pack("[s]", "Name"));
        json_object_set_new(
            json_object_get(json_object_get(s, "properties"), "Name"), "type",
            json_string("string"));
        return json_pack("{s:[ss], s:I, s:o}", "type", "array", "null",
                         "maxItems", (json_int_t)row->max, "items", s);
    case CONFIG_USERS:
        return json_pack(
            "{s:[ss], s:I, s:o}", "type", "object", "null", "maxProperties",
            (json_int_t)row->max, "additionalProperties",
            of_strings(config_row_find("Server.Permissions", "Default")));
    default:
        s = members(prefix);
        json_object_set_new(s, "type", json_pack("[ss]", "object", "null"));
        return json_pack("{s:[ss], s:I, s:o}", "type", "object", "null",
                         "maxProperties", (json_int_t)row->max,
                         "additionalProperties", s);
    }
}

static json_t *
of_row(const struct config_row *row)
{
    switch (row->type) {
    case CONFIG_SECTION: {
        json_t *s = members(row->path);

        json_object_set_new(s, "type", json_pack("[ss]", "object", "null"));
        return s;
    }
    case CONFIG_BOOL:
    case CONFIG_TRISTATE:
        return type_or_null("boolean");
    case CONFIG_INT:
        return of_int(row);
    case CONFIG_STRING:
    case CONFIG_PATH:
        return of_string(row);
    case CONFIG_WORD:
        return of_word(row);
    case CONFIG_STRINGS:
        return of_strings(row);
    case CONFIG_HOURS:
        return of_hours();
    case CONFIG_OBJECT:
        return type_or_null("object");
    case CONFIG_COLORS:
        return of_colors();
    case CONFIG_PLUGINS:
    case CONFIG_USERS:
    case CONFIG_JOBS:
        return of_elements(row);
    case CONFIG_FOREIGN:
        break;
    }
    return json_object();
}

/* The default as an editor would write it; NULL: there is none. */
static json_t *
default_of(const struct config_row *row)
{
    switch (row->type) {
    case CONFIG_BOOL:
        return json_boolean(row->default_int);
    case CONFIG_INT:
        return json_integer(row->default_int);
    case CONFIG_STRING:
    case CONFIG_PATH:
    case CONFIG_WORD:
        return json_string(row->default_text ? row->default_text : "");
    case CONFIG_STRINGS:
        return row->default_text ? json_pack("[s]", row->default_text)
                                 : json_array();
    default:
        return NULL;
    }
}

/* An object with the rows at `prefix` and no other member. */
static json_t *
members(const char *prefix)
{
    json_t *properties = json_object();

    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];
        json_t *s, *value;

        if (!config_row_is_child(row, prefix)) {
            continue;
        }
        s = of_row(row);
        value = default_of(row);
        if (value) {
            json_object_set_new(s, "default", value);
        }
        json_object_set_new(s, "description", json_string(row->help));
        if (json_object_set_new(properties, config_row_name(row), s) != 0) {
            json_decref(properties);
            return NULL;
        }
    }
    return json_pack("{s:s, s:o, s:b}", "type", "object", "properties",
                     properties, "additionalProperties", 0);
}

static int
append(const char *data, size_t len, void *ctx)
{
    return buf_append(ctx, data, len) == DT_OK ? 0 : -1;
}

int
config_schema(struct buf *out)
{
    json_t *whole = json_pack("{s:s, s:s}", "$schema", SCHEMA, "title",
                              "Settings of DTail (dtail.json)");
    json_t *all = members("");
    size_t before = out->len;
    int rc = DT_OK;

    if (!whole || !all || json_object_update(whole, all) != 0 ||
        json_dump_callback(whole, append, out, JSON_INDENT(2)) != 0 ||
        buf_puts(out, "\n") != DT_OK) {
        out->len = before;
        rc = DT_ERR_NOMEM;
    }
    json_decref(all);
    json_decref(whole);
    return rc;
}
