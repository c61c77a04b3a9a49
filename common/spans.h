/* SPDX-License-Identifier: Apache-2.0
 *
 * Where in a line patterns match, to show it to a person. Which lines are
 * selected is the business of match.h; this looks at those that are printed,
 * and may leave out what would take long: lines of more than SPANS_MAX_LINE
 * bytes, more than SPANS_MAX places, patterns that are too expensive.
 *
 * Threads: one at a time.
 */
#ifndef COMMON_SPANS_H
#define COMMON_SPANS_H

#include "match.h"

#define SPANS_MAX_LINE 4096u /* bytes */
#define SPANS_MAX 256u       /* places of a line */

struct spans;

/* [start, end) in bytes of the line; never empty. */
struct span {
    size_t start, end;
};

/* Compiles the terms that are not negated; everything is copied. *out is NULL
 * when there is nothing to show: with `invert`, and for patterns that match
 * every line. DT_OK, or what match_compile says to these terms. */
int spans_new(const struct match_args *args, struct spans **out);
void spans_free(struct spans *s);

/* The places of a line, ascending and apart from each other; *out has
 * SPANS_MAX. Answers how many. A newline, and the CR before it, are no part of
 * a line. `s` may be NULL. */
size_t spans_find(struct spans *s, const char *line, size_t len,
                  struct span *out);

#endif
