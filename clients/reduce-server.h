/* SPDX-License-Identifier: Apache-2.0
 *
 * What a client knows of one server: its name for itself, the sources of each
 * query there, how it went. Used by reduce.c only, under its lock.
 */
#ifndef CLIENTS_REDUCE_SERVER_H
#define CLIENTS_REDUCE_SERVER_H

#include "reduce-query.h"

/* A source of a query at a server. */
struct reduce_source {
    struct printer_source *printed; /* NULL: never announced */
    uint32_t origin;                /* number for the reduce stage */
};

/* A query at a server. */
struct reduce_stream {
    struct reduce_source *sources; /* by the server's number */
    size_t nr_sources;
    bool has_ended;
    bool has_origin;
    uint32_t origin; /* number of the server for the reduce stage */
};

struct reduce_server {
    char *host; /* NULL: not said yet */
    struct reduce_stream *streams;
    size_t nr_streams;
    struct reduce_summary summary;
    uint32_t updated; /* interactive: the query that it runs */
    bool is_over;     /* interactive: nothing more comes from it */
};

/* `host`: NULL when the server will say it. DT_OK or DT_ERR_NOMEM; to be freed
 * in either case. */
int reduce_server_init(struct reduce_server *s, size_t nr_streams,
                       const char *host);
void reduce_server_fini(struct reduce_server *s);
/* Another query takes the place of the former. */
void reduce_server_switch(struct reduce_server *s);
/* Another session begins. */
void reduce_server_restart(struct reduce_server *s);

/* The HELLO frame: protocol and formats of partial results must be ours.
 * DT_OK, or an error with err set. */
int reduce_server_hello(struct reduce_server *s, const struct wire_frame *f,
                        const struct reduce_query *queries, struct error *err);
/* The place of a source with that number, made if it is new. NULL: err is
 * set. */
struct reduce_source *reduce_server_source(struct reduce_stream *stream,
                                           uint32_t id, struct error *err);

#endif
