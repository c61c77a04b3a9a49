/* SPDX-License-Identifier: Apache-2.0
 *
 * The log formats `default` (DTail's own MAPREDUCE lines) and `generickv`
 * (key=value tokens between bars), spec mapreduce 10.3 and 10.5.
 *
 * The delimiters of a block are found first; a line then knows where each of
 * its positions is, and only the needed ones are looked at. A key that nobody
 * asked for costs one comparison of its length.
 */
#include "logformat.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <stdlib.h>

#define POSITIONS 9u /* fields before MAPREDUCE: */
#define TAG "MAPREDUCE:"
#define TAG_LEN 10u

struct position {
    uint32_t index; /* of the token */
    uint32_t slot;
};

/* Parts of a $time of 15 bytes. */
struct part {
    uint32_t slot, from, len;
};

struct kv {
    struct keys keys;
    struct position positions[2 * POSITIONS];
    uint32_t nr_positions;
    struct part parts[4];
    uint32_t nr_parts;
};

static const struct {
    const char *name;
    uint32_t index;
} position_names[] = {{"$severity", 0},   {"$loglevel", 0}, {"$time", 1},
                      {"$pid", 2},        {"$caller", 3},   {"$cpus", 4},
                      {"$goroutines", 5}, {"$cgocalls", 6}, {"$loadavg", 7},
                      {"$uptime", 8}};

static const struct {
    const char *name;
    uint32_t from, len;
} part_names[] = {
    {"$date", 0, 8}, {"$hour", 9, 2}, {"$minute", 11, 2}, {"$second", 13, 2}};

static int
kv_open(struct logformat *f, char *err, size_t err_size)
{
    struct kv *kv = calloc(1, sizeof(*kv));

    (void)err;
    (void)err_size;
    if (!kv || keys_make(&kv->keys, f->plan) < 0) {
        free(kv);
        return DT_ERR_NOMEM;
    }
    f->state = kv;
    return DT_OK;
}

static int
default_open(struct logformat *f, char *err, size_t err_size)
{
    int status = kv_open(f, err, err_size);
    struct kv *kv = f->state;
    uint32_t slot;

    if (status < 0) {
        return status;
    }
    for (size_t i = 0; i < sizeof(position_names) / sizeof(*position_names);
         i++) {
        hints_add(&f->hints, str_of(position_names[i].name));
        slot = plan_slot(f->plan, str_of(position_names[i].name));
        if (slot != PLAN_NONE) {
            kv->positions[kv->nr_positions].index = position_names[i].index;
            kv->positions[kv->nr_positions++].slot = slot;
        }
    }
    for (size_t i = 0; i < 4; i++) {
        slot = plan_slot(f->plan, str_of(part_names[i].name));
        if (slot != PLAN_NONE) {
            kv->parts[kv->nr_parts].slot = slot;
            kv->parts[kv->nr_parts].from = part_names[i].from;
            kv->parts[kv->nr_parts++].len = part_names[i].len;
        }
    }
    return DT_OK;
}

static void
kv_close(struct logformat *f)
{
    struct kv *kv = f->state;

    keys_fini(&kv->keys);
    free(kv);
}

/* A line with its delimiters: token i ends at data[at[i]], the last one at
 * `end`, which is trimmed. */
struct cut_line {
    const char *data; /* of the block */
    const uint32_t *at;
    size_t nr; /* delimiters */
    const char *start, *end;
};

static inline const char *
token_start(const struct cut_line *l, size_t i)
{
    return i == 0 ? l->start : l->data + l->at[i - 1] + 1;
}

static inline const char *
token_end(const struct cut_line *l, size_t i)
{
    return i == l->nr ? l->end : l->data + l->at[i];
}

/* Stores the value of a key=value token if it is needed. False: there is no
 * equals sign. 16 bytes behind the token can be read (the block's slack). */
static inline bool
take_token(struct logformat *f, const struct keys *k, struct str *values,
           const char *p, const char *end)
{
    size_t len = (size_t)(end - p), n;
    uint32_t slot;

#if defined(__SSE2__)
    __m128i head = _mm_loadu_si128((const __m128i *)(const void *)p);
    unsigned equals =
        (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(head, _mm_set1_epi8('=')));

    if (equals) {
        n = (size_t)__builtin_ctz(equals);
        if (n >= len) {
            return false;
        }
        if (!(k->lengths >> n & 1)) {
            slot = PLAN_NONE;
        } else {
            unsigned mask = (1u << n) - 1;

            for (slot = k->first[n]; slot != PLAN_NONE;
                 slot = k->v[slot].next) {
                __m128i key = _mm_loadu_si128(
                    (const __m128i *)(const void *)k->v[slot].head);
                unsigned same =
                    (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(head, key));

                if ((same & mask) == mask) {
                    break;
                }
            }
        }
    } else
#endif
    {
        const char *eq = memchr(p, '=', len);

        if (!eq) {
            return false;
        }
        n = (size_t)(eq - p);
        slot = keys_find(k, p, n);
    }
    if (slot != PLAN_NONE) {
        values[slot].p = p + n + 1;
        values[slot].n = len - n - 1;
    }
    if (f->sample_left) {
        struct str name = {p, n};

        hints_add(&f->hints, name);
    }
    return true;
}

