/* SPDX-License-Identifier: Apache-2.0
 *
 * dtailhealth: whether a server works, for monitoring (spec server 17): one
 * line on standard output, and the exit status of a monitoring plug-in.
 *
 * It has few flags of its own; what it does is what every client does, so it
 * hands its words to client_main. Nobody has to be known for it: it logs in as
 * the health user and takes any host key, for nothing secret is said.
 */
#include "client.h"

#include "auth-special.h"
#include "cleanup.h"
#include "config.h"
#include "health.h"
#include "plugin.h"
#include "run.h"
#include "servers.h"
#include "words.h"

#include <limits.h>
#include <stdlib.h>

enum verdict { FINE = 0, WARNING = 1, CRITICAL = 2 };

#define TIMEOUT_S 10

struct health {
    const char *cfg;
    const char *log_level;
    const char *logger;
    bool no_auth_key;
    const char *pprof;
    const char *server;
    int64_t timeout;
    bool version;
};

#define AT(member) offsetof(struct health, member)

static const struct option_spec flags[] = {
    {"cfg", OPTION_STRING, AT(cfg), 0, "",
     "Configuration file; none: read no file"},
    {"logLevel", OPTION_STRING, AT(log_level), 0, "none", "Log level"},
    {"logger", OPTION_STRING, AT(logger), 0, "none",
     "Where diagnostics go: fout, stdout, file, none"},
    {"no-auth-key", OPTION_BOOL, AT(no_auth_key), 0, NULL,
     "Accepted; a health check registers no key"},
    {"pprof", OPTION_STRING, AT(pprof), 0, "",
     "Accepted; live profiling is not available"},
    {"server", OPTION_STRING, AT(server), 0, "",
     "Server as HOST or HOST:PORT, or several between commas"},
    {"timeout", OPTION_INT, AT(timeout), TIMEOUT_S, NULL,
     "Seconds after which a server that does not answer is in trouble"},
    {"version", OPTION_BOOL, AT(version), 0, NULL, "Print the version"},
    FLAGS_END,
};
#define NR_FLAGS (sizeof(flags) / sizeof(*flags))

/* ---- the check, as client_main sees it ---- */

struct probe {
    struct flags common; /* first */
    int64_t timeout;
};

static const struct option_spec probe_options[] = {
    FLAGS_COMMON,
    FLAGS_OUTPUT,
    {"timeout", OPTION_INT, offsetof(struct probe, timeout), 0, NULL, ""},
    FLAGS_END,
};

static int
make_queries(struct client *c, struct error *err)
{
    const struct probe *o = c->options;

    c->password = AUTH_SPECIAL_HEALTH;
    c->takes_any_host = true;
    c->deadline_ms = o->timeout * 1000;
    return client_add_query(c, HEALTH_COMMAND, err) ? DT_OK : err->status;
}

static const struct client_command probe = {
    .name = "dtailhealth",
    .options = probe_options,
    .options_size = sizeof(struct probe),
    .flags = CLIENT_PROBE,
    .make_queries = make_queries,
};

/* The status of a run with what was asked for; RUN_OK: all servers are fine. */
static int
run_probe(const struct health *o, const struct config *config, char *program)
{
    struct words w = {0};
    char seconds[32];
    int status = RUN_FAILED;

    snprintf(seconds, sizeof(seconds), "%lld", (long long)o->timeout);
    words_add(&w, program, "");
    words_add(&w, "--cfg=", o->cfg);
    words_add(&w, "--logger=", o->logger);
    words_add(&w, "--logLevel=", o->log_level);
    words_add(&w, "--logDir=", config ? config->common.log_dir : ".");
    words_add(&w, "--user=", AUTH_SPECIAL_HEALTH);
    words_add(&w, "--ssh-config=", "none");
    words_add(&w, "--discovery=", "comma");
    words_add(&w, "--servers=", o->server);
    words_add(&w, "--files=", HEALTH_COMMAND); /* there are none */
    words_add(&w, "--timeout=", seconds);
    words_add(&w, "--quiet", "");
    if (o->version) {
        words_add(&w, "--version", "");
    }
    if (!w.failed) {
        status = client_main(&probe, w.nr, w.v);
    }
    words_fini(&w);
    return status;
}

/* ---- verdicts ---- */

static int
cannot(const char *why)
{
    fprintf(stderr, "CRITICAL: unable to create dtailhealth client: %s\n", why);
    return CRITICAL;
}

/* Without a server: whether plugins can be loaded here. */
static int
check_here(const struct config *config)
{
    CLEANUP_FREE char *dirs = plugins_default_dir(config);
    struct error err = ERROR_INIT;
    struct plugins *plugins = NULL;
    int st = dirs ? plugins_open(dirs, config, &plugins, &err) : DT_ERR_NOMEM;

    if (st == DT_OK) {
        st = health_check(plugins, &err);
    }
    plugins_free(plugins);
    if (st != DT_OK) {
        printf("CRITICAL: DTail server not operating properly (using "
               "serverless connection)!\n");
        return CRITICAL;
    }
    printf("WARNING: All seems fine but the check only run in serverless mode, "
           "please specify a remote server via --server hostname:port\n");
    return WARNING;
}

static int
check_server(const struct health *o, const struct config *config, char *program)
{
    struct error err = ERROR_INIT;
    struct servers servers = {0};
    int status = servers_parse(
        "comma", o->server, (uint16_t)config->common.ssh_port, &servers, &err);

    servers_fini(&servers);
    if (status != DT_OK) {
        return cannot(err.text);
    }
    status = run_probe(o, config, program);
    switch (status) {
    case RUN_OK:
        printf("OK: All fine at %s :-)\n", o->server);
        return FINE;
    case RUN_INTERRUPTED:
        printf("UNKNOWN: Received unknown status code %d from %s!\n", status,
               o->server);
        return status;
    default:
        printf("CRITICAL: DTail server not operating properly at %s!\n",
               o->server);
        return CRITICAL;
    }
}

static int
check(const struct health *o, char *program)
{
    struct error err = ERROR_INIT;
    struct config *config = NULL;
    int status;

    if (o->version) {
        return run_probe(o, NULL, program);
    }
    if (o->timeout < 1 || o->timeout > 86400) {
        return cannot("--timeout: 1 to 86400 are allowed");
    }
    if (config_load(o->cfg, &config, &err) != DT_OK) {
        return cannot(err.text);
    }
    status = *o->server ? check_server(o, config, program) : check_here(config);
    config_free(config);
    return status;
}

static int
usage(const char *program, int status)
{
    struct buf text = {0};

    if (options_usage(flags, program, &text) == DT_OK) {
        fwrite(text.data, 1, text.len, stderr);
    }
    buf_fini(&text);
    return status;
}

int
main(int argc, char **argv)
{
    bool given[NR_FLAGS] = {0};
    struct health o = {0};
    struct error err = ERROR_INIT;
    char **words = NULL;
    size_t nr_words = 0;
    int status = CRITICAL;

    switch (
        options_parse(flags, argc, argv, &o, given, &words, &nr_words, &err)) {
    case OPTIONS_HELP:
        status = usage(argv[0], FINE);
        break;
    case OPTIONS_BAD:
        fprintf(stderr, "%s\n", err.text);
        status = usage(argv[0], CRITICAL);
        break;
    default:
        status = nr_words ? cannot("words behind the flags; a server is named "
                                   "with --server")
                          : check(&o, argv[0]);
        break;
    }
    options_fini(flags, &o);
    free(words);
    return status;
}
