/* SPDX-License-Identifier: Apache-2.0
 *
 * A command's main: flags, settings, plugins, queries, then the run.
 */
#include "client.h"

#include "cleanup.h"
#include "clock.h"
#include "config.h"
#include "loop.h"
#include "plugin.h"
#include "run.h"
#include "servers.h"
#include "stdfds.h"

#include <spans.h>

#include <ctype.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define PROTOCOL_VERSION "4.1" /* scripts look for it: spec clients 3 */

bool
client_is_line_output(const char *form)
{
    return !*form || strcmp(form, "default") == 0 ||
           strcmp(form, "plain") == 0 || strcmp(form, "ndjson") == 0;
}

/* Splits a list at its commas; blanks around the names do not count. */
static int
add_files(struct strv *files, const char *list)
{
    int rc = DT_OK;

    for (const char *at = list; rc == DT_OK;) {
        size_t len = strcspn(at, ","), lead = 0, keep = len;

        while (lead < keep && isspace((unsigned char)at[lead])) {
            lead++;
        }
        while (keep > lead && isspace((unsigned char)at[keep - 1])) {
            keep--;
        }
        if (keep > lead) {
            rc = strv_add_n(files, at + lead, keep - lead);
        }
        if (!at[len]) {
            break;
        }
        at += len + 1;
    }
    return rc;
}

struct query_spec *
client_add_query(struct client *c, const char *plugin, struct error *err)
{
    struct query_spec *v =
        reallocarray(c->queries, c->nr_queries + 1, sizeof(*v));
    struct query_spec *q;
    const char *list = c->flags->files;
    int rc = DT_OK;

    if (!v) {
        error_set(err, DT_ERR_NOMEM, "out of memory");
        return NULL;
    }
    c->queries = v;
    q = &v[c->nr_queries++];
    *q = (struct query_spec){
        .id = (uint32_t)c->nr_queries,
        .plugin = strdup(plugin),
        .plain = c->flags->plain,
        .turbo_off = strcasecmp(c->flags->turbo, "no") == 0,
        .follow = (c->command->flags & CLIENT_FOLLOWS) != 0,
    };
    if (*list) {
        rc = add_files(&q->files, list);
    }
    for (size_t w = 0; rc == DT_OK && !*list && w < c->nr_words; w++) {
        rc = add_files(&q->files, c->words[w]);
    }
    if (rc == DT_OK && q->files.nr == 0 && c->is_serverless &&
        isatty(STDIN_FILENO) != 1) {
        rc = strv_add(&q->files, "-");
    }
    if (rc != DT_OK || !q->plugin) {
        error_set(err, DT_ERR_NOMEM, "out of memory");
        return NULL;
    }
    if (q->files.nr == 0) {
        error_set(err, DT_ERR_INVAL,
                  "no files: name them with --files or behind the flags%s",
                  c->is_serverless ? ", or give input by a pipe" : "");
        return NULL;
    }
    if (q->files.nr > REQUEST_MAX_FILES) {
        error_set(err, DT_ERR_LIMIT, "%zu files; at most %u can be asked for",
                  q->files.nr, REQUEST_MAX_FILES);
        return NULL;
    }
    return q;
}

/* ---- start-up ---- */

/* What client_main owns. */
struct start {
    struct client c;
    void *options;
    bool *given; /* by row of the table */
    struct config *config;
    struct plugins *plugins;
    char *log_dir;
};

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    /* What libtool calls the program that its wrapper starts. */
    return strncmp(name, "lt-", 3) == 0 ? name + 3 : name;
}

static bool
was_given(const struct start *s, const char *name)
{
    const struct option_spec *table = s->c.command->options;

    for (size_t i = 0; table[i].name; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return s->given[i];
        }
    }
    return false;
}

static int
usage(const struct start *s, const char *argv0, int status)
{
    struct buf text = {0};

    if (options_usage(s->c.command->options, argv0, &text) == DT_OK) {
        (void)!write(STDERR_FILENO, text.data, text.len);
    }
    buf_fini(&text);
    return status;
}

