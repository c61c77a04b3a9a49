/* SPDX-License-Identifier: Apache-2.0
 *
 * The program dserver: its command line and settings, and telling others that
 * it is ready.
 */
#include "server.h"
#include "cleanup.h"
#include "confine.h"
#include "options.h"
#include "plugin-list.h"
#include "status.h"
#include "stdfds.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define AT(member) offsetof(struct server_options, member)

enum flag {
    FLAG_CFG = 0,
    FLAG_PORT,
    FLAG_BIND_ADDRESS,
    FLAG_LOGGER,
    FLAG_LOG_DIR,
    FLAG_LOG_LEVEL,
    FLAG_PLUGIN_DIR,
    NR_GIVEN_FLAGS
};

/* Those up to pluginDir stand in the order of enum flag. */
static const struct option_spec flags[] = {
    {"cfg", OPTION_STRING, AT(cfg), 0, "",
     "Configuration file, or \"none\" for the defaults"},
    {"port", OPTION_INT, AT(port), 2222, NULL,
     "Port to listen on; 0 takes a free one"},
    {"bindAddress", OPTION_STRING, AT(bind_address), 0, "",
     "Address to listen on"},
    {"logger", OPTION_STRING, AT(logger), 0, "",
     "Where log lines go: none, stdout, stderr, file or fout"},
    {"logDir", OPTION_STRING, AT(log_dir), 0, "", "Folder of log files"},
    {"logLevel", OPTION_STRING, AT(log_level), 0, "",
     "Log lines up to this level: none, fatal, error, warn, info, default, "
     "verbose, debug, devel, trace or all"},
    {"pluginDir", OPTION_STRING, AT(plugin_dir), 0, "",
     "Folders of plugins, separated by colons"},
    {"shutdownAfter", OPTION_INT, AT(shutdown_after), 0, NULL,
     "Stop after so many seconds; 0: never"},
    {"ready-fd", OPTION_INT, AT(ready_fd), -1, NULL,
     "Write the port and a newline to this descriptor once listening"},
    {"color", OPTION_BOOL, AT(color), 0, NULL,
     "Taken for compatibility; log lines have no colour"},
    {"version", OPTION_BOOL, AT(version), 0, NULL, "Show the version"},
    {"check-config", OPTION_BOOL, AT(check_config), 0, NULL,
     "Check the configuration and leave"},
    {"dump-config", OPTION_BOOL, AT(dump_config), 0, NULL,
     "Show the effective configuration and leave"},
    {"dump-schema", OPTION_BOOL, AT(dump_schema), 0, NULL,
     "Show the JSON schema of the configuration and leave"},
    {"list-plugins", OPTION_BOOL, AT(list_plugins), 0, NULL,
     "Show the plugins, or why one is refused, and leave"},
    {"status", OPTION_BOOL, AT(status), 0, NULL,
     "Show what the server with this configuration does, and leave"},
    {"json", OPTION_BOOL, AT(json), 0, NULL,
     "--list-plugins and --status as JSON"},
    {NULL, OPTION_BOOL, 0, 0, NULL, NULL},
};

#define NR_FLAGS (sizeof(flags) / sizeof(*flags))

/* ---- command line ---- */

static void
print_usage(FILE *to)
{
    struct buf text = {0};

    if (options_usage(flags, "dserver", &text) == DT_OK) {
        fwrite(text.data, 1, text.len, to);
    }
    buf_fini(&text);
}

static int
check_ranges(const struct server_options *o, struct error *err)
{
    if (o->port < 0 || o->port > 65535) {
        return error_set(err, DT_ERR_INVAL,
                         "--port %lld: 0 to 65535 are allowed",
                         (long long)o->port);
    }
    if (o->shutdown_after < 0 || o->shutdown_after > INT_MAX) {
        return error_set(err, DT_ERR_INVAL,
                         "--shutdownAfter %lld: 0 to %d are allowed",
                         (long long)o->shutdown_after, INT_MAX);
    }
    if (o->ready_fd < -1 || o->ready_fd > INT_MAX) {
        return error_set(err, DT_ERR_INVAL, "--ready-fd %lld: not a descriptor",
                         (long long)o->ready_fd);
    }
    return DT_OK;
}

int
server_parse(struct server *s, int argc, char **argv)
{
    struct error err = ERROR_INIT;
    CLEANUP_FREE char **words = NULL;
    enum option_result result;
    size_t nr_words = 0;

    s->given = calloc(NR_FLAGS, sizeof(*s->given));
    if (!s->given) {
        fprintf(stderr, "dserver: out of memory\n");
        return DT_ERR_NOMEM;
    }
    result = options_parse(flags, argc, argv, &s->options, s->given, &words,
                           &nr_words, &err);
    if (result == OPTIONS_HELP) {
        print_usage(stdout);
        return DT_STOP;
    }
    if (result == OPTIONS_OK && nr_words > 0) {
        error_set(&err, DT_ERR_INVAL, "unexpected argument: %s", words[0]);
        result = OPTIONS_BAD;
    }
    if (result == OPTIONS_OK && check_ranges(&s->options, &err) != DT_OK) {
        result = OPTIONS_BAD;
    }
    if (result != OPTIONS_OK) {
        fprintf(stderr, "%s\n", err.text);
        print_usage(stderr);
        return DT_ERR_INVAL;
    }
    return DT_OK;
}

