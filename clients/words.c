/* SPDX-License-Identifier: Apache-2.0
 *
 * A command line that a program makes for client_main.
 */
#include "words.h"

#include <stdio.h>
#include <stdlib.h>

void
words_add(struct words *w, const char *flag, const char *value)
{
    char *word = NULL;

    if (w->nr == WORDS_MAX - 1 || asprintf(&word, "%s%s", flag, value) < 0) {
        w->failed = true;
        return;
    }
    w->v[w->nr++] = word;
}

void
words_fini(struct words *w)
{
    for (int i = 0; i < w->nr; i++) {
        free(w->v[i]);
    }
    *w = (struct words){0};
}
