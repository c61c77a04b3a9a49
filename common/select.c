/* SPDX-License-Identifier: Apache-2.0
 *
 * The map stage of grep and tail.
 */
#include "select.h"

#include "context.h"
#include "match.h"

#include <errno.h>
#include <stdlib.h>

/* Source numbers are small; this bounds the table. */
#define MAX_SOURCES (1u << 24)
/* Counts leave in partial results of about so many bytes. */
#define PARTIAL_BYTES ((size_t)64 * 1024)

const struct dt_arg_spec select_arg_specs[] = {
    {"regex", "lines to select, a pattern in Go's (RE2) syntax", 0, 0},
    {"and", "lines must match this pattern, too", DT_ARG_REPEAT, 0},
    {"not", "lines must not match this pattern", DT_ARG_REPEAT, 0},
    {"invert", "yes: select the other lines", 0, 0},
    {"ignore-case", "yes: letters stand for both cases", 0, 0},
    {"fixed", "yes: patterns are plain text", 0, 0},
    {"before", "lines of leading context", 0, 0},
    {"after", "lines of trailing context", 0, 0},
    {"max", "end a file after that many selected lines", 0, 0},
    {"count", "yes: the number of selected lines only", 0, 0},
    {NULL, NULL, 0, 0},
};

/* What is known of a source; v[i] is source i. */
struct select_source {
    bool is_seen;
    bool is_over;   /* DT_STOP was said */
    bool is_new;    /* count: nothing was told yet */
    uint64_t count; /* not told yet */
    struct context context;
};

struct select {
    struct dt_query *query;
    struct match *match;
    struct match_state *state;
    bool is_count;
    bool has_context;
    bool is_simple; /* lines alone: nothing but matching is to be done */
    bool has_given; /* something, of the present block */
    struct context_args context;
    struct select_source *v;
    size_t nr, cap;
    /* the run that is being collected */
    uint32_t source_id; /* UINT32_MAX: none yet */
    struct select_source *source;
    struct run_cursor cursor;
};

/* ---- arguments ---- */

static bool
flag_arg(struct dt_query *q, const char *name)
{
    const char *value = dt_arg(q, name, 0, NULL);

    return value && strcmp(value, "0") != 0 && strcmp(value, "no") != 0 &&
           strcmp(value, "false") != 0;
}

/* A decimal number; 0 when it is not given or negative. */
static int
number_arg(struct dt_query *q, const char *name, uint64_t *out)
{
    const char *value = dt_arg(q, name, 0, NULL);
    long long number;
    char *end;

    *out = 0;
    if (!value || !*value) {
        return DT_OK;
    }
    errno = 0;
    number = strtoll(value, &end, 10);
    if (*end || errno) {
        return dt_error(q, DT_ERR_INVAL, "%s \"%.40s\": expected a number",
                        name, value);
    }
    *out = number > 0 ? (uint64_t)number : 0;
    return DT_OK;
}

static bool
is_every_line(const char *pattern, size_t len, bool invert)
{
    return len == 0 || (!invert && len == 1 && pattern[0] == '.') ||
           (len == 2 && memcmp(pattern, ".*", 2) == 0);
}

/* The patterns of the query. Returns how many; more than room is a limit that
 * match_compile reports. */
static size_t
collect_terms(struct dt_query *q, const struct match_args *args,
              struct match_term terms[MATCH_MAX_TERMS + 1])
{
    static const char *const names[] = {"and", "not"};
    size_t len, nr = 0;
    const char *text = dt_arg(q, "regex", 0, &len);

    if (text &&
        !(is_every_line(text, len, args->invert) && !(args->is_fixed && len))) {
        terms[nr++] = (struct match_term){text, len, false};
    }
    for (size_t n = 0; n < 2; n++) {
        for (size_t i = 0; nr <= MATCH_MAX_TERMS; i++) {
            text = dt_arg(q, names[n], i, &len);
            if (!text) {
                break;
            }
            terms[nr++] = (struct match_term){text, len, n == 1};
        }
    }
    return nr;
}

