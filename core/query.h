/* SPDX-License-Identifier: Apache-2.0
 *
 * One query in a worker or in a serverless client: its sources, instances,
 * threads and end.
 *
 * Threads: query_start, query_cancel and query_free from the owner's thread.
 * The query has threads of its own; when it is DONE its END is posted to
 * the output and `done_fd` was written.
 */
#ifndef CORE_QUERY_H
#define CORE_QUERY_H

#include "coordinator.h"
#include "outq.h"
#include "plugin.h"
#include "request.h"
#include "source.h"

struct query;

/* Read slots: `take` waits for one (DT_OK, DT_ERR_CANCELLED, DT_ERR_IO), any
 * thread. NULL functions: no limit. */
struct slots {
    int (*take)(void *ctx, bool follow, const struct cancel *cancel);
    void (*give)(void *ctx, bool follow);
    void *ctx;
};

/* What a query has done so far, for others to look at; any thread, and any
 * process that shares the memory. */
struct query_live {
    _Atomic uint64_t bytes_read; /* of what was fed: without compression */
    _Atomic uint64_t bytes_sent; /* lines, partial results, text */
    _Atomic uint64_t lines_sent;
};

/* What a query gets from its process; lives longer than the query. */
struct query_env {
    const struct config *config;
    const struct plugins *plugins;
    const struct permission *permission; /* NULL: the kernel decides */
    struct outq *out;
    struct slots slots;
    const char *user; /* authenticated; for notes and the log */
    const char *host; /* short name */
    bool is_serverless;
    int done_fd;         /* eventfd of the owner */
    struct watch *watch; /* for following; NULL: each query has its own */
    /* Lines for the log; any thread. NULL: none. */
    void (*log)(void *ctx, enum dt_log_level level, const char *text);
    void *log_ctx;
    struct query_live *live; /* of the query that is started; NULL: nobody
                                wants to know */
};

/* Begins a query; takes what it needs of `spec` by copy. An error is one of
 * the request (unknown plugin, format, limits); the caller then posts the END
 * with query_post_end. */
int query_start(const struct query_env *env, const struct query_spec *spec,
                struct query **out, struct error *err);
/* Asks it to end; returns at once. May be called again. */
void query_cancel(struct query *q, enum cancel_why why);
/* The time for reading is over: what was read is the result (finish, drain). */
void query_stop_reading(struct query *q);
/* SIGTERM: sources that follow end now, others are read on. */
void query_finish_following(struct query *q);
enum query_state query_state(const struct query *q);
uint32_t query_id(const struct query *q);
/* The final status, once DONE. */
int query_status(const struct query *q);
/* What its END says, once DONE; the query's. */
const struct query_end *query_result(const struct query *q);
bool query_is_turbo(const struct query *q);
/* Waits for its threads, which are at their end when the query is DONE. */
void query_free(struct query *q);

/* Posts an END frame for a query that could not start. */
int query_post_end(struct outq *out, uint32_t id, int status,
                   const char *message);

#endif
