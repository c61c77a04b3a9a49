/* SPDX-License-Identifier: Apache-2.0
 *
 * One pattern: compiling it, and searching a block for it.
 */
#include "match-term.h"

#include <stdlib.h>

/* Match limit within a chunk; what reaches it is repeated line by line. */
#define CHUNK_LIMIT 20000u

/* ---- compiling ---- */

static int
refuse(struct match_error *err, int status, const struct match_term *from,
       size_t offset, const char *text)
{
    int shown = from->len < 60 ? (int)from->len : 60, len;

    if (err) {
        err->offset = offset;
        /* never more than a third of the room */
        len = snprintf(err->text, sizeof(err->text),
                       "pattern \"%.*s%s\": offset %zu: ", shown, from->pattern,
                       from->len > 60 ? "..." : "", offset);
        err->why = len > 0 ? (size_t)len : 0;
        snprintf(err->text + err->why, sizeof(err->text) - err->why, "%s",
                 text);
    }
    return status;
}

static pcre2_code *
compile_code(const char *regex, size_t len, uint32_t options, int *error)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    pcre2_code *code;
    PCRE2_SIZE at;

    if (!context) {
        *error = PCRE2_ERROR_NOMEMORY;
        return NULL;
    }
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    code = pcre2_compile((PCRE2_SPTR)regex, len,
                         PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_MULTILINE |
                             PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C |
                             options,
                         error, &at, context);
    pcre2_compile_context_free(context);
    return code;
}

/* A filter for executable memory makes this fail: then the interpreter does. */
static bool
add_jit(pcre2_code *code)
{
    return !code || pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
}

static int
compile_regex(const struct match_term *from, bool want_jit, struct term *t,
              struct match_error *err)
{
    const struct pattern *p = &t->pattern;
    int error = 0;

    t->code = compile_code(p->regex, p->regex_len, 0, &error);
    if (t->code && p->regex_crlf) {
        t->code_crlf =
            compile_code(p->regex_crlf, p->regex_crlf_len, 0, &error);
    }
    if (t->code && !(p->regex_crlf && !t->code_crlf)) {
        t->code_window = compile_code(p->regex, p->regex_len,
                                      PCRE2_USE_OFFSET_LIMIT, &error);
    }
    if (!t->code_window) {
        PCRE2_UCHAR text[160];

        if (error == PCRE2_ERROR_NOMEMORY || error == PCRE2_ERROR_HEAP_FAILED) {
            return refuse(err, DT_ERR_NOMEM, from, 0, "out of memory");
        }
        /* all that the parser writes is PCRE2, so this is about size */
        pcre2_get_error_message(error, text, sizeof(text));
        return refuse(err, DT_ERR_LIMIT, from, from->len, (const char *)text);
    }
    t->has_jit = want_jit && p->can_jit && add_jit(t->code) &&
                 add_jit(t->code_crlf) && add_jit(t->code_window);
    return DT_OK;
}

int
term_compile(const struct match_term *from, const struct match_args *args,
             struct term *out, struct match_error *err)
{
    unsigned flags = (args->ignore_case ? PATTERN_IGNORE_CASE : 0) |
                     (args->is_fixed ? PATTERN_FIXED : 0);
    struct pattern_error why;
    int status;

    *out = (struct term){.is_negated = from->is_negated};
    status =
        pattern_parse(from->pattern, from->len, flags, &out->pattern, &why);
    if (status != DT_OK) {
        return refuse(err, status, from, why.offset, why.text);
    }
    out->literal = (struct literal){out->pattern.literal, out->pattern.mask,
                                    out->pattern.literal_len};
    out->kind = out->pattern.is_always    ? TERM_ALWAYS
                : out->pattern.is_never   ? TERM_NEVER
                : out->pattern.is_literal ? TERM_LITERAL
                                          : TERM_REGEX;
    if (out->kind == TERM_REGEX) {
        status = compile_regex(from, !(args->hooks & MATCH_NO_JIT), out, err);
        if (status != DT_OK) {
            term_fini(out);
        }
    }
    return status;
}

