/* SPDX-License-Identifier: Apache-2.0
 *
 * A run at servers: another query in the sessions that run (interactive).
 *
 * All servers get an UPDATE at once, and what the former query still sends is
 * not printed any more. When one refuses, or does not answer, the former query
 * runs again everywhere, under a new number.
 */
#include "run-servers.h"

#include "clock.h"
#include "setup.h"

#include <stdlib.h>

#define ANSWER_MS 10000 /* a server has so long to take an UPDATE */

enum place {
    PLACE_QUIET = 0, /* nothing was asked */
    PLACE_ASKED,
    PLACE_REFUSED
};

struct update {
    pthread_mutex_t lock; /* the output thread tells of answers */
    enum place *places;   /* by server */
    bool is_running;      /* main thread */
    int64_t deadline;
    char refusal[512]; /* the first one's reason */
};

int
run_servers_update_new(struct servers_run *r, struct error *err)
{
    struct update *u = calloc(1, sizeof(*u));

    if (u) {
        u->places = calloc(r->servers->nr, sizeof(*u->places));
    }
    if (!u || !u->places) {
        free(u);
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    pthread_mutex_init(&u->lock, NULL);
    r->update = u;
    return DT_OK;
}

void
run_servers_update_free(struct servers_run *r)
{
    if (r->update) {
        pthread_mutex_destroy(&r->update->lock);
        free(r->update->places);
        free(r->update);
    }
}

void
run_servers_on_update(void *ctx, size_t server, const char *refusal)
{
    struct servers_run *r = ctx;
    struct update *u = r->update;
    uint64_t one = 1;

    pthread_mutex_lock(&u->lock);
    if (refusal && u->places[server] == PLACE_ASKED) {
        u->places[server] = PLACE_REFUSED;
        if (!u->refusal[0]) {
            snprintf(u->refusal, sizeof(u->refusal), "%s: %s", r->names[server],
                     refusal);
        }
    } else {
        u->places[server] = PLACE_QUIET;
    }
    pthread_mutex_unlock(&u->lock);
    (void)!write(r->event_fd, &one, sizeof(one));
}

static bool
is_active(struct servers_run *r, size_t i)
{
    return !atomic_load(&r->peers[i].is_over);
}

static void
capable(void *ctx, size_t *can, size_t *all)
{
    struct servers_run *r = ctx;

    *can = *all = 0;
    for (size_t i = 0; i < r->servers->nr; i++) {
        if (is_active(r, i)) {
            ++*all;
            *can += reduce_summary(r->reduce, i).has_hello;
        }
    }
}

/* All connections that are left must be able to take it. */
static int
check_servers(struct servers_run *r, struct error *err)
{
    struct buf missing = {0};
    size_t nr = 0;
    int rc = DT_OK;

    for (size_t i = 0; i < r->servers->nr; i++) {
        nr += is_active(r, i);
        if (is_active(r, i) && !reduce_summary(r->reduce, i).has_hello) {
            buf_printf(&missing, "%s%s", missing.len ? ", " : "", r->names[i]);
        }
    }
    if (nr == 0) {
        rc = error_set(err, DT_ERR_NOENT, "no active connections");
    } else if (missing.len) {
        rc = error_set(err, DT_ERR_NOENT, "not connected: %.*s",
                       (int)missing.len, missing.data);
    }
    buf_fini(&missing);
    return rc;
}

/* Sends the query to all who are there. */
static int
send_all(struct servers_run *r, const struct query_spec *spec,
         struct error *err)
{
    struct update *u = r->update;
    int rc = DT_OK;

    u->refusal[0] = '\0';
    for (size_t i = 0; rc == DT_OK && i < r->servers->nr; i++) {
        struct buf frame = {0};

        if (!is_active(r, i)) {
            continue;
        }
        pthread_mutex_lock(&u->lock);
        u->places[i] = PLACE_ASKED;
        pthread_mutex_unlock(&u->lock);
        rc = setup_update(spec, &frame, err);
        if (rc == DT_OK) {
            pool_send(r->pool, i, frame.data, frame.len);
        } else {
            buf_fini(&frame);
        }
    }
    return rc;
}

static int
begin(struct servers_run *r, const struct query_spec *spec, struct spans *spans,
      struct error *err)
{
    int rc = reduce_switch(r->reduce, spec, spans, err);

    if (rc != DT_OK) {
        return rc;
    }
    atomic_store(&r->specs, spec);
    stage_set_interval(r->stage, spec->interval_ms);
    return send_all(r, spec, err);
}

static int
reload(void *ctx, const struct client *next, struct error *err)
{
    struct servers_run *r = ctx;
    int rc = check_servers(r, err);

    if (rc == DT_OK) {
        rc = begin(r, &next->queries[0], next->spans, err);
    }
    if (rc == DT_OK) {
        r->update->is_running = true;
        r->update->deadline = clock_now_ms() + ANSWER_MS;
    }
    return rc;
}

const struct interactive_ops run_servers_ops = {reload, capable};

/* How many have not answered; a connection that broke off never will. */
static size_t
count_asked(struct servers_run *r)
{
    struct update *u = r->update;
    size_t nr = 0;

    pthread_mutex_lock(&u->lock);
    for (size_t i = 0; i < r->servers->nr; i++) {
        if (u->places[i] == PLACE_ASKED && !is_active(r, i)) {
            u->places[i] = PLACE_QUIET;
        }
        nr += u->places[i] == PLACE_ASKED;
        if (u->places[i] == PLACE_ASKED && clock_now_ms() >= u->deadline &&
            !u->refusal[0]) {
            snprintf(u->refusal, sizeof(u->refusal), "%s: no answer",
                     r->names[i]);
        }
    }
    pthread_mutex_unlock(&u->lock);
    return nr;
}

void
run_servers_update_look(struct servers_run *r)
{
    struct update *u = r->update;
    struct error err = ERROR_INIT;
    char why[sizeof(u->refusal)] = "";
    size_t nr_asked;

    if (!u || !u->is_running) {
        return;
    }
    nr_asked = count_asked(r);
    pthread_mutex_lock(&u->lock);
    memcpy(why, u->refusal, sizeof(why));
    pthread_mutex_unlock(&u->lock);
    if (!why[0] && nr_asked) {
        return;
    }
    u->is_running = false;
    if (!why[0]) {
        interactive_answer(r->interactive, NULL);
        return;
    }
    if (begin(r, interactive_again(r->interactive),
              interactive_spans(r->interactive), &err) != DT_OK) {
        log_error(r->c->diag.log, "%s", err.text);
    }
    interactive_answer(r->interactive, why);
}

int64_t
run_servers_update_next(const struct servers_run *r)
{
    return r->update && r->update->is_running ? r->update->deadline
                                              : CLOCK_NEVER;
}
