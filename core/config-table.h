/* SPDX-License-Identifier: Apache-2.0
 *
 * The one table of settings. A row is a key: its path, type, what is allowed,
 * default, where its value is stored, one line of help. Parser, defaults,
 * --dump-config, freeing and the check of the manual page all walk it; a new
 * key is a member in config.h and a row here.
 *
 * A path may lead through elements: "Server.Plugins.*.Turbo" is a member of
 * each plugin's object, "Server.Schedule[].Name" of each element of an array.
 * The offsets of such rows count from the element's own struct.
 */
#ifndef CORE_CONFIG_TABLE_H
#define CORE_CONFIG_TABLE_H

#include "config.h"

enum config_type {
    CONFIG_SECTION,  /* an object whose members are rows; nothing stored */
    CONFIG_BOOL,     /* bool */
    CONFIG_TRISTATE, /* enum config_tristate: a boolean that may be unset */
    CONFIG_INT,      /* int, min to max */
    CONFIG_STRING,   /* char *, min to max bytes */
    CONFIG_PATH,     /* the same; a leading ~/ is the home folder */
    CONFIG_WORD,     /* char *, one of `words`, any case, stored as there */
    CONFIG_STRINGS,  /* struct strv, at most max elements */
    CONFIG_HOURS,    /* int[2]: from and to, 0 to 24 */
    CONFIG_OBJECT,   /* char *: any object, stored as compact JSON text */
    CONFIG_COLORS,   /* the same, its members checked against config_colors */
    CONFIG_PLUGINS,  /* object of name → struct config_plugin */
    CONFIG_USERS,    /* object of user → array of rules */
    CONFIG_JOBS,     /* array of struct config_job */
    CONFIG_FOREIGN   /* only the Go program knows it: a warning */
};

/* Flags of a row. */
#define CONFIG_DEFAULT_IF_NONE 0x01u /* 0 and less, or "", mean the default */
#define CONFIG_OTHER_IS_LAST 0x02u   /* other words mean the last of `words` */

struct config_row {
    const char *path;
    enum config_type type;
    unsigned flags;
    size_t offset;
    size_t nr_offset; /* PLUGINS, USERS, JOBS: of the number of elements */
    int64_t min, max;
    int64_t default_int;
    const char *default_text;
    const char *const *words; /* ends with NULL */
    const char *empty_word;   /* what "" means; NULL: it is not allowed */
    /* STRINGS: looks at each element; DT_OK, DT_ERR_INVAL, DT_ERR_NOMEM */
    int (*check)(const char *text, struct error *err);
    const char *help; /* one line */
};

extern const struct config_row config_rows[];
extern const size_t config_nr_rows;

/* The groups of Client.TermColors and the elements of each, which take the
 * suffixes Fg, Bg and Attr; the list ends with a NULL group. */
struct config_colors {
    const char *group;
    const char *const *elements;
};
extern const struct config_colors config_colors[];

/* The last part of a row's path. */
const char *config_row_name(const struct config_row *row);
/* True when the row is a member of the object at `prefix` ("": the whole). */
bool config_row_is_child(const struct config_row *row, const char *prefix);
/* The member `name` (any case) of the object at `prefix`; NULL: unknown. */
const struct config_row *config_row_find(const char *prefix, const char *name);
/* The member of `prefix` that is written most alike; NULL: none is near. */
const struct config_row *config_row_guess(const char *prefix, const char *name);
/* Appends what is allowed ("an integer from 1 to 10") without or with the
 * default ("; default 2"). DT_OK or DT_ERR_NOMEM. */
int config_row_describe(const struct config_row *row, bool with_default,
                        struct buf *out);

/* Where a row's value is stored. */
static inline void *
config_row_value(const struct config_row *row, const void *base)
{
    return (char *)(uintptr_t)base + row->offset;
}

/* PLUGINS, USERS, JOBS: how many elements there are. */
static inline size_t *
config_row_nr(const struct config_row *row, const void *base)
{
    return (size_t *)(void *)((char *)(uintptr_t)base + row->nr_offset);
}

/* PLUGINS, USERS, JOBS: the prefix of the rows of an element, its size, and a
 * new element at the end, with defaults. DT_OK, DT_ERR_NOMEM, DT_ERR_LIMIT. */
#define CONFIG_PREFIX_MAX 128u
void config_row_element(const struct config_row *row,
                        char out[CONFIG_PREFIX_MAX]);
size_t config_row_element_size(const struct config_row *row);
int config_row_add(const struct config_row *row, void *base, void **out);
/* Frees all elements. */
void config_row_drop(const struct config_row *row, void *base);

/* Fills a struct config (prefix "") or an element ("Server.Plugins.*") that
 * is all zero with the defaults. DT_OK or DT_ERR_NOMEM. */
int config_set_defaults(const char *prefix, void *base);
/* Frees what the members at `prefix` own and sets them to zero. */
void config_clear(const char *prefix, void *base);

#endif
