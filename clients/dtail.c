/* SPDX-License-Identifier: Apache-2.0
 *
 * dtail: follows files of many machines; with a query, aggregates what is
 * added to them.
 */
#include "client.h"
#include "mapping.h"
#include "selecting.h"

#define DAY_S 86400

struct dtail {
    struct flags common;
    struct selecting selecting;
    struct mapping mapping;
    int64_t lines;
    int64_t shutdown_after;
    int64_t timeout;
    bool since_start;
};

#define OWN(name, type, member, def, help)                          \
    {                                                               \
        name, type, offsetof(struct dtail, member), def, NULL, help \
    }

static const struct option_spec options[] = {
    FLAGS_COMMON,
    SELECTING_FLAGS(struct dtail),
    MAPPING_FLAGS(struct dtail),
    OWN("lines", OPTION_INT, lines, 0, "Begin so many lines before the end"),
    OWN("shutdownAfter", OPTION_INT, shutdown_after, DAY_S,
        "End after that many seconds; 0: never"),
    OWN("since-start", OPTION_BOOL, since_start, 0,
        "Begin at the first byte of each file"),
    OWN("timeout", OPTION_INT, timeout, 0,
        "Collect for that many seconds; 0: no limit"),
    FLAGS_END};

/* The earlier of both limits ends the program (spec clients 18); 0: none. */
static int64_t
limit_ms(const struct dtail *o)
{
    int64_t seconds = o->shutdown_after > 0 ? o->shutdown_after : 0;

    if (o->timeout > 0 && (seconds == 0 || o->timeout < seconds)) {
        seconds = o->timeout;
    }
    if (seconds > 100 * 365 * (int64_t)DAY_S) {
        seconds = 0; /* longer than anybody waits: never */
    }
    return seconds * 1000;
}

/* With a query the table selects the lines; --invert and --max still count. */
static struct query_spec *
add_mapping(struct client *c, const struct dtail *o, const char *text,
            struct error *err)
{
    struct query_spec *q = mapping_add(c, &o->mapping, text, err);
    char max[24];
    int rc = DT_OK;

    if (q && o->selecting.invert) {
        rc = query_spec_add_arg(q, "invert", "yes", 3);
    }
    if (q && rc == DT_OK && o->selecting.max > 0) {
        int len =
            snprintf(max, sizeof(max), "%lld", (long long)o->selecting.max);

        rc = query_spec_add_arg(q, "max", max, (size_t)len);
    }
    if (rc != DT_OK) {
        error_set(err, rc, "query: %s", dt_strerror(rc));
    }
    return rc == DT_OK ? q : NULL;
}

static int
make_queries(struct client *c, struct error *err)
{
    const struct dtail *o = c->options;
    const char *text = mapping_query(c, &o->mapping);
    struct query_spec *q;

    if (!text && !client_is_line_output(o->common.output)) {
        return error_set(err, DT_ERR_INVAL,
                         "--output \"%s\" is a form of results; without a "
                         "query, default, plain and ndjson are allowed",
                         o->common.output);
    }
    if (!text && o->common.plain && strcmp(o->common.output, "ndjson") == 0) {
        return error_set(err, DT_ERR_INVAL,
                         "--output ndjson and --plain exclude each other");
    }
    if (o->lines < 0) {
        return error_set(err, DT_ERR_INVAL,
                         "--lines %lld: 0 or more is allowed",
                         (long long)o->lines);
    }
    q = text ? add_mapping(c, o, text, err) : client_add_query(c, "tail", err);
    if (!q) {
        return err->status;
    }
    q->from_start = o->since_start;
    q->last_lines = o->lines;
    c->deadline_ms = limit_ms(o);
    return text ? DT_OK : selecting_add(&o->selecting, c, q, err);
}

static const struct client_command dtail = {
    .name = "dtail",
    .options = options,
    .options_size = sizeof(struct dtail),
    .flags = CLIENT_FOLLOWS | CLIENT_MAPS,
    .make_queries = make_queries,
};

int
main(int argc, char **argv)
{
    return client_main(&dtail, argc, argv);
}
