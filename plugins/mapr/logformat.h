/* SPDX-License-Identifier: Apache-2.0
 *
 * From blocks of lines to rows: one file a log format (spec mapreduce 9, 10).
 *
 * A format reads whole blocks, so that those that split at one byte can do it
 * 64 bytes at a time; each extracts only the fields that the plan names. One
 * instance belongs to one instance of the plugin.
 */
#ifndef MAPR_LOGFORMAT_H
#define MAPR_LOGFORMAT_H

#include "delimiters.h"
#include "hints.h"
#include "linepattern.h"
#include "plan.h"

/* Why a line is no row. */
enum logformat_reject {
    REJECT_NO_EQUALS = 0, /* default: a token without = */
    REJECT_CELLS,         /* csv: more cells than headings */
    REJECT_JSON,          /* not a JSON object */
    REJECT_QUOTES,        /* an unfinished or misplaced quote */
    REJECT_NO_MATCH,      /* regex: does not match */
    REJECT_EXPENSIVE,     /* a pattern gave up on the line */
    REJECT_LONG,          /* a record beyond the limit */
    REJECT_NR
};
const char *logformat_reject_text(enum logformat_reject r);

struct logformat_stats {
    uint64_t lines;    /* delivered */
    uint64_t selected; /* that the table filter let pass */
    uint64_t ignored;  /* selected, but plainly of another format */
    uint64_t rejects[REJECT_NR];
};

enum logformat_select {
    SELECT_ALL = 0,
    SELECT_LITERAL, /* |MAPREDUCE:TABLE| */
    SELECT_ANY,     /* |MAPREDUCE:anything| */
    SELECT_PATTERN
};

struct logformat;

struct logformat_ops {
    const char *name;
    bool is_ordered; /* needs each source whole and in order */
    /* Makes f->state. DT_OK, or an error with text in err. May be NULL. */
    int (*open)(struct logformat *f, char *err, size_t err_size);
    /* Takes a block. DT_OK, DT_ERR_NOMEM or DT_ERR_LIMIT. */
    int (*feed)(struct logformat *f, const struct dt_block *b);
    /* The input is exhausted. May be NULL. */
    int (*finish)(struct logformat *f);
    void (*close)(struct logformat *f); /* may be NULL */
};

struct logformat {
    const struct logformat_ops *ops;
    const struct plan *plan;
    struct plan_run *run;
    struct dt_query *query; /* for dt_source */
    enum logformat_select select;
    bool is_inverted;
    bool is_following;
    bool is_passed;     /* lines were selected already, see mapr-context */
    struct text needle; /* SELECT_LITERAL */
    struct linepattern *pattern;
    struct str format_pattern; /* of the log format regex */
    struct str *constants;     /* the values that each row starts with */
    uint32_t line_slot;        /* of $line, or PLAN_NONE */
    struct delimiters delimiters;
    delimiters_fn *find;
    struct logformat_stats stats;
    uint8_t *seen; /* by slot: the field was on some line */
    uint32_t nr_unseen;
    uint32_t sample_left; /* lines whose names are still collected */
    struct hints hints;
    void *state; /* the format's own */
};

/* What the machine contributes to each row. Borrowed for the format's life. */
struct logformat_machine {
    struct str hostname, timezone, timeoffset;
};

/* The format of that name; NULL: there is none. */
const struct logformat_ops *logformat_find(struct str name);
/* Custom formats that are not configured and unknown names: the text says
 * why, and the format is `generic` (Q25). NULL: it is a known format. */
const char *logformat_fallback(struct str name, char *text, size_t size);

/* Everything is zero but ops, query, format_pattern and is_inverted. `run`
 * must be initialised. Errors: text in err. */
int logformat_open(struct logformat *f, struct plan_run *run,
                   const struct logformat_machine *machine, char *err,
                   size_t err_size);
void logformat_close(struct logformat *f);

/* ---- for the formats ---- */

/* Tests the raw line against the table. Counts it. */
bool logformat_selects(struct logformat *f, struct str raw);
/* Begins a row: the values that do not come from the line. */
static inline struct str *
logformat_begin(struct logformat *f)
{
    struct str *values = f->run->row.values;

    memcpy(values, f->constants, f->plan->nr_slots * sizeof(*values));
    return values;
}
/* Ends a row, whose line (trimmed) begins at `offset` of the block. */
int logformat_row(struct logformat *f, const struct dt_block *b, size_t offset,
                  struct str line);
/* Calls `row` for each selected line, trimmed and without newline. */
typedef int logformat_line_fn(struct logformat *f, const struct dt_block *b,
                              size_t offset, struct str line);
int logformat_each_line(struct logformat *f, const struct dt_block *b,
                        logformat_line_fn *row);

static inline bool
logformat_is_plain(char c)
{
    return (unsigned char)c > ' ' && (unsigned char)c < 0x80;
}

static inline struct str
logformat_trim(struct str s)
{
    if (s.n && logformat_is_plain(s.p[0]) && logformat_is_plain(s.p[s.n - 1])) {
        return s;
    }
    return str_trim(s);
}

/* ---- keys, for formats with key=value ---- */

struct keys_key {
    char head[16]; /* the first 16 bytes of the name, zero padded */
    struct str name;
    uint32_t slot;
    uint32_t next; /* of the same length; PLAN_NONE: none */
};

/* The needed names by length, to tell in one step that a key is not needed. */
struct keys {
    struct keys_key *v;
    uint64_t lengths;   /* bit n: some name has n bytes; 63: 63 or more */
    uint32_t first[64]; /* by length */
};

/* All names of the plan. DT_OK or DT_ERR_NOMEM. */
int keys_make(struct keys *k, const struct plan *p);
void keys_fini(struct keys *k);
uint32_t keys_find_slow(const struct keys *k, const char *p, size_t n);
/* The slot of a name, PLAN_NONE: not needed. */
static inline uint32_t
keys_find(const struct keys *k, const char *p, size_t n)
{
    return k->lengths >> (n < 63 ? n : 63) & 1 ? keys_find_slow(k, p, n)
                                               : PLAN_NONE;
}

/* The formats. */
extern const struct logformat_ops logformat_default, logformat_generic,
    logformat_generickv, logformat_csv, logformat_rfc4180, logformat_json,
    logformat_logfmt, logformat_regex;

#endif