/* Position 9 tells most tables apart; the filter itself looks at the whole
 * line (spec mapreduce 9). */
static inline bool
selects(struct logformat *f, struct str raw, const struct cut_line *l)
{
    if (f->select == SELECT_LITERAL && l->nr > POSITIONS && !f->is_inverted &&
        !f->is_passed) {
        const char *tag = token_start(l, POSITIONS);
        size_t n = (size_t)(token_end(l, POSITIONS) - tag);

        if (n + 2 == f->needle.len && memcmp(tag, f->needle.data + 1, n) == 0) {
            f->stats.lines++;
            f->stats.selected++;
            return true;
        }
    }
    return logformat_selects(f, raw);
}

static int
default_line(struct logformat *f, const struct dt_block *b, struct str raw,
             struct cut_line *l)
{
    const struct kv *kv = f->state;
    const char *tag;
    struct str *values;

    if (!selects(f, raw, l)) {
        return DT_OK;
    }
    if (l->nr <= POSITIONS) {
        f->stats.ignored++;
        return DT_OK;
    }
    tag = token_start(l, POSITIONS);
    if ((size_t)(token_end(l, 0) - l->start) < 4 ||
        memcmp(l->start, "INFO", 4) != 0 ||
        (size_t)(token_end(l, POSITIONS) - tag) < TAG_LEN ||
        memcmp(tag, TAG, TAG_LEN) != 0) {
        f->stats.ignored++;
        return DT_OK;
    }
    values = logformat_begin(f);
    for (uint32_t i = 0; i < kv->nr_positions; i++) {
        struct str *v = &values[kv->positions[i].slot];

        v->p = token_start(l, kv->positions[i].index);
        v->n = (size_t)(token_end(l, kv->positions[i].index) - v->p);
    }
    if (kv->nr_parts && token_end(l, 1) - token_start(l, 1) == 15) {
        for (uint32_t i = 0; i < kv->nr_parts; i++) {
            values[kv->parts[i].slot].p = token_start(l, 1) + kv->parts[i].from;
            values[kv->parts[i].slot].n = kv->parts[i].len;
        }
    }
    for (size_t i = POSITIONS + 1; i <= l->nr; i++) {
        if (!take_token(f, &kv->keys, values, token_start(l, i),
                        token_end(l, i))) {
            f->stats.rejects[REJECT_NO_EQUALS]++;
            return DT_OK;
        }
    }
    raw.p = l->start;
    raw.n = (size_t)(l->end - l->start);
    return logformat_row(f, b, (size_t)(l->start - b->data), raw);
}

/* A token without = is skipped (Q23). */
static int
generickv_line(struct logformat *f, const struct dt_block *b, struct str raw,
               struct cut_line *l)
{
    const struct kv *kv = f->state;
    struct str *values;

    if (!logformat_selects(f, raw)) {
        return DT_OK;
    }
    values = logformat_begin(f);
    for (size_t i = 0; i <= l->nr; i++) {
        take_token(f, &kv->keys, values, token_start(l, i), token_end(l, i));
    }
    raw.p = l->start;
    raw.n = (size_t)(l->end - l->start);
    return logformat_row(f, b, (size_t)(l->start - b->data), raw);
}

typedef int cut_line_fn(struct logformat *f, const struct dt_block *b,
                        struct str raw, struct cut_line *l);

static inline __attribute__((always_inline)) int
each_cut_line(struct logformat *f, const struct dt_block *b, cut_line_fn *line)
{
    struct delimiters *d = &f->delimiters;
    size_t first = 0, start = 0, nr_lines;

    if (delimiters_reserve(d, b->len) < 0) {
        return DT_ERR_NOMEM;
    }
    f->find(b->data, b->len, '|', d);
    nr_lines = d->nr_lines;
    if (b->len && b->data[b->len - 1] != '\n') {
        d->lines[nr_lines++] = (uint32_t)d->nr;
        d->at[d->nr] = (uint32_t)b->len;
    }
    for (size_t i = 0; i < nr_lines; i++) {
        size_t last = d->lines[i], end = d->at[last];
        struct str raw = {b->data + start, end - start};
        struct str trimmed = logformat_trim(raw);
        struct cut_line l = {b->data, d->at + first, last - first, trimmed.p,
                             trimmed.p + trimmed.n};
        int status = line(f, b, raw, &l);

        if (status < 0) {
            return status;
        }
        first = last + 1;
        start = end + 1;
    }
    return DT_OK;
}

static int
default_feed(struct logformat *f, const struct dt_block *b)
{
    return each_cut_line(f, b, default_line);
}

static int
generickv_feed(struct logformat *f, const struct dt_block *b)
{
    return each_cut_line(f, b, generickv_line);
}

const struct logformat_ops logformat_default = {
    .name = "default",
    .open = default_open,
    .feed = default_feed,
    .close = kv_close,
};

const struct logformat_ops logformat_generickv = {
    .name = "generickv",
    .open = kv_open,
    .feed = generickv_feed,
    .close = kv_close,
};
