/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the text of a reduce stage goes in place of standard output: a result
 * that is complete at each commit.
 *
 * Threads: called under the lock of the reduce.
 */
#ifndef CLIENTS_SINK_H
#define CLIENTS_SINK_H

#include "error.h"

struct sink_ops {
    /* Takes bytes. DT_OK or DT_ERR_NOMEM; what else goes wrong is told by
     * commit. */
    int (*add)(void *ctx, const char *data, size_t len);
    /* The stage gave out all it has for now. DT_OK, or an error with err set:
     * then nothing of this result is left. */
    int (*commit)(void *ctx, struct error *err);
    /* The run is over, with that exit status; returns the one that counts,
     * with err set when it is its own. No call is under way. May be NULL. */
    int (*finish)(void *ctx, int status, struct error *err);
    void (*free)(void *ctx);
};

struct sink {
    const struct sink_ops *ops;
    void *ctx;
};

#endif
