/* SPDX-License-Identifier: Apache-2.0
 *
 * A pattern that is tried on single lines, with or without captures: table
 * names that are patterns, and the log format `regex`.
 *
 * One instance a thread. Syntax: Go's (RE2), checked and, where nothing is
 * captured, translated by common/pattern. Bytes that are not UTF-8 count as
 * U+FFFD, as in Go.
 */
#ifndef MAPR_LINEPATTERN_H
#define MAPR_LINEPATTERN_H

#include "arena.h"
#include "text.h"

struct linepattern;

enum linepattern_result {
    LINEPATTERN_NO = 0,
    LINEPATTERN_YES = 1,
    LINEPATTERN_LIMIT = 2, /* too expensive for this line */
    LINEPATTERN_NOMEM = 3
};

/* DT_OK; DT_ERR_INVAL, DT_ERR_LIMIT with the reason in err, DT_ERR_NOMEM. */
int linepattern_new(struct str pattern, bool captures, struct linepattern **out,
                    char *err, size_t err_size);
void linepattern_free(struct linepattern *p);

/* Tries a line. What was captured points into the line, or into a copy in
 * `scratch` when the line is not UTF-8. */
enum linepattern_result linepattern_match(struct linepattern *p,
                                          struct str line,
                                          struct arena *scratch);

/* The named groups. */
size_t linepattern_nr_names(const struct linepattern *p);
struct str linepattern_name(const struct linepattern *p, size_t i);
/* What group i caught in the last match; p == NULL: nothing. */
struct str linepattern_capture(const struct linepattern *p, size_t i);

#endif
