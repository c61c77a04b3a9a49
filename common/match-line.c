/* SPDX-License-Identifier: Apache-2.0
 *
 * One pattern on one line: PCRE2 with its limits, lines that are long, that
 * are expensive, or that are not UTF-8.
 */
#include "match-term.h"

#include <time.h>

/* Match limit of a line that is matched at once; what reaches it is repeated
 * in windows. */
#define LINE_LIMIT 100000u
/* Match limit of a start position in a window: this, and 10 for each byte of
 * the line. An exponential pattern reaches any limit, a quadratic one should
 * do its work on lines of usual length. */
#define WINDOW_LIMIT 4000000u
/* Start positions times match limit of one call, 0.3 s at worst; the
 * interpreter is slower, and counts less of what it does. */
#define WINDOW_WORK_JIT (1u << 27)
#define WINDOW_WORK (1u << 23)
#define WINDOW_MIN_JIT 16u
#define WINDOW_MIN 1u
/* Short lines: `cancelled` is asked once for so many bytes. */
#define ASK_BYTES 4096u
/* Lines by which the pair of the literal is chosen. */
#define SAMPLE_BYTES 16384u
/* Whether to look for the required literal first is decided by the first
 * FILTER_SAMPLE of each FILTER_LINES lines. */
#define FILTER_SAMPLE 64u
#define FILTER_LINES 4096u

size_t
term_content_len(const char *line, size_t len)
{
    if (len && line[len - 1] == '\n') {
        len--;
        if (len && line[len - 1] == '\r') {
            len--;
        }
    }
    return len;
}

bool
term_is_cancelled(const struct term_env *env)
{
    return env->cancelled && env->cancelled(env->ctx);
}

static int
too_expensive(struct term_env *env, int error)
{
    env->pcre2_error = error;
    return DT_ERR_LIMIT;
}

/* The interpreter on what may be long, or needs more stack than the JIT has.
 * Its frames stay in the match data, so that is made anew: one line must not
 * fatten the process. */
static int
run_interpreter(struct term_env *env, const pcre2_code *code,
                const char *subject, size_t len, size_t start)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    int rc;

    if (!data) {
        return PCRE2_ERROR_NOMEMORY;
    }
    rc = pcre2_match(code, (PCRE2_SPTR)subject, len, start,
                     PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, env->context);
    if (rc >= 0) {
        pcre2_get_ovector_pointer(env->data)[0] =
            pcre2_get_ovector_pointer(data)[0];
    }
    pcre2_match_data_free(data);
    return rc;
}

int
term_run(struct term_env *env, const struct term *t, const pcre2_code *code,
         const char *subject, size_t len, size_t start)
{
    int rc;

    if (!t->has_jit && len > TERM_CHUNK) {
        return run_interpreter(env, code, subject, len, start);
    }
    if (!t->has_jit) {
        return pcre2_match(code, (PCRE2_SPTR)subject, len, start,
                           PCRE2_NO_UTF_CHECK, env->data, env->context);
    }
    rc = pcre2_jit_match(code, (PCRE2_SPTR)subject, len, start,
                         PCRE2_NO_UTF_CHECK, env->data, env->context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
        rc = run_interpreter(env, code, subject, len, start);
    }
    return rc;
}

/* PCRE2's answer as ours. */
static int
answer(struct term_env *env, int rc)
{
    switch (rc) {
    case PCRE2_ERROR_NOMATCH:
        return 0;
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
    case PCRE2_ERROR_JIT_STACKLIMIT:
        return too_expensive(env, rc);
    case PCRE2_ERROR_NOMEMORY:
        return DT_ERR_NOMEM;
    default:
        if (rc >= 0) {
            return 1;
        }
        env->pcre2_error = rc;
        return DT_ERR_INTERNAL;
    }
}

static int64_t
now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* A long line, or an expensive one: some start positions a call. */
static int
run_windows(struct term_env *env, const struct term *t, const char *subject,
            size_t len)
{
    uint32_t limit = WINDOW_LIMIT + 10 * (uint32_t)len;
    size_t window = (t->has_jit ? WINDOW_WORK_JIT : WINDOW_WORK) / limit;
    size_t least = t->has_jit ? WINDOW_MIN_JIT : WINDOW_MIN, at = 0;
    int64_t deadline = now_ms() + MATCH_LINE_MS;
    int rc = PCRE2_ERROR_NOMATCH;

    window = window < least ? least : window;
    pcre2_set_match_limit(env->context, limit);
    while (at <= len && rc == PCRE2_ERROR_NOMATCH) {
        size_t last = len - at < window ? len : at + window - 1;

        if (term_is_cancelled(env)) {
            return DT_ERR_CANCELLED;
        }
        if (now_ms() > deadline) {
            return too_expensive(env, PCRE2_ERROR_MATCHLIMIT);
        }
        pcre2_set_offset_limit(env->context, last);
        rc = term_run(env, t, t->code_window, subject, len, at);
        pcre2_set_offset_limit(env->context, PCRE2_UNSET);
        for (at = last + 1; at < len && (subject[at] & 0xc0) == 0x80; at++) {
            /* on to the start of a character */
        }
    }
    return answer(env, rc);
}

