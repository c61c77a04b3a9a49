/* SPDX-License-Identifier: Apache-2.0
 *
 * From how a run ended to its exit status.
 */
#ifndef CLIENTS_FINISH_H
#define CLIENTS_FINISH_H

#include "loop.h"
#include "run.h"

struct finish {
    const struct client *client;
    enum loop_end end;
    const struct output *output;
    const struct printer *printer;
    int stage_status;    /* of the reduce stages, when the end was LOOP_DONE */
    size_t nr_completed; /* servers that finished well */
    size_t nr_failed;    /* the others */
    uint64_t lines_sent; /* 0: not counted */
};

/* The status of docs/architecture.md, "Exit status"; says what is wrong with
 * the output, and what the run has used if that was asked for. */
enum run_status finish_status(const struct finish *f);

/* A printer that prints lines as this run wants them. DT_OK, or an error. */
int finish_printer(const struct client *c, struct output *out,
                   struct printer **p, struct error *err);

/* Where progress is shown, if it is: `meter` over so many servers (0:
 * serverless), and the line on standard error that gives way to `out` and to
 * the log. Both stay NULL when nobody wants to see it. */
void finish_meter(const struct client *c, struct output *out, size_t nr_servers,
                  struct meter **meter, struct statusline **status);
/* Takes them away again: no other thread uses output or log any more. */
void finish_meter_end(const struct client *c, struct meter *meter,
                      struct statusline *status);

/* The shortest interval of the queries in ms; 0: none has one. */
int64_t finish_interval(const struct client *c);

#endif
