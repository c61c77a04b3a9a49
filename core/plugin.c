/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of plugins: which files are offered, which are refused and why,
 * and what the configuration makes of them.
 *
 * Threads: built and loaded by one, const afterwards.
 */
#include "plugin.h"
#include "cleanup.h"
#include "config.h"
#include "confine.h"
#include "log.h"
#include "plugin-crash.h"
#include "plugin-descriptor.h"
#include "plugin-file.h"
#include "plugin-load.h"
#include "plugin-settings.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>

#define MAX_PLUGINS 256u
#define MAX_DEFAULT_THREADS 4

struct plugin {
    struct plugin_loader loader;
    char *file;   /* path */
    char *name;   /* of the descriptor, else of the file */
    void *handle; /* of dlopen; NULL: not open */
    struct plugin_descriptor descriptor;
    char *refused; /* NULL: offered */
    bool is_turbo;
    const char *turbo_reason; /* static */
    int threads;
    uint32_t granted; /* DT_NEEDS_… that the configuration allows */
    char *config;     /* JSON */
};

struct plugins {
    struct plugin **v;
    size_t nr;
    bool is_loaded; /* plugins_load has run */
};

static const char out_of_memory[] = "out of memory";

/* ---- one plugin ---- */

static void
plugin_refuse(struct plugin *p, const char *reason)
{
    if (!p->refused) {
        p->refused = strdup(reason);
        if (!p->refused) {
            p->refused = (char *)out_of_memory;
        }
    }
}

static void
plugin_free(struct plugin *p, bool keep_mapped)
{
    if (!p) {
        return;
    }
    if (p->handle && !keep_mapped) {
        dlclose(p->handle);
    }
    if (p->refused != out_of_memory) {
        free(p->refused);
    }
    free(p->file);
    free(p->name);
    free(p->config);
    free(p);
}

static bool
is_disabled(const struct config *config, const char *name)
{
    const struct config_plugin *c = config_find_plugin(config, name);

    return c && !c->enable;
}

/* The first that says something decides: the plugin, its own setting, the
 * server's (which the environment can set as well). */
static void
decide_turbo(struct plugin *p, const struct config *config)
{
    const struct config_plugin *c = config_find_plugin(config, p->name);
    const char *env = getenv("DTAIL_TURBOBOOST_DISABLE");

    p->is_turbo = false;
    if (!(p->descriptor.whole.flags & DT_TURBO)) {
        p->turbo_reason = "the plugin has no turbo variant";
    } else if (c && c->turbo != CONFIG_UNSET) {
        p->is_turbo = c->turbo == CONFIG_YES;
        p->turbo_reason = p->is_turbo ? "Server.Plugins: Turbo is true"
                                      : "Server.Plugins: Turbo is false";
    } else if (config && config->server.turbo_boost_disable) {
        p->turbo_reason = env && strcasecmp(env, "yes") == 0
                              ? "DTAIL_TURBOBOOST_DISABLE is yes"
                              : "Server.TurboBoostDisable is true";
    } else {
        p->is_turbo = true;
        p->turbo_reason = "by default";
    }
}

static int
default_threads(void)
{
    cpu_set_t cpus;
    int nr =
        sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;

    return nr < MAX_DEFAULT_THREADS ? nr : MAX_DEFAULT_THREADS;
}

static int
apply_settings(struct plugin *p, const struct config *config)
{
    const struct config_plugin *c = config_find_plugin(config, p->name);

    decide_turbo(p, config);
    p->threads = c && c->threads > 0 ? c->threads : default_threads();
    for (size_t i = 0; c && i < c->grant.nr; i++) {
        p->granted |= confine_right(c->grant.v[i]);
    }
    p->config = plugin_settings_json(config, p->name);
    return p->config ? DT_OK : DT_ERR_NOMEM;
}

/* Opens the object and takes its descriptor over: from here on code of the
 * plugin runs (constructors, dt_plugin_entry). */
static int
read_descriptor(struct plugin *p, struct error *err)
{
    const struct dt_plugin *(*entry)(void) = NULL;
    const struct dt_plugin *descriptor;
    struct plugin_mark before;
    void *symbol;
    char *name;
    int r;

    before = plugin_enter(p->name, "entry");
    r = plugin_file_open(p->file, &p->handle, err);
    symbol = r == DT_OK ? dlsym(p->handle, "dt_plugin_entry") : NULL;
    if (symbol) {
        memcpy(&entry, &symbol, sizeof(entry)); /* as POSIX has it */
    }
    descriptor = entry ? entry() : NULL;
    plugin_leave(before);
    if (r == DT_OK) {
        r = plugin_descriptor_copy(&p->descriptor, descriptor, err);
    }
    /* also of one that is refused: then the reason is found by its name */
    if (plugin_descriptor_is_name(p->descriptor.whole.name)) {
        name = strdup(p->descriptor.whole.name);
        if (!name) {
            return error_set(err, DT_ERR_NOMEM, "%s", out_of_memory);
        }
        free(p->name);
        p->name = name;
    }
    return r;
}

