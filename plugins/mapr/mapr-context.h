/* SPDX-License-Identifier: Apache-2.0
 *
 * --max, --before and --after with a query: which lines around the selected
 * ones the query gets to see (spec mapreduce 9).
 */
#ifndef MAPR_MAPR_CONTEXT_H
#define MAPR_MAPR_CONTEXT_H

#include "context.h"
#include "logformat.h"

/* Of one source. */
struct mapr_context_source;

/* Caller's memory; all zero but args. One thread; each source in order. */
struct mapr_context {
    struct context_args args;
    struct mapr_context_source **v;
    size_t nr, cap;
};

static inline bool
mapr_context_is_wanted(const struct mapr_context *c)
{
    return c->args.before || c->args.after || c->args.max;
}

/* Feeds the format with what is wanted of a block. DT_OK; DT_STOP: no more of
 * this source; or an error. */
int mapr_context_feed(struct mapr_context *c, struct logformat *f,
                      const struct dt_block *block);
void mapr_context_fini(struct mapr_context *c);

#endif
