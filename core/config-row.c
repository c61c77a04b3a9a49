/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking up and describing rows of the table of settings, and filling and
 * freeing what they store.
 */
#include "config-table.h"

#include "guess.h"

#include <stdlib.h>

const char *
config_row_name(const struct config_row *row)
{
    const char *dot = strrchr(row->path, '.');

    return dot ? dot + 1 : row->path;
}

bool
config_row_is_child(const struct config_row *row, const char *prefix)
{
    size_t len = strlen(prefix);

    if (len == 0) {
        return !strchr(row->path, '.');
    }
    return strncmp(row->path, prefix, len) == 0 && row->path[len] == '.' &&
           config_row_name(row) == row->path + len + 1;
}

const struct config_row *
config_row_find(const char *prefix, const char *name)
{
    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];

        if (config_row_is_child(row, prefix) &&
            strcasecmp(config_row_name(row), name) == 0) {
            return row;
        }
    }
    return NULL;
}

const struct config_row *
config_row_guess(const char *prefix, const char *name)
{
    const struct config_row *best = NULL;
    size_t nearest = 4;

    if (strlen(name) >= GUESS_MAX) {
        return NULL;
    }
    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];
        size_t d;

        if (!config_row_is_child(row, prefix) || row->type == CONFIG_FOREIGN) {
            continue;
        }
        d = guess_distance(name, config_row_name(row));
        if (d < nearest && d < strlen(name)) {
            nearest = d;
            best = row;
        }
    }
    return best;
}

static int
describe_words(const struct config_row *row, struct buf *out)
{
    int rc = buf_puts(out, "one of");

    for (size_t i = 0; row->words[i] && rc == DT_OK; i++) {
        rc = buf_printf(out, "%s %s", i ? "," : "", row->words[i]);
    }
    return rc;
}

static int
describe_type(const struct config_row *row, struct buf *out)
{
    switch (row->type) {
    case CONFIG_BOOL:
    case CONFIG_TRISTATE:
        return buf_puts(out, "true or false");
    case CONFIG_INT:
        return buf_printf(out, "an integer from %lld to %lld",
                          (long long)row->min, (long long)row->max);
    case CONFIG_STRING:
    case CONFIG_PATH:
        return buf_printf(out, "a string of %lld to %lld bytes",
                          (long long)row->min, (long long)row->max);
    case CONFIG_WORD:
        return describe_words(row, out);
    case CONFIG_STRINGS:
        return buf_printf(out, "an array of at most %lld strings",
                          (long long)row->max);
    case CONFIG_HOURS:
        return buf_puts(out, "an array of two hours from 0 to 24");
    case CONFIG_JOBS:
        return buf_printf(out, "an array of at most %lld objects",
                          (long long)row->max);
    case CONFIG_USERS:
    case CONFIG_PLUGINS:
        return buf_printf(out, "an object of at most %lld members",
                          (long long)row->max);
    case CONFIG_SECTION:
    case CONFIG_OBJECT:
    case CONFIG_COLORS:
        return buf_puts(out, "an object");
    case CONFIG_FOREIGN:
        break;
    }
    return buf_puts(out, "anything");
}

int
config_row_describe(const struct config_row *row, bool with_default,
                    struct buf *out)
{
    int rc = describe_type(row, out);

    if (rc != DT_OK || !with_default) {
        return rc;
    }
    switch (row->type) {
    case CONFIG_BOOL:
        return buf_printf(out, "; default %s",
                          row->default_int ? "true" : "false");
    case CONFIG_INT:
        return buf_printf(out, "; default %lld", (long long)row->default_int);
    case CONFIG_WORD:
        return buf_printf(out, "; default %s", row->default_text);
    case CONFIG_STRING:
    case CONFIG_PATH:
        return buf_printf(out, "; default \"%s\"",
                          row->default_text ? row->default_text : "");
    case CONFIG_STRINGS:
        return row->default_text
                   ? buf_printf(out, "; default [\"%s\"]", row->default_text)
                   : buf_puts(out, "; default empty");
    default:
        return DT_OK;
    }
}

/* ---- storing ---- */

/* Calls `each` for all rows whose values stand in the struct `base` of
 * `prefix`, through sections. */
