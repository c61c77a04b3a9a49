/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries in the language of dmap(1), shared by dmap and dtail: finding the
 * text on the command line, parsing it before anything is connected, and what
 * it means for the request, the terminal and the result file.
 */
#ifndef CLIENTS_MAPPING_H
#define CLIENTS_MAPPING_H

#include "client.h"

/* A member of a command's options struct. */
struct mapping {
    const char *query;
    bool plot;
};

#define MAPPING_ROW(type, name, type_id, member, def, help)         \
    {                                                               \
        name, type_id, offsetof(type, mapping.member), 0, def, help \
    }

/* Rows for the table of a command whose options are `type`. */
#define MAPPING_FLAGS(type)                                              \
    MAPPING_ROW(type, "query", OPTION_STRING, query, "",                 \
                "Query, as select count($line) from STATS"),             \
        FLAGS_TEXT("output", output, "",                                 \
                   "Form of the result: table, csv, json, ndjson; also " \
                   "beside an outfile"),                                 \
        MAPPING_ROW(type, "plot", OPTION_BOOL, plot, NULL,               \
                    "Draw the result below the table")

/* Takes the query from the flag, else the first positional word with "select "
 * in it, which is then no file any more. NULL: there is none. */
const char *mapping_query(struct client *c, const struct mapping *m);

/* Parses `text` and adds the query for the plugin map; says warnings. An error
 * (DT_ERR_INVAL …) was explained on standard error, with its place; err has the
 * line for the log. */
struct query_spec *mapping_add(struct client *c, const struct mapping *m,
                               const char *text, struct error *err);

#endif
