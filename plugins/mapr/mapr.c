/* SPDX-License-Identifier: Apache-2.0
 *
 * mapr: SQL-like queries over log lines. The map stage filters, parses and
 * groups next to the data; the reduce stage merges and prints.
 *
 * Threads: an instance has no state that others see, but for the settings,
 * which the load hook reads before the first query and nobody changes.
 */
#include "mapr.h"

#include "numbers.h"
#include "partial.h"

#include <stdlib.h>
#include <unistd.h>

static struct settings settings;

const struct settings *
mapr_settings(void)
{
    return &settings;
}

static int
mapr_load(struct dt_query *q, const char *config_json)
{
    char err[300] = "";
    int status = settings_read(&settings, config_json, err, sizeof(err));

    if (status < 0) {
        return dt_error(q, status, "%s", err[0] ? err : dt_strerror(status));
    }
    return DT_OK;
}

static void
mapr_unload(void)
{
    settings_fini(&settings);
}

int
mapr_query_init(struct mapr_query *m, struct dt_query *host)
{
    struct language_error err;
    size_t len = 0;
    const char *text = dt_arg(host, "query", 0, &len);
    int status;

    memset(m, 0, sizeof(*m));
    if (!text || len == 0) {
        return dt_error(host, DT_ERR_INVAL,
                        "No mapreduce query specified, use '-query' flag");
    }
    status = language_parse(text, len, &m->q, &err);
    if (status < 0) {
        return dt_error(host, status, "%s", err.text);
    }
    status = plan_make(m->q, &m->plan);
    if (status < 0) {
        mapr_query_fini(m);
        return dt_error(host, status, "query: %s", dt_strerror(status));
    }
    return DT_OK;
}

void
mapr_query_fini(struct mapr_query *m)
{
    plan_free(m->plan);
    language_free(m->q);
    memset(m, 0, sizeof(*m));
}

bool
mapr_flag(struct dt_query *host, const char *name, bool otherwise)
{
    const char *value = dt_arg(host, name, 0, NULL);

    if (!value) {
        return otherwise;
    }
    return strcmp(value, "yes") == 0 || strcmp(value, "true") == 0;
}

int64_t
mapr_count(struct dt_query *host, const char *name, int64_t otherwise)
{
    size_t len = 0;
    const char *value = dt_arg(host, name, 0, &len);
    struct str s = {value, len};
    int64_t n;

    if (!value || numbers_parse_int(s, &n) != NUMBERS_OK || n < 0 ||
        n > 1000000) {
        return otherwise;
    }
    return n;
}

size_t
mapr_budget(struct dt_query *host)
{
    int64_t mib = mapr_count(host, "budget-mib", 0);
    size_t wanted = (size_t)mib << 20;

    /* A user may ask for less than the server grants, not for more. */
    return mib > 0 && wanted < settings.budget ? wanted : settings.budget;
}

void
mapr_host_name(char *out, size_t size)
{
    const char *name = getenv("DTAIL_HOSTNAME_OVERRIDE");

    if (name && *name) {
        snprintf(out, size, "%s", name);
        return;
    }
    if (gethostname(out, size) < 0) {
        snprintf(out, size, "unknown");
    }
    out[size - 1] = '\0';
}

static const struct dt_arg_spec mapr_args[] = {
    {"query", "the query, as in dmap(1)", DT_ARG_REQUIRED, 0},
    {"invert", "yes: lines that the table does not select", 0, 0},
    {"max", "stop after so many selected lines of a source", 0, 0},
    {"before", "so many lines before each selected one count, too", 0, 0},
    {"after", "so many lines behind each selected one count, too", 0, 0},
    {"budget-mib", "memory of an instance; at most what is configured", 0, 0},
    {"output", "table, csv, json, ndjson, outfile, legacy or none", 0, 0},
    {"plot", "yes: draw the result", 0, 0},
    {"color", "yes: colours", 0, 0},
    {"escape", "yes: control bytes of the data are shown as \\xNN", 0, 0},
    {"width", "columns of a picture", 0, 0},
    {"cumulative", "no: an interim result empties the table", 0, 0},
    {"follow", "yes: the input has no end", 0, 0},
    {"warn", "no: no line about hidden rows", 0, 0},
    {"host", "name of the client's machine", 0, 0},
    {NULL, NULL, 0, 0}};

static const struct dt_plugin plugin = {
    .abi = DT_PLUGIN_ABI,
    .flags = DT_TURBO | DT_PARALLEL | DT_COMBINE | DT_FOLLOW,
    .size = sizeof(struct dt_plugin),
    .name = "map",
    .version = "5.0.0",
    .summary = "aggregate log lines with a query",
    .usage = "query=QUERY, as: select count($line),$hostname from STATS group "
             "by $hostname\nThe language is described in dmap(1).\n",
    .partial_format = PARTIAL_FORMAT,
    .args = mapr_args,
    .load = mapr_load,
    .unload = mapr_unload,
    .map = &mapr_map,
    .reduce = &mapr_reduce,
};

DT_REGISTER_PLUGIN(plugin)
