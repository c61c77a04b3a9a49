/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading and merging partial results. The bytes come from other machines:
 * every length and count is checked before it is used.
 */
#include "partial.h"

#include "partial-bytes.h"

#define OFFSET_MASK (((uint64_t)1 << GROUPS_OFFSET_BITS) - 1)

/* Where reading stands; once `bad` is set all further reads give zeros. */
struct reader {
    const unsigned char *p, *end;
    bool bad;
    struct partial_sink *sink;
};

static uint64_t
get_varint(struct reader *r)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char c;

        if (r->p == r->end) {
            break;
        }
        c = *r->p++;
        if (shift == 63 && c > 1) {
            break;
        }
        v |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            return v;
        }
    }
    r->bad = true;
    r->p = r->end;
    return 0;
}

static uint64_t
get_limited(struct reader *r, uint64_t max)
{
    uint64_t v = get_varint(r);

    if (v > max) {
        r->bad = true;
        r->p = r->end;
        return 0;
    }
    return v;
}

static struct str
get_raw(struct reader *r, uint64_t n)
{
    struct str s = {(const char *)r->p, (size_t)n};

    if (n > (uint64_t)(r->end - r->p)) {
        r->bad = true;
        r->p = r->end;
        s.p = "";
        s.n = 0;
        return s;
    }
    r->p += n;
    return s;
}

static struct str
get_bytes(struct reader *r, size_t max)
{
    return get_raw(r, get_limited(r, max));
}

static uint8_t
get_byte(struct reader *r)
{
    struct str s = get_raw(r, 1);

    return s.n ? (uint8_t)s.p[0] : 0;
}

static uint64_t
get_u64(struct reader *r)
{
    struct str s = get_raw(r, 8);
    uint64_t v = 0;

    for (size_t i = 0; i < s.n; i++) {
        v |= (uint64_t)(unsigned char)s.p[i] << 8 * i;
    }
    return v;
}

static double
get_double(struct reader *r)
{
    uint64_t bits = get_u64(r);
    double v;

    memcpy(&v, &bits, 8);
    return v;
}

static struct groups_place
get_place(struct reader *r, uint32_t nr_hosts)
{
    struct groups_place at;
    uint64_t host = get_varint(r);

    if (host >= nr_hosts) {
        r->bad = true;
    }
    at.host =
        r->bad ? 0 : r->sink->host_map[host] & ((1u << GROUPS_HOST_BITS) - 1);
    at.sequence = get_varint(r);
    at.offset = get_limited(r, OFFSET_MASK) & OFFSET_MASK;
    return at;
}

static void
get_limbs(struct reader *r, uint64_t *limb, size_t nr)
{
    size_t low = get_byte(r), n = get_byte(r);
    uint64_t sign;

    memset(limb, 0, nr * sizeof(*limb));
    if (n == 0 || low + n > nr) {
        r->bad = true;
        return;
    }
    for (size_t i = low; i < low + n; i++) {
        limb[i] = get_u64(r);
    }
    sign = (uint64_t)((int64_t)limb[low + n - 1] >> 63);
    for (size_t i = low + n; i < nr; i++) {
        limb[i] = sign;
    }
}

