/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing partial results.
 */
#include "partial.h"

#include "partial-bytes.h"

static void
put_varint(struct text *t, uint64_t v)
{
    while (v >= 0x80) {
        text_char(t, (char)(v | 0x80));
        v >>= 7;
    }
    text_char(t, (char)v);
}

static void
put_bytes(struct text *t, const void *p, size_t n)
{
    put_varint(t, n);
    text_add(t, p, n);
}

static void
put_u64(struct text *t, uint64_t v)
{
    char bytes[8];

    for (int i = 0; i < 8; i++) {
        bytes[i] = (char)(v >> 8 * i);
    }
    text_add(t, bytes, 8);
}

static void
put_double(struct text *t, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, 8);
    put_u64(t, bits);
}

static void
put_place(struct text *t, const struct groups_place *at)
{
    put_varint(t, at->host);
    put_varint(t, at->sequence);
    put_varint(t, at->offset);
}

/* Two's complement, without limbs that only repeat the sign. */
static void
put_limbs(struct text *t, const uint64_t *limb, size_t nr)
{
    uint64_t sign = (uint64_t)((int64_t)limb[nr - 1] >> 63);
    size_t low = 0;

    while (nr > 1 && limb[nr - 1] == sign && limb[nr - 2] >> 63 == (sign & 1)) {
        nr--;
    }
    while (low + 1 < nr && limb[low] == 0) {
        low++;
    }
    text_char(t, (char)low);
    text_char(t, (char)(nr - low));
    for (size_t i = low; i < nr; i++) {
        put_u64(t, limb[i]);
    }
}

static void
put_store(struct text *t, const struct sketch_store *st)
{
    put_varint(t, st->nr);
    put_varint(t, (uint32_t)(st->base - SKETCH_MIN_INDEX));
    for (uint32_t i = 0; i < st->nr; i++) {
        put_varint(t, st->counts[i]);
    }
}

static void
put_sketch(struct text *t, const struct sketch *s)
{
    put_varint(t, s->zero);
    put_varint(t, s->pos_inf);
    put_varint(t, s->neg_inf);
    text_char(t, s->has_finite);
    if (s->has_finite) {
        put_double(t, s->min);
        put_double(t, s->max);
        put_store(t, &s->positive);
        put_store(t, &s->negative);
    }
}

static void
put_distinct(struct text *t, const struct distinct *d)
{
    if (d->registers) {
        text_char(t, PARTIAL_REGISTERS);
        text_add(t, d->registers, DISTINCT_REGISTERS);
        return;
    }
    text_char(t, PARTIAL_HASHES);
    put_varint(t, d->nr);
    for (uint32_t i = 0; i < d->cap; i++) {
        if (d->hashes[i]) {
            put_u64(t, d->hashes[i]);
        }
    }
}

static void
put_acc(struct text *t, enum groups_kind kind, const void *acc)
{
    switch (kind) {
    case ACC_COUNT:
        put_varint(t, *(const uint64_t *)acc);
        break;
    case ACC_SUM: {
        const struct sums *s = acc;

        put_limbs(t, s->limb, 3);
        text_char(t, s->wide != NULL);
        if (s->wide) {
            put_limbs(t, s->wide->limb, SUMS_WIDE_LIMBS);
        }
        break;
    }
    case ACC_MIN:
    case ACC_MAX: {
        const struct groups_extreme *e = acc;

        put_double(t, e->value);
        put_place(t, &e->first);
        break;
    }
    case ACC_TEXT: {
        const struct groups_text *s = acc;

        put_place(t, &s->at);
        put_bytes(t, s->p, s->n);
        break;
    }
    case ACC_DISTINCT:
        put_distinct(t, acc);
        break;
    case ACC_SKETCH:
        put_sketch(t, acc);
        break;
    }
}

/* Writes a group from accumulator w->acc on; stops when the partial is full
 * (w->acc then says where to go on, in a further record of the same key). */
