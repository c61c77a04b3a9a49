/* SPDX-License-Identifier: Apache-2.0
 *
 * One pattern of a query, compiled, and the search for it. For match.c only.
 *
 * Threads: struct term is const and shared; struct term_env and struct
 * term_state belong to one thread.
 */
#ifndef COMMON_MATCH_TERM_H
#define COMMON_MATCH_TERM_H

#include "buf.h"
#include "literal.h"
#include "match.h"
#include "pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum term_kind {
    TERM_ALWAYS, /* matches every line */
    TERM_NEVER,
    TERM_LITERAL,
    TERM_REGEX
};

struct term {
    enum term_kind kind;
    bool is_negated;
    bool has_jit;
    struct pattern pattern;
    struct literal literal;  /* len 0: none */
    pcre2_code *code;        /* for lines and blocks */
    pcre2_code *code_crlf;   /* for blocks with a CR; NULL: the same */
    pcre2_code *code_window; /* with an offset limit, for long lines */
};

/* What the terms of a state share. */
struct term_env {
    enum bytes_level simd;
    unsigned hooks;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack; /* NULL without JIT */
    struct buf scratch;     /* a line with its invalid bytes replaced */
    bool (*cancelled)(void *ctx);
    void *ctx;
    size_t unasked;   /* bytes that were matched since `cancelled` was asked */
    int pcre2_error;  /* the last one that was unexpected */
    const char *line; /* that caused an error */
};

enum term_engine {
    ENGINE_FILTER, /* the required literal, then that line alone */
    ENGINE_BLOCK,  /* PCRE2 over chunks of lines */
    ENGINE_LINES   /* line by line */
};

/* How one thread searches one term. */
struct term_state {
    struct literal_pair pair;
    enum term_engine engine;
    size_t sampled;    /* bytes on which pair and engine were decided */
    struct buf sample; /* lines alone: what they were, until it is enough */
    bool is_sampled;
    /* the chunk of the block that is searched */
    const char *chunk_end; /* NULL: not begun */
    bool chunk_has_cr;
    bool chunk_by_line;
    /* lines alone: of the last ones, how many were there and had the literal */
    unsigned nr_lines, nr_with_literal;
    bool is_common; /* most have it: not worth looking for it first */
    /* the next line that matches, kept for unions */
    const char *hit_start, *hit_end;
};

/* A block being searched. */
struct term_block {
    const char *data, *end;
};

/* ---- match-line.c ---- */

/* Bytes of a block that PCRE2 gets at once: so small that cancelling is
 * noticed, and that a longer line goes the way of long lines. */
#define TERM_CHUNK ((size_t)16 * 1024)

/* The content of a line: without newline and the CR before it. */
size_t term_content_len(const char *line, size_t len);
bool term_is_cancelled(const struct term_env *env);
/* PCRE2 once, with the limits set in env->context; the subject is valid UTF-8.
 * Returns PCRE2's code. */
int term_run(struct term_env *env, const struct term *t, const pcre2_code *code,
             const char *subject, size_t len, size_t start);
/* A regex on the content of one line: 1, 0 or below 0 as match_next. */
int term_regex(struct term_env *env, const struct term *t, const char *p,
               size_t len);
/* Does the line [line, line + len), newline included, match? */
int term_line(struct term_env *env, const struct term *t, struct term_state *ts,
              const char *line, size_t len);

/* ---- match-term.c ---- */

int term_compile(const struct match_term *from, const struct match_args *args,
                 struct term *out, struct match_error *err);
void term_fini(struct term *t);

/* Chooses pair and engine by the data. Call at the start of a block. */
void term_begin(struct term_env *env, const struct term *t,
                struct term_state *ts, const struct term_block *b);
/* The first line at or behind `from` (a line's start) that matches: 1, 0, or
 * below 0 as match_next. */
int term_next(struct term_env *env, const struct term *t, struct term_state *ts,
              const struct term_block *b, const char *from, const char **start,
              const char **end);
/* The pair for lines that come one by one, before any block. */
void term_state_init(const struct term *t, struct term_state *ts);
void term_state_fini(struct term_state *ts);

#endif