static bool
is_cancelled(void *ctx)
{
    return dt_cancelled(ctx);
}

static int
compile(struct select *s)
{
    struct dt_query *q = s->query;
    struct match_term terms[MATCH_MAX_TERMS + 1];
    struct match_args args = {
        .terms = terms,
        .invert = flag_arg(q, "invert"),
        .ignore_case = flag_arg(q, "ignore-case"),
        .is_fixed = flag_arg(q, "fixed"),
    };
    struct match_error err;
    int status;

    args.nr_terms = collect_terms(q, &args, terms);
    status = match_compile(&args, &s->match, &err);
    if (status != DT_OK) {
        return dt_error(q, status, "%s", err.text);
    }
    if (args.nr_terms) {
        dt_log(
            q, DT_LOG_INFO, "Using %s matching for pattern:|%.*s",
            match_is_literal(s->match) ? "optimized literal string" : "regex",
            (int)(terms[0].len < 512 ? terms[0].len : 512), terms[0].pattern);
    }
    return match_state_new(s->match, is_cancelled, q, &s->state);
}

static int
parse_args(struct select *s)
{
    struct dt_query *q = s->query;
    int status = number_arg(q, "before", &s->context.before);

    if (status == DT_OK) {
        status = number_arg(q, "after", &s->context.after);
    }
    if (status == DT_OK) {
        status = number_arg(q, "max", &s->context.max);
    }
    s->is_count = flag_arg(q, "count");
    if (s->is_count) {
        s->context.before = s->context.after = 0;
    }
    s->has_context = s->context.before || s->context.after || s->context.max;
    return status == DT_OK ? compile(s) : status;
}

/* ---- hooks ---- */

static void
select_close(void *self)
{
    struct select *s = self;

    for (size_t i = 0; i < s->nr; i++) {
        context_fini(&s->v[i].context);
    }
    free(s->v);
    match_state_free(s->state);
    match_free(s->match);
    free(s);
}

static int
select_start(struct dt_query *q, void **self)
{
    struct select *s = calloc(1, sizeof(*s));
    int status;

    if (!s) {
        return DT_ERR_NOMEM;
    }
    s->query = q;
    status = parse_args(s);
    if (status != DT_OK) {
        select_close(s);
        return status;
    }
    if (s->has_context) {
        dt_ordered(q);
    }
    s->is_simple =
        !s->has_context && !match_is_all(s->match) && !match_is_none(s->match);
    s->source_id = UINT32_MAX;
    *self = s;
    return DT_OK;
}

/* A source begins, or goes on where an earlier session stopped. DT_OK or
 * DT_STOP. */
static int
begin_source(struct select *s, uint32_t id)
{
    struct select_source *v = s->source;
    struct dt_source source;
    int status = DT_OK;

    context_fini(&v->context);
    v->context.args = s->context;
    v->is_seen = true;
    if (s->has_context && dt_source(s->query, id, &source) == DT_OK &&
        source.state) {
        status = context_restore(&v->context, source.state, source.state_len);
    }
    v->is_over = status == DT_STOP;
    return status;
}

static int
find_source(struct select *s, const struct dt_block *b)
{
    if (b->source >= MAX_SOURCES) {
        return dt_error(s->query, DT_ERR_LIMIT,
                        "more than %u sources; name fewer", MAX_SOURCES);
    }
    if (b->source >= s->cap) {
        size_t cap = b->source < 8 ? 16 : (size_t)b->source * 2;
        struct select_source *v = reallocarray(s->v, cap, sizeof(*v));

        if (!v) {
            return DT_ERR_NOMEM;
        }
        s->v = v;
        s->cap = cap;
    }
    while (s->nr <= b->source) {
        s->v[s->nr++] = (struct select_source){.is_new = true};
    }
    s->source = &s->v[b->source];
    s->source_id = b->source;
    if (!s->source->is_seen || (b->flags & DT_BLOCK_FIRST)) {
        return begin_source(s, b->source);
    }
    return DT_OK;
}

