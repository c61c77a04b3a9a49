/* SPDX-License-Identifier: Apache-2.0
 *
 * What the main thread of a client waits for: signals, the end of the work,
 * the reader of the output going away, time limits.
 */
#ifndef CLIENTS_LOOP_H
#define CLIENTS_LOOP_H

#include "client.h"
#include "output.h"

struct meter;
struct statusline;

enum loop_end {
    LOOP_DONE = 0,    /* the work is over */
    LOOP_INTERRUPTED, /* SIGINT twice within three seconds */
    LOOP_TERMINATED,  /* SIGTERM, SIGHUP, SIGQUIT */
    LOOP_QUIT,        /* on_extra: the user wants to leave */
    LOOP_READER_GONE, /* nobody reads the output any more */
    LOOP_DEADLINE     /* the run's own time limit */
};

struct loop_args {
    const struct client *client;
    struct output *output;
    struct meter *meter;       /* NULL: nobody wants to see it … */
    struct statusline *status; /* … there */
    int event_fd;              /* eventfd: something of the work has changed */
    /* Looks at the work; true: it is over. */
    bool (*on_event)(void *ctx);
    /* Appends "connected=2|servers=2|connected%=100|new=0|throttle=0". */
    void (*stats)(void *ctx, struct buf *out);
    /* A further descriptor (a terminal with a question), -1: none; and what to
     * do when it is readable. May be NULL. */
    int (*extra_fd)(void *ctx);
    /* When on_event is to look without an event; may be NULL. */
    int64_t (*next_ms)(void *ctx);
    bool (*on_extra)(void *ctx); /* true: the user wants to leave */
    void *ctx;
};

struct loop;

int loop_new(const struct loop_args *args, struct loop **out,
             struct error *err);
void loop_free(struct loop *l);
/* Waits. May be called again, with a limit, to wait for the rest. */
enum loop_end loop_run(struct loop *l, int64_t limit_ms);

/* Blocks the signals that the loop takes; before any thread is made. */
int loop_block_signals(struct error *err);

#endif
