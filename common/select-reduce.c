/* SPDX-License-Identifier: Apache-2.0
 *
 * The reduce stage of grep and tail: adds up and prints counts.
 */
#include "select.h"

#include "buf.h"

#include <stdlib.h>

#define RECORD_FIXED 20u

/* Of one source, or of some of its slices. */
struct count {
    uint64_t lines;
    uint32_t server; /* two may have the same name */
    char *host, *name, *path;
};

struct counts {
    struct dt_query *query;
    struct count *v;
    size_t nr, cap;
};

static int
counts_start(struct dt_query *q, void **self)
{
    struct counts *c = calloc(1, sizeof(*c));

    if (!c) {
        return DT_ERR_NOMEM;
    }
    c->query = q;
    *self = c;
    return DT_OK;
}

static void
count_fini(struct count *v)
{
    free(v->host);
    free(v->name);
    free(v->path);
    *v = (struct count){0};
}

static void
counts_close(void *self)
{
    struct counts *c = self;

    for (size_t i = 0; i < c->nr; i++) {
        count_fini(&c->v[i]);
    }
    free(c->v);
    free(c);
}

static uint64_t
get_number(const unsigned char *p, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes; i++) {
        value = value << 8 | p[i];
    }
    return value;
}

static int
compare(const void *a, const void *b)
{
    const struct count *x = a, *y = b;
    int order = strcmp(x->host, y->host);

    if (order == 0) {
        order = (x->server > y->server) - (x->server < y->server);
    }
    if (order == 0) {
        order = strcmp(x->path, y->path);
    }
    return order ? order : strcmp(x->name, y->name);
}

/* Sorts, and adds up what is of the same source. */
static void
merge(struct counts *c)
{
    size_t nr = 0;

    if (c->nr) {
        qsort(c->v, c->nr, sizeof(*c->v), compare);
    }
    for (size_t i = 0; i < c->nr; i++) {
        if (nr && compare(&c->v[nr - 1], &c->v[i]) == 0) {
            c->v[nr - 1].lines += c->v[i].lines;
            count_fini(&c->v[i]);
        } else {
            c->v[nr++] = c->v[i];
        }
    }
    c->nr = nr;
}

static int
grow(struct counts *c)
{
    size_t cap = c->cap ? c->cap * 2 : 64;
    struct count *v;

    if (c->nr < c->cap) {
        return DT_OK;
    }
    merge(c); /* many slices of few files */
    if (c->nr <= c->cap / 2 && c->cap) {
        return DT_OK;
    }
    if (c->nr >= SELECT_MAX_COUNTS) {
        return dt_error(c->query, DT_ERR_LIMIT,
                        "counts of more than %u files; name fewer",
                        SELECT_MAX_COUNTS);
    }
    v = reallocarray(c->v, cap, sizeof(*v));
    if (!v) {
        return DT_ERR_NOMEM;
    }
    c->v = v;
    c->cap = cap;
    return DT_OK;
}

/* One record of at most `left` bytes; *used is its length. */
static int
add_record(struct counts *c, uint32_t server, const unsigned char *p,
           size_t left, size_t *used)
{
    size_t lens[3], at = RECORD_FIXED;
    char *texts[3];
    int status;

    if (left < RECORD_FIXED) {
        return DT_ERR_PROTO;
    }
    for (size_t i = 0; i < 3; i++) {
        lens[i] = (size_t)get_number(p + 8 + 4 * i, 4);
        if (lens[i] > SELECT_MAX_NAME) {
            return DT_ERR_PROTO;
        }
    }
    *used = RECORD_FIXED + lens[0] + lens[1] + lens[2];
    if (*used > left) {
        return DT_ERR_PROTO;
    }
    status = grow(c);
    if (status != DT_OK) {
        return status;
    }
    for (size_t i = 0; i < 3; i++) {
        texts[i] = strndup((const char *)p + at, lens[i]);
        at += lens[i];
    }
    c->v[c->nr++] =
        (struct count){get_number(p, 8), server, texts[0], texts[1], texts[2]};
    return texts[0] && texts[1] && texts[2] ? DT_OK : DT_ERR_NOMEM;
}

static int
counts_feed(void *self, const struct dt_block *block)
{
    struct counts *c = self;
    const unsigned char *p = (const unsigned char *)block->data;
    size_t at = 0, used = 0;
    int status = block->len ? DT_OK : DT_ERR_PROTO;

    if (!(block->flags & DT_BLOCK_PARTIAL)) {
        return DT_OK; /* lines are printed by the core */
    }
    while (at < block->len && status == DT_OK) {
        status = add_record(c, block->source, p + at, block->len - at, &used);
        at += used;
    }
    if (status == DT_ERR_PROTO) {
        return dt_error(c->query, status,
                        "broken partial result: %zu bytes, bad at %zu",
                        block->len, at);
    }
    return status;
}

/* A name may hold anything but is one line here. */
static int
put_name(struct buf *out, const char *name)
{
    size_t from = out->len;
    int status = buf_puts(out, name);

    for (; status == DT_OK && from < out->len; from++) {
        if (out->data[from] == '\n') {
            out->data[from] = '?';
        }
    }
    return status == DT_OK ? buf_puts(out, ":") : status;
}

static int
counts_drain(void *self, enum dt_drain why)
{
    struct counts *c = self;
    struct buf out = {0};
    int status = DT_OK;

    (void)why;
    merge(c);
    for (size_t i = 0; i < c->nr && status == DT_OK; i++) {
        status = put_name(&out, c->v[i].host);
        if (status == DT_OK) {
            status = put_name(&out, c->v[i].name);
        }
        if (status == DT_OK) {
            status =
                buf_printf(&out, "%llu\n", (unsigned long long)c->v[i].lines);
        }
    }
    if (status == DT_OK && out.len) {
        status = dt_emit_text(c->query, out.data, out.len);
    }
    buf_fini(&out);
    return status;
}

const struct dt_stage select_reduce = {
    .size = sizeof(struct dt_stage),
    .start = counts_start,
    .feed = counts_feed,
    .drain = counts_drain,
    .close = counts_close,
};
