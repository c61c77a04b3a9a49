/* SPDX-License-Identifier: Apache-2.0
 *
 * Other flags for a query that runs.
 */
#include "reload.h"

#include <spans.h>

#include <stdlib.h>

#define MAX_ROWS 64 /* of a table of options */

/* What may change: in all commands, of a query, of the lines to select. */
static const char *const of_all[] = {"files", "quiet", "timeout", NULL};
static const char *const of_query[] = {"query", NULL};
static const char *const of_lines[] = {"regex",  "grep",        "invert",
                                       "before", "after",       "max",
                                       "fixed",  "ignore-case", NULL};

/* ---- words ---- */

struct splitter {
    const char *from;
    char *to;
};

/* Copies one word to `to`. False: it does not end. */
static bool
take_word(struct splitter *s, struct error *err)
{
    char quote = 0;

    for (; *s->from; s->from++) {
        char c = *s->from;

        if (c == '\\') {
            if (!s->from[1]) {
                error_set(err, DT_ERR_INVAL, "unterminated escape sequence");
                return false;
            }
            *s->to++ = *++s->from;
        } else if (quote && c == quote) {
            quote = 0;
        } else if (!quote && (c == '\'' || c == '"')) {
            quote = c;
        } else if (!quote && (c == ' ' || c == '\t')) {
            break;
        } else {
            *s->to++ = c;
        }
    }
    if (quote) {
        error_set(err, DT_ERR_INVAL, "unterminated quoted string");
        return false;
    }
    return true;
}

int
reload_split(char *text, char ***words, size_t *nr, struct error *err)
{
    struct splitter s = {text, text};
    size_t len = strlen(text);

    *nr = 0;
    /* each word but the last has a blank behind it */
    *words = calloc(len / 2 + 2, sizeof(**words));
    if (!*words) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    for (;;) {
        char *word = s.to;

        s.from += strspn(s.from, " \t");
        if (!*s.from) {
            return DT_OK;
        }
        if (!take_word(&s, err)) {
            free(*words);
            *words = NULL;
            return err->status;
        }
        s.from += *s.from != '\0';
        if (s.to > word) { /* an empty quoted word is none */
            *s.to++ = '\0';
            (*words)[(*nr)++] = word;
        }
    }
}

/* ---- flags ---- */

static bool
is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

/* The rows of the command's table that may change. */
static void
fill_table(const struct client *c, struct option_spec *out)
{
    const struct option_spec *all = c->command->options;
    bool is_query = c->query_text != NULL;
    size_t nr = 0;

    for (size_t i = 0; all[i].name && nr + 1 < MAX_ROWS; i++) {
        if (is_among(all[i].name, of_all) ||
            is_among(all[i].name, is_query ? of_query : of_lines)) {
            out[nr++] = all[i];
        }
    }
    out[nr] = (struct option_spec){0};
}

/* --grep wins over --regex; the one that was named last shall. */
static void
prefer_regex(const struct option_spec *table, const bool *given, void *options)
{
    const struct option_spec *grep = NULL;
    bool has_regex = false, has_grep = false;

    for (size_t i = 0; table[i].name; i++) {
        if (strcmp(table[i].name, "regex") == 0) {
            has_regex = given[i];
        } else if (strcmp(table[i].name, "grep") == 0) {
            grep = &table[i];
            has_grep = given[i];
        }
    }
    if (grep && has_regex && !has_grep) {
        *(const char **)((char *)options + grep->offset) = "";
    }
}

static int
parse(struct reload *r, struct error *err)
{
    struct option_spec table[MAX_ROWS];
    bool given[MAX_ROWS] = {false};
    char **words = NULL, **rest = NULL, **argv;
    size_t nr = 0, nr_rest = 0;
    int rc = reload_split(r->text, &words, &nr, err);

    if (rc != DT_OK) {
        return rc;
    }
    argv = calloc(nr + 2, sizeof(*argv));
    if (!argv) {
        free(words);
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    memcpy(argv + 1, words, nr * sizeof(*argv));
    fill_table(&r->client, table);
    switch (options_parse_more(table, (int)nr + 1, argv, r->options, given,
                               &rest, &nr_rest, err)) {
    case OPTIONS_OK:
        break;
    case OPTIONS_HELP:
        rc = error_set(err, DT_ERR_INVAL, "see :help");
        break;
    default:
        rc = err->status == DT_OK ? DT_ERR_INVAL : err->status;
    }
    if (rc == DT_OK && nr == 0) {
        rc = error_set(err, DT_ERR_INVAL, "reload requires flags to change");
    } else if (rc == DT_OK && nr_rest) {
        rc = error_set(err, DT_ERR_INVAL, "unexpected arguments: %s", rest[0]);
    }
    if (rc == DT_OK) {
        prefer_regex(table, given, r->options);
    }
    free(rest);
    free(argv);
    free(words);
    return rc;
}

/* ---- states ---- */

static void
fini(struct reload *r)
{
    for (size_t i = 0; i < r->client.nr_queries; i++) {
        query_spec_fini(&r->client.queries[i]);
    }
    free(r->client.queries);
    query_spec_fini(&r->client.file_spec);
    spans_free(r->client.spans);
    if (r->client.sink.ops) {
        r->client.sink.ops->free(r->client.sink.ctx);
    }
    free(r->options);
    free(r->text);
    free(r);
}

static int
make_query(struct reload *r, uint32_t id, struct error *err)
{
    int rc = r->client.command->make_queries(&r->client, err);

    if (rc == DT_OK && (r->client.nr_queries != 1 || r->client.sink.ops)) {
        rc = error_set(err, DT_ERR_INVAL,
                       "a query with an outfile cannot take the place of "
                       "another");
    }
    if (rc == DT_OK) {
        r->client.queries[0].id = id;
    }
    return rc;
}

int
reload_new(struct reload *from, const char *flags, uint32_t id,
           struct reload **out, struct error *err)
{
    struct reload *r = calloc(1, sizeof(*r));
    size_t size = from->client.command->options_size;
    int rc;

    *out = NULL;
    if (!r) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    r->client = from->client;
    r->client.queries = NULL;
    r->client.nr_queries = 0;
    r->client.spans = NULL;
    r->client.file_spec = (struct query_spec){0};
    r->client.sink = (struct sink){0};
    r->options = malloc(size);
    r->text = strdup(flags);
    if (!r->options || !r->text) {
        fini(r);
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    memcpy(r->options, from->client.options, size);
    r->client.options = r->options;
    r->client.flags = r->options;
    rc = parse(r, err);
    if (rc == DT_OK) {
        rc = make_query(r, id, err);
    }
    if (rc != DT_OK) {
        fini(r);
        return rc;
    }
    r->before = from;
    *out = r;
    return DT_OK;
}

void
reload_free(struct reload *r)
{
    while (r) {
        struct reload *before = r->before;

        fini(r);
        r = before;
    }
}