/* Gives out, or counts, a run of selected lines. */
static int
give(void *ctx, const struct dt_lines *lines)
{
    struct select *s = ctx;

    if (s->is_count) {
        s->source->count += lines->nr_lines
                                ? lines->nr_lines
                                : run_count(lines->data, lines->len);
        return DT_OK;
    }
    s->has_given = true;
    return dt_emit_lines(s->query, lines);
}

/* The lines [from, to) of the block are selected, `nr` of them (0: not
 * counted), those since `*done` are not. */
static int
on_run(struct select *s, size_t *done, size_t from, size_t to, uint64_t nr)
{
    struct context *c = &s->source->context;
    struct dt_lines lines;
    int status;

    if (!s->has_context) {
        lines = run_lines(&s->cursor, from, to, nr);
        *done = to;
        return give(s, &lines);
    }
    status = context_feed(c, &s->cursor, *done, from, false, give, s);
    *done = to;
    return status == DT_OK
               ? context_feed(c, &s->cursor, from, to, true, give, s)
               : status;
}

/* A search failed: says where. */
static int
match_failed(struct select *s, const struct dt_block *b, int status)
{
    size_t at = b->flags & DT_BLOCK_LINE ? 0 : match_error_offset(s->state);
    const char *text = match_error_text(s->state);
    struct dt_source source;
    const char *name = "?";
    uint64_t line;

    if (status == DT_ERR_CANCELLED) {
        return status;
    }
    if (dt_source(s->query, b->source, &source) == DT_OK) {
        name = source.name;
    }
    line = b->first_line ? b->first_line + bytes_count_newlines(b->data, at)
                         : dt_line_at(s->query, b->source, b->offset + at);
    if (line == 0) {
        return dt_error(s->query, status, "%s on %s, the line at byte %llu",
                        text, name, (unsigned long long)(b->offset + at));
    }
    return dt_error(s->query, status, "%s on %s line %llu", text, name,
                    (unsigned long long)line);
}

/* All runs of the block, neighbours joined. */
static int
search_block(struct select *s, const struct dt_block *b, size_t *done)
{
    const uint64_t one = match_is_single(s->match);
    size_t from = 0, to = 0, start, end;
    uint64_t nr = 0;
    int rc, status;

    match_begin(s->state, b->data, b->len);
    while ((rc = match_next(s->state, &start, &end)) == 1) {
        if (start == to && to) {
            to = end;
            nr += one;
            continue;
        }
        if (from < to) {
            status = on_run(s, done, from, to, nr);
            if (status != DT_OK) {
                return status;
            }
        }
        from = start;
        to = end;
        nr = one;
    }
    if (from < to) {
        status = on_run(s, done, from, to, nr);
        if (status != DT_OK) {
            return status;
        }
    }
    return rc < 0 ? match_failed(s, b, rc) : DT_OK;
}

static int
search_line(struct select *s, const struct dt_block *b, size_t *done)
{
    int rc = match_line(s->state, b->data, b->len);

    if (rc < 0) {
        return match_failed(s, b, rc);
    }
    return rc ? on_run(s, done, 0, b->len, 1) : DT_OK;
}

static int
search(struct select *s, const struct dt_block *b)
{
    size_t done = 0;
    int status = DT_OK;

    s->has_given = false;
    run_cursor_init(&s->cursor, b);
    if (match_is_all(s->match)) {
        status = on_run(s, &done, 0, b->len, b->nr_lines);
    } else if (b->flags & DT_BLOCK_LINE) {
        status = search_line(s, b, &done);
    } else if (!match_is_none(s->match)) {
        status = search_block(s, b, &done);
    }
    if (status == DT_OK && s->has_context) {
        struct context *c = &s->source->context;

        status = context_feed(c, &s->cursor, done, b->len, false, give, s);
        if (status == DT_OK) {
            status = context_end_block(c, &s->cursor);
        }
        if (status == DT_OK && !s->has_given && dt_block_generation(b)) {
            const struct dt_lines place = context_place(c, &s->cursor);

            status = dt_emit_lines(s->query, &place);
        }
        if (status == DT_ERR_LIMIT) {
            status = dt_error(s->query, status,
                              "before %llu: the lines take more than %zu "
                              "bytes; ask for fewer",
                              (unsigned long long)s->context.before,
                              CONTEXT_MAX_BYTES);
        }
    }
    return status;
}