/* Before there is a log. */
static int
out_of_memory(void)
{
    fputs("out of memory\n", stderr);
    return RUN_FAILED;
}

/* Parses, without the word at `skip` (0: none). -1, or an exit status. */
static int
parse(struct start *s, int argc, char **argv, int skip)
{
    CLEANUP_FREE char **words = NULL;
    struct error err = ERROR_INIT;
    int nr = 0;

    words = reallocarray(NULL, (size_t)argc + 1, sizeof(char *));
    if (!words) {
        return out_of_memory();
    }
    for (int i = 0; i < argc; i++) {
        if (i == 0 || i != skip) {
            words[nr++] = argv[i];
        }
    }
    words[nr] = NULL;
    switch (options_parse(s->c.command->options, nr, words, s->options,
                          s->given, &s->c.words, &s->c.nr_words, &err)) {
    case OPTIONS_HELP:
        return usage(s, argv[0], RUN_OK);
    case OPTIONS_BAD:
        fprintf(stderr, "%s\n", err.text);
        return usage(s, argv[0], RUN_USAGE);
    default:
        return -1;
    }
}

/* Flags may stand on both sides of a plugin's name (drun NAME --files …). */
static int
parse_all(struct start *s, int argc, char **argv)
{
    size_t rows = 0;
    int status;

    while (s->c.command->options[rows].name) {
        rows++;
    }
    s->options = calloc(1, s->c.command->options_size);
    s->given = calloc(rows + 1, sizeof(*s->given));
    if (!s->options || !s->given) {
        return out_of_memory();
    }
    status = parse(s, argc, argv, 0);
    if (status < 0 && s->c.command->flags & CLIENT_NAME_FIRST &&
        s->c.nr_words) {
        int at = argc - (int)s->c.nr_words;

        s->c.plugin = argv[at];
        free(s->c.words);
        s->c.words = NULL;
        options_fini(s->c.command->options, s->options);
        memset(s->given, 0, (rows + 1) * sizeof(*s->given));
        status = parse(s, argc, argv, at);
    }
    s->c.options = s->options;
    s->c.flags = s->options;
    return status;
}

static int
bad_usage(const char *text)
{
    fprintf(stderr, "%s\n", text);
    return RUN_USAGE;
}

/* Flags against each other and against the settings. */
static int
check_flags(struct start *s)
{
    struct flags *f = s->options;

    if (f->log_payload) {
        return bad_usage("--log-payload is not available in this version");
    }
    if (strcasecmp(f->turbo, "yes") != 0 && strcasecmp(f->turbo, "no") != 0) {
        return bad_usage("--turbo: yes and no are allowed");
    }
    if (strcasecmp(f->color, "auto") != 0 &&
        strcasecmp(f->color, "always") != 0 &&
        strcasecmp(f->color, "never") != 0) {
        return bad_usage("--color: auto, always and never are allowed");
    }
    if (!(s->c.command->flags & CLIENT_MAPS) &&
        !client_is_line_output(f->output)) {
        return bad_usage("--output: default, plain and ndjson are allowed");
    }
    if (!(s->c.command->flags & CLIENT_MAPS) && f->plain &&
        strcmp(f->output, "ndjson") == 0) {
        return bad_usage("--output ndjson and --plain exclude each other");
    }
    f->plain = f->plain || strcmp(f->output, "plain") == 0;
    if (f->raw && f->escape) {
        return bad_usage("--raw and --escape exclude each other");
    }
    if (*f->pprof) {
        fprintf(stderr, "WARN: --pprof: live profiling is not available\n");
    }
    if (was_given(s, "key") && was_given(s, "auth-key-path")) {
        fprintf(stderr, "WARN: -key is deprecated; ignoring it because "
                        "-auth-key-path was also set\n");
    } else if (was_given(s, "key")) {
        f->auth_key_path = f->key;
    }
    if (!was_given(s, "port")) {
        f->port = s->config->common.ssh_port;
    }
    if (f->port < 1 || f->port > 65535) {
        return bad_usage("--port: 1 to 65535 are allowed");
    }
    if (f->connect_timeout < 0 || f->connect_timeout > FLAGS_MAX_S ||
        f->handshake_timeout < 1 || f->handshake_timeout > FLAGS_MAX_S ||
        f->wait < 0 || f->wait > FLAGS_MAX_S) {
        return bad_usage("--connect-timeout, --handshake-timeout, --wait: up "
                         "to 86400 seconds are allowed");
    }
    if (f->cpc <= 0) {
        f->cpc = FLAGS_CPC;
    }
    return -1;
}

