/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands from a terminal while a session runs (--interactive-query): :reload
 * FLAGS, :show, :help, :quit. Spec clients 14.
 *
 * Threads: the main thread.
 */
#ifndef CLIENTS_INTERACTIVE_H
#define CLIENTS_INTERACTIVE_H

#include "client.h"

struct interactive;

/* What the run does for it. */
struct interactive_ops {
    /* The query of `next` is to take the place of the present one. DT_OK:
     * interactive_answer will be called, at once or later; else err says why
     * nothing was changed. */
    int (*reload)(void *ctx, const struct client *next, struct error *err);
    /* How many connections can be reloaded, of how many. */
    void (*capable)(void *ctx, size_t *can, size_t *all);
};

/* Opens the terminal and greets. `c` outlives it. DT_OK, DT_ERR_NOMEM, or
 * DT_ERR_IO when there is no such terminal. */
int interactive_new(const struct client *c, const struct interactive_ops *ops,
                    void *ctx, struct interactive **out, struct error *err);
/* Queries and patterns of all reloads live until here. NULL is fine. */
void interactive_free(struct interactive *i);

/* What to poll; -1: nothing is read now, for NULL and while a reload runs. */
int interactive_fd(const struct interactive *i);
/* Reads and obeys commands. True: the user wants to leave. */
bool interactive_read(struct interactive *i);
/* How the reload went; `failure` NULL: well. */
void interactive_answer(struct interactive *i, const char *failure);
/* Another number for the present query, which is to run again. */
struct query_spec *interactive_again(struct interactive *i);
/* The patterns of the present query. */
struct spans *interactive_spans(const struct interactive *i);

#endif
