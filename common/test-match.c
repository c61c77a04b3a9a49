/* SPDX-License-Identifier: Apache-2.0
 *
 * The matcher: every fast path selects the lines that a plain loop selects,
 * which gives each line's content alone to PCRE2's interpreter. Random
 * patterns, random text, all block sizes, all engines, all levels of SIMD,
 * several threads. Facts and limits are in test-match-facts.c.
 */
#include "match.h"

#include "pattern.h"
#include "test-random-pattern.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define MAX_LINES 4096u
#define MAX_TERMS 3u
#define TEXT_MAX (256u * 1024u)

/* ---- the plain matcher ---- */

struct oracle {
    struct pattern p;
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
};

/* False: this pattern is refused. */
static bool
oracle_init(struct oracle *o, const struct match_term *t, unsigned flags)
{
    PCRE2_SIZE at;
    int error;

    *o = (struct oracle){0};
    if (pattern_parse(t->pattern, t->len, flags, &o->p, NULL) != DT_OK) {
        return false;
    }
    if (!o->p.regex) {
        return true;
    }
    o->code = pcre2_compile((PCRE2_SPTR)o->p.regex, o->p.regex_len,
                            PCRE2_UTF | PCRE2_MULTILINE, &error, &at, NULL);
    assert_non_null(o->code);
    o->data = pcre2_match_data_create(1, NULL);
    o->context = pcre2_match_context_create(NULL);
    assert_true(o->data && o->context);
    pcre2_set_match_limit(o->context, 100000);
    return true;
}

static void
oracle_fini(struct oracle *o)
{
    pattern_fini(&o->p);
    pcre2_code_free(o->code);
    pcre2_match_data_free(o->data);
    pcre2_match_context_free(o->context);
}

static bool
oracle_literal(const struct pattern *p, const char *line, size_t len)
{
    for (size_t at = 0; at + p->literal_len <= len; at++) {
        size_t i = 0;

        while (i < p->literal_len &&
               ((unsigned char)line[at + i] | (p->mask ? p->mask[i] : 0)) ==
                   p->literal[i]) {
            i++;
        }
        if (i == p->literal_len) {
            return true;
        }
    }
    return false;
}

/* A line's content: 1, 0, or -1 when PCRE2 gives up. */
static int
oracle_match(const struct oracle *o, const char *line, size_t len)
{
    static char copy[3 * TEXT_MAX];
    size_t n = 0;
    int rc;

    if (!o->code) {
        return o->p.is_always || oracle_literal(&o->p, line, len);
    }
    for (size_t i = 0; i < len;) {
        size_t good = bytes_utf8_char(line + i, line + len);

        memcpy(copy + n, good ? line + i : "\xef\xbf\xbd", good ? good : 3);
        n += good ? good : 3;
        i += good ? good : 1;
    }
    rc = pcre2_match(o->code, (PCRE2_SPTR)copy, n, 0, PCRE2_NO_UTF_CHECK,
                     o->data, o->context);
    assert_true(rc >= -1 || rc == PCRE2_ERROR_MATCHLIMIT);
    return rc == PCRE2_ERROR_NOMATCH ? 0 : rc < 0 ? -1 : 1;
}

/* ---- a case ---- */

struct sample {
    struct pattern_text patterns[MAX_TERMS];
    struct match_term terms[MAX_TERMS];
    struct match_args args;
    char *text; /* with slack */
    size_t len;
    size_t starts[MAX_LINES + 1];
    size_t nr_lines;
    bool want[MAX_LINES];
    bool skip; /* a pattern is refused, or too expensive for the oracle */
};

static void
random_text(struct rng *r, struct sample *c)
{
    static const char *const ends[] = {"\n",   "\n",   "\n",
                                       "\r\n", "\r\n", "\r\r\n"};
    unsigned want = rng_below(r, 12) ? rng_below(r, 60) : rng_below(r, 3000);
    bool is_clean = rng_below(r, 2), is_unix = rng_below(r, 2);

    c->len = c->nr_lines = 0;
    while (c->nr_lines < want && c->len < TEXT_MAX - 60000) {
        struct pattern_text line = {.len = 0};
        unsigned repeat = rng_below(r, 1000) ? 1 : 1 + rng_below(r, 2000);

        random_line(r, &line, rng_below(r, 8) ? 12 : 40, !is_clean);
        c->starts[c->nr_lines++] = c->len;
        for (unsigned i = 0; i < repeat && c->len < TEXT_MAX - 3000; i++) {
            memcpy(c->text + c->len, line.text, line.len);
            c->len += line.len;
        }
        line.len = 0;
        pattern_text_puts(&line, is_unix ? "\n" : PICK(r, ends));
        memcpy(c->text + c->len, line.text, line.len);
        c->len += line.len;
    }
    if (c->nr_lines && rng_below(r, 3) == 0) {
        c->len--; /* the last newline */
        if (c->starts[c->nr_lines - 1] == c->len) {
            c->nr_lines--;
        }
    }
    c->starts[c->nr_lines] = c->len;
    for (size_t i = 0; i < BYTES_SLACK; i++) {
        c->text[c->len + i] = "ab\n1"[i & 3]; /* slack that looks like text */
    }
}