void
term_fini(struct term *t)
{
    pcre2_code_free(t->code);
    pcre2_code_free(t->code_crlf);
    pcre2_code_free(t->code_window);
    pattern_fini(&t->pattern);
    *t = (struct term){0};
}

/* ---- blocks ---- */

/* Is the literal on less than half of the lines? */
static bool
is_rare(const struct term_env *env, const struct term *t,
        const struct term_state *ts, const char *data, size_t len)
{
    const char *p = data, *end = data + len;
    size_t nr_lines = bytes_count_at(env->simd, data, len, '\n'), nr = 0;

    while ((p = literal_find(&t->literal, &ts->pair, env->simd, p, end))) {
        nr++;
        p = bytes_line_end(p, end);
    }
    return nr * 2 <= nr_lines;
}

void
term_state_init(const struct term *t, struct term_state *ts)
{
    *ts = (struct term_state){0};
    if (t->literal.len) {
        literal_choose(&t->literal, NULL, 0, &ts->pair);
    }
}

void
term_state_fini(struct term_state *ts)
{
    buf_fini(&ts->sample);
}

void
term_begin(struct term_env *env, const struct term *t, struct term_state *ts,
           const struct term_block *b)
{
    size_t len = (size_t)(b->end - b->data);
    bool is_forced = env->hooks & ~MATCH_NO_JIT;

    ts->chunk_end = NULL;
    ts->hit_start = ts->hit_end = NULL;
    len = len < LITERAL_SAMPLE ? len : LITERAL_SAMPLE;
    /* small blocks: again when there is much more to go by */
    if (!is_forced && (len < 64 || len < ts->sampled * 4)) {
        return;
    }
    ts->sampled = len;
    ts->engine = ENGINE_BLOCK;
    if (t->literal.len) {
        literal_choose(&t->literal, b->data, len, &ts->pair);
        if (!(env->hooks & MATCH_BY_BLOCK) &&
            ((env->hooks & MATCH_BY_FILTER) ||
             is_rare(env, t, ts, b->data, len))) {
            ts->engine = ENGINE_FILTER;
        }
    }
    if (env->hooks & MATCH_BY_LINE) {
        ts->engine = ENGINE_LINES;
    }
}

static int
next_literal(struct term_env *env, const struct term *t,
             const struct term_state *ts, const struct term_block *b,
             const char *from, const char **start, const char **end)
{
    const char *p = from, *hit;

    while ((hit = literal_find(&t->literal, &ts->pair, env->simd, p, b->end))) {
        const char *behind = hit + t->literal.len;

        *start = bytes_line_start(from, hit);
        *end = bytes_line_end(behind, b->end);
        /* a needle that ends in CR may have met the CR before the newline,
         * which is not content */
        if (behind[-1] != '\r' || behind == b->end || *behind != '\n') {
            return 1;
        }
        p = *end;
    }
    return 0;
}

static int
next_filtered(struct term_env *env, const struct term *t,
              const struct term_state *ts, const struct term_block *b,
              const char *from, const char **start, const char **end)
{
    const char *hit;

    while (
        (hit = literal_find(&t->literal, &ts->pair, env->simd, from, b->end))) {
        size_t content;
        int rc;

        *start = bytes_line_start(from, hit);
        *end = bytes_line_end(hit + t->literal.len, b->end);
        content = term_content_len(*start, (size_t)(*end - *start));
        rc = term_regex(env, t, *start, content);
        if (rc) {
            env->line = *start;
            return rc;
        }
        from = *end;
    }
    return 0;
}

static int
next_line(struct term_env *env, const struct term *t, struct term_state *ts,
          const char *limit, const char *from, const char **start,
          const char **end)
{
    for (; from < limit; from = *end) {
        int rc;

        *start = from;
        *end = bytes_line_end(from, limit);
        rc = term_line(env, t, ts, from, (size_t)(*end - from));
        if (rc) {
            return rc;
        }
    }
    return 0;
}

/* The chunk at `from`: whole lines of together at most TERM_CHUNK bytes, or one
 * longer line. */
