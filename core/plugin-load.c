/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin's load and unload hook, and the host that they see: it logs, takes
 * an error, and refuses the rest.
 */
#include "plugin-load.h"
#include "cleanup.h"
#include "log.h"
#include "plugin-crash.h"

/* The query that the plugin holds is the first member of its loader. */
static struct plugin_loader *
loader_of(struct dt_query *q)
{
    return (struct plugin_loader *)q;
}

static void
load_log(struct dt_query *q, enum dt_log_level level, const char *text)
{
    const struct plugin_loader *l = loader_of(q);
    enum log_level to = level == DT_LOG_ERROR  ? LOG_ERROR
                        : level == DT_LOG_WARN ? LOG_WARN
                        : level == DT_LOG_INFO ? LOG_INFO
                                               : LOG_DEBUG;

    log_at(l->log, to, "plugin|%s|%s", l->name, text);
}

static void
load_note(struct dt_query *q, const char *text)
{
    load_log(q, DT_LOG_INFO, text);
}

/* The first one in the load hook is the reason; others are only logged. */
static void
load_error(struct dt_query *q, int status, const char *text)
{
    struct plugin_loader *l = loader_of(q);

    if (l->is_loading && l->err.status == DT_OK) {
        error_set(&l->err, status, "%s", text);
    }
    load_log(q, DT_LOG_ERROR, text);
}

static int
no_lines(struct dt_query *q UNUSED, const struct dt_lines *lines UNUSED)
{
    return DT_ERR_INVAL;
}

static int
no_partial(struct dt_query *q UNUSED, const void *data UNUSED,
           size_t len UNUSED)
{
    return DT_ERR_INVAL;
}

static int
no_text(struct dt_query *q UNUSED, const char *data UNUSED, size_t len UNUSED)
{
    return DT_ERR_INVAL;
}

static const char *
no_arg(struct dt_query *q UNUSED, const char *name UNUSED, size_t index UNUSED,
       size_t *len)
{
    if (len) {
        *len = 0;
    }
    return NULL;
}

static bool
not_cancelled(struct dt_query *q UNUSED)
{
    return false;
}

static int
no_source(struct dt_query *q UNUSED, uint32_t id UNUSED,
          struct dt_source *out UNUSED)
{
    return DT_ERR_NOENT;
}

static enum dt_role
no_role(struct dt_query *q UNUSED)
{
    return DT_ROLE_MAP;
}

static void
not_ordered(struct dt_query *q UNUSED)
{
}

static const struct dt_host load_host = {
    .size = sizeof(struct dt_host),
    .emit_lines = no_lines,
    .emit_partial = no_partial,
    .emit_text = no_text,
    .note = load_note,
    .error = load_error,
    .log = load_log,
    .arg = no_arg,
    .cancelled = not_cancelled,
    .source = no_source,
    .role = no_role,
    .ordered = not_ordered,
};

int
plugin_load_run(struct plugin_loader *l, const struct dt_plugin *plugin,
                const char *config, struct error *err)
{
    int r = DT_OK;

    l->query.host = &load_host;
    if (plugin->load) {
        struct plugin_mark before = plugin_enter(l->name, "load");

        l->is_loading = true;
        r = plugin->load(&l->query, config);
        plugin_leave(before);
        l->is_loading = false;
    }
    if (r == DT_OK) {
        l->is_loaded = true;
        return DT_OK;
    }
    return error_set(err, r < 0 ? r : DT_ERR_INTERNAL, "load failed: %s",
                     l->err.status < 0 ? l->err.text : dt_strerror(r));
}

void
plugin_load_undo(struct plugin_loader *l, const struct dt_plugin *plugin)
{
    if (l->is_loaded && plugin->unload) {
        struct plugin_mark before = plugin_enter(l->name, "unload");

        plugin->unload();
        plugin_leave(before);
    }
    l->is_loaded = false;
}