/* Order of two places: by name of host, then as read there. */
static int
compare_places(const struct partial_hosts *h, const struct groups_place *a,
               const struct groups_place *b)
{
    if (a->host != b->host) {
        return str_compare(h->names[a->host], h->names[b->host]);
    }
    if (a->sequence != b->sequence) {
        return a->sequence < b->sequence ? -1 : 1;
    }
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static bool
merge_text(struct reader *r, uint32_t nr_hosts, struct groups_text *t,
           bool seen)
{
    struct groups_place at = get_place(r, nr_hosts);
    struct str s = get_bytes(r, GROUPS_MAX_TEXT);
    char *own = (char *)(uintptr_t)t->p;
    int order;

    if (r->bad) {
        return true;
    }
    if (seen) {
        struct str old = {t->p, t->n};

        order = compare_places(&r->sink->hosts, &at, &t->at);
        if (order < 0 || (order == 0 && str_compare(s, old) <= 0)) {
            return true;
        }
    }
    t->at = at;
    t->p = s.p;
    t->n = (uint32_t)s.n;
    return groups_own_text(&r->sink->groups, t, own);
}

static void
merge_extreme(struct reader *r, uint32_t nr_hosts, struct groups_extreme *e,
              bool is_max, uint8_t *flags, uint8_t other_flags)
{
    double v = get_double(r);
    struct groups_place first = get_place(r, nr_hosts);
    uint8_t nan = other_flags & GROUPS_FIRST_NAN;

    if (r->bad) {
        return;
    }
    if (!(*flags & GROUPS_SEEN)) {
        e->value = v;
        e->first = first;
        *flags |= nan;
        return;
    }
    if (compare_places(&r->sink->hosts, &first, &e->first) < 0) {
        e->first = first;
        *flags = (uint8_t)((*flags & ~GROUPS_FIRST_NAN) | nan);
    }
    if (v == v) {
        groups_take_extreme(e, is_max, v);
    }
}

static bool
merge_sum(struct reader *r, struct sums *s, uint8_t *flags, uint8_t other_flags)
{
    struct sums other = {{0}, NULL};
    struct sums_wide wide;

    get_limbs(r, other.limb, 3);
    if (get_byte(r)) {
        get_limbs(r, wide.limb, SUMS_WIDE_LIMBS);
        other.wide = &wide;
    }
    return r->bad ||
           sums_merge(s, flags, &other, other_flags, &r->sink->groups.blobs);
}

static bool
merge_distinct(struct reader *r, struct distinct *d)
{
    struct arena *blobs = &r->sink->groups.blobs;

    if (get_byte(r) == PARTIAL_REGISTERS) {
        struct str s = get_raw(r, DISTINCT_REGISTERS);

        for (uint32_t i = 0; i < s.n; i++) {
            if (!distinct_add_register(d, i, (uint8_t)s.p[i], blobs)) {
                return false;
            }
        }
        return true;
    }
    for (uint64_t n = get_limited(r, DISTINCT_EXACT); n > 0 && !r->bad; n--) {
        uint64_t hash = get_u64(r);

        if (hash && !distinct_add(d, hash, blobs)) {
            return false;
        }
    }
    return true;
}

static bool
merge_store(struct reader *r, struct sketch_store *st)
{
    uint64_t nr = get_limited(r, SKETCH_SPAN);
    int32_t base =
        (int32_t)get_limited(r, SKETCH_MAX_INDEX - SKETCH_MIN_INDEX) +
        SKETCH_MIN_INDEX;

    for (uint64_t i = 0; i < nr && !r->bad; i++) {
        uint64_t count = get_varint(r);

        if (count && !sketch_add_bucket(st, base + (int32_t)i, count,
                                        &r->sink->groups.blobs)) {
            return false;
        }
    }
    return true;
}

static bool
merge_sketch(struct reader *r, struct sketch *s)
{
    s->zero += get_varint(r);
    s->pos_inf += get_varint(r);
    s->neg_inf += get_varint(r);
    if (get_byte(r)) {
        double min = get_double(r), max = get_double(r);

        sketch_add_range(s, min, max);
        return merge_store(r, &s->positive) && merge_store(r, &s->negative);
    }
    return true;
}

static bool
merge_acc(struct reader *r, uint32_t nr_hosts, enum groups_kind kind, void *acc,
          uint8_t *flags, uint8_t other_flags)
{
    bool good = true;

    switch (kind) {
    case ACC_COUNT:
        *(uint64_t *)acc += get_varint(r);
        break;
    case ACC_SUM:
        good = merge_sum(r, acc, flags, other_flags);
        break;
    case ACC_MIN:
    case ACC_MAX:
        merge_extreme(r, nr_hosts, acc, kind == ACC_MAX, flags, other_flags);
        break;
    case ACC_TEXT:
        good = merge_text(r, nr_hosts, acc, *flags & GROUPS_SEEN);
        break;
    case ACC_DISTINCT:
        good = merge_distinct(r, acc);
        break;
    case ACC_SKETCH:
        good = merge_sketch(r, acc);
        break;
    }
    if (good && !r->bad) {
        *flags |= GROUPS_SEEN;
    }
    return good;
}

static int
read_group(struct reader *r, uint32_t nr_hosts, bool is_other)
{
    struct partial_sink *s = r->sink;
    const struct groups_layout *l = &s->plan->layout;
    struct group *group;
    uint8_t *flags;
    struct str key = {"", 0};
    uint64_t samples;

    if (!is_other) {
        key = get_bytes(r, GROUPS_MAX_KEY);
    }
    samples = get_varint(r);
    if (r->bad) {
        return DT_ERR_PROTO;
    }
    group = is_other ? groups_take_other(&s->groups)
                     : groups_take(&s->groups, key.p, key.n);
    if (!group) {
        return DT_ERR_NOMEM;
    }
    group->samples += samples;
    flags = groups_flags(l, group);
    for (uint32_t i = 0; i < l->nr && !r->bad; i++) {
        uint8_t other = get_byte(r);

        if ((other & GROUPS_SEEN) &&
            !merge_acc(r, nr_hosts, l->accs[i].kind, groups_acc(l, group, i),
                       &flags[i], other)) {
            return DT_ERR_NOMEM;
        }
    }
    return r->bad ? DT_ERR_PROTO : DT_OK;
}

static int
read_stats(struct reader *r)
{
    struct partial_stats *s = &r->sink->stats;
    const struct plan *p = r->sink->plan;
    uint64_t nr;
    struct str bytes;

    s->lines.lines += get_varint(r);
    s->lines.selected += get_varint(r);
    s->lines.ignored += get_varint(r);
    s->rows += get_varint(r);
    s->other_rows += get_varint(r);
    nr = get_limited(r, 256);
    for (uint64_t i = 0; i < nr; i++) {
        uint64_t v = get_varint(r);

        if (i < REJECT_NR) {
            s->lines.rejects[i] += v;
        }
    }
    for (uint32_t i = 0; i < p->layout.nr; i++) {
        s->not_numbers[i] += get_varint(r);
    }
    bytes = get_bytes(r, p->nr_slots);
    for (size_t i = 0; i < bytes.n; i++) {
        s->seen[i] |= (uint8_t)bytes.p[i];
    }
    nr = get_limited(r, HINTS_MAX_NAMES);
    for (uint64_t i = 0; i < nr && !r->bad; i++) {
        hints_add(s->hints, get_bytes(r, HINTS_MAX_NAME));
    }
    bytes = get_bytes(r, 4096);
    if (bytes.n && s->note.len == 0) {
        text_str(&s->note, bytes);
    }
    return r->bad ? DT_ERR_PROTO : DT_OK;
}

static int
read_hosts(struct reader *r, uint32_t *nr_hosts)
{
    struct partial_sink *s = r->sink;
    uint64_t nr = get_limited(r, PARTIAL_MAX_HOSTS);

    if (nr > (uint64_t)(r->end - r->p)) {
        r->bad = true;
        return DT_ERR_PROTO;
    }
    if (nr > s->cap_map) {
        uint32_t *map = realloc(s->host_map, nr * sizeof(*map));

        if (!map) {
            return DT_ERR_NOMEM;
        }
        s->host_map = map;
        s->cap_map = nr;
    }
    for (uint64_t i = 0; i < nr; i++) {
        struct str name = get_bytes(r, 4096);

        if (r->bad) {
            return DT_ERR_PROTO;
        }
        s->host_map[i] = partial_host(&s->hosts, name);
        if (s->host_map[i] == PLAN_NONE) {
            return DT_ERR_NOMEM;
        }
    }
    *nr_hosts = (uint32_t)nr;
    return DT_OK;
}

static int
read_records(struct reader *r)
{
    uint32_t nr_hosts = 0;
    int status = read_hosts(r, &nr_hosts);

    while (status == DT_OK && r->p < r->end) {
        switch (get_byte(r)) {
        case PARTIAL_GROUP:
            status = read_group(r, nr_hosts, false);
            break;
        case PARTIAL_OTHER:
            status = read_group(r, nr_hosts, true);
            break;
        case PARTIAL_STATS:
            status = read_stats(r);
            break;
        default:
            status = DT_ERR_PROTO;
            break;
        }
    }
    return status;
}

int
partial_read(struct partial_sink *s, const void *data, size_t len, char *err,
             size_t err_size)
{
    struct reader r = {
        .p = data, .end = (const unsigned char *)data + len, .sink = s};
    struct str magic = get_raw(&r, 3);
    uint8_t version = get_byte(&r);
    uint64_t fingerprint = get_u64(&r);
    int status;

    if (r.bad || !str_is(magic, PARTIAL_MAGIC)) {
        snprintf(err, err_size, "a partial result that is none (%zu bytes)",
                 len);
        return DT_ERR_PROTO;
    }
    if (version != PARTIAL_FORMAT) {
        snprintf(err, err_size,
                 "a partial result of format %u; this program reads format %u",
                 version, PARTIAL_FORMAT);
        return DT_ERR_PROTO;
    }
    if (fingerprint != s->plan->fingerprint) {
        snprintf(err, err_size, "a partial result of another query");
        return DT_ERR_PROTO;
    }
    status = read_records(&r);
    if (status == DT_ERR_PROTO) {
        snprintf(err, err_size,
                 "a damaged partial result: byte %zu of %zu is not what it "
                 "should be",
                 (size_t)(r.p - (const unsigned char *)data), len);
    }
    return status;
}
