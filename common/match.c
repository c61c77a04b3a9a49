/* SPDX-License-Identifier: Apache-2.0
 *
 * The matcher: combines the terms of a query into runs of selected lines.
 *
 * With positive terms, one of them (the driver) is searched, and the lines it
 * finds are checked against the others. With negative ones only, the lines
 * that one of them matches are the complement of what is wanted. Inverting is
 * taking the gaps between.
 */
#include "match-term.h"

#include <stdlib.h>

/* Limits of the JIT's stack; it grows lazily. */
#define STACK_START ((size_t)32 * 1024)
#define STACK_MAX ((size_t)8 * 1024 * 1024)
/* For the interpreter, in KiB. */
#define HEAP_LIMIT (64u * 1024u)

enum match_mode {
    MODE_ALL,   /* finds every line */
    MODE_NONE,  /* finds none */
    MODE_TERMS, /* the driver's lines that pass the other terms */
    MODE_UNION  /* lines that any term matches, whatever its sign */
};

struct match {
    struct term *terms;
    size_t nr_terms;
    size_t driver; /* MODE_TERMS */
    enum match_mode mode;
    bool is_inverted; /* what is found is not wanted, the gaps are */
    unsigned hooks;
    enum bytes_level simd;
};

struct match_state {
    const struct match *m;
    struct term_env env;
    struct term_state *terms; /* one for each of m */
    struct buf text;          /* match_text: a copy with slack */
    struct term_block block;
    const char *at;                  /* lines before are dealt with */
    const char *hit_start, *hit_end; /* inverted: the line that ends the gap */
    char error[160];
};

/* ---- compiling ---- */

/* Which positive term to search: literals before regexes, long before short. */
static size_t
choose_driver(const struct match *m)
{
    size_t best = 0, best_score = 0;

    for (size_t i = 0; i < m->nr_terms; i++) {
        const struct term *t = &m->terms[i];
        size_t score = 1 + t->literal.len * 2;

        score += t->kind == TERM_LITERAL;
        if (!t->is_negated && score > best_score) {
            best_score = score;
            best = i;
        }
    }
    return best;
}

/* Drops the term, whose answer is known. */
static void
drop_term(struct match *m, size_t i)
{
    term_fini(&m->terms[i]);
    m->nr_terms--;
    memmove(&m->terms[i], &m->terms[i + 1],
            (m->nr_terms - i) * sizeof(*m->terms));
}

static void
choose_mode(struct match *m)
{
    size_t nr_positive = 0;

    m->mode = MODE_ALL;
    for (size_t i = m->nr_terms; i-- > 0;) {
        const struct term *t = &m->terms[i];
        bool is_known = t->kind == TERM_ALWAYS || t->kind == TERM_NEVER;

        if (is_known && (t->kind == TERM_ALWAYS) == t->is_negated) {
            m->mode = MODE_NONE;
        }
        if (is_known) {
            drop_term(m, i);
        }
    }
    if (m->mode == MODE_NONE || m->nr_terms == 0) {
        return;
    }
    for (size_t i = 0; i < m->nr_terms; i++) {
        nr_positive += !m->terms[i].is_negated;
    }
    m->mode = nr_positive ? MODE_TERMS : MODE_UNION;
    m->is_inverted ^= nr_positive == 0;
    m->driver = choose_driver(m);
}

int
match_compile(const struct match_args *args, struct match **out,
              struct match_error *err)
{
    struct match *m = NULL;
    int status = DT_OK;

    if (err) {
        *err = (struct match_error){0};
    }
    if (args->nr_terms > MATCH_MAX_TERMS) {
        if (err) {
            snprintf(err->text, sizeof(err->text),
                     "%zu patterns; at most %u are allowed", args->nr_terms,
                     MATCH_MAX_TERMS);
        }
        return DT_ERR_LIMIT;
    }
    m = calloc(1, sizeof(*m));
    if (m) {
        m->terms = calloc(args->nr_terms + 1, sizeof(*m->terms));
    }
    if (!m || !m->terms) {
        free(m);
        if (err) {
            snprintf(err->text, sizeof(err->text), "out of memory");
        }
        return DT_ERR_NOMEM;
    }
    m->is_inverted = args->invert;
    m->hooks = args->hooks;
    m->simd = args->simd ? *args->simd : bytes_level();
    for (size_t i = 0; i < args->nr_terms; i++) {
        status = term_compile(&args->terms[i], args, &m->terms[i], err);
        if (status != DT_OK) {
            if (err) {
                err->term = i;
            }
            match_free(m);
            return status;
        }
        m->nr_terms++;
    }
    choose_mode(m);
    *out = m;
    return DT_OK;
}

