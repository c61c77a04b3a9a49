/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's copy of a plugin's descriptor: the rules of versions and sizes.
 *
 * ABI numbers are equal or the plugin is refused. Within one, structs only
 * grow: the smaller of both sizes is copied into zeroes, so that an old plugin
 * lacks the new slots and a new plugin's further slots are not looked at.
 */
#include "plugin-descriptor.h"
#include "cleanup.h"

/* The sizes in the first release of this ABI: what every plugin has. These
 * two lines never change, whatever is appended to the structs. */
#define PLUGIN_FIRST_SIZE \
    (offsetof(struct dt_plugin, reduce) + sizeof(const struct dt_stage *))
#define STAGE_FIRST_SIZE \
    (offsetof(struct dt_stage, close) + sizeof(void (*)(void *)))

static int
check_size(const char *what, size_t size, size_t least, struct error *err)
{
    if (size < least || size > PLUGIN_MAX_SIZE) {
        return error_set(err, DT_ERR_ABI,
                         "%s: size is %zu; allowed are %zu to %u", what, size,
                         least, PLUGIN_MAX_SIZE);
    }
    return DT_OK;
}

/* A text of at most `max` bytes without control bytes, but for newlines in a
 * text of several lines. */
static int
check_text(const char *what, const char *text, size_t max, bool is_one_line,
           struct error *err)
{
    if (!text) {
        return error_set(err, DT_ERR_INVAL, "%s is missing", what);
    }
    for (size_t i = 0; text[i]; i++) {
        unsigned char c = (unsigned char)text[i];

        if (i >= max) {
            return error_set(err, DT_ERR_INVAL, "%s is longer than %zu bytes",
                             what, max);
        }
        if ((c < ' ' && (is_one_line || (c != '\n' && c != '\t'))) ||
            c == 0x7f) {
            return error_set(err, DT_ERR_INVAL,
                             "%s has the control byte 0x%02x at %zu", what, c,
                             i);
        }
    }
    return DT_OK;
}

bool
plugin_descriptor_is_name(const char *name)
{
    size_t len = name ? strnlen(name, PLUGIN_MAX_NAME + 1) : 0;

    if (len == 0 || len > PLUGIN_MAX_NAME || name[0] < 'a' || name[0] > 'z') {
        return false;
    }
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static int
check_args(const struct dt_arg_spec *args, struct error *err)
{
    char what[64];

    for (size_t i = 0; args && args[i].name; i++) {
        int r;

        if (i >= PLUGIN_MAX_ARGS) {
            return error_set(err, DT_ERR_INVAL,
                             "more than %u arguments (or the list does not "
                             "end with a NULL name)",
                             PLUGIN_MAX_ARGS);
        }
        snprintf(what, sizeof(what), "the name of argument %zu", i + 1);
        r = check_text(what, args[i].name, PLUGIN_MAX_VERSION, true, err);
        if (r == DT_OK && strcspn(args[i].name, "= ") == 0) {
            r = error_set(err, DT_ERR_INVAL, "%s is empty", what);
        }
        if (r == DT_OK && strpbrk(args[i].name, "= ")) {
            r = error_set(err, DT_ERR_INVAL, "%s has a space or '='", what);
        }
        snprintf(what, sizeof(what), "the help of argument %zu", i + 1);
        if (r < 0 || (r = check_text(what, args[i].help, PLUGIN_MAX_TEXT, true,
                                     err)) < 0) {
            return r;
        }
    }
    return DT_OK;
}

static int
check_texts(const struct dt_plugin *d, struct error *err)
{
    int r;

    if (!plugin_descriptor_is_name(d->name)) {
        return error_set(err, DT_ERR_INVAL,
                         "the name \"%.40s\" is not allowed: a small letter, "
                         "then at most %u small letters, digits or '-'",
                         d->name ? d->name : "", PLUGIN_MAX_NAME - 1);
    }
    r = check_text("the version", d->version, PLUGIN_MAX_VERSION, true, err);
    if (r == DT_OK) {
        r = check_text("the summary", d->summary, PLUGIN_MAX_TEXT, true, err);
    }
    if (r == DT_OK && d->usage) {
        r = check_text("the usage", d->usage, PLUGIN_MAX_USAGE, false, err);
    }
    return r < 0 ? r : check_args(d->args, err);
}

static int
copy_stage(struct dt_stage *to, const struct dt_stage *from, const char *what,
           struct error *err)
{
    int r = check_size(what, from->size, STAGE_FIRST_SIZE, err);

    if (r < 0) {
        return r;
    }
    memset(to, 0, sizeof(*to));
    memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
    if (!to->start || !to->feed) {
        return error_set(err, DT_ERR_INVAL, "%s: the required hook %s is NULL",
                         what, to->start ? "feed" : "start");
    }
    return DT_OK;
}

int
plugin_descriptor_copy(struct plugin_descriptor *to,
                       const struct dt_plugin *from, struct error *err)
{
    int r;

    memset(to, 0, sizeof(*to));
    if (!from) {
        return error_set(err, DT_ERR_INVAL, "dt_plugin_entry answered NULL");
    }
    if (from->abi != DT_PLUGIN_ABI) {
        return error_set(err, DT_ERR_ABI,
                         "made for plugin ABI %u, this program has %u",
                         (unsigned)from->abi, DT_PLUGIN_ABI);
    }
    r = check_size("the descriptor", from->size, PLUGIN_FIRST_SIZE, err);
    if (r < 0) {
        return r;
    }
    memcpy(&to->whole, from,
           from->size < sizeof(to->whole) ? from->size : sizeof(to->whole));
    r = check_texts(&to->whole, err);
    if (r < 0) {
        return r;
    }
    if (!to->whole.map) {
        return error_set(err, DT_ERR_INVAL, "the map stage is missing");
    }
    if ((to->whole.flags & DT_COMBINE) && !to->whole.reduce) {
        return error_set(err, DT_ERR_INVAL,
                         "DT_COMBINE is set, but there is no reduce stage");
    }
    r = copy_stage(&to->map, to->whole.map, "map", err);
    to->whole.map = &to->map;
    if (r == DT_OK && to->whole.reduce) {
        r = copy_stage(&to->reduce, to->whole.reduce, "reduce", err);
        to->whole.reduce = &to->reduce;
    }
    return r;
}