/* $HOME, else what the system's user table says. */
static char *
find_home(void)
{
    const char *home = getenv("HOME");
    const struct passwd *pw;

    if (home && *home) {
        return strdup(home);
    }
    pw = getpwuid(getuid());
    return strdup(pw ? pw->pw_dir : "");
}

static char *
find_user(const char *flag)
{
    const struct passwd *pw;
    char number[32];

    if (*flag) {
        return strdup(flag);
    }
    pw = getpwuid(getuid());
    if (pw) {
        return strdup(pw->pw_name);
    }
    snprintf(number, sizeof(number), "%lu", (unsigned long)getuid());
    return strdup(number);
}

/* "~/log" to a path below the home folder. */
static char *
expand_home(const char *home, const char *path)
{
    char *out = NULL;

    if (strncmp(path, "~/", 2) != 0 || !*home) {
        return strdup(path);
    }
    return asprintf(&out, "%s%s", home, path + 1) < 0 ? NULL : out;
}

static int
open_log(struct start *s, struct error *err)
{
    const struct flags *f = s->c.flags;
    const char *level = was_given(s, "logLevel") || !s->config->common.log_level
                            ? f->log_level
                            : s->config->common.log_level;
    CLEANUP_FREE char *prefix = NULL;
    struct log_args args = {
        .logger = f->logger,
        .rotation = s->config->common.log_rotation,
        .program = s->c.program,
        .to_stderr = true,
    };
    int rc = log_level_parse(level, &args.level, err);

    if (rc != DT_OK) {
        return rc;
    }
    if (s->c.is_serverless && args.level == LOG_INFO) {
        args.level = LOG_WARN;
    }
    s->log_dir = expand_home(s->c.home, f->log_dir);
    if (!s->log_dir || asprintf(&prefix, "CLIENT|%s", s->c.host) < 0) {
        prefix = NULL;
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    args.dir = s->log_dir;
    args.prefix = s->c.command->flags & CLIENT_PROBE ? NULL : prefix;
    s->c.diag.fd =
        strcasecmp(f->logger, "none") == 0 || strcasecmp(f->logger, "file") == 0
            ? -1
            : STDERR_FILENO;
    return log_new(&args, &s->c.diag.log, err);
}

static int
open_plugins(struct start *s, struct error *err)
{
    CLEANUP_FREE char *dirs = plugins_default_dir(s->config);
    int rc;

    if (!dirs) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    rc = plugins_open(dirs, s->config, &s->plugins, err);
    /* At servers the plugins there do the work; without ours, those with a
     * reduce stage say so when their results come. */
    if (rc == DT_OK) {
        /* they run here: all of them, or their reduce stage */
        plugin_catch_crashes(NULL, STDERR_FILENO, RUN_FAILED);
        plugins_load(s->plugins, s->c.diag.log);
        s->c.plugins = s->plugins;
    } else if (!s->c.is_serverless) {
        log_warn(s->c.diag.log, "plugins|%s", err->text);
        *err = (struct error)ERROR_INIT;
        rc = DT_OK;
    }
    return rc;
}

static int
prepare(struct start *s, struct error *err)
{
    const struct flags *f = s->c.flags;

    s->c.is_serverless = servers_is_serverless(f->discovery, f->servers);
    s->c.is_quiet = f->quiet || f->plain;
    s->c.config = s->config;
    s->c.home = find_home();
    s->c.user = find_user(f->user);
    s->c.login = find_user("");
    s->c.has_user = *f->user;
    s->c.has_port = was_given(s, "port");
    s->c.host = config_host_name();
    if (!s->c.home || !s->c.user || !s->c.login || !s->c.host) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    if (open_log(s, err) != DT_OK) {
        return err->status;
    }
    return open_plugins(s, err);
}

static int
run(struct start *s, struct error *err)
{
    const struct flags *f = s->c.flags;
    struct servers servers = {0};
    int status;

    if (s->c.command->make_queries(&s->c, err) != DT_OK) {
        return RUN_USAGE;
    }
    if (f->interactive_query && (s->c.nr_queries != 1 || s->c.sink.ops)) {
        error_set(err, DT_ERR_INVAL,
                  "--interactive-query: a query with an outfile cannot be "
                  "replaced by another");
        return RUN_USAGE;
    }
    if (s->c.nr_queries) {
        s->c.queries[s->c.nr_queries - 1].last = !f->interactive_query;
    }
    if (s->c.is_serverless) {
        return run_serverless(&s->c);
    }
    status = servers_parse(f->discovery, f->servers, (uint16_t)f->port,
                           &servers, err);
    if (status != DT_OK) {
        return status == DT_ERR_CANCELLED ? RUN_INTERRUPTED : RUN_USAGE;
    }
    servers_shuffle(&servers);
    status = run_servers(&s->c, &servers);
    servers_fini(&servers);
    return status;
}

static int
start(struct start *s, int argc, char **argv)
{
    struct error err = ERROR_INIT;
    int status;

    /* only for reading: printing to one that was closed stays an error */
    if (stdfds_fill(O_RDONLY, &err) != DT_OK) {
        return bad_usage(err.text);
    }
    status = parse_all(s, argc, argv);

    if (status >= 0) {
        return status;
    }
    if (config_load(s->c.flags->cfg, &s->config, &err) != DT_OK) {
        return bad_usage(err.text);
    }
    status = check_flags(s);
    if (status >= 0) {
        return status;
    }
    if (s->c.flags->version) {
        printf("DTail %s Protocol %s Have a lot of fun!\n", PACKAGE_VERSION,
               PROTOCOL_VERSION);
        return RUN_OK;
    }
    if (loop_block_signals(&err) != DT_OK || prepare(s, &err) != DT_OK) {
        return bad_usage(err.text);
    }
    status = s->c.command->early ? s->c.command->early(&s->c) : -1;
    if (status < 0) {
        status = run(s, &err);
        if (s->c.sink.ops && s->c.sink.ops->finish) {
            status = s->c.sink.ops->finish(s->c.sink.ctx, status, &err);
        }
        if (err.status != DT_OK) {
            log_at(s->c.diag.log, LOG_FATAL, "%s", err.text);
        }
    }
    return status;
}

int
client_main(const struct client_command *command, int argc, char **argv)
{
    struct start s = {
        .c = {.command = command,
              .program = base_name(argv[0]),
              .start_ms = clock_now_ms(),
              .diag = {.fd = -1}},
    };
    int status = start(&s, argc, argv);

    for (size_t i = 0; i < s.c.nr_queries; i++) {
        query_spec_fini(&s.c.queries[i]);
    }
    free(s.c.queries);
    query_spec_fini(&s.c.file_spec);
    spans_free(s.c.spans);
    if (s.c.sink.ops) {
        s.c.sink.ops->free(s.c.sink.ctx);
    }
    plugins_free(s.plugins);
    log_free(s.c.diag.log);
    config_free(s.config);
    if (s.options) {
        options_fini(command->options, s.options);
    }
    free(s.options);
    free(s.given);
    free(s.c.words);
    free(s.c.home);
    free(s.c.user);
    free(s.c.login);
    free(s.c.host);
    free(s.log_dir);
    return status;
}
