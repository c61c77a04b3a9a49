/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries in the language of dmap(1).
 */
#include "mapping.h"

#include "colors.h"
#include "config.h"
#include "plugin.h"
#include "resultfile.h"

#include "mapr/language.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define PLUGIN "map"

/* ---- the result file ---- */

static int
file_add(void *ctx, const char *data, size_t len)
{
    resultfile_add(ctx, data, len);
    return DT_OK;
}

static int
file_commit(void *ctx, struct error *err)
{
    return resultfile_commit(ctx, err);
}

static void
file_free(void *ctx)
{
    resultfile_fini(ctx);
    free(ctx);
}

static const struct sink_ops file_ops = {
    .add = file_add,
    .commit = file_commit,
    .free = file_free,
};

/* Takes q. */
static int
make_sink(struct language_query *q, struct sink *out, struct error *err)
{
    struct resultfile *f = malloc(sizeof(*f));

    if (!f) {
        language_free(q);
    }
    if (!f || resultfile_init(f, q) != DT_OK) {
        free(f);
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    *out = (struct sink){&file_ops, f};
    return DT_OK;
}

/* ---- the text ---- */

static bool
is_query(const char *word)
{
    return strcasestr(word, "select ") != NULL;
}

const char *
mapping_query(struct client *c, const struct mapping *m)
{
    if (*m->query) {
        return c->query_text = m->query;
    }
    for (size_t i = 0; i < c->nr_words; i++) {
        char *word = c->words[i];

        if (is_query(word)) {
            c->nr_words--;
            memmove(&c->words[i], &c->words[i + 1],
                    (c->nr_words - i) * sizeof(*c->words));
            return c->query_text = word;
        }
    }
    return c->query_text; /* that of the query before, if there was one */
}

/* Whole lines for people; the log has a line of its own. */
static void
say(const struct client *c, const struct text *t)
{
    if (c->diag.fd >= 0 && t->len && !t->failed) {
        (void)!write(c->diag.fd, t->data, t->len);
    }
}

static struct language_query *
parse(const struct client *c, const char *text, struct error *err)
{
    struct language_query *q = NULL;
    struct language_error bad = {0};
    struct text t = {0};
    int rc = language_parse(text, strlen(text), &q, &bad);

    if (rc < 0) {
        language_explain(text, strlen(text), &bad, &t);
        error_set(err, rc, "%.300s%s|Can't parse mapr query|%s", text,
                  strlen(text) > 300 ? "…" : "", bad.text);
        q = NULL;
    } else {
        language_warnings(q, &t);
    }
    say(c, &t);
    text_fini(&t);
    return q;
}

/* ---- the arguments of the plugin ---- */

static int
add(struct query_spec *q, const char *name, const char *value,
    struct error *err)
{
    int rc = query_spec_add_arg(q, name, value, strlen(value));

    return rc == DT_OK ? DT_OK
                       : error_set(err, rc, "query: %s", dt_strerror(rc));
}

static int
check_output(const char *output, struct error *err)
{
    static const char *const names[] = {"", "table", "csv", "json", "ndjson"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(output, names[i]) == 0) {
            return DT_OK;
        }
    }
    return error_set(err, DT_ERR_INVAL,
                     "--output \"%s\": table, csv, json and ndjson are allowed",
                     output);
}

/* What both a result on standard output and one in a file are told. */
static int
add_common(const struct client *c, const struct language_query *parsed,
           const char *text, struct query_spec *q, struct error *err)
{
    bool follows = q->follow;
    int rc = add(q, "query", text, err);

    rc = rc ? rc : add(q, "host", c->host, err);
    if (rc == DT_OK && follows) {
        rc = add(q, "follow", "yes", err);
        if (rc == DT_OK && !parsed->outfile.p) {
            rc = add(q, "cumulative", "no", err);
        }
    }
    return rc;
}

static int
add_shown(struct client *c, const struct mapping *m, const char *output,
          struct query_spec *q, struct error *err)
{
    const struct flags *f = c->flags;
    bool is_terminal = isatty(STDOUT_FILENO);
    bool is_table = strcmp(output, "table") == 0;
    int rc = add(q, "output", output, err);

    if (rc == DT_OK && m->plot) {
        rc = add(q, "plot", "yes", err);
    }
    if (rc == DT_OK && is_table && colors_wanted(c, is_terminal)) {
        rc = add(q, "color", "yes", err);
    }
    if (rc == DT_OK && is_table && (f->escape || (is_terminal && !f->raw))) {
        rc = add(q, "escape", "yes", err);
        /* Bytes of the data do not move the cursor, so it is known where. */
        c->is_redrawn = is_terminal;
    }
    if (rc == DT_OK && !log_wants(c->diag.log, LOG_WARN)) {
        rc = add(q, "warn", "no", err);
    }
    return rc;
}

/* ---- the request ---- */

static struct query_spec *
fill(struct client *c, const struct mapping *m, const char *text,
     struct language_query *parsed, struct error *err)
{
    const struct plugin *p =
        c->plugins ? plugins_find(c->plugins, PLUGIN) : NULL;
    struct query_spec *q;
    const char *output = *c->flags->output ? c->flags->output : "table";
    bool is_shown = !parsed->outfile.p || *c->flags->output || m->plot;
    int rc;

    if (!p) {
        language_free(parsed);
        error_set(err, DT_ERR_NOENT,
                  "the plugin " PLUGIN " is not installed here, which has to "
                  "merge and show the results");
        return NULL;
    }
    q = client_add_query(c, PLUGIN, err);
    if (!q) {
        language_free(parsed);
        return NULL;
    }
    q->partial_format = plugin_descriptor(p)->partial_format;
    q->interval_ms = parsed->interval * 1000;
    rc = add_common(c, parsed, text, q, err);
    if (rc == DT_OK && parsed->outfile.p && is_shown) {
        /* A second reduce stage writes the file. */
        if (query_spec_copy(&c->file_spec, q) != DT_OK) {
            rc = error_set(err, DT_ERR_NOMEM, "out of memory");
        } else {
            rc = add(&c->file_spec, "output", "outfile", err);
        }
    }
    if (rc == DT_OK && is_shown) {
        rc = add_shown(c, m, output, q, err);
    } else if (rc == DT_OK) {
        rc = add(q, "output", "outfile", err);
    }
    if (parsed->outfile.p && rc == DT_OK) {
        rc = make_sink(parsed, &c->sink, err);
    } else {
        language_free(parsed);
    }
    return rc == DT_OK ? q : NULL;
}

struct query_spec *
mapping_add(struct client *c, const struct mapping *m, const char *text,
            struct error *err)
{
    struct language_query *parsed;

    if (check_output(c->flags->output, err) != DT_OK) {
        return NULL;
    }
    parsed = parse(c, text, err);
    return parsed ? fill(c, m, text, parsed, err) : NULL;
}
