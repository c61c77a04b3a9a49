/* SPDX-License-Identifier: Apache-2.0
 *
 * drun: runs any installed plugin over files of many machines.
 */
#include "client.h"

#include "plugin.h"

struct drun {
    struct flags common;
    struct strv args;
    bool list;
};

static const struct option_spec options[] = {
    FLAGS_COMMON,
    FLAGS_OUTPUT,
    {"arg", OPTION_LIST, offsetof(struct drun, args), 0, NULL,
     "NAME=VALUE of the plugin; may be repeated"},
    {"list", OPTION_BOOL, offsetof(struct drun, list), 0, NULL,
     "List the plugins that are installed here"},
    FLAGS_END,
};

static void
print_plugin(const struct plugin *p)
{
    const struct dt_plugin *d = plugin_descriptor(p);

    printf("%s %s  %s\n", d->name, d->version, d->summary);
    for (const struct dt_arg_spec *a = d->args; a && a->name; a++) {
        printf("    --arg %s=…%s%s  %s\n", a->name,
               a->flags & DT_ARG_REPEAT ? " (repeatable)" : "",
               a->flags & DT_ARG_REQUIRED ? " (required)" : "",
               a->help ? a->help : "");
    }
}

static int
list_plugins(const struct client *c)
{
    const struct drun *o = c->options;

    if (!o->list) {
        return -1;
    }
    for (size_t i = 0; c->plugins && i < plugins_count(c->plugins); i++) {
        const struct plugin *p = plugins_at(c->plugins, i);

        if (plugin_refused(p)) {
            log_warn(c->diag.log, "%s|%s", plugin_file(p), plugin_refused(p));
        } else {
            print_plugin(p);
        }
    }
    return 0;
}

/* Against the descriptor, when the plugin is installed here as well. */
static int
check_args(const struct query_spec *q, const struct plugin *p,
           struct error *err)
{
    const struct dt_arg_spec *args = plugin_descriptor(p)->args, *a;

    for (size_t i = 0; i < q->nr_args; i++) {
        size_t times = 0;

        for (a = args; a && a->name; a++) {
            if (strcmp(a->name, q->args[i].name) == 0) {
                break;
            }
        }
        if (!a || !a->name) {
            return error_set(err, DT_ERR_INVAL,
                             "plugin %s has no argument \"%s\" (drun --list "
                             "shows those it has)",
                             q->plugin, q->args[i].name);
        }
        for (size_t j = 0; j <= i; j++) {
            times += strcmp(q->args[j].name, a->name) == 0;
        }
        if (times > 1 && !(a->flags & DT_ARG_REPEAT)) {
            return error_set(err, DT_ERR_INVAL,
                             "argument \"%s\" of plugin %s may be given once",
                             a->name, q->plugin);
        }
    }
    for (a = args; a && a->name; a++) {
        bool found = !(a->flags & DT_ARG_REQUIRED);

        for (size_t i = 0; i < q->nr_args && !found; i++) {
            found = strcmp(q->args[i].name, a->name) == 0;
        }
        if (!found) {
            return error_set(err, DT_ERR_INVAL,
                             "plugin %s needs --arg %s=… (%s)", q->plugin,
                             a->name, a->help ? a->help : "required");
        }
    }
    return DT_OK;
}

static int
add_args(struct query_spec *q, const struct strv *args, struct error *err)
{
    for (size_t i = 0; i < args->nr; i++) {
        char *equals = strchr(args->v[i], '=');
        int rc;

        if (!equals || equals == args->v[i]) {
            return error_set(err, DT_ERR_INVAL,
                             "--arg \"%s\" is not of the form NAME=VALUE",
                             args->v[i]);
        }
        *equals = '\0';
        rc = query_spec_add_arg(q, args->v[i], equals + 1, strlen(equals + 1));
        *equals = '=';
        if (rc != DT_OK) {
            return error_set(err, rc, "--arg %s: %s", args->v[i],
                             rc == DT_ERR_LIMIT ? "too many or too long"
                                                : dt_strerror(rc));
        }
    }
    return DT_OK;
}

static int
make_queries(struct client *c, struct error *err)
{
    const struct drun *o = c->options;
    const struct plugin *p;
    struct query_spec *q;
    int rc;

    if (!c->plugin) {
        return error_set(err, DT_ERR_INVAL,
                         "no plugin named: drun NAME [flags] (drun --list "
                         "shows those installed here)");
    }
    q = client_add_query(c, c->plugin, err);
    if (!q) {
        return err->status;
    }
    rc = add_args(q, &o->args, err);
    p = c->plugins ? plugins_find(c->plugins, c->plugin) : NULL;
    if (rc == DT_OK && p) {
        q->partial_format = plugin_descriptor(p)->partial_format;
        rc = check_args(q, p, err);
    }
    return rc;
}

static const struct client_command drun = {
    .name = "drun",
    .options = options,
    .options_size = sizeof(struct drun),
    .flags = CLIENT_NAME_FIRST,
    .early = list_plugins,
    .make_queries = make_queries,
};

int
main(int argc, char **argv)
{
    return client_main(&drun, argc, argv);
}
