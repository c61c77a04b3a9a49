/* SPDX-License-Identifier: Apache-2.0
 *
 * dtail-job: one run of a job of dserver, which starts it (core/jobrun.h): a
 * client that has its settings from descriptor 0 and no command line.
 */
#include "client.h"
#include "jobfile.h"

#include "auth-special.h"
#include "cleanup.h"
#include "config.h"
#include "jobrun.h"
#include "plugin.h"
#include "run.h"
#include "words.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SETTINGS "/proc/self/fd/0"
#define PLUGIN "map"

/* The job that runs: the only one of the settings. */
static const struct config_job *
job_of(const struct config *config, bool *is_continuous)
{
    *is_continuous = config->server.nr_continuous > 0;
    return *is_continuous                   ? &config->server.continuous[0]
           : config->server.nr_schedule > 0 ? &config->server.schedule[0]
                                            : NULL;
}

static void
report(const char *word)
{
    dprintf(STDOUT_FILENO, "%s\n", word);
}

/* ---- the query ---- */

static int
parse_error(const struct language_error *bad, int rc, struct error *err)
{
    return error_set(err, rc, "Query: %s%s%s", bad->text,
                     bad->expected[0] ? "; expected: " : "", bad->expected);
}

/* The query with its file. What the query says of a file itself would be
 * against what the settings say. */
static int
parse(const struct config_job *job, const struct jobfile_name *name,
      struct buf *text, struct language_query **out, struct error *err)
{
    struct language_error bad = {0};
    struct language_query *q = NULL;
    int rc = language_parse(job->query, strlen(job->query), &q, &bad);

    if (rc < 0) {
        return parse_error(&bad, rc, err);
    }
    rc = q->outfile.p ? error_set(err, DT_ERR_INVAL,
                                  "Query: it has an outfile clause; the "
                                  "setting Outfile is for that")
                      : jobfile_query(job->query, name, text);
    language_free(q);
    if (rc == DT_OK) {
        rc = language_parse(text->data, text->len, out, &bad);
        rc = rc < 0 ? parse_error(&bad, rc, err) : DT_OK;
    }
    if (rc == DT_OK && !str_is((*out)->outfile, name->path)) {
        rc = error_set(err, DT_ERR_INVAL,
                       "Query: a quote in it does not end before the outfile");
        language_free(*out);
    }
    return rc;
}

static int
add_args(const struct client *c, struct query_spec *q, const struct buf *text,
         struct error *err)
{
    int rc = query_spec_add_arg(q, "query", text->data, text->len);

    rc = rc ? rc : query_spec_add_arg(q, "host", c->host, strlen(c->host));
    rc = rc ? rc : query_spec_add_arg(q, "output", "outfile", 7);
    if (rc == DT_OK && q->follow) {
        rc = query_spec_add_arg(q, "follow", "yes", 3);
        rc = rc ? rc : query_spec_add_arg(q, "cumulative", "no", 2);
    }
    return rc == DT_OK ? DT_OK
                       : error_set(err, rc, "Query: %s", dt_strerror(rc));
}

static int
add_query(struct client *c, const struct config_job *job, bool is_continuous,
          struct error *err)
{
    const struct plugin *p =
        c->plugins ? plugins_find(c->plugins, PLUGIN) : NULL;
    const struct jobfile_name name = jobfile_name(job->outfile);
    struct language_query *parsed = NULL;
    struct buf text = {0};
    struct query_spec *q;
    int rc = p ? parse(job, &name, &text, &parsed, err)
               : error_set(err, DT_ERR_NOENT,
                           "the plugin " PLUGIN " cannot be loaded here");

    if (rc == DT_OK) {
        int64_t interval = parsed->interval;

        rc =
            jobfile_new(parsed, is_continuous, STDOUT_FILENO, &c->sink) == DT_OK
                ? DT_OK
                : error_set(err, DT_ERR_NOMEM, "out of memory");
        q = rc == DT_OK ? client_add_query(c, PLUGIN, err) : NULL;
        if (q) {
            q->partial_format = plugin_descriptor(p)->partial_format;
            /* no interim result of a scheduled job counts */
            q->interval_ms = is_continuous ? interval * 1000 : 0;
            rc = add_args(c, q, &text, err);
        } else {
            rc = err->status;
        }
    }
    buf_fini(&text);
    return rc;
}