static size_t
content_of(const struct sample *c, size_t line)
{
    const char *p = c->text + c->starts[line];
    size_t len = c->starts[line + 1] - c->starts[line];

    if (len && p[len - 1] == '\n') {
        len -= len >= 2 && p[len - 2] == '\r' ? 2 : 1;
    }
    return len;
}

static void
ask_oracle(struct sample *c)
{
    unsigned flags = (c->args.ignore_case ? PATTERN_IGNORE_CASE : 0) |
                     (c->args.is_fixed ? PATTERN_FIXED : 0);

    for (size_t i = 0; i < c->nr_lines; i++) {
        c->want[i] = true;
    }
    c->skip = false;
    for (size_t t = 0; t < c->args.nr_terms && !c->skip; t++) {
        struct oracle o;

        if (!oracle_init(&o, &c->terms[t], flags)) {
            c->skip = true;
            break;
        }
        for (size_t i = 0; i < c->nr_lines; i++) {
            int rc = oracle_match(&o, c->text + c->starts[i], content_of(c, i));

            c->skip |= rc < 0;
            c->want[i] &= rc != c->terms[t].is_negated;
        }
        oracle_fini(&o);
    }
    for (size_t i = 0; i < c->nr_lines; i++) {
        c->want[i] ^= c->args.invert;
    }
}

static void
random_sample(struct rng *r, struct sample *c)
{
    static const unsigned hooks[] = {0,
                                     0,
                                     MATCH_BY_BLOCK,
                                     MATCH_BY_BLOCK,
                                     MATCH_BY_FILTER,
                                     MATCH_BY_LINE,
                                     MATCH_NO_JIT,
                                     MATCH_NO_JIT | MATCH_BY_BLOCK};
    static enum bytes_level level;

    c->args = (struct match_args){
        .terms = c->terms,
        .nr_terms = rng_below(r, 3) ? 1 : rng_below(r, MAX_TERMS + 1),
        .invert = rng_below(r, 4) == 0,
        .ignore_case = rng_below(r, 4) == 0,
        .is_fixed = rng_below(r, 6) == 0,
        .hooks = PICK(r, hooks),
    };
    level = (enum bytes_level)rng_below(r, bytes_level() + 1);
    c->args.simd = rng_below(r, 2) ? &level : NULL;
    for (size_t t = 0; t < c->args.nr_terms; t++) {
        struct pattern_text *p = &c->patterns[t];

        if (c->args.is_fixed || rng_below(r, 5) == 0) {
            p->len = 0;
            random_line(r, p, 4, c->args.is_fixed);
        } else {
            random_pattern(r, p);
        }
        c->terms[t] =
            (struct match_term){p->text, p->len, t && rng_below(r, 2)};
    }
    random_text(r, c);
    ask_oracle(c);
}

static void
complain(const struct sample *c, const char *how, size_t line)
{
    for (size_t t = 0; t < c->args.nr_terms; t++) {
        print_error("term %zu%s: %.*s\n", t,
                    c->terms[t].is_negated ? " (not)" : "",
                    (int)c->terms[t].len, c->terms[t].pattern);
    }
    print_error("invert %d, ignore case %d, fixed %d, hooks %u, simd %d\n",
                c->args.invert, c->args.ignore_case, c->args.is_fixed,
                c->args.hooks, c->args.simd ? (int)*c->args.simd : -1);
    fail_msg("%s: line %zu of %zu (%zu bytes: %.*s) should be %s", how, line,
             c->nr_lines, content_of(c, line),
             content_of(c, line) > 200 ? 200 : (int)content_of(c, line),
             c->text + c->starts[line],
             c->want[line] ? "selected" : "left out");
}

