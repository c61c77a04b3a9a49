/* SPDX-License-Identifier: Apache-2.0
 *
 * A run at servers: what its threads share. Only for run-servers*.c.
 */
#ifndef CLIENTS_RUN_SERVERS_H
#define CLIENTS_RUN_SERVERS_H

#include "decode.h"
#include "finish.h"
#include "interactive.h"
#include "pool.h"
#include "reconnect.h"
#include "reduce.h"
#include "resume.h"
#include "stage.h"
#include "trust.h"

#include <pthread.h>
#include <stdatomic.h>

struct routes;
struct update;
struct servers_run;

/* A server, as the output thread sees it. */
struct peer {
    struct servers_run *run;
    size_t index;
    struct decode_sink sink;
    struct decode decode;
    struct error err;          /* of its frames */
    enum reduce_result result; /* of its last frame */
    struct reconnect reconnect;
    struct resume resume;
    uint32_t query; /* that resume is about */
    atomic_bool is_over;
};

struct servers_run {
    const struct client *c;
    const struct servers *servers;
    struct output *output;
    struct meter *meter;
    struct statusline *status;
    struct printer *printer;
    struct reduce *reduce;
    struct stage *stage;
    struct pool *pool;
    struct chunks *chunks;
    struct trust *trust;
    struct routes *routes;
    struct buf request, finish;
    const char **names;
    bool *is_good; /* by server; output thread, then main */
    struct peer *peers;
    int event_fd;
    bool is_following; /* broken connections are made again … */
    bool is_resumed;   /* … and go on where they were */
    pthread_t thread;  /* output */
    bool has_thread;
    atomic_bool is_input_over; /* all servers have ended */
    atomic_bool is_over;       /* nothing more is wanted */
    atomic_bool is_stopping;   /* we end it: servers are not to blame */
    size_t nr_over;            /* output thread, then main */
    size_t nr_completed, nr_failed;
    uint64_t lines_sent;
    size_t last_connected; /* of the statistics */
    /* Interactive; else interactive is NULL. */
    struct interactive *interactive;
    _Atomic(const struct query_spec *) specs; /* what runs now */
    struct update *update;
};

/* run-servers-output.c: decodes, reduces and prints; the output thread. `arg`:
 * struct servers_run. */
void *run_servers_output(void *arg);
/* What the frames of a peer are handed to. */
struct decode_sink run_servers_sink(struct peer *p);

/* run-servers-update.c: another query in the sessions that run. Main thread. */
extern const struct interactive_ops run_servers_ops; /* ctx: servers_run */
int run_servers_update_new(struct servers_run *r, struct error *err);
void run_servers_update_free(struct servers_run *r);
/* Told by the reduce: see reduce_args.on_update. ctx: servers_run. */
void run_servers_on_update(void *ctx, size_t server, const char *refusal);
/* Looks whether all servers have answered, or time is over. */
void run_servers_update_look(struct servers_run *r);
/* When to look at the latest (clock_now_ms). */
int64_t run_servers_update_next(const struct servers_run *r);

#endif