static int
make_queries(struct client *c, struct error *err)
{
    bool is_continuous;
    const struct config_job *job = job_of(c->config, &is_continuous);
    int rc = add_query(c, job, is_continuous, err);

    c->password = job->password;
    c->takes_any_host = true; /* spec server 12 */
    if (rc == DT_OK) {
        report(JOBRUN_BEGIN);
    }
    return rc;
}

/* ---- the program ---- */

static const struct option_spec options[] = {
    FLAGS_COMMON,
    FLAGS_OUTPUT,
    FLAGS_END,
};

static const struct client_command schedule = {
    .name = "dtail-job",
    .options = options,
    .options_size = sizeof(struct flags),
    .make_queries = make_queries,
};

static const struct client_command continuous = {
    .name = "dtail-job",
    .options = options,
    .options_size = sizeof(struct flags),
    .flags = CLIENT_FOLLOWS,
    .make_queries = make_queries,
};

static void
add_servers(struct words *w, const struct strv *servers)
{
    struct buf list = {0};

    for (size_t i = 0; i < servers->nr; i++) {
        w->failed = w->failed || buf_printf(&list, "%s%s", i ? "," : "",
                                            servers->v[i]) != DT_OK;
    }
    if (buf_append(&list, "", 1) == DT_OK) {
        words_add(w, "--servers=", list.data);
    } else {
        w->failed = true;
    }
    buf_fini(&list);
}

static int
run(const struct config *config, char *program)
{
    bool is_continuous;
    const struct config_job *job = job_of(config, &is_continuous);
    struct words w = {0};
    int status = RUN_FAILED;

    words_add(&w, program, "");
    words_add(&w, "--cfg=", SETTINGS);
    words_add(&w, "--logger=", "stdout");
    words_add(&w, "--logLevel=", "warn");
    words_add(&w, "--no-auth-key", "");
    words_add(&w, "--quiet", "");
    words_add(&w, "--user=",
              is_continuous ? AUTH_SPECIAL_CONTINUOUS : AUTH_SPECIAL_SCHEDULE);
    words_add(&w, "--discovery=", *job->discovery ? job->discovery : "comma");
    words_add(&w, "--files=", job->files);
    add_servers(&w, &job->servers);
    if (!w.failed) {
        status =
            client_main(is_continuous ? &continuous : &schedule, w.nr, w.v);
    } else {
        fprintf(stderr, "out of memory\n");
    }
    words_fini(&w);
    return status;
}

/* Runs the job unless it has done its work. */
static int
look_and_run(const struct config *config, char *program, struct error *err)
{
    bool is_continuous;
    const struct config_job *job = job_of(config, &is_continuous);
    struct jobfile_name name;
    int done = DT_OK;

    if (!job) {
        error_set(err, DT_ERR_INVAL, "no job in %s", SETTINGS);
        return RUN_USAGE;
    }
    if (!is_continuous) {
        name = jobfile_name(job->outfile);
        done = jobfile_is_done(&name, time(NULL), err);
    }
    if (done == DT_STOP) {
        report(JOBRUN_EXISTS);
    }
    return done < 0          ? RUN_FAILED
           : done == DT_STOP ? RUN_OK
                             : run(config, program);
}

int
main(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct config *config = NULL;
    int status = RUN_USAGE;

    if (argc != 1) {
        fprintf(stderr, "dtail-job is a part of dserver, which starts it for "
                        "its jobs (dserver(8))\n");
        return RUN_USAGE;
    }
    if (config_load(SETTINGS, &config, &err) == DT_OK) {
        status = look_and_run(config, argv[0], &err);
    }
    if (err.status != DT_OK) {
        fprintf(stderr, "%s\n", err.text);
    }
    config_free(config);
    return status;
}
