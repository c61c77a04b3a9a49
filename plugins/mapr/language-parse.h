/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the parser share: the state, errors, and one function a
 * kind of clause. Nothing outside language*.c includes this.
 */
#ifndef MAPR_LANGUAGE_PARSE_H
#define MAPR_LANGUAGE_PARSE_H

#include "language.h"
#include "lexer.h"

struct parser {
    struct language_query *q;
    struct language_error *err;
    struct tokens tokens;
    size_t next;     /* token */
    size_t cap_sets; /* room in q->sets */
};

/* A run of tokens: the words of one clause. */
struct words {
    struct token *v;
    size_t nr;
};

/* Sets the error at a token (NULL: at the end of the query) and returns
 * DT_ERR_INVAL. */
int language_parse_fail(struct parser *p, const struct token *at,
                        const char *expected, const char *format, ...)
    DT_PRINTF(4, 5);
int language_parse_nomem(struct parser *p);

/* Joins the words of `quantile(f, 0.9)` and `bucket(f, 60)`, which commas
 * cut, to one token each, in place. */
int language_parse_join(struct parser *p, struct words *w);

/* The clauses; the words are those behind the keyword. */
int language_parse_select(struct parser *p, struct words w);
int language_parse_group(struct parser *p, struct words w);
int language_parse_where(struct parser *p, struct words w);
int language_parse_set(struct parser *p, struct words w);

/* True for a name of the form bucket(field,width); adds the implied
 * assignment unless it is there. DT_OK or an error. */
int language_parse_computed(struct parser *p, const struct token *t,
                            bool *is_computed, struct str *name);
/* Parses the functions of a `set` value into *s. */
int language_parse_functions(struct parser *p, const struct token *t,
                             struct language_set *s);
/* The list of sets, with room for one more. NULL: out of memory. */
struct language_set *language_parse_more_sets(struct parser *p);

#define FMT(s) (int)((s).n < 200 ? (s).n : 200), (s).p /* for "%.*s" */

#endif
