/* SPDX-License-Identifier: Apache-2.0
 *
 * --max, --before and --after with a query.
 */
#include "mapr-context.h"

#include "bytes.h"

#include <stdlib.h>

struct mapr_context_source {
    uint32_t id;
    bool is_fed; /* the format has seen something of it */
    struct context context;
};

/* Where a call of context_feed gives its lines to. */
struct outlet {
    struct logformat *format;
    struct mapr_context_source *source;
    const struct dt_block *block;
    struct text copy; /* the lines, with slack behind */
};

static struct mapr_context_source *
source_of(struct mapr_context *c, uint32_t id)
{
    struct mapr_context_source *s;

    for (size_t i = 0; i < c->nr; i++) {
        if (c->v[i]->id == id) {
            return c->v[i];
        }
    }
    if (c->nr == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 8;
        struct mapr_context_source **v = realloc(c->v, cap * sizeof(*v));

        if (!v) {
            return NULL;
        }
        c->v = v;
        c->cap = cap;
    }
    s = calloc(1, sizeof(*s));
    if (s) {
        s->id = id;
        s->context.args = c->args;
        c->v[c->nr++] = s;
    }
    return s;
}

static void
forget_source(struct mapr_context *c, const struct mapr_context_source *s)
{
    for (size_t i = 0; i < c->nr; i++) {
        if (c->v[i] == s) {
            context_fini(&c->v[i]->context);
            free(c->v[i]);
            c->v[i] = c->v[--c->nr];
            return;
        }
    }
}

void
mapr_context_fini(struct mapr_context *c)
{
    while (c->nr) {
        forget_source(c, c->v[0]);
    }
    free(c->v);
    memset(c, 0, sizeof(*c));
}

/* Lines that the query gets to see. */
static int
feed_format(struct outlet *o, const char *data, size_t len, uint64_t offset,
            uint32_t flags)
{
    static const char slack[BYTES_SLACK];
    struct dt_block b = *o->block;
    int status;

    o->copy.len = 0;
    text_add(&o->copy, data, len);
    text_add(&o->copy, slack, sizeof(slack));
    if (o->copy.failed) {
        return DT_ERR_NOMEM;
    }
    b.data = o->copy.data;
    b.len = len;
    b.offset = offset;
    b.first_line = b.nr_lines = 0;
    b.flags = flags | (o->source->is_fed ? 0 : DT_BLOCK_FIRST);
    o->source->is_fed = true;
    status = o->format->ops->feed(o->format, &b);
    return status == DT_OK ? plan_settle(o->format->run) : status;
}

static int
take_lines(void *ctx, const struct dt_lines *lines)
{
    return feed_format(ctx, lines->data, lines->len, lines->offset - lines->len,
                       0);
}

static int
feed_lines(struct outlet *o, struct context *context)
{
    const struct dt_block *b = o->block;
    struct dt_line line = DT_LINE_INIT;
    struct run_cursor cursor;
    int status = DT_OK;

    run_cursor_init(&cursor, b);
    while (status == DT_OK && dt_next_line(b, &line)) {
        struct str raw = {line.data, line.len};
        size_t from = (size_t)(line.data - b->data);
        bool selected;

        o->format->is_passed = false;
        selected = logformat_selects(o->format, raw);
        o->format->is_passed = true; /* the format selects no more */
        status = context_feed(context, &cursor, from, from + line.whole_len,
                              selected, take_lines, o);
    }
    return status == DT_OK ? context_end_block(context, &cursor) : status;
}

int
mapr_context_feed(struct mapr_context *c, struct logformat *f,
                  const struct dt_block *block)
{
    struct mapr_context_source *s = source_of(c, block->source);
    struct outlet o = {.format = f, .source = s, .block = block};
    int status;

    if (!s) {
        return DT_ERR_NOMEM;
    }
    status = feed_lines(&o, &s->context);
    if (status >= 0 && (block->flags & DT_BLOCK_LAST)) {
        int last = s->is_fed
                       ? feed_format(&o, "", 0, block->offset, DT_BLOCK_LAST)
                       : DT_OK;

        status = last < 0 ? last : status;
        forget_source(c, s);
    }
    text_fini(&o.copy);
    return status;
}
