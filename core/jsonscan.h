/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks over JSON text that jansson has found valid and tells where each
 * member stands. jansson keeps no positions and drops repeated members; the
 * settings need both for their messages and for "later wins".
 *
 * All functions stay inside the text whatever it holds; only for valid text
 * are their answers of use. Thread-safe.
 */
#ifndef CORE_JSONSCAN_H
#define CORE_JSONSCAN_H

#include <stdbool.h>
#include <stddef.h>

struct jsonscan {
    const char *text; /* the whole text */
    size_t at;        /* where to go on */
    size_t end;       /* behind the object or array */
};

/* A piece of the text, by its offsets. */
struct jsonscan_slice {
    size_t at;
    size_t len;
};

struct jsonscan_member {
    struct jsonscan_slice key; /* with its quotes; elements of arrays: empty,
                                  at the value */
    struct jsonscan_slice value;
};

/* The value in the text that begins at or after `at` (white space is
 * skipped). len 0: there is none before `end`. */
struct jsonscan_slice jsonscan_value(const char *text, size_t at, size_t end);
/* Begins a walk over the object or array in `slice`. */
struct jsonscan jsonscan_enter(const char *text, struct jsonscan_slice slice);
/* Steps to the next member or element. False: there is none. */
bool jsonscan_next(struct jsonscan *s, bool is_object,
                   struct jsonscan_member *out);
/* How deep objects and arrays are nested in the text. */
size_t jsonscan_depth(const char *text, size_t len);
/* Line and column (in characters), both from 1. */
void jsonscan_position(const char *text, size_t at, size_t *line,
                       size_t *column);

#endif