static int
for_rows(const char *prefix, void *base,
         int (*each)(const struct config_row *row, void *base))
{
    int rc = DT_OK;

    for (size_t i = 0; i < config_nr_rows && rc == DT_OK; i++) {
        const struct config_row *row = &config_rows[i];

        if (!config_row_is_child(row, prefix) || row->type == CONFIG_FOREIGN) {
            continue;
        }
        rc = row->type == CONFIG_SECTION ? for_rows(row->path, base, each)
                                         : each(row, base);
    }
    return rc;
}

static int
set_default(const struct config_row *row, void *base)
{
    void *value = config_row_value(row, base);

    switch (row->type) {
    case CONFIG_BOOL:
        *(bool *)value = row->default_int != 0;
        return DT_OK;
    case CONFIG_TRISTATE:
        *(enum config_tristate *)value = (enum config_tristate)row->default_int;
        return DT_OK;
    case CONFIG_INT:
        *(int *)value = (int)row->default_int;
        return DT_OK;
    case CONFIG_STRING:
    case CONFIG_PATH:
    case CONFIG_WORD:
    case CONFIG_OBJECT:
    case CONFIG_COLORS:
        *(char **)value = strdup(row->default_text ? row->default_text : "");
        return *(char **)value ? DT_OK : DT_ERR_NOMEM;
    case CONFIG_STRINGS:
        return row->default_text ? strv_add(value, row->default_text) : DT_OK;
    default:
        return DT_OK; /* lists of elements begin empty */
    }
}

int
config_set_defaults(const char *prefix, void *base)
{
    return for_rows(prefix, base, set_default);
}

void
config_row_drop(const struct config_row *row, void *base)
{
    char *elements = *(char **)config_row_value(row, base);
    size_t *nr = config_row_nr(row, base);
    char prefix[CONFIG_PREFIX_MAX];

    config_row_element(row, prefix);
    for (size_t i = 0; i < *nr; i++) {
        char *element = elements + i * config_row_element_size(row);

        config_clear(prefix, element);
        switch (row->type) {
        case CONFIG_PLUGINS:
            free(((struct config_plugin *)(void *)element)->name);
            break;
        case CONFIG_USERS:
            free(((struct config_user_rules *)(void *)element)->user);
            strv_fini(&((struct config_user_rules *)(void *)element)->rules);
            break;
        default:
            break;
        }
    }
    free(elements);
    *(char **)config_row_value(row, base) = NULL;
    *nr = 0;
}

static int
clear(const struct config_row *row, void *base)
{
    void *value = config_row_value(row, base);

    switch (row->type) {
    case CONFIG_STRING:
    case CONFIG_PATH:
    case CONFIG_WORD:
    case CONFIG_OBJECT:
    case CONFIG_COLORS:
        free(*(char **)value);
        *(char **)value = NULL;
        return DT_OK;
    case CONFIG_STRINGS:
        strv_fini(value);
        return DT_OK;
    case CONFIG_PLUGINS:
    case CONFIG_USERS:
    case CONFIG_JOBS:
        config_row_drop(row, base);
        return DT_OK;
    default:
        return DT_OK;
    }
}

void
config_clear(const char *prefix, void *base)
{
    for_rows(prefix, base, clear);
}

/* ---- elements ---- */

void
config_row_element(const struct config_row *row, char out[CONFIG_PREFIX_MAX])
{
    snprintf(out, CONFIG_PREFIX_MAX, "%s%s", row->path,
             row->type == CONFIG_JOBS ? "[]" : ".*");
}

size_t
config_row_element_size(const struct config_row *row)
{
    switch (row->type) {
    case CONFIG_PLUGINS:
        return sizeof(struct config_plugin);
    case CONFIG_USERS:
        return sizeof(struct config_user_rules);
    case CONFIG_JOBS:
        return sizeof(struct config_job);
    default:
        return 0;
    }
}

int
config_row_add(const struct config_row *row, void *base, void **out)
{
    char **list = config_row_value(row, base);
    size_t *nr = config_row_nr(row, base);
    size_t size = config_row_element_size(row);
    char prefix[CONFIG_PREFIX_MAX];
    char *elements;

    if (*nr >= (size_t)row->max) {
        return DT_ERR_LIMIT;
    }
    elements = reallocarray(*list, *nr + 1, size);
    if (!elements) {
        return DT_ERR_NOMEM;
    }
    *list = elements;
    *out = elements + *nr * size;
    memset(*out, 0, size);
    ++*nr;
    config_row_element(row, prefix);
    return config_set_defaults(prefix, *out);
}
