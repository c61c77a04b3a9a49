/* SPDX-License-Identifier: Apache-2.0
 *
 * dmap: aggregates whole files of many machines with a query.
 */
#include "mapping.h"

#define MAX_TIMEOUT_S 86400

struct dmap {
    struct flags common;
    struct mapping mapping;
    int64_t timeout;
};

static const struct option_spec options[] = {
    FLAGS_COMMON,
    MAPPING_FLAGS(struct dmap),
    {"timeout", OPTION_INT, offsetof(struct dmap, timeout), 0, NULL,
     "Servers stop reading after that many seconds; 0: no limit"},
    FLAGS_END,
};

static int
make_queries(struct client *c, struct error *err)
{
    const struct dmap *o = c->options;
    const char *text = mapping_query(c, &o->mapping);
    struct query_spec *q;

    if (!text) {
        return error_set(err, DT_ERR_INVAL,
                         "No mapreduce query specified, use '-query' flag");
    }
    if (o->timeout > MAX_TIMEOUT_S) {
        return error_set(err, DT_ERR_INVAL, "--timeout: at most %d s",
                         MAX_TIMEOUT_S);
    }
    q = mapping_add(c, &o->mapping, text, err);
    if (!q) {
        return err->status;
    }
    q->timeout_ms = o->timeout > 0 ? o->timeout * 1000 : 0;
    return DT_OK;
}

static const struct client_command dmap = {
    .name = "dmap",
    .options = options,
    .flags = CLIENT_MAPS,
    .options_size = sizeof(struct dmap),
    .make_queries = make_queries,
};

int
main(int argc, char **argv)
{
    return client_main(&dmap, argc, argv);
}
