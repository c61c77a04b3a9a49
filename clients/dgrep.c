/* SPDX-License-Identifier: Apache-2.0
 *
 * dgrep: prints the lines that patterns select, of files of many machines.
 */
#include "client.h"
#include "selecting.h"

struct dgrep {
    struct flags common;
    struct selecting selecting;
    bool count;
};

static const struct option_spec options[] = {
    FLAGS_COMMON,
    FLAGS_OUTPUT,
    SELECTING_FLAGS(struct dgrep),
    {"count", OPTION_BOOL, offsetof(struct dgrep, count), 0, NULL,
     "Print only how many lines of each file were selected"},
    FLAGS_END};

static int
make_queries(struct client *c, struct error *err)
{
    const struct dgrep *o = c->options;
    struct query_spec *q = client_add_query(c, "grep", err);
    int rc = q ? selecting_add(&o->selecting, c, q, err) : err->status;

    if (rc == DT_OK && o->count && strcmp(o->common.output, "ndjson") == 0) {
        return error_set(err, DT_ERR_INVAL,
                         "--count prints no lines: --output ndjson is not "
                         "possible with it");
    }
    if (rc == DT_OK && o->count) {
        rc = query_spec_add_arg(q, "count", "yes", 3);
    }
    return rc;
}

static const struct client_command dgrep = {
    .name = "dgrep",
    .options = options,
    .options_size = sizeof(struct dgrep),
    .flags = CLIENT_MATCHES,
    .make_queries = make_queries,
};

int
main(int argc, char **argv)
{
    return client_main(&dgrep, argc, argv);
}