/* ---- settings ---- */

static int
replace(char **text, const char *with, struct error *err)
{
    char *copy = strdup(with);

    if (!copy) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    free(*text);
    *text = copy;
    return DT_OK;
}

/* What stood on the command line wins over the file. */
static int
apply_flags(const struct server *s, struct config *c, struct error *err)
{
    const struct server_options *o = &s->options;
    const struct {
        enum flag flag;
        char **to;
        const char *value;
    } texts[] = {
        {FLAG_BIND_ADDRESS, &c->server.ssh_bind_address, o->bind_address},
        {FLAG_LOGGER, &c->common.logger, o->logger},
        {FLAG_LOG_DIR, &c->common.log_dir, o->log_dir},
        {FLAG_LOG_LEVEL, &c->common.log_level, o->log_level},
        {FLAG_PLUGIN_DIR, &c->server.plugin_dir, o->plugin_dir},
    };
    int st = DT_OK;

    if (s->given[FLAG_PORT]) {
        c->common.ssh_port = (int)o->port;
    }
    for (size_t i = 0; st == DT_OK && i < sizeof(texts) / sizeof(*texts); i++) {
        if (s->given[texts[i].flag] && *texts[i].value) {
            st = replace(texts[i].to, texts[i].value, err);
        }
    }
    return st;
}

static int
load_config(const struct server *s, struct config **out, struct error *err)
{
    int st = config_load(s->options.cfg, out, err);

    if (st != DT_OK) {
        return st;
    }
    st = apply_flags(s, *out, err);
    if (st != DT_OK) {
        config_free(*out);
        *out = NULL;
    }
    return st;
}

/* Settings and plugins that belong together. */
static int
load(const struct server *s, struct listener_settings *out, struct error *err)
{
    CLEANUP_FREE char *dirs = NULL;
    uint32_t rights = 0;
    int st = load_config(s, &out->config, err);

    if (st != DT_OK) {
        return st;
    }
    dirs = plugins_default_dir(out->config);
    if (!dirs) {
        st = error_set(err, DT_ERR_NOMEM, "out of memory");
    } else {
        st = plugins_open(dirs, out->config, &out->plugins, err);
    }
    if (st == DT_OK) {
        st = plugins_grant(out->plugins, out->config, &rights, err);
    }
    if (st == DT_OK) {
        st = confine_new(out->config->server.sandbox, rights, &out->confine,
                         err);
    }
    if (st != DT_OK) {
        plugins_free(out->plugins);
        config_free(out->config);
        *out = (struct listener_settings){0};
    }
    return st;
}

static void
unload(struct listener_settings *settings)
{
    confine_free(settings->confine);
    plugins_free(settings->plugins);
    config_free(settings->config);
    *settings = (struct listener_settings){0};
}

/* ---- answers ---- */

static int
dump_config(const struct server *s)
{
    struct error err = ERROR_INIT;
    struct config *config = NULL;
    struct buf text = {0};
    int st = load_config(s, &config, &err);

    if (st == DT_OK && (st = config_dump(config, &text)) != DT_OK) {
        error_set(&err, st, "--dump-config: %s", dt_strerror(st));
    }
    if (st == DT_OK) {
        fwrite(text.data, 1, text.len, stdout);
    } else {
        fprintf(stderr, "dserver: %s\n", err.text);
    }
    buf_fini(&text);
    config_free(config);
    return st;
}

static int
list_as_text(const struct listener_settings *settings, struct buf *out)
{
    int st = plugin_list_text(settings->plugins, out);

    if (st == DT_OK) {
        st = buf_puts(out, "sandbox: ");
    }
    if (st == DT_OK) {
        st = confine_describe(settings->confine, out);
    }
    return st == DT_OK ? buf_puts(out, "\n") : st;
}

static int
dump_schema(void)
{
    struct buf text = {0};
    int st = config_schema(&text);

    if (st == DT_OK) {
        fwrite(text.data, 1, text.len, stdout);
    } else {
        fprintf(stderr, "dserver: --dump-schema: %s\n", dt_strerror(st));
    }
    buf_fini(&text);
    return st;
}

static int
list_plugins(const struct server *s)
{
    struct listener_settings settings = {0};
    struct error err = ERROR_INIT;
    struct buf text = {0};
    int st = load(s, &settings, &err);

    if (st == DT_OK) {
        st = s->options.json ? plugin_list_json(settings.plugins, &text)
                             : list_as_text(&settings, &text);
        if (st != DT_OK) {
            error_set(&err, st, "--list-plugins: %s", dt_strerror(st));
        }
    }
    if (st == DT_OK) {
        fwrite(text.data, 1, text.len, stdout);
    } else {
        fprintf(stderr, "dserver: %s\n", err.text);
    }
    buf_fini(&text);
    unload(&settings);
    return st;
}

/* Time for an answer of the running server. */
#define STATUS_WAIT_MS 5000

