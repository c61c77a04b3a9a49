/* SPDX-License-Identifier: Apache-2.0
 *
 * The one place that is fed: what arrives from all servers (or, serverless,
 * from this process's own queries) goes through the plugin's reduce stage when
 * it has one, else to the printer.
 *
 * Threads: any; calls are serialised by a lock inside.
 */
#ifndef CLIENTS_REDUCE_H
#define CLIENTS_REDUCE_H

#include "diag.h"
#include "printer.h"
#include "request.h"
#include "sink.h"
#include "wire.h"

struct plugins;
struct reduce;
struct meter;

struct reduce_args {
    const struct query_spec *specs; /* outlive the reduce */
    size_t nr_specs;
    const struct plugins *plugins; /* loaded; NULL: none */
    /* Takes the text of the stage of specs[0]; with file_spec that of a second
     * stage, which is fed the same partial results. NULL: none. */
    const struct sink *sink;
    const struct query_spec *file_spec;
    bool is_redrawn; /* results of specs[0] replace each other on a terminal */
    struct printer *printer;
    struct meter *meter; /* told how far the queries are; NULL: nobody is */
    /* Interactive: the one query may be replaced (reduce_switch), its result is
     * complete when it ended at all servers, and that UPDATEs were taken or
     * refused (with a reason) is told, under the lock. NULL: not interactive.
     */
    void (*on_update)(void *ctx, size_t server, const char *refusal);
    void *update_ctx;
    const struct diag *diag;
    const char *const *names; /* of the servers, as the user wrote them */
    size_t nr_servers;
    const char *own_host; /* serverless: short name of this machine, else
                             NULL (servers say theirs) */
};

/* What became of a frame. */
enum reduce_result {
    REDUCE_OK = 0,
    REDUCE_SERVER_FAILED, /* this server is of no more use; err is set */
    REDUCE_OVER           /* nothing more is wanted from anybody: the output is
                             gone, or a stage failed or has had enough */
};

/* Starts the reduce stages. Errors: DT_ERR_NOMEM, or what a stage's start
 * answered, with its text. */
int reduce_new(const struct reduce_args *args, struct reduce **out,
               struct error *err);
void reduce_free(struct reduce *r);

/* Does this query need its frames whole (it has a reduce stage)? */
bool reduce_wants_whole(struct reduce *r, uint32_t query);
/* Has any query one? */
bool reduce_has_stage(const struct reduce *r);
/* Takes one frame of a server. `has_slack`: 64 readable bytes stand behind its
 * data. `cancel` (or NULL) ends waits for the output. */
enum reduce_result reduce_frame(struct reduce *r, size_t server,
                                const struct wire_frame *f, bool has_slack,
                                const struct cancel *cancel, struct error *err);
/* A followed query's interval has passed. */
enum reduce_result reduce_interval(struct reduce *r);
/* All input has come: finish and drain the stages, flush the output. DT_OK or
 * the status of a stage that failed. Call once. */
int reduce_finish(struct reduce *r);
int reduce_flush(struct reduce *r);
/* The client itself ends its queries: that they were cancelled is no news. */
void reduce_expect_cancel(struct reduce *r);

/* Interactive: `spec` (which outlives it, with a higher number) takes the place
 * of the query; what still comes of former ones is dropped. DT_OK; DT_ERR_LIMIT
 * when the reader of the output holds everything up; or what the stage's start
 * answered, and nothing has changed. */
int reduce_switch(struct reduce *r, const struct query_spec *spec,
                  struct spans *spans, struct error *err);
/* Interactive: nothing more comes from a server. */
void reduce_server_over(struct reduce *r, size_t server);

/* How it went at a server, once its frames are over. */
struct reduce_summary {
    bool has_hello;
    size_t nr_ended;     /* queries whose END came */
    int status;          /* the first END that was an error, else DT_OK */
    uint64_t lines_sent; /* 0: not counted */
    uint64_t failed;     /* sources that were missing, refused or broke off */
    uint64_t broken;     /* of these: a read error, or damaged data */
};
struct reduce_summary reduce_summary(struct reduce *r, size_t server);
/* Another session of a server begins: its sources are announced anew. */
void reduce_restart_server(struct reduce *r, size_t server);
/* A stage failed here: its status, else DT_OK. */
int reduce_status(struct reduce *r);

#endif