/* Everything that can be said of the file at `p->file`. An error is the
 * reason to refuse it. */
static int
examine(const struct plugins *ps, struct plugin *p, const struct config *config,
        struct error *err)
{
    const struct plugin *other;
    int r;

    /* of a disabled plugin no code runs, if its file says its name */
    if (is_disabled(config, p->name)) {
        return error_set(err, DT_ERR_INVAL, "disabled in the configuration");
    }
    r = plugin_file_check(p->file, err);
    if (r == DT_OK) {
        r = read_descriptor(p, err);
    }
    if (r < 0) {
        return r;
    }
    if (is_disabled(config, p->name)) {
        return error_set(err, DT_ERR_INVAL, "disabled in the configuration");
    }
    other = plugins_find(ps, p->name);
    if (other) {
        return error_set(err, DT_ERR_INVAL, "the name %s is taken by %s",
                         p->name, other->file);
    }
    return apply_settings(p, config);
}

/* ---- the table ---- */

/* Makes a plugin of DIR/dt-NAME.so and puts it into the table. */
static int
add_file(struct plugins *ps, const char *dir, const char *file,
         const struct error *dir_error, const struct config *config)
{
    struct plugin *p = calloc(1, sizeof(*p));
    struct error err = ERROR_INIT;
    struct plugin **v = reallocarray(ps->v, ps->nr + 1, sizeof(*v));

    if (v) {
        ps->v = v;
    }
    if (!p || !v || asprintf(&p->file, "%s/%s", dir, file) < 0) {
        free(p);
        return DT_ERR_NOMEM;
    }
    /* between "dt-" and ".so" */
    p->name = strndup(file + 3, strlen(file) - 6);
    if (!p->name) {
        plugin_free(p, false);
        return DT_ERR_NOMEM;
    }
    if (dir_error->status < 0) {
        plugin_refuse(p, dir_error->text);
    } else if (examine(ps, p, config, &err) < 0) {
        plugin_refuse(p, err.status < 0 ? err.text : out_of_memory);
        if (p->handle) {
            dlclose(p->handle);
        }
        p->handle = NULL;
        p->descriptor = (struct plugin_descriptor){0};
    }
    ps->v[ps->nr++] = p;
    return DT_OK;
}

static int
is_plugin_file(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);

    return len > 6 && strncmp(entry->d_name, "dt-", 3) == 0 &&
           strcmp(entry->d_name + len - 3, ".so") == 0;
}

/* By bytes, whatever the locale. */
static int
compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int
add_dir(struct plugins *ps, const char *dir, const struct config *config,
        struct error *err)
{
    struct error dir_error = ERROR_INIT;
    struct dirent **entries = NULL;
    int nr = scandir(dir, &entries, is_plugin_file, compare_names);
    int r = DT_OK;

    if (nr < 0) {
        return error_errno(err, errno, "plugin directory %s", dir);
    }
    plugin_file_check_dir(dir, &dir_error);
    for (int i = 0; i < nr; i++) {
        if (r == DT_OK && ps->nr >= MAX_PLUGINS) {
            r = error_set(err, DT_ERR_LIMIT,
                          "plugin directory %s: more than %u plugins", dir,
                          MAX_PLUGINS);
        }
        if (r == DT_OK) {
            r = add_file(ps, dir, entries[i]->d_name, &dir_error, config);
            if (r < 0) {
                error_set(err, r, "%s", out_of_memory);
            }
        }
        free(entries[i]);
    }
    free(entries);
    return r;
}

/* True when the plugin has this name, or its file has. */
static bool
is_named(const struct plugin *p, const char *name)
{
    const char *file = strrchr(p->file, '/') + 1; /* dt-NAME.so */
    size_t len = strlen(name);

    return strcmp(p->name, name) == 0 ||
           (strlen(file) == len + 6 && strncmp(file + 3, name, len) == 0);
}

/* A plugin that the configuration wants must be there. */
static int
check_wanted(const struct plugins *ps, const char *dirs,
             const struct config *config, struct error *err)
{
    for (size_t i = 0; config && i < config->server.nr_plugins; i++) {
        const struct config_plugin *c = &config->server.plugins[i];

        if (!c->enable || plugins_find(ps, c->name)) {
            continue;
        }
        for (size_t k = 0; k < ps->nr; k++) {
            if (is_named(ps->v[k], c->name)) {
                return error_set(err, DT_ERR_INVAL, "Server.Plugins.%s: %s: %s",
                                 c->name, ps->v[k]->file, ps->v[k]->refused);
            }
        }
        return error_set(err, DT_ERR_INVAL,
                         "Server.Plugins.%s: there is no such plugin in %s",
                         c->name, dirs);
    }
    return DT_OK;
}

