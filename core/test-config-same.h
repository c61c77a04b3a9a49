/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares settings by their table, for unit tests and the fuzzer: a dump that
 * loses something would be the same again after it was read back.
 */
#ifndef CORE_TEST_CONFIG_SAME_H
#define CORE_TEST_CONFIG_SAME_H

#include "config-table.h"

static bool config_same(const char *prefix, const void *a, const void *b);

static bool
config_same_strings(const struct strv *a, const struct strv *b)
{
    for (size_t i = 0; i < a->nr && a->nr == b->nr; i++) {
        if (strcmp(a->v[i], b->v[i]) != 0) {
            return false;
        }
    }
    return a->nr == b->nr;
}

static bool
config_same_elements(const struct config_row *row, const void *a, const void *b)
{
    size_t nr = *config_row_nr(row, a), size = config_row_element_size(row);
    const char *x = *(char **)config_row_value(row, a);
    const char *y = *(char **)config_row_value(row, b);
    char prefix[CONFIG_PREFIX_MAX];
    bool same = nr == *config_row_nr(row, b);

    config_row_element(row, prefix);
    for (size_t i = 0; i < nr && same; i++, x += size, y += size) {
        const struct config_plugin *p = (const void *)x, *q = (const void *)y;
        const struct config_user_rules *u = (const void *)x;
        const struct config_user_rules *v = (const void *)y;

        same = config_same(prefix, x, y);
        if (row->type == CONFIG_PLUGINS) {
            same = same && strcmp(p->name, q->name) == 0;
        } else if (row->type == CONFIG_USERS) {
            same = same && strcmp(u->user, v->user) == 0 &&
                   config_same_strings(&u->rules, &v->rules);
        }
    }
    return same;
}

static bool
config_same_value(const struct config_row *row, const void *a, const void *b)
{
    const void *x = config_row_value(row, a), *y = config_row_value(row, b);

    switch (row->type) {
    case CONFIG_FOREIGN:
        return true;
    case CONFIG_SECTION:
        return config_same(row->path, a, b);
    case CONFIG_BOOL:
        return *(const bool *)x == *(const bool *)y;
    case CONFIG_TRISTATE:
    case CONFIG_INT:
        return *(const int *)x == *(const int *)y;
    case CONFIG_STRINGS:
        return config_same_strings(x, y);
    case CONFIG_HOURS:
        return memcmp(x, y, 2 * sizeof(int)) == 0;
    case CONFIG_PLUGINS:
    case CONFIG_USERS:
    case CONFIG_JOBS:
        return config_same_elements(row, a, b);
    default:
        return strcmp(*(char *const *)x, *(char *const *)y) == 0;
    }
}

/* True when all members of the object at `prefix` ("": all) are the same. */
static bool
config_same(const char *prefix, const void *a, const void *b)
{
    bool same = true;

    for (size_t i = 0; i < config_nr_rows && same; i++) {
        const struct config_row *row = &config_rows[i];

        if (config_row_is_child(row, prefix)) {
            same = config_same_value(row, a, b);
        }
    }
    return same;
}

#endif
