/* SPDX-License-Identifier: Apache-2.0
 *
 * The matcher: which lines of a block does a query select?
 *
 * A query has terms, patterns of which a line must match all, or none when
 * they are negated; `invert` selects the other lines. The line is its content:
 * without the newline, and without one CR in front of it; bytes that are not
 * UTF-8 count as one U+FFFD each. However it gets there (literal search,
 * literal filter, search over blocks of lines, line by line), the answer is
 * that of matching each line alone.
 *
 * Threads: a compiled struct match is const and shared; a struct match_state
 * belongs to one thread at a time. Blocks are borrowed from match_begin to the
 * last match_next, and need BYTES_SLACK readable bytes behind them.
 *
 * Cost: the match limit of PCRE2 counts a start position, so it bounds no
 * time. Lines of more than MATCH_WINDOW bytes are therefore tried some
 * positions at a time, with a look at `cancelled` in between, and one line may
 * take MATCH_LINE_MS. What is beyond these limits is DT_ERR_LIMIT: "pattern
 * too expensive"; it is never taken for "no match".
 */
#ifndef COMMON_MATCH_H
#define COMMON_MATCH_H

#include "bytes.h"

#include <dtail/plugin.h>

#define MATCH_MAX_TERMS 64u
#define MATCH_WINDOW 1024u   /* bytes of a line that is matched at once */
#define MATCH_LINE_MS 10000u /* what one line may take */

struct match;
struct match_state;

struct match_term {
    const char *pattern; /* bytes; Go's syntax, or plain with is_fixed */
    size_t len;
    bool is_negated; /* a line must not match it */
};

/* Ways that tests force; 0 is what others want, but for rules of permission,
 * which are left to the interpreter. */
#define MATCH_NO_JIT 0x01u    /* the interpreter */
#define MATCH_BY_LINE 0x02u   /* the plain matcher: each line alone */
#define MATCH_BY_BLOCK 0x04u  /* regexes by block, also with a rare literal */
#define MATCH_BY_FILTER 0x08u /* regexes by their literal, if they have one */

struct match_args {
    const struct match_term *terms;
    size_t nr_terms; /* 0: every line */
    bool invert;
    bool ignore_case;
    bool is_fixed;
    unsigned hooks;               /* MATCH_… */
    const enum bytes_level *simd; /* NULL: the best; for tests */
};

/* Why a pattern was refused. Caller's memory. */
struct match_error {
    size_t term;    /* which */
    size_t offset;  /* where, in bytes */
    char text[320]; /* "pattern "x(": offset 1: expected …" */
    size_t why;     /* where in it "expected …" begins */
};

/* Compiles; everything is copied. DT_OK, DT_ERR_INVAL (a pattern is wrong),
 * DT_ERR_LIMIT (too long, too deep, too many), DT_ERR_NOMEM; `err` (may be
 * NULL) has a text that is fit for the user. */
int match_compile(const struct match_args *args, struct match **out,
                  struct match_error *err);
void match_free(struct match *m);

/* Every line is selected: blocks need not be looked at. */
bool match_is_all(const struct match *m);
/* No line can be selected. */
bool match_is_none(const struct match *m);
/* Each run that match_next finds is one line. */
bool match_is_single(const struct match *m);
/* The search is for literals only, without any regular expression. */
bool match_is_literal(const struct match *m);

/* `cancelled` (may be NULL) is asked now and then during long searches; true
 * ends them with DT_ERR_CANCELLED. DT_OK or DT_ERR_NOMEM. `m` must outlive the
 * state. */
int match_state_new(const struct match *m, bool (*cancelled)(void *ctx),
                    void *ctx, struct match_state **out);
void match_state_free(struct match_state *s);

/* Begins a block of whole lines; only the last may lack its newline. */
void match_begin(struct match_state *s, const char *data, size_t len);

/* The next run of selected lines: 1, and [*start, *end) are whole lines of the
 * block, behind those of the call before and not necessarily apart from them.
 * 0: there are no more. Below 0: DT_ERR_LIMIT, DT_ERR_CANCELLED, DT_ERR_NOMEM
 * or DT_ERR_INTERNAL; match_error_offset tells which line. */
int match_next(struct match_state *s, size_t *start, size_t *end);

/* Is this one line (with or without newline) selected? 1, 0, or below 0 as
 * match_next. */
int match_line(struct match_state *s, const char *line, size_t len);

/* After an error: the offset in the block of the line that caused it. */
size_t match_error_offset(const struct match_state *s);
/* What to tell the user: "pattern too expensive", or PCRE2's own message.
 * Lives until the next call with this state. */
const char *match_error_text(struct match_state *s);

/* One-off: does a text without structure (a path, a name) match one pattern?
 * Unlike lines it may hold a newline; then it matches nothing, and *is_odd
 * (may be NULL) says so: a rule that denies should deny it. 1, 0 or below 0. */
int match_text(struct match_state *s, const char *text, size_t len,
               bool *is_odd);

#endif