int
plugins_open(const char *dirs, const struct config *config,
             struct plugins **out, struct error *err)
{
    CLEANUP_FREE char *copy = strdup(dirs);
    struct plugins *ps = calloc(1, sizeof(*ps));
    char *save = NULL, *dir;
    int r = DT_OK;

    *out = NULL;
    if (!copy || !ps) {
        free(ps);
        return error_set(err, DT_ERR_NOMEM, "%s", out_of_memory);
    }
    for (dir = strtok_r(copy, ":", &save); r == DT_OK && dir;
         dir = strtok_r(NULL, ":", &save)) {
        r = add_dir(ps, dir, config, err);
    }
    if (r == DT_OK) {
        r = check_wanted(ps, dirs, config, err);
    }
    if (r < 0) {
        plugins_free(ps);
        return r;
    }
    *out = ps;
    return DT_OK;
}

/* Refuses a plugin that asks for rights which it was not given. One that the
 * configuration names is wanted: that is an error, as in check_wanted. */
static int
check_rights(struct plugin *p, const struct config *config, struct error *err)
{
    uint32_t missing = p->descriptor.whole.flags & CONFINE_RIGHTS & ~p->granted;
    const struct config_plugin *c = config_find_plugin(config, p->name);
    struct error reason = ERROR_INIT;
    struct buf names = {0};
    int st = DT_OK;

    if (p->refused || missing == 0) {
        return DT_OK;
    }
    if (confine_right_names(missing, "\", \"", &names) != DT_OK) {
        return error_set(err, DT_ERR_NOMEM, "%s", out_of_memory);
    }
    error_set(&reason, DT_ERR_ACCES,
              "asks for rights that it was not given: Server.Plugins.%s.Grant "
              "lacks \"%.*s\"",
              p->name, (int)names.len, names.data);
    buf_fini(&names);
    if (c) {
        st = error_set(err, DT_ERR_ACCES, "%s: %s", p->file, reason.text);
    }
    plugin_refuse(p, reason.text);
    return st;
}

int
plugins_grant(struct plugins *ps, const struct config *config,
              uint32_t *granted, struct error *err)
{
    int st = DT_OK;

    *granted = 0;
    for (size_t i = 0; st == DT_OK && i < ps->nr; i++) {
        struct plugin *p = ps->v[i];

        st = check_rights(p, config, err);
        if (!p->refused) {
            *granted |= p->descriptor.whole.flags & CONFINE_RIGHTS;
        }
    }
    return st;
}

void
plugins_free(struct plugins *ps)
{
    if (!ps) {
        return;
    }
    for (size_t i = 0; i < ps->nr; i++) {
        struct plugin *p = ps->v[i];

        plugin_load_undo(&p->loader, &p->descriptor.whole);
        plugin_free(p, ps->is_loaded);
    }
    free(ps->v);
    free(ps);
}

void
plugins_load(struct plugins *ps, struct log *log)
{
    if (ps->is_loaded) {
        return;
    }
    ps->is_loaded = true;
    for (size_t i = 0; i < ps->nr; i++) {
        struct plugin *p = ps->v[i];
        struct error err = ERROR_INIT;

        if (p->refused) {
            continue;
        }
        p->loader.name = p->name;
        p->loader.log = log;
        if (plugin_load_run(&p->loader, &p->descriptor.whole, p->config, &err) <
            0) {
            plugin_refuse(p, err.text);
            log_warn(log, "plugin|%s|refused|%s", p->name, p->refused);
        }
    }
}

/* ---- looking at it ---- */

size_t
plugins_count(const struct plugins *ps)
{
    return ps->nr;
}

const struct plugin *
plugins_at(const struct plugins *ps, size_t index)
{
    return index < ps->nr ? ps->v[index] : NULL;
}

const struct plugin *
plugins_find(const struct plugins *ps, const char *name)
{
    for (size_t i = 0; i < ps->nr; i++) {
        if (!ps->v[i]->refused && strcmp(ps->v[i]->name, name) == 0) {
            return ps->v[i];
        }
    }
    return NULL;
}

int
plugins_names(const struct plugins *ps, struct buf *out)
{
    const char *comma = "";
    int r = DT_OK;

    for (size_t i = 0; r == DT_OK && i < ps->nr; i++) {
        if (!ps->v[i]->refused) {
            r = buf_printf(out, "%s%s", comma, ps->v[i]->name);
            comma = ", ";
        }
    }
    return r;
}

const struct dt_plugin *
plugin_descriptor(const struct plugin *p)
{
    return &p->descriptor.whole;
}

const char *
plugin_name(const struct plugin *p)
{
    return p->name;
}

const char *
plugin_file(const struct plugin *p)
{
    return p->file;
}

const char *
plugin_refused(const struct plugin *p)
{
    return p->refused;
}

bool
plugin_turbo(const struct plugin *p, const char **reason)
{
    if (reason) {
        *reason = p->turbo_reason ? p->turbo_reason : "not offered";
    }
    return p->is_turbo;
}

int
plugin_threads(const struct plugin *p)
{
    return p->threads;
}
