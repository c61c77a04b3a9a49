/* SPDX-License-Identifier: Apache-2.0
 *
 * A command line that a program makes for client_main.
 *
 * Threads: the caller's.
 */
#ifndef CLIENTS_WORDS_H
#define CLIENTS_WORDS_H

#include <stdbool.h>

#define WORDS_MAX 16

/* Starts as {0}. */
struct words {
    char *v[WORDS_MAX]; /* ends with a NULL */
    int nr;
    bool failed; /* a word is lacking: out of memory, or too many */
};

/* Appends one word, FLAG and VALUE without a blank between. */
void words_add(struct words *w, const char *flag, const char *value);
void words_fini(struct words *w);

#endif
