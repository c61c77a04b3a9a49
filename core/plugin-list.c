/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugins of a table for people and for programs.
 */
#include "plugin-list.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    uint32_t bit;
    const char *name;
} flag_names[] = {
    {DT_TURBO, "turbo"},           {DT_PARALLEL, "parallel"},
    {DT_FOLLOW, "follow"},         {DT_COMBINE, "combine"},
    {DT_NUMBERS, "numbers"},       {DT_VERBATIM, "verbatim"},
    {DT_PRINTED, "printed"},       {DT_NEEDS_WRITE, "needs-write"},
    {DT_NEEDS_EXEC, "needs-exec"}, {DT_NEEDS_NETWORK, "needs-network"},
};

#define NR_FLAG_NAMES (sizeof(flag_names) / sizeof(*flag_names))

static int
add_flags(uint32_t flags, struct buf *out)
{
    int st = DT_OK;

    for (size_t i = 0; st == DT_OK && i < NR_FLAG_NAMES; i++) {
        if (flags & flag_names[i].bit) {
            st = buf_printf(out, " %s", flag_names[i].name);
        }
    }
    return st == DT_OK ? buf_puts(out, "\n") : st;
}

static int
add_text(const struct plugin *p, struct buf *out)
{
    const struct dt_plugin *d = plugin_descriptor(p);
    const char *reason = "";
    bool turbo;
    int st;

    if (plugin_refused(p)) {
        return buf_printf(out, "%s\n  refused:  %s\n  file:     %s\n",
                          plugin_name(p), plugin_refused(p), plugin_file(p));
    }
    turbo = plugin_turbo(p, &reason);
    st = buf_printf(out,
                    "%s %s\n  summary:  %s\n  file:     %s\n"
                    "  commands: %s\n  turbo:    %s (%s)\n",
                    d->name, d->version ? d->version : "",
                    d->summary ? d->summary : "", plugin_file(p), d->name,
                    turbo ? "on" : "off", reason);
    if (st == DT_OK) {
        st = buf_puts(out, "  flags:   ");
    }
    return st == DT_OK ? add_flags(d->flags, out) : st;
}

int
plugin_list_text(const struct plugins *ps, struct buf *out)
{
    int st = DT_OK;

    for (size_t i = 0; st == DT_OK && i < plugins_count(ps); i++) {
        st = add_text(plugins_at(ps, i), out);
    }
    return st;
}

static json_t *
flags_json(uint32_t flags)
{
    json_t *list = json_array();

    for (size_t i = 0; i < NR_FLAG_NAMES; i++) {
        if (flags & flag_names[i].bit) {
            json_array_append_new(list, json_string(flag_names[i].name));
        }
    }
    return list;
}

static json_t *
plugin_json(const struct plugin *p)
{
    const struct dt_plugin *d = plugin_descriptor(p);
    const char *reason = "";
    bool turbo;

    if (plugin_refused(p)) {
        return json_pack("{s:s, s:s, s:b, s:s}", "name", plugin_name(p), "file",
                         plugin_file(p), "offered", 0, "refused",
                         plugin_refused(p));
    }
    turbo = plugin_turbo(p, &reason);
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:[s], s:o, s:i, "
                     "s:{s:b, s:s}}",
                     "name", d->name, "version", d->version ? d->version : "",
                     "summary", d->summary ? d->summary : "", "file",
                     plugin_file(p), "offered", 1, "commands", d->name, "flags",
                     flags_json(d->flags), "threads", plugin_threads(p),
                     "turbo", "on", turbo, "reason", reason);
}

int
plugin_list_json(const struct plugins *ps, struct buf *out)
{
    json_t *list = json_array();
    char *text = NULL;
    int st = list ? DT_OK : DT_ERR_NOMEM;

    for (size_t i = 0; st == DT_OK && i < plugins_count(ps); i++) {
        if (json_array_append_new(list, plugin_json(plugins_at(ps, i))) != 0) {
            st = DT_ERR_NOMEM;
        }
    }
    if (st == DT_OK) {
        text = json_dumps(list, JSON_INDENT(2));
        st = text ? buf_printf(out, "%s\n", text) : DT_ERR_NOMEM;
    }
    free(text);
    json_decref(list);
    return st;
}
