/* SPDX-License-Identifier: Apache-2.0
 *
 * dcat: prints whole files of many machines.
 */
#include "client.h"

struct dcat {
    struct flags common;
};

static const struct option_spec options[] = {FLAGS_COMMON, FLAGS_OUTPUT,
                                             FLAGS_END};

static int
make_queries(struct client *c, struct error *err)
{
    return client_add_query(c, "cat", err) ? DT_OK : err->status;
}

static const struct client_command dcat = {
    .name = "dcat",
    .options = options,
    .options_size = sizeof(struct dcat),
    .flags = CLIENT_VERBATIM,
    .make_queries = make_queries,
};

int
main(int argc, char **argv)
{
    return client_main(&dcat, argc, argv);
}