static void
begin_chunk(const struct term_env *env, struct term_state *ts,
            const struct term_block *b, const char *from)
{
    size_t left = (size_t)(b->end - from), len = left;

    ts->chunk_by_line = false;
    if (left > TERM_CHUNK) {
        const char *nl = memrchr(from, '\n', TERM_CHUNK + 1);

        if (!nl) {
            nl = memchr(from + TERM_CHUNK, '\n', left - TERM_CHUNK);
            ts->chunk_by_line = true;
        }
        len = nl ? (size_t)(nl - from) + 1 : left;
    }
    ts->chunk_end = from + len;
    ts->chunk_has_cr = memchr(from, '\r', len) != NULL;
    if (!bytes_is_ascii_at(env->simd, from, len) &&
        bytes_utf8_valid(from, len) < len) {
        ts->chunk_by_line = true;
    }
}

/* Looks in [from, ts->chunk_end), of which nothing is to go by lines yet. When
 * PCRE2 reaches a limit it is, from there on: 0 and chunk_by_line. */
static int
next_in_chunk(struct term_env *env, const struct term *t, struct term_state *ts,
              const char *from, const char **start, const char **end)
{
    const pcre2_code *code =
        ts->chunk_has_cr && t->code_crlf ? t->code_crlf : t->code;
    const char *limit = ts->chunk_end;

    while (from < limit) {
        size_t len = (size_t)(limit - from), at;
        int rc;

        pcre2_set_match_limit(env->context, CHUNK_LIMIT);
        rc = term_run(env, t, code, from, len, 0);
        if (rc == PCRE2_ERROR_NOMATCH) {
            return 0;
        }
        at = pcre2_get_ovector_pointer(env->data)[0];
        if (rc < 0) {
            ts->chunk_by_line = true;
            *start = *end = from;
            return 0;
        }
        if (at == len && from[len - 1] == '\n') {
            return 0; /* an empty match behind the last line */
        }
        *start = bytes_line_start(from, from + at);
        *end = bytes_line_end(from + at, limit);
        if (!ts->chunk_has_cr ||
            term_content_len(*start, (size_t)(*end - *start)) + 1 ==
                (size_t)(*end - *start)) {
            return 1; /* no CR of this line was in the match */
        }
        rc = term_regex(env, t, *start,
                        term_content_len(*start, (size_t)(*end - *start)));
        if (rc) {
            env->line = *start;
            return rc;
        }
        from = *end;
    }
    return 0;
}

static int
next_in_block(struct term_env *env, const struct term *t, struct term_state *ts,
              const struct term_block *b, const char *from, const char **start,
              const char **end)
{
    int rc = 0;

    while (from < b->end && rc == 0) {
        if (!ts->chunk_end || from >= ts->chunk_end) {
            if (term_is_cancelled(env)) {
                env->line = from;
                return DT_ERR_CANCELLED;
            }
            begin_chunk(env, ts, b, from);
        }
        if (!ts->chunk_by_line) {
            rc = next_in_chunk(env, t, ts, from, start, end);
            if (rc == 0 && ts->chunk_by_line) {
                from = *start;
            }
        }
        if (ts->chunk_by_line) {
            rc = next_line(env, t, ts, ts->chunk_end, from, start, end);
        }
        from = ts->chunk_end;
    }
    return rc;
}

int
term_next(struct term_env *env, const struct term *t, struct term_state *ts,
          const struct term_block *b, const char *from, const char **start,
          const char **end)
{
    if (t->kind == TERM_NEVER || from == b->end) {
        return 0;
    }
    if (t->kind == TERM_ALWAYS || ts->engine == ENGINE_LINES ||
        ts->sampled == 0) {
        return next_line(env, t, ts, b->end, from, start, end);
    }
    if (t->kind == TERM_LITERAL) {
        return next_literal(env, t, ts, b, from, start, end);
    }
    if (ts->engine == ENGINE_FILTER) {
        return next_filtered(env, t, ts, b, from, start, end);
    }
    return next_in_block(env, t, ts, b, from, start, end);
}