/* Copies a line, with U+FFFD for each byte that is not UTF-8. */
static int
replace_invalid(struct term_env *env, const char *p, size_t len)
{
    const char *end = p + len;
    int status = DT_OK;

    env->scratch.len = 0;
    buf_shrink(&env->scratch, (size_t)256 * 1024);
    while (p < end && status == DT_OK) {
        size_t good = bytes_utf8_valid(p, (size_t)(end - p));

        status = buf_append(&env->scratch, p, good);
        p += good;
        if (p < end && status == DT_OK) {
            status = buf_append(&env->scratch, "\xef\xbf\xbd", 3);
            p++;
        }
    }
    if (status != DT_OK || buf_reserve(&env->scratch, BYTES_SLACK) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    memset(env->scratch.data + env->scratch.len, 0, BYTES_SLACK);
    return DT_OK;
}

int
term_regex(struct term_env *env, const struct term *t, const char *p,
           size_t len)
{
    int status, rc;

    if (!bytes_is_ascii_at(env->simd, p, len) &&
        bytes_utf8_valid(p, len) < len) {
        status = replace_invalid(env, p, len);
        if (status != DT_OK) {
            return status;
        }
        p = env->scratch.data;
        len = env->scratch.len;
    }
    if (len > UINT32_MAX / 20) {
        return too_expensive(env, PCRE2_ERROR_MATCHLIMIT);
    }
    if (len > MATCH_WINDOW) {
        return run_windows(env, t, p, len);
    }
    env->unasked += len + 1;
    if (env->unasked > ASK_BYTES) {
        env->unasked = 0;
        if (term_is_cancelled(env)) {
            return DT_ERR_CANCELLED;
        }
    }
    pcre2_set_match_limit(env->context, LINE_LIMIT);
    rc = term_run(env, t, t->code, p, len, 0);
    return rc == PCRE2_ERROR_MATCHLIMIT ? run_windows(env, t, p, len)
                                        : answer(env, rc);
}

/* Lines that come alone: the first ones are collected, and the pair is chosen
 * by them as it is by a block. */
static __attribute__((noinline)) void
take_sample(const struct term *t, struct term_state *ts, const char *line,
            size_t len)
{
    bool is_full = buf_append(&ts->sample, line,
                              len < SAMPLE_BYTES ? len : SAMPLE_BYTES) != DT_OK;

    if (is_full || ts->sample.len >= SAMPLE_BYTES) {
        if (ts->sample.len) {
            literal_choose(&t->literal, ts->sample.data, ts->sample.len,
                           &ts->pair);
        }
        buf_fini(&ts->sample);
        ts->is_sampled = true;
    }
}

/* Does the line lack the literal that each match must contain? Not looked for
 * while most lines have it. */
static bool
lacks_literal(const struct term_env *env, const struct term *t,
              struct term_state *ts, const char *line, size_t content)
{
    bool is_there = true;

    if (ts->nr_lines == FILTER_LINES) {
        ts->is_common = ts->nr_with_literal > FILTER_SAMPLE / 2;
        ts->nr_lines = ts->nr_with_literal = 0;
    }
    if (!ts->is_common || ts->nr_lines < FILTER_SAMPLE) {
        is_there = literal_find(&t->literal, &ts->pair, env->simd, line,
                                line + content) != NULL;
        ts->nr_with_literal += is_there && ts->nr_lines < FILTER_SAMPLE;
    }
    ts->nr_lines++;
    return !is_there;
}

int
term_line(struct term_env *env, const struct term *t, struct term_state *ts,
          const char *line, size_t len)
{
    size_t content;
    int rc;

    if (t->kind == TERM_ALWAYS || t->kind == TERM_NEVER) {
        return t->kind == TERM_ALWAYS;
    }
    content = term_content_len(line, len);
    if (!ts->is_sampled && t->literal.len) {
        take_sample(t, ts, line, len);
    }
    if (t->kind == TERM_LITERAL) {
        return literal_find(&t->literal, &ts->pair, env->simd, line,
                            line + content) != NULL;
    }
    if (t->literal.len && lacks_literal(env, t, ts, line, content)) {
        return 0;
    }
    rc = term_regex(env, t, line, content);
    if (rc < 0) {
        env->line = line;
    }
    return rc;
}
