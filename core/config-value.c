/* SPDX-License-Identifier: Apache-2.0
 *
 * Single settings from JSON text, checked against their row, and messages that
 * name the place.
 */
#include "config-value.h"

#include "cleanup.h"

/* ---- messages ---- */

static void
format_place(const struct config_reader *r, size_t at, const char *shown,
             struct buf *out)
{
    size_t line, column;

    jsonscan_position(r->text, at, &line, &column);
    buf_printf(out, "%s:%zu:%zu: %s%s", r->name, line, column, shown,
               *shown ? ": " : "");
}

int
config_value_fail(struct config_reader *r, const struct config_place *at,
                  const char *format, ...)
{
    struct buf text = {0};
    char why[ERROR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    vsnprintf(why, sizeof(why), format, ap);
    va_end(ap);
    format_place(r, at->slice.at, at->shown, &text);
    error_set(r->err, DT_ERR_INVAL, "%.*s%s", (int)text.len,
              text.data ? text.data : "", why);
    buf_fini(&text);
    return DT_ERR_INVAL;
}

int
config_value_warn(struct config_reader *r, const struct config_place *at,
                  const char *format, ...)
{
    struct buf text = {0};
    char why[ERROR_TEXT_MAX];
    va_list ap;
    int rc;

    va_start(ap, format);
    vsnprintf(why, sizeof(why), format, ap);
    va_end(ap);
    format_place(r, at->slice.at, at->shown, &text);
    rc = buf_puts(&text, why);
    if (rc == DT_OK) {
        rc = strv_add_n(&r->c->warnings, text.data, text.len);
    }
    buf_fini(&text);
    return rc;
}

int
config_value_nomem(struct config_reader *r)
{
    return error_set(r->err, DT_ERR_NOMEM, "%s: out of memory", r->name);
}

/* "… is expected": the value has the wrong type or size. */
int
config_value_expected(struct config_reader *r, const struct config_place *at,
                      const struct config_row *row)
{
    struct buf what = {0};
    int shown_len = at->slice.len > 40 ? 40 : (int)at->slice.len;
    int rc = config_row_describe(row, false, &what);

    if (rc == DT_OK) {
        rc = config_value_fail(r, at, "%.*s%s is not allowed; %.*s is",
                               shown_len, r->text + at->slice.at,
                               at->slice.len > 40 ? "…" : "", (int)what.len,
                               what.data);
    }
    buf_fini(&what);
    return rc == DT_ERR_NOMEM ? config_value_nomem(r) : rc;
}

/* ---- values ---- */

json_t *
config_value_decode(const struct config_reader *r, struct jsonscan_slice s)
{
    return json_loadb(r->text + s.at, s.len, JSON_DECODE_ANY, NULL);
}

/* A member's place: the path of its object with a name behind. */
void
config_place_enter(struct config_place *out, const struct config_place *parent,
                   const char *name, struct jsonscan_slice slice)
{
    size_t len = strlen(parent->shown);

    out->slice = slice;
    memcpy(out->shown, parent->shown, len);
    snprintf(out->shown + len, sizeof(out->shown) - len, "%s%.128s",
             len && *name != '[' ? "." : "", name);
}

static int
replace(struct config_reader *r, char **to, const char *text)
{
    char *copy = strdup(text);

    if (!copy) {
        return config_value_nomem(r);
    }
    free(*to);
    *to = copy;
    return DT_OK;
}

static int
apply_int(struct config_reader *r, const struct config_place *at,
          const struct config_row *row, const json_t *value, int *to)
{
    json_int_t number = json_integer_value(value);

    if (!json_is_integer(value)) {
        return config_value_expected(r, at, row);
    }
    if ((row->flags & CONFIG_DEFAULT_IF_NONE) && number <= 0) {
        *to = (int)row->default_int;
        return DT_OK;
    }
    if (number < row->min || number > row->max) {
        return config_value_expected(r, at, row);
    }
    *to = (int)number;
    return DT_OK;
}

static int
apply_string(struct config_reader *r, const struct config_place *at,
             const struct config_row *row, const json_t *value, char **to)
{
    size_t len = json_string_length(value);
    const char *text = json_string_value(value);

    if (!json_is_string(value)) {
        return config_value_expected(r, at, row);
    }
    if (len == 0 && (row->flags & CONFIG_DEFAULT_IF_NONE)) {
        return replace(r, to, row->default_text);
    }
    if ((int64_t)len < row->min || (int64_t)len > row->max) {
        return config_value_expected(r, at, row);
    }
    return replace(r, to, text);
}

static int
apply_word(struct config_reader *r, const struct config_place *at,
           const struct config_row *row, const json_t *value, char **to)
{
    const char *text = json_string_value(value);
    size_t nr = 0;

    if (!text) {
        return config_value_expected(r, at, row);
    }
    for (; row->words[nr]; nr++) {
        if (strcasecmp(text, row->words[nr]) == 0) {
            return replace(r, to, row->words[nr]);
        }
    }
    if (!*text && row->empty_word) {
        return replace(r, to, row->empty_word);
    }
    if (row->flags & CONFIG_OTHER_IS_LAST) {
        if (config_value_warn(r, at, "\"%.64s\" means %s", text,
                              row->words[nr - 1]) != DT_OK) {
            return config_value_nomem(r);
        }
        return replace(r, to, row->words[nr - 1]);
    }
    return config_value_expected(r, at, row);
}

/* Appends one element of an array of strings. */
static int
apply_element(struct config_reader *r, const struct config_place *at,
              const struct config_row *row, const json_t *value,
              struct strv *to)
{
    struct error why = ERROR_INIT;
    int rc = DT_OK;

    if (!json_is_string(value) ||
        json_string_length(value) > CONFIG_MAX_STRING) {
        return config_value_fail(r, at,
                                 "a string of at most %u bytes is expected",
                                 CONFIG_MAX_STRING);
    }
    if ((int64_t)to->nr >= row->max) {
        return config_value_fail(r, at, "at most %lld elements are allowed",
                                 (long long)row->max);
    }
    if (row->check) {
        rc = row->check(json_string_value(value), &why);
    }
    if (rc != DT_OK && rc != DT_ERR_NOMEM) {
        return config_value_fail(r, at, "%s", why.text);
    }
    if (rc != DT_OK || strv_add(to, json_string_value(value)) != DT_OK) {
        return config_value_nomem(r);
    }
    return DT_OK;
}

/* An array of strings replaces what was there. */
static int
apply_strings(struct config_reader *r, const struct config_place *at,
              const struct config_row *row, struct strv *to)
{
    struct jsonscan scan = jsonscan_enter(r->text, at->slice);
    struct jsonscan_member m;
    int rc = DT_OK;

    if (r->text[at->slice.at] != '[') {
        return config_value_expected(r, at, row);
    }
    strv_fini(to);
    while (rc == DT_OK && jsonscan_next(&scan, false, &m)) {
        json_t *value = config_value_decode(r, m.value);
        struct config_place element;
        char index[32];

        snprintf(index, sizeof(index), "[%zu]", to->nr);
        config_place_enter(&element, at, index, m.value);
        rc = value ? apply_element(r, &element, row, value, to)
                   : config_value_nomem(r);
        json_decref(value);
    }
    return rc;
}

/* The first two numbers of an array; those that are missing are 0. */
static int
apply_hours(struct config_reader *r, const struct config_place *at,
            const struct config_row *row, const json_t *value, int to[2])
{
    if (!json_is_array(value)) {
        return config_value_expected(r, at, row);
    }
    for (size_t i = 0; i < 2; i++) {
        const json_t *hour = json_array_get(value, i);
        json_int_t number = json_integer_value(hour);

        if ((hour && !json_is_integer(hour)) || number < 0 || number > 24) {
            return config_value_expected(r, at, row);
        }
        to[i] = (int)number;
    }
    return DT_OK;
}

static int
apply_object(struct config_reader *r, const struct config_place *at,
             const struct config_row *row, const json_t *value, char **to)
{
    CLEANUP_FREE char *text = NULL;

    if (!json_is_object(value)) {
        return config_value_expected(r, at, row);
    }
    if ((int64_t)at->slice.len > row->max) {
        return config_value_fail(r, at, "%zu bytes; at most %lld are allowed",
                                 at->slice.len, (long long)row->max);
    }
    text = json_dumps(value, JSON_COMPACT);
    return text ? replace(r, to, text) : config_value_nomem(r);
}

/* ---- colours ---- */

/* Tells whether a member's name is an element with Fg, Bg or Attr. */
static bool
is_color(const struct config_colors *group, const char *name)
{
    static const char *const suffixes[] = {"Fg", "Bg", "Attr"};

    for (size_t i = 0; group->elements[i]; i++) {
        size_t len = strlen(group->elements[i]);

        if (strncasecmp(group->elements[i], name, len) != 0) {
            continue;
        }
        for (size_t j = 0; j < 3; j++) {
            if (strcasecmp(suffixes[j], name + len) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* One group: each member is a string. */
static int
check_color_group(struct config_reader *r, const struct config_place *at,
                  const struct config_colors *group)
{
    struct jsonscan scan = jsonscan_enter(r->text, at->slice);
    struct jsonscan_member m;
    int rc = DT_OK;

    if (r->text[at->slice.at] != '{') {
        return config_value_fail(r, at, "an object is expected");
    }
    while (rc == DT_OK && jsonscan_next(&scan, true, &m)) {
        json_t *key = config_value_decode(r, m.key);
        struct config_place member;

        if (!key) {
            return config_value_nomem(r);
        }
        config_place_enter(&member, at, json_string_value(key), m.value);
        if (r->text[m.value.at] != '"' && r->text[m.value.at] != 'n') {
            rc = config_value_fail(r, &member, "a string is expected");
        } else if (!is_color(group, json_string_value(key))) {
            rc = config_value_warn(r, &member,
                                   "this colour is unknown; it is skipped");
        }
        json_decref(key);
    }
    return rc;
}

/* Names that are unknown get a warning: a colour is no reason to fail. */
static int
check_colors(struct config_reader *r, const struct config_place *at)
{
    struct jsonscan scan = jsonscan_enter(r->text, at->slice);
    struct jsonscan_member m;
    int rc = DT_OK;

    while (rc == DT_OK && jsonscan_next(&scan, true, &m)) {
        json_t *key = config_value_decode(r, m.key);
        const struct config_colors *group = config_colors;
        struct config_place member;

        if (!key) {
            return config_value_nomem(r);
        }
        config_place_enter(&member, at, json_string_value(key), m.value);
        while (group->group &&
               strcasecmp(group->group, json_string_value(key)) != 0) {
            group++;
        }
        json_decref(key);
        if (!group->group) {
            rc = config_value_warn(r, &member,
                                   "this group is unknown; it is skipped");
        } else if (r->text[m.value.at] != 'n') {
            rc = check_color_group(r, &member, group);
        }
    }
    return rc;
}

/* ---- all of them ---- */

/* A value that has been decoded. */
static int
apply_decoded(struct config_reader *r, const struct config_place *at,
              const struct config_row *row, const json_t *value, void *to)
{
    switch (row->type) {
    case CONFIG_BOOL:
        *(bool *)to = json_is_true(value);
        return json_is_boolean(value) ? DT_OK
                                      : config_value_expected(r, at, row);
    case CONFIG_TRISTATE:
        *(enum config_tristate *)to =
            json_is_true(value) ? CONFIG_YES : CONFIG_NO;
        return json_is_boolean(value) ? DT_OK
                                      : config_value_expected(r, at, row);
    case CONFIG_INT:
        return apply_int(r, at, row, value, to);
    case CONFIG_STRING:
    case CONFIG_PATH:
        return apply_string(r, at, row, value, to);
    case CONFIG_WORD:
        return apply_word(r, at, row, value, to);
    case CONFIG_HOURS:
        return apply_hours(r, at, row, value, to);
    case CONFIG_COLORS: {
        int rc = apply_object(r, at, row, value, to);

        return rc == DT_OK ? check_colors(r, at) : rc;
    }
    case CONFIG_OBJECT:
        return apply_object(r, at, row, value, to);
    default:
        return error_set(r->err, DT_ERR_INTERNAL, "%s: not a value", row->path);
    }
}

int
config_value_apply(struct config_reader *r, const struct config_place *at,
                   const struct config_row *row, void *to)
{
    json_t *value;
    int rc;

    if (row->type == CONFIG_STRINGS) {
        return apply_strings(r, at, row, to);
    }
    value = config_value_decode(r, at->slice);
    if (!value) {
        return config_value_nomem(r);
    }
    rc = apply_decoded(r, at, row, value, to);
    json_decref(value);
    return rc;
}