static __attribute__((noinline)) int
feed_any(struct select *s, const struct dt_block *block)
{
    int status = find_source(s, block);

    if (status != DT_OK) {
        return status;
    }
    if (s->source->is_over) {
        return DT_STOP;
    }
    if (block->len) {
        status = search(s, block);
    }
    if (status == DT_STOP || (block->flags & DT_BLOCK_LAST)) {
        context_fini(&s->source->context);
        s->source->context.args = s->context;
        s->source->is_over = status == DT_STOP;
    }
    return status;
}

/* The answer for a line alone was not "no". */
static __attribute__((noinline)) int
on_line(struct select *s, const struct dt_block *b, int answer)
{
    struct dt_block line = *b;

    if (answer < 0) {
        return match_failed(s, b, answer);
    }
    if (s->is_count) {
        s->source->count++;
        return DT_OK;
    }
    line.nr_lines = b->first_line > 0; /* as of runs: 0 without numbers */
    return dt_emit_block(s->query, &line);
}

static int
select_feed(void *self, const struct dt_block *block)
{
    struct select *s = self;

    /* what nearly all lines are in normal mode: one more of the same source */
    if (s->is_simple && block->flags == DT_BLOCK_LINE &&
        block->source == s->source_id) {
        int answer = match_line(s->state, block->data, block->len);

        return answer ? on_line(s, block, answer) : DT_OK;
    }
    return feed_any(s, block);
}

/* ---- counts ---- */

static int
put_number(struct buf *out, uint64_t value, size_t bytes)
{
    char text[8];

    for (size_t i = 0; i < bytes; i++) {
        text[i] = (char)(value >> (8 * (bytes - 1 - i)));
    }
    return buf_append(out, text, bytes);
}

static int
put_record(struct select *s, uint32_t id, struct buf *out)
{
    struct dt_source source;
    const char *texts[3];
    size_t lens[3];
    int status = dt_source(s->query, id, &source);

    if (status != DT_OK) {
        return status;
    }
    texts[0] = source.host;
    texts[1] = source.name;
    texts[2] = source.path;
    status = put_number(out, s->v[id].count, 8);
    for (size_t i = 0; i < 3 && status == DT_OK; i++) {
        lens[i] = texts[i] ? strnlen(texts[i], SELECT_MAX_NAME) : 0;
        status = put_number(out, lens[i], 4);
    }
    for (size_t i = 0; i < 3 && status == DT_OK; i++) {
        status = buf_append(out, texts[i], lens[i]);
    }
    s->v[id].count = 0;
    s->v[id].is_new = false;
    return status;
}

static int
flush_records(struct select *s, struct buf *records)
{
    int status = DT_OK;

    if (records->len) {
        status = dt_emit_partial(s->query, records->data, records->len);
    }
    records->len = 0;
    return status;
}

static int
select_drain(void *self, enum dt_drain why)
{
    struct select *s = self;
    struct buf records = {0};
    int status = DT_OK;

    (void)why;
    if (!s->is_count) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < s->nr && status == DT_OK; i++) {
        const struct select_source *v = &s->v[i];

        if (!v->is_seen || (!v->is_new && v->count == 0)) {
            continue;
        }
        status = put_record(s, i, &records);
        if (status == DT_OK && records.len >= PARTIAL_BYTES) {
            status = flush_records(s, &records);
        }
    }
    if (status == DT_OK) {
        status = flush_records(s, &records);
    }
    buf_fini(&records);
    return status;
}

const struct dt_stage select_map = {
    .size = sizeof(struct dt_stage),
    .start = select_start,
    .feed = select_feed,
    .drain = select_drain,
    .close = select_close,
};