static int
show_status(const struct server *s)
{
    struct error err = ERROR_INIT;
    struct config *config = NULL;
    struct buf json = {0}, text = {0};
    int st = load_config(s, &config, &err);

    if (st == DT_OK) {
        st = status_ask(config->server.status_socket, STATUS_WAIT_MS, &json,
                        &err);
    }
    if (st == DT_OK && !s->options.json) {
        st = status_text(json.data, json.len, &text);
        if (st != DT_OK) {
            error_set(&err, st, "--status: not understood: %s",
                      dt_strerror(st));
        }
    }
    if (st == DT_OK) {
        const struct buf *shown = s->options.json ? &json : &text;

        fwrite(shown->data, 1, shown->len, stdout);
    } else {
        fprintf(stderr, "dserver: %s\n", err.text);
    }
    buf_fini(&text);
    buf_fini(&json);
    config_free(config);
    return st;
}

bool
server_answer(struct server *s, int *status)
{
    const struct server_options *o = &s->options;
    int st = DT_OK;

    if (o->version) {
        printf("dserver %s\n", PACKAGE_VERSION);
    } else if (o->check_config) {
        st = config_check(o->cfg, stdout, stderr);
    } else if (o->dump_config) {
        st = dump_config(s);
    } else if (o->dump_schema) {
        st = dump_schema();
    } else if (o->list_plugins) {
        st = list_plugins(s);
    } else if (o->status) {
        *status = show_status(s) == DT_OK ? 0 : 1;
        return true;
    } else {
        return false;
    }
    *status = st == DT_OK ? 0 : 2;
    return true;
}

/* ---- serving ---- */

/* systemd's protocol: one datagram to a socket named in the environment; a
 * name that begins with @ is an abstract one. */
static void
notify_supervisor(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    CLEANUP_FD int fd = -1;
    size_t len;

    if (!path || (path[0] != '/' && path[0] != '@')) {
        return;
    }
    len = strlen(path);
    if (len >= sizeof(sa.sun_path)) {
        return;
    }
    memcpy(sa.sun_path, path, len);
    if (sa.sun_path[0] == '@') {
        sa.sun_path[0] = '\0';
    }
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&sa,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    }
}

static void
on_ready(void *ctx, int port)
{
    struct server *s = ctx;
    int fd = (int)s->options.ready_fd;

    if (fd >= 0) {
        dprintf(fd, "%d\n", port);
        close(fd);
        s->options.ready_fd = -1;
    }
    notify_supervisor("READY=1");
}

static void
log_settings(struct log *log, const struct listener_settings *settings)
{
    const struct config *c = settings->config;
    struct buf names = {0};

    for (size_t i = 0; i < c->warnings.nr; i++) {
        log_warn(log, "settings|%s", c->warnings.v[i]);
    }
    for (size_t i = 0; i < plugins_count(settings->plugins); i++) {
        const struct plugin *p = plugins_at(settings->plugins, i);

        if (plugin_refused(p)) {
            log_error(log, "plugin %s refused|%s|%s", plugin_name(p),
                      plugin_file(p), plugin_refused(p));
        }
    }
    if (plugins_names(settings->plugins, &names) == DT_OK &&
        buf_append(&names, "", 1) == DT_OK) {
        log_info(log, "settings|%s|plugins|%s", c->path ? c->path : "defaults",
                 names.data);
    }
    names.len = 0;
    if (confine_describe(settings->confine, &names) == DT_OK) {
        log_info(log, "sandbox|%.*s", (int)names.len, names.data);
    }
    buf_fini(&names);
}

/* A file that cannot be used changes nothing. */
static int
on_reload(void *ctx, struct error *err)
{
    struct server *s = ctx;
    struct listener_settings fresh = {0};
    int st = load(s, &fresh, err);

    if (st != DT_OK) {
        return st;
    }
    unload(&s->settings);
    s->settings = fresh;
    log_settings(s->log, &s->settings);
    return DT_OK;
}

static int
open_log(struct server *s, struct error *err)
{
    const struct config_common *c = &s->settings.config->common;
    struct log_args args = {.logger = c->logger,
                            .dir = c->log_dir,
                            .rotation = c->log_rotation,
                            .program = "dserver"};
    int st = log_level_parse(c->log_level, &args.level, err);

    return st == DT_OK ? log_new(&args, &s->log, err) : st;
}

int
server_serve(struct server *s, struct error *err)
{
    struct listener_args args = {.settings = &s->settings,
                                 .reload = on_reload,
                                 .ready = on_ready,
                                 .ctx = s,
                                 .shutdown_after_s =
                                     (int)s->options.shutdown_after};
    int st = stdfds_fill(O_RDWR, err);

    if (st == DT_OK) {
        st = load(s, &s->settings, err);
    }
    if (st == DT_OK) {
        st = open_log(s, err);
    }
    if (st != DT_OK) {
        return st;
    }
    log_settings(s->log, &s->settings);
    args.log = s->log;
    return listener_run(&args, err);
}

void
server_fini(struct server *s)
{
    unload(&s->settings);
    log_free(s->log);
    options_fini(flags, &s->options);
    free(s->given);
    *s = (struct server){0};
}
