/* SPDX-License-Identifier: Apache-2.0
 *
 * The state machine of --before, --after and --max.
 */
#include "context.h"

#include <endian.h>
#include <stdlib.h>

/* Lines that stood together in one block. */
struct context_held {
    struct dt_lines lines; /* data is not used: see at */
    size_t at;             /* in context.bytes */
};

void
context_fini(struct context *c)
{
    buf_fini(&c->bytes);
    free(c->held);
    *c = (struct context){0};
}

/* ---- going on in another session ---- */

/* The lines leave with what follows them. */
static int
give(struct context *c, struct dt_lines *l, uint64_t owed, context_emit_fn emit,
     void *ctx)
{
    uint64_t numbers[2] = {htobe64(c->hits), htobe64(owed)};

    memcpy(c->state, numbers, sizeof(c->state));
    l->state = c->state;
    l->state_len = sizeof(c->state);
    return emit(ctx, l);
}

int
context_restore(struct context *c, const void *state, size_t len)
{
    const struct context_args *a = &c->args;
    uint64_t numbers[2];

    if (len != sizeof(numbers)) {
        return DT_OK;
    }
    memcpy(numbers, state, len);
    c->hits = be64toh(numbers[0]);
    c->owed = be64toh(numbers[1]);
    c->owed = c->owed < a->after ? c->owed : a->after;
    c->is_ending = a->max && c->hits >= a->max;
    return c->is_ending && c->owed == 0 ? DT_STOP : DT_OK;
}

struct dt_lines
context_place(struct context *c, const struct run_cursor *cursor)
{
    const struct dt_block *b = cursor->block;
    struct dt_lines l = {.size = sizeof(l),
                         .source = b->source,
                         .offset = b->offset + b->len,
                         .data = "",
                         .generation = dt_block_generation(b),
                         .state_len = sizeof(c->state)};
    uint64_t numbers[2] = {htobe64(c->hits), htobe64(c->owed)};

    if (c->first_held < c->nr_held) {
        const struct dt_lines *h = &c->held[c->first_held].lines;

        l.offset = h->offset - h->len;
        l.generation = h->generation;
    }
    memcpy(c->state, numbers, sizeof(c->state));
    l.state = c->state;
    return l;
}

/* ---- lines of earlier blocks ---- */

/* One large context must not fatten the process for good. */
#define KEPT_BYTES ((size_t)1024 * 1024)

static void
forget(struct context *c)
{
    c->nr_held = c->first_held = 0;
    c->held_lines = 0;
    c->bytes.len = 0;
    buf_shrink(&c->bytes, KEPT_BYTES);
    c->rest_from = c->rest_to = 0;
}

/* Keeps the last `keep` of the held lines. */
static void
trim(struct context *c, uint64_t keep)
{
    while (c->held_lines > keep) {
        struct context_held *h = &c->held[c->first_held];
        uint64_t surplus = c->held_lines - keep;
        size_t skip;

        if (h->lines.nr_lines <= surplus) {
            c->held_lines -= h->lines.nr_lines;
            c->first_held++;
            continue;
        }
        skip = bytes_skip_lines(c->bytes.data + h->at, h->lines.len, surplus);
        h->at += skip;
        h->lines.len -= skip;
        h->lines.nr_lines -= surplus;
        h->lines.first_line += h->lines.first_line ? surplus : 0;
        c->held_lines = keep;
    }
    if (c->first_held == c->nr_held) {
        c->first_held = c->nr_held = 0;
        c->bytes.len = 0;
    }
}

/* Moves what is held to the front once that is less than half. */
static void
compact(struct context *c)
{
    size_t gone = c->nr_held ? c->held[c->first_held].at : 0;

    if (gone * 2 > c->bytes.len) {
        buf_consume(&c->bytes, gone);
        for (size_t i = c->first_held; i < c->nr_held; i++) {
            c->held[i].at -= gone;
        }
    }
    if (c->first_held * 2 > c->nr_held) {
        c->nr_held -= c->first_held;
        memmove(c->held, c->held + c->first_held,
                c->nr_held * sizeof(*c->held));
        c->first_held = 0;
    }
}

