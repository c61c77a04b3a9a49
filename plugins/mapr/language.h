/* SPDX-License-Identifier: Apache-2.0
 *
 * The query language: text to struct, with positions in errors and what was
 * expected (spec mapreduce 2 to 5, docs/dmap.1 for what goes beyond it).
 *
 * Used by both stages of the plugin and by the clients, which parse before
 * they connect. A parsed query is const and may be shared by threads.
 */
#ifndef MAPR_LANGUAGE_H
#define MAPR_LANGUAGE_H

#include "arena.h"
#include "text.h"

#define LANGUAGE_MAX_TEXT (64u * 1024u) /* bytes of a query */
#define LANGUAGE_MAX_ITEMS 256u         /* of any list in it */
#define LANGUAGE_MAX_NESTING 16u        /* of functions in `set` */
#define LANGUAGE_DEFAULT_INTERVAL 5
#define LANGUAGE_NONE SIZE_MAX

enum language_func {
    FUNC_LAST = 0, /* also bare items */
    FUNC_COUNT,
    FUNC_SUM,
    FUNC_MIN,
    FUNC_MAX,
    FUNC_AVG,
    FUNC_LEN,
    FUNC_PERCENTAGE,
    FUNC_PERCENTILE,
    FUNC_COUNT_DISTINCT,
    FUNC_QUANTILE,
    FUNC_NR
};
/* "count" and so on; "last" for FUNC_LAST. */
const char *language_func_name(enum language_func f);

struct language_item {
    enum language_func func;
    struct str field;
    struct str name;  /* storage name: what `order by` must spell */
    struct str title; /* column header: the name, or what `as` gave */
    double quantile;  /* FUNC_QUANTILE: 0 … 1 */
    bool is_computed; /* the field is made by an implied `set` */
    size_t at, len;   /* in the query */
};

enum language_op {
    OP_EQ = 0, /* numeric */
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_STR_EQ, /* this and what follows: bytes */
    OP_STR_NE,
    OP_CONTAINS,
    OP_NCONTAINS,
    OP_HASPREFIX,
    OP_NHASPREFIX,
    OP_HASSUFFIX,
    OP_NHASSUFFIX
};

struct language_operand {
    bool is_literal;
    bool is_quoted;
    struct str text; /* the literal, or the name of a field */
    double number;   /* literal of a numeric operator */
    size_t at, len;
};

struct language_cond {
    enum language_op op;
    struct language_operand left, right;
};

enum language_setfn { SETFN_MD5SUM = 0, SETFN_MASKDIGITS, SETFN_BUCKET };

struct language_set {
    struct str target;
    struct str arg; /* name of a field, else itself as text */
    struct {
        enum language_setfn fn;
        int64_t width;           /* SETFN_BUCKET */
    } fns[LANGUAGE_MAX_NESTING]; /* outermost first */
    size_t nr_fns;
    bool is_implied; /* bucket(…) in select or group: a missing field leaves
                        the target missing */
};

struct language_query {
    struct str text; /* as given */
    struct language_item *items;
    size_t nr_items;
    struct language_cond *conds;
    size_t nr_conds;
    struct language_set *sets; /* implied ones behind the user's */
    size_t nr_sets;
    struct str *groups; /* at least one */
    size_t nr_groups;
    bool has_group;   /* stated, not the default */
    struct str table; /* upper-cased; empty: none */
    size_t order;     /* index of an item, or LANGUAGE_NONE */
    bool is_ascending;
    int64_t interval;   /* seconds, at least 1 */
    int64_t limit;      /* below 0: none; -1 also on the terminal: 10 rows */
    struct str outfile; /* p == NULL: none */
    bool is_append;
    struct str logformat; /* p == NULL: none given */
    struct str pattern;   /* of `logformat regex "…"` */
    size_t surplus;       /* offset of a word that is ignored, or NONE */
    struct arena arena;   /* owns all of the above */
};

struct language_error {
    char text[600];     /* as in the spec, for the diagnostic line */
    char expected[400]; /* what could stand there; may be empty */
    size_t at, len;     /* in the query; LANGUAGE_NONE: no place */
};

/* Parses. DT_OK; DT_ERR_INVAL, DT_ERR_LIMIT or DT_ERR_NOMEM with err filled. */
int language_parse(const char *text, size_t len, struct language_query **out,
                   struct language_error *err);
void language_free(struct language_query *q);

/* Appends the error for people: the part of the query around it, a caret
 * below the place, and what was expected. Whole lines. */
void language_explain(const char *query, size_t len,
                      const struct language_error *err, struct text *out);

/* Appends warnings, one a line: variables that the format does not know, bare
 * numbers with string operators, ignored words, `as` that renames nothing
 * (spec mapreduce 16.3, Q7, Q15). */
void language_warnings(const struct language_query *q, struct text *out);

/* The name of the log format that the query asks for; `configured` is the
 * server's default, NULL: "default" (spec mapreduce 10.1). */
struct str language_format(const struct language_query *q,
                           const char *configured);

/* Appends the pattern that selects lines, in RE2 syntax, as it is sent to a
 * DTail 4 server ("." for all lines). */
void language_table_pattern(const struct language_query *q, struct text *out);
/* What in the query DTail 4 servers do not understand; NULL: nothing. */
const char *language_extension(const struct language_query *q);
/* Appends the query as DTail 4 understands it: `""` becomes `$empty`. */
void language_legacy_text(const struct language_query *q, struct text *out);

#endif