void
match_free(struct match *m)
{
    if (!m) {
        return;
    }
    for (size_t i = 0; i < m->nr_terms; i++) {
        term_fini(&m->terms[i]);
    }
    free(m->terms);
    free(m);
}

bool
match_is_all(const struct match *m)
{
    return m->mode == (m->is_inverted ? MODE_NONE : MODE_ALL);
}

bool
match_is_none(const struct match *m)
{
    return m->mode == (m->is_inverted ? MODE_ALL : MODE_NONE);
}

bool
match_is_single(const struct match *m)
{
    return !m->is_inverted && (m->mode == MODE_TERMS || m->mode == MODE_UNION);
}

bool
match_is_literal(const struct match *m)
{
    for (size_t i = 0; i < m->nr_terms; i++) {
        if (m->terms[i].kind != TERM_LITERAL) {
            return false;
        }
    }
    return m->nr_terms > 0;
}

/* ---- state of a thread ---- */

static bool
has_jit(const struct match *m)
{
    for (size_t i = 0; i < m->nr_terms; i++) {
        if (m->terms[i].has_jit) {
            return true;
        }
    }
    return false;
}

int
match_state_new(const struct match *m, bool (*cancelled)(void *ctx), void *ctx,
                struct match_state **out)
{
    struct match_state *s = calloc(1, sizeof(*s));

    if (!s) {
        return DT_ERR_NOMEM;
    }
    s->m = m;
    s->terms = calloc(m->nr_terms + 1, sizeof(*s->terms));
    s->env = (struct term_env){
        .simd = m->simd,
        .hooks = m->hooks,
        .data = pcre2_match_data_create(1, NULL),
        .context = pcre2_match_context_create(NULL),
        .cancelled = cancelled,
        .ctx = ctx,
    };
    if (has_jit(m)) {
        s->env.stack = pcre2_jit_stack_create(STACK_START, STACK_MAX, NULL);
    }
    if (!s->terms || !s->env.data || !s->env.context ||
        (has_jit(m) && !s->env.stack)) {
        match_state_free(s);
        return DT_ERR_NOMEM;
    }
    pcre2_jit_stack_assign(s->env.context, NULL, s->env.stack);
    pcre2_set_heap_limit(s->env.context, HEAP_LIMIT);
    for (size_t i = 0; i < m->nr_terms; i++) {
        term_state_init(&m->terms[i], &s->terms[i]);
    }
    *out = s;
    return DT_OK;
}

void
match_state_free(struct match_state *s)
{
    if (!s) {
        return;
    }
    pcre2_match_data_free(s->env.data);
    pcre2_match_context_free(s->env.context);
    pcre2_jit_stack_free(s->env.stack);
    buf_fini(&s->env.scratch);
    buf_fini(&s->text);
    for (size_t i = 0; s->terms && i < s->m->nr_terms; i++) {
        term_state_fini(&s->terms[i]);
    }
    free(s->terms);
    free(s);
}

/* ---- one line ---- */

/* Do the terms but `except` let the line pass? */
static int
check_terms(struct match_state *s, size_t except, const char *line, size_t len)
{
    const struct match *m = s->m;

    for (size_t i = 0; i < m->nr_terms; i++) {
        const struct term *t = &m->terms[i];
        int rc;

        if (i == except) {
            continue;
        }
        rc = term_line(&s->env, t, &s->terms[i], line, len);
        if (rc < 0) {
            return rc;
        }
        if (rc == t->is_negated) {
            return 0;
        }
    }
    return 1;
}

/* Is the line found, before inverting? */
static int
find_line(struct match_state *s, const char *line, size_t len)
{
    int rc;

    switch (s->m->mode) {
    case MODE_ALL:
        return 1;
    case MODE_NONE:
        return 0;
    case MODE_TERMS:
        return check_terms(s, SIZE_MAX, line, len);
    case MODE_UNION:
        /* all terms are negated: the line passes when none matches */
        rc = check_terms(s, SIZE_MAX, line, len);
        return rc < 0 ? rc : !rc;
    }
    return DT_ERR_INTERNAL;
}

int
match_line(struct match_state *s, const char *line, size_t len)
{
    const struct match *m = s->m;
    int rc;

    s->block.data = line;
    rc = m->nr_terms == 1 && m->mode == MODE_TERMS
             ? term_line(&s->env, m->terms, s->terms, line, len)
             : find_line(s, line, len);
    return rc < 0 ? rc : rc != s->m->is_inverted;
}