static int
hold(struct context *c, const struct dt_lines *lines)
{
    if (c->bytes.len + lines->len > CONTEXT_MAX_BYTES) {
        return DT_ERR_LIMIT;
    }
    if (c->nr_held == c->cap_held) {
        size_t cap = c->cap_held ? c->cap_held * 2 : 16;
        struct context_held *v = reallocarray(c->held, cap, sizeof(*v));

        if (!v) {
            return DT_ERR_NOMEM;
        }
        c->held = v;
        c->cap_held = cap;
    }
    c->held[c->nr_held] = (struct context_held){*lines, c->bytes.len};
    if (buf_append(&c->bytes, lines->data, lines->len) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    c->held[c->nr_held++].lines.nr_lines = run_count(lines->data, lines->len);
    c->held_lines += c->held[c->nr_held - 1].lines.nr_lines;
    return DT_OK;
}

static int
emit_held(struct context *c, context_emit_fn emit, void *ctx)
{
    for (size_t i = c->first_held; i < c->nr_held; i++) {
        struct dt_lines *l = &c->held[i].lines;
        int status;

        l->data = c->bytes.data + c->held[i].at;
        if (!l->first_line) {
            l->nr_lines = 0; /* not counted, as far as the host knows */
        }
        status = give(c, l, 0, emit, ctx);
        if (status < 0) {
            return status;
        }
    }
    return DT_OK;
}

/* Of the rest of this block only the last `before` lines count. Returns how
 * many those are. */
static uint64_t
trim_rest(struct context *c, const char *data)
{
    size_t len = c->rest_to - c->rest_from;
    size_t skip = bytes_last_lines(data + c->rest_from, len, c->args.before);

    c->rest_from += skip;
    return run_count(data + c->rest_from, len - skip);
}

/* ---- the two cases ---- */

static int
emit_range(struct context *c, struct run_cursor *cursor, size_t from, size_t to,
           uint64_t owed, context_emit_fn emit, void *ctx)
{
    struct dt_lines l;
    int status;

    if (from == to) {
        return DT_OK;
    }
    l = run_lines(cursor, from, to, 0);
    status = give(c, &l, owed, emit, ctx);
    return status < 0 ? status : DT_OK;
}

static int
on_selected(struct context *c, struct run_cursor *cursor, size_t from,
            size_t to, context_emit_fn emit, void *ctx)
{
    const char *data = cursor->block->data;
    size_t start = from, end = to;
    int status = DT_OK;

    if (c->is_ending) {
        return DT_STOP;
    }
    if (c->rest_from < c->rest_to) {
        trim(c, c->args.before - trim_rest(c, data));
        start = c->rest_from;
    }
    status = emit_held(c, emit, ctx);
    forget(c);
    if (c->args.max) {
        end = from +
              bytes_skip_lines(data + from, to - from, c->args.max - c->hits);
        c->hits += run_count(data + from, end - from);
    }
    if (status == DT_OK) {
        status = emit_range(c, cursor, start, end, c->args.after, emit, ctx);
    }
    if (status < 0) {
        return status;
    }
    c->owed = c->args.after;
    if (c->args.max && c->hits >= c->args.max) {
        c->is_ending = true;
        return c->owed == 0 || end < to ? DT_STOP : DT_OK;
    }
    return DT_OK;
}

static int
on_other(struct context *c, struct run_cursor *cursor, size_t from, size_t to,
         context_emit_fn emit, void *ctx)
{
    const char *data = cursor->block->data;

    if (c->owed) {
        size_t end = from + bytes_skip_lines(data + from, to - from, c->owed);
        uint64_t owed = c->owed - run_count(data + from, end - from);
        int status = emit_range(c, cursor, from, end, owed, emit, ctx);

        if (status < 0) {
            return status;
        }
        c->owed = owed;
        from = end;
        if (c->owed == 0 && c->is_ending) {
            return DT_STOP;
        }
    }
    if (from < to && c->args.before) {
        c->rest_from = c->rest_from < c->rest_to ? c->rest_from : from;
        c->rest_to = to;
    }
    return DT_OK;
}

int
context_feed(struct context *c, struct run_cursor *cursor, size_t from,
             size_t to, bool is_selected, context_emit_fn emit, void *ctx)
{
    if (from == to) {
        return DT_OK;
    }
    return is_selected ? on_selected(c, cursor, from, to, emit, ctx)
                       : on_other(c, cursor, from, to, emit, ctx);
}

int
context_end_block(struct context *c, struct run_cursor *cursor)
{
    struct dt_lines l;
    uint64_t nr;

    if (c->rest_from == c->rest_to) {
        return DT_OK;
    }
    nr = trim_rest(c, cursor->block->data);
    trim(c, c->args.before - nr);
    compact(c);
    l = run_lines(cursor, c->rest_from, c->rest_to, 0);
    c->rest_from = c->rest_to = 0;
    return hold(c, &l);
}