static void
put_group(struct partial_writer *w, const struct plan *p, struct group *group,
          bool is_other, struct text *out)
{
    const struct groups_layout *l = &p->layout;
    const uint8_t *flags = groups_flags(l, group);
    struct str key = groups_key(l, group);
    uint32_t i;

    text_char(out, is_other ? PARTIAL_OTHER : PARTIAL_GROUP);
    if (!is_other) {
        put_bytes(out, key.p, key.n);
    }
    put_varint(out, w->acc == 0 ? group->samples : 0);
    for (i = 0; i < w->acc; i++) {
        text_char(out, 0);
    }
    for (; i < l->nr && (i == w->acc || out->len < 3 * PARTIAL_TARGET); i++) {
        text_char(out, (char)flags[i]);
        if (flags[i] & GROUPS_SEEN) {
            put_acc(out, l->accs[i].kind, groups_acc(l, group, i));
        }
    }
    w->acc = i < l->nr ? i : 0;
    for (; i < l->nr; i++) {
        text_char(out, 0);
    }
}

static void
put_stats(const struct plan *p, const struct partial_stats *s, struct text *out)
{
    text_char(out, PARTIAL_STATS);
    put_varint(out, s->lines.lines);
    put_varint(out, s->lines.selected);
    put_varint(out, s->lines.ignored);
    put_varint(out, s->rows);
    put_varint(out, s->other_rows);
    put_varint(out, REJECT_NR);
    for (int i = 0; i < REJECT_NR; i++) {
        put_varint(out, s->lines.rejects[i]);
    }
    for (uint32_t i = 0; i < p->layout.nr; i++) {
        put_varint(out, s->not_numbers[i]);
    }
    put_bytes(out, s->seen, p->nr_slots);
    put_varint(out, s->hints->nr);
    for (uint32_t i = 0; i < s->hints->nr; i++) {
        put_bytes(out, s->hints->names[i].p, s->hints->names[i].n);
    }
    put_bytes(out, s->note.data, s->note.len);
}

static void
put_header(const struct plan *p, const struct partial_hosts *hosts,
           struct text *out)
{
    out->len = 0;
    text_puts(out, PARTIAL_MAGIC);
    text_char(out, (char)PARTIAL_FORMAT);
    put_u64(out, p->fingerprint);
    put_varint(out, hosts->nr);
    for (uint32_t i = 0; i < hosts->nr; i++) {
        put_bytes(out, hosts->names[i].p, hosts->names[i].n);
    }
}

/* Gives back the chunks that the walk has passed. */
static void
drop_chunks(struct partial_writer *w, struct groups *groups)
{
    size_t upto = w->groups_done ? groups->records.nr : w->walk.chunk;

    if (w->dropped == 0) {
        free(groups->entries);
        groups->entries = NULL;
    }
    for (; w->dropped < upto; w->dropped++) {
        arena_drop_chunk(&groups->records, w->dropped);
    }
}

/* True when the partial is full. */
static bool
put_groups(struct partial_writer *w, const struct plan *p,
           struct groups *groups, struct text *out)
{
    while (!w->groups_done) {
        if (!w->group) {
            w->group = groups_next(groups, &w->walk);
        }
        if (!w->group) {
            w->groups_done = true;
            break;
        }
        put_group(w, p, w->group, false, out);
        if (w->acc == 0) {
            w->group = NULL;
        }
        if (out->len >= PARTIAL_TARGET) {
            return true;
        }
    }
    while (groups->other && !w->other_done) {
        put_group(w, p, groups->other, true, out);
        w->other_done = w->acc == 0;
        if (out->len >= PARTIAL_TARGET) {
            return true;
        }
    }
    return false;
}

int
partial_write(struct partial_writer *w, const struct plan *p,
              struct groups *groups, const struct partial_hosts *hosts,
              const struct partial_stats *stats, bool drop, struct text *out)
{
    size_t lead;
    bool full;

    put_header(p, hosts, out);
    lead = out->len;
    full = put_groups(w, p, groups, out);
    if (!full && stats && !w->stats_done) {
        put_stats(p, stats, out);
        w->stats_done = true;
    }
    if (drop && !w->group) {
        drop_chunks(w, groups);
    }
    if (out->failed) {
        return DT_ERR_NOMEM;
    }
    if (out->len == lead) {
        out->len = 0;
    }
    return full ? DT_AGAIN : DT_OK;
}