int
match_text(struct match_state *s, const char *text, size_t len, bool *is_odd)
{
    bool has_newline = memchr(text, '\n', len) != NULL;

    if (is_odd) {
        *is_odd = has_newline;
    }
    if (has_newline) {
        return 0;
    }
    s->text.len = 0;
    if (buf_append(&s->text, text, len) != DT_OK ||
        buf_reserve(&s->text, BYTES_SLACK) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    memset(s->text.data + len, 0, BYTES_SLACK);
    return match_line(s, s->text.data, len);
}

/* ---- blocks ---- */

void
match_begin(struct match_state *s, const char *data, size_t len)
{
    s->block = (struct term_block){data, data + len};
    s->at = data;
    s->hit_start = s->hit_end = NULL;
    for (size_t i = 0; i < s->m->nr_terms; i++) {
        term_begin(&s->env, &s->m->terms[i], &s->terms[i], &s->block);
    }
}

/* The next line that any term matches. */
static int
next_of_any(struct match_state *s, const char *from, const char **start,
            const char **end)
{
    const struct match *m = s->m;
    const char *first = NULL, *first_end = NULL;

    for (size_t i = 0; i < m->nr_terms; i++) {
        struct term_state *ts = &s->terms[i];

        if (!ts->hit_start || ts->hit_start < from) {
            int rc = term_next(&s->env, &m->terms[i], ts, &s->block, from,
                               &ts->hit_start, &ts->hit_end);

            if (rc < 0) {
                return rc;
            }
            if (rc == 0) {
                ts->hit_start = ts->hit_end = s->block.end; /* no more */
            }
        }
        if (!first || ts->hit_start < first) {
            first = ts->hit_start;
            first_end = ts->hit_end;
        }
    }
    *start = first;
    *end = first_end;
    return first < s->block.end;
}

/* The next found line at or behind `from`, before inverting. */
static int
find_next(struct match_state *s, const char *from, const char **start,
          const char **end)
{
    const struct match *m = s->m;
    int rc;

    if (from == s->block.end || m->mode == MODE_NONE) {
        return 0;
    }
    if (m->mode == MODE_ALL) {
        *start = from;
        *end = s->block.end;
        return 1;
    }
    if (m->mode == MODE_UNION) {
        return next_of_any(s, from, start, end);
    }
    for (;;) {
        rc = term_next(&s->env, &m->terms[m->driver], &s->terms[m->driver],
                       &s->block, from, start, end);
        if (rc <= 0 || m->nr_terms == 1) {
            return rc;
        }
        rc = check_terms(s, m->driver, *start, (size_t)(*end - *start));
        if (rc) {
            return rc;
        }
        from = *end;
    }
}

/* The next gap between found lines. */
static int
next_gap(struct match_state *s, const char **start, const char **end)
{
    while (s->at < s->block.end) {
        const char *from = s->at;
        int rc = find_next(s, from, &s->hit_start, &s->hit_end);

        if (rc < 0) {
            return rc;
        }
        if (rc == 0) {
            s->hit_start = s->hit_end = s->block.end;
        }
        s->at = s->hit_end;
        if (s->hit_start > from) {
            *start = from;
            *end = s->hit_start;
            return 1;
        }
    }
    return 0;
}

int
match_next(struct match_state *s, size_t *start, size_t *end)
{
    const char *from, *to;
    int rc;

    if (s->m->is_inverted) {
        rc = next_gap(s, &from, &to);
    } else {
        rc = find_next(s, s->at, &from, &to);
        if (rc == 1) {
            s->at = to;
        }
    }
    if (rc == 1) {
        *start = (size_t)(from - s->block.data);
        *end = (size_t)(to - s->block.data);
    }
    return rc;
}

size_t
match_error_offset(const struct match_state *s)
{
    return s->env.line && s->env.line >= s->block.data
               ? (size_t)(s->env.line - s->block.data)
               : 0;
}

const char *
match_error_text(struct match_state *s)
{
    switch (s->env.pcre2_error) {
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
    case PCRE2_ERROR_JIT_STACKLIMIT:
        return "pattern too expensive";
    case 0:
        return "search failed";
    default:
        pcre2_get_error_message(s->env.pcre2_error, (PCRE2_UCHAR *)s->error,
                                sizeof(s->error));
        return s->error;
    }
}
