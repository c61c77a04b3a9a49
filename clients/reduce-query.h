/* SPDX-License-Identifier: Apache-2.0
 *
 * The reduce stage of one query: its instance, and the host that the instance
 * sees. Used by reduce.c only, under its lock.
 */
#ifndef CLIENTS_REDUCE_QUERY_H
#define CLIENTS_REDUCE_QUERY_H

#include "reduce.h"

struct instance;
struct plugin;
struct screen;

/* A source as the stage knows it: numbered over all servers. */
struct reduce_origin {
    char *name;
    char *host;
};

struct reduce_query {
    struct dt_query q; /* what the plugin holds */
    const struct query_spec *spec;
    const struct plugin *plugin; /* NULL: not known here */
    struct instance *instance;   /* NULL: no reduce stage */
    struct printer *printer;
    const struct sink *sink; /* takes the text; NULL: the printer does */
    struct screen *screen;   /* replaces results on a terminal; NULL: none */
    char width[24];          /* columns of the terminal, as an argument */
    const struct diag *diag;
    struct reduce_origin *origins;
    size_t nr_origins, cap_origins;
    const struct cancel *cancel; /* of the call that runs */
    uint64_t sequence;
    bool is_over;    /* no more feeding: stopped or failed */
    bool is_done;    /* all was given out already */
    bool is_second;  /* its notes are those of the first stage */
    bool is_escaped; /* the stage itself shows control bytes of the data */
    bool is_closing; /* inside close: output is refused */
    struct error err;
    struct buf slack; /* copies of blocks without slack behind */
};

int reduce_query_start(struct reduce_query *rq, const struct plugins *plugins,
                       struct error *err);
void reduce_query_fini(struct reduce_query *rq);

/* A new number for a source; *out is it. */
int reduce_query_origin(struct reduce_query *rq, const char *name,
                        const char *host, uint32_t *out);
/* Feeds a LINES or PARTIAL frame; DT_OK, DT_STOP or an error. */
int reduce_query_feed(struct reduce_query *rq, const struct wire_frame *f,
                      uint32_t origin, bool has_slack);
int reduce_query_drain(struct reduce_query *rq, enum dt_drain why);

#endif
