/* SPDX-License-Identifier: Apache-2.0
 *
 * Other flags for a query that runs: ":reload --grep WARN".
 */
#ifndef CLIENTS_RELOAD_H
#define CLIENTS_RELOAD_H

#include "client.h"

/* A state of the flags and the query that they make. */
struct reload {
    struct reload *before; /* what it was made from; owned */
    struct client client;
    void *options; /* but for its lists, which are the first one's */
    char *text;    /* words of the flags; the options point into it */
};

/* Splits at blanks and tabs; '…' and "…" group, a backslash takes the next
 * character as it is. In place: *words point into `text`. DT_OK, DT_ERR_INVAL
 * (err says what does not end), DT_ERR_NOMEM. The caller frees *words. */
int reload_split(char *text, char ***words, size_t *nr, struct error *err);

/* Parses flags over those of `from` and makes the query, as number `id`. DT_OK,
 * or err says what is wrong; `from` is untouched then. */
int reload_new(struct reload *from, const char *flags, uint32_t id,
               struct reload **out, struct error *err);
/* Frees it and all before it. */
void reload_free(struct reload *r);

#endif