/* The whole text in blocks of about `size` bytes. */
static void
check_blocks(const struct sample *c, struct match_state *s, size_t size)
{
    size_t line = 0, next;

    for (size_t first = 0; first < c->nr_lines; first = next) {
        size_t start = 0, end = 0, at = c->starts[first], behind;
        int rc;

        for (next = first + 1;
             next < c->nr_lines && c->starts[next + 1] - at <= size; next++) {
        }
        match_begin(s, c->text + at, c->starts[next] - at);
        behind = at;
        while ((rc = match_next(s, &start, &end)) == 1) {
            assert_true(start < end && at + start >= behind);
            for (; line < next && c->starts[line] < at + start; line++) {
                if (c->want[line]) {
                    complain(c, "block", line);
                }
            }
            assert_int_equal(c->starts[line], at + start);
            for (; line < next && c->starts[line] < at + end; line++) {
                if (!c->want[line]) {
                    complain(c, "block", line);
                }
            }
            behind = at + end;
            assert_int_equal(c->starts[line], behind);
        }
        if (rc < 0) {
            fail_msg("%s: %d", match_error_text(s), rc);
        }
        for (; line < next; line++) {
            if (c->want[line]) {
                complain(c, "end of block", line);
            }
        }
    }
}

static const size_t block_sizes[] = {1, 2, 3, 7, 100, 4096, 65536, SIZE_MAX};

static void
check_sample(const struct sample *c, struct rng *r)
{
    struct match_state *s;
    struct match *m;

    assert_int_equal(match_compile(&c->args, &m, NULL), DT_OK);
    assert_int_equal(match_state_new(m, NULL, NULL, &s), DT_OK);
    for (size_t i = 0; i < c->nr_lines; i++) {
        if (match_is_all(m)) {
            assert_true(c->want[i]);
        }
        if (match_is_none(m)) {
            assert_false(c->want[i]);
        }
        if (match_line(s, c->text + c->starts[i],
                       c->starts[i + 1] - c->starts[i]) != c->want[i]) {
            complain(c, "one line", i);
        }
    }
    check_blocks(c, s, PICK(r, block_sizes));
    check_blocks(c, s, PICK(r, block_sizes));
    match_state_free(s);
    match_free(m);
}

static void
test_random(void **state)
{
    struct rng r = rng_new(21);
    struct sample *c = calloc(1, sizeof(*c));
    unsigned long nr_checked = 0, nr = test_effort(2500);

    (void)state;
    assert_non_null(c);
    c->text = malloc(TEXT_MAX);
    assert_non_null(c->text);
    for (unsigned long i = 0; i < nr; i++) {
        random_sample(&r, c);
        if (!c->skip) {
            check_sample(c, &r);
            nr_checked++;
        }
    }
    assert_true(nr_checked * 2 > nr);
    free(c->text);
    free(c);
}

/* ---- threads ---- */

struct thread_work {
    pthread_t thread;
    const struct sample *c;
    const struct match *m;
    size_t first, last; /* lines */
    size_t nr_wrong;
};

static void *
search_lines(void *arg)
{
    struct thread_work *w = arg;
    size_t from = w->c->starts[w->first], at = w->first, start, end;
    struct match_state *s;

    if (match_state_new(w->m, NULL, NULL, &s) != DT_OK) {
        w->nr_wrong = 1;
        return NULL;
    }
    match_begin(s, w->c->text + from, w->c->starts[w->last] - from);
    while (match_next(s, &start, &end) == 1) {
        for (; w->c->starts[at] < from + start; at++) {
            w->nr_wrong += w->c->want[at];
        }
        for (; w->c->starts[at] < from + end; at++) {
            w->nr_wrong += !w->c->want[at];
        }
    }
    for (; at < w->last; at++) {
        w->nr_wrong += w->c->want[at];
    }
    match_state_free(s);
    return NULL;
}

static void
test_threads(void **state)
{
    struct rng r = rng_new(22);
    struct sample *c = calloc(1, sizeof(*c));

    (void)state;
    assert_non_null(c);
    c->text = malloc(TEXT_MAX);
    assert_non_null(c->text);
    for (unsigned long i = 0; i < test_effort(300); i++) {
        struct thread_work work[4];
        unsigned nr = 1 + (unsigned)i % 4;
        struct match *m;

        random_sample(&r, c);
        if (c->skip) {
            continue;
        }
        assert_int_equal(match_compile(&c->args, &m, NULL), DT_OK);
        for (unsigned t = 0; t < nr; t++) {
            work[t] = (struct thread_work){
                .c = c,
                .m = m,
                .first = c->nr_lines * t / nr,
                .last = c->nr_lines * (t + 1) / nr,
            };
            assert_int_equal(
                pthread_create(&work[t].thread, NULL, search_lines, &work[t]),
                0);
        }
        for (unsigned t = 0; t < nr; t++) {
            pthread_join(work[t].thread, NULL);
            assert_int_equal(work[t].nr_wrong, 0);
        }
        match_free(m);
    }
    free(c->text);
    free(c);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
