/* SPDX-License-Identifier: Apache-2.0
 *
 * All connections of a client: one thread that polls every session, with a
 * small state machine each (link.h).
 *
 * Threads: the pool's own; the functions are called from the main thread,
 * pool_drop and pool_result also from the output thread.
 */
#ifndef CLIENTS_POOL_H
#define CLIENTS_POOL_H

#include "link.h"

struct pool;

struct pool_args {
    const struct servers *servers; /* outlives the pool */
    const struct routes *routes;   /* of the servers; outlives the pool, too */
    struct link_env env;           /* wake_fd and scratch are set here */
    size_t max_establishing;       /* connections being made at once */
    size_t max_open;               /* connections at once (descriptors) */
    int wait_ms;  /* then whoever has not answered is given up; 0: never */
    int event_fd; /* eventfd, written when there is a question */
    bool keeps_running; /* also when all links are over: pool_restart */
};

/* Makes the pool; nothing runs yet. `wake_fd` of the chunk queue is the
 * pool's, hence the two steps. */
int pool_new(const struct pool_args *args, struct pool **out,
             struct error *err);
int pool_wake_fd(const struct pool *p);
int pool_start(struct pool *p, struct chunks *chunks, struct error *err);
/* Asks the servers whose queries run for the result of what they have read
 * (`finish` of the environment); ends the connections to the others. */
void pool_finish(struct pool *p);
/* Ends all connections and the thread; nothing of the pool runs afterwards. */
void pool_stop(struct pool *p);
void pool_free(struct pool *p);

/* This server's bytes are not wanted any more: its connection ends. */
void pool_drop(struct pool *p, size_t server);
/* Connects again at `at` (clock_now_ms) to a server whose end came through the
 * chunk queue; once for each end. Takes over `request`. DT_OK, DT_ERR_NOMEM. */
int pool_restart(struct pool *p, size_t server, char *request, size_t len,
                 int64_t at);
/* Sends more to a server whose queries run; takes over `request`. What has not
 * gone out yet gives way to it; a connection that is over does not get it. */
void pool_send(struct pool *p, size_t server, char *request, size_t len);
/* How the connection ended: once its end came through the chunk queue. */
const struct link_result *pool_result(const struct pool *p, size_t server);

struct pool_stats {
    size_t connected; /* being made or open */
    size_t establishing;
};
struct pool_stats pool_stats(const struct pool *p);

/* ---- unknown host keys ---- */

struct pool_host {
    const struct server *server;
    const struct route *route;
    const char *type, *base64, *print;
};
enum pool_answer {
    POOL_YES = 1, /* trust and store these keys */
    POOL_ALL,     /* and those of all later servers */
    POOL_NO,
    POOL_NO_TERMINAL /* nobody can be asked */
};
/* The hosts to ask about; 0: no question is open. They stay as they are until
 * pool_answer. */
size_t pool_question(struct pool *p, const struct pool_host **out);
void pool_answer(struct pool *p, enum pool_answer answer);

#endif
