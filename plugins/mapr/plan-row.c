/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens with a row: where, set, group key, accumulators. Allocates
 * nothing once the groups exist.
 */
#include "plan.h"
#include "setfn.h"

#include <stdlib.h>

static inline const struct number *
read_number(struct row *row, uint32_t numeric, struct str text)
{
    if (row->states[numeric] == NUMERIC_UNREAD) {
        row->states[numeric] =
            numbers_parse(text.p, text.n, &row->numbers[numeric]) == NUMBERS_OK
                ? NUMERIC_GOOD
                : NUMERIC_BAD;
    }
    return row->states[numeric] == NUMERIC_GOOD ? &row->numbers[numeric] : NULL;
}

static bool
operand_number(struct row *row, const struct plan_operand *o, double *out)
{
    const struct number *x;

    if (o->slot == PLAN_NONE) {
        *out = o->number;
        return true;
    }
    if (!row->values[o->slot].p) {
        return false;
    }
    x = read_number(row, o->numeric, row->values[o->slot]);
    if (!x) {
        return false;
    }
    *out = numbers_value(x);
    return true;
}

static bool
compare_numbers(enum language_op op, double a, double b)
{
    switch (op) {
    case OP_EQ:
        return a == b;
    case OP_NE:
        return a != b;
    case OP_LT:
        return a < b;
    case OP_LE:
        return a <= b;
    case OP_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static bool
contains(struct str a, struct str b)
{
    return b.n == 0 || (a.n >= b.n && memmem(a.p, a.n, b.p, b.n));
}

static bool
has_prefix(struct str a, struct str b)
{
    return a.n >= b.n && (b.n == 0 || memcmp(a.p, b.p, b.n) == 0);
}

static bool
has_suffix(struct str a, struct str b)
{
    return a.n >= b.n && (b.n == 0 || memcmp(a.p + a.n - b.n, b.p, b.n) == 0);
}

static bool
compare_texts(enum language_op op, struct str a, struct str b)
{
    switch (op) {
    case OP_STR_EQ:
        return str_equal(a, b);
    case OP_STR_NE:
        return !str_equal(a, b);
    case OP_CONTAINS:
        return contains(a, b);
    case OP_NCONTAINS:
        return !contains(a, b);
    case OP_HASPREFIX:
        return has_prefix(a, b);
    case OP_NHASPREFIX:
        return !has_prefix(a, b);
    case OP_HASSUFFIX:
        return has_suffix(a, b);
    default:
        return !has_suffix(a, b);
    }
}

/* A missing field makes a condition false, the negated ones too. */
static bool
passes(struct row *row, const struct plan_cond *c)
{
    struct str a, b;

    if (c->op < OP_STR_EQ) {
        double x, y;

        return operand_number(row, &c->left, &x) &&
               operand_number(row, &c->right, &y) &&
               compare_numbers(c->op, x, y);
    }
    a = c->left.slot == PLAN_NONE ? c->left.text : row->values[c->left.slot];
    b = c->right.slot == PLAN_NONE ? c->right.text : row->values[c->right.slot];
    return a.p && b.p && compare_texts(c->op, a, b);
}

/* One function of a set; false: out of memory. A value without p: there is
 * none. */
static bool
apply_function(struct plan_run *r, enum language_setfn fn, int64_t width,
               struct str *value)
{
    char *out;
    size_t n = value->n;

    if (!value->p) {
        return true;
    }
    if (fn == SETFN_MD5SUM) {
        n = 32;
    } else if (fn == SETFN_BUCKET) {
        n = SETFN_BUCKET_MAX;
    }
    out = arena_alloc(&r->scratch, n + 1);
    if (!out) {
        return false;
    }
    if (fn == SETFN_MD5SUM) {
        setfn_md5(*value, out);
    } else if (fn == SETFN_MASKDIGITS) {
        setfn_maskdigits(*value, out);
    } else {
        n = setfn_bucket(*value, width, out);
        out = n ? out : NULL;
    }
    value->p = out;
    value->n = n;
    return true;
}

static bool
apply_sets(struct plan_run *r)
{
    const struct plan *p = r->plan;
    struct row *row = &r->row;

    for (size_t i = 0; i < p->q->nr_sets; i++) {
        const struct language_set *s = p->sets[i].set;
        struct str value = row->values[p->sets[i].arg];

        if (!value.p && !s->is_implied) {
            value = s->arg;
        }
        for (size_t j = s->nr_fns; j-- > 0;) {
            if (!apply_function(r, s->fns[j].fn, s->fns[j].width, &value)) {
                return false;
            }
        }
        row->values[p->sets[i].target] = value;
        for (uint32_t j = 0; j < p->nr_numeric; j++) {
            if (p->numeric_slots[j] == p->sets[i].target) {
                row->states[j] = NUMERIC_UNREAD;
            }
        }
    }
    return true;
}

/* Reads the numbers; true if at least one column has something to take.
 * Members are copied to locals here and below: a store to a byte of flags or
 * states could change any of them, as far as the compiler knows. */
static inline bool
prepare(struct plan_run *r)
{
    const struct plan *p = r->plan;
    const struct plan_acc *accs = p->accs;
    struct row *row = &r->row;
    const struct str *values = row->values;
    uint32_t nr = p->layout.nr;
    bool any = false;

    for (uint32_t i = 0; i < nr; i++) {
        struct str value = values[accs[i].slot];

        if (!value.p) {
            continue;
        }
        if (accs[i].numeric == PLAN_NONE ||
            read_number(row, accs[i].numeric, value)) {
            any = true;
        } else {
            r->stats.not_numbers[i]++;
        }
    }
    for (uint32_t i = 0; i < p->nr_present && !any; i++) {
        any = values[p->present[i]].p != NULL;
    }
    return any;
}

static struct group *
find_group(struct plan_run *r)
{
    const struct plan *p = r->plan;
    struct text *key = &r->key;

    if (p->q->nr_groups == 1) {
        struct str s = r->row.values[p->group_slots[0]];

        return groups_take(&r->groups, s.p ? s.p : "", s.n);
    }
    key->len = 0;
    for (size_t i = 0; i < p->q->nr_groups; i++) {
        struct str s = r->row.values[p->group_slots[i]];

        if (i) {
            text_char(key, ',');
        }
        if (s.p) {
            text_str(key, s);
        }
    }
    return key->failed ? NULL : groups_take(&r->groups, key->data, key->len);
}

static bool
more_pending(struct plan_run *r)
{
    size_t cap = r->cap_pending ? 2 * r->cap_pending : 64;
    struct plan_pending *v = realloc(r->pending, cap * sizeof(*v));

    if (!v) {
        return false;
    }
    r->pending = v;
    r->cap_pending = cap;
    return true;
}

static inline bool
is_before(const struct groups_place *a, const struct groups_place *b)
{
    return a->sequence != b->sequence ? a->sequence < b->sequence
                                      : a->offset < b->offset;
}

static bool
take_text(struct plan_run *r, struct groups_text *t, uint8_t flags,
          struct str s)
{
    if ((flags & GROUPS_SEEN) && is_before(&r->row.place, &t->at)) {
        return true;
    }
    if (!(t->cap & GROUPS_PENDING)) {
        if (r->nr_pending == r->cap_pending && !more_pending(r)) {
            return false;
        }
        r->pending[r->nr_pending].text = t;
        r->pending[r->nr_pending++].own = (char *)(uintptr_t)t->p;
        t->cap |= GROUPS_PENDING;
    }
    t->at = r->row.place;
    t->p = s.p;
    t->n = (uint32_t)(s.n < GROUPS_MAX_TEXT ? s.n : GROUPS_MAX_TEXT);
    return true;
}

static void
take_extreme(const struct row *row, struct groups_extreme *e, bool is_max,
             uint8_t *flags, double v)
{
    if (!(*flags & GROUPS_SEEN)) {
        e->first = row->place;
        e->value = v;
        *flags |= v != v ? GROUPS_FIRST_NAN : 0;
        return;
    }
    if (is_before(&row->place, &e->first)) {
        e->first = row->place;
        *flags = (uint8_t)((*flags & ~GROUPS_FIRST_NAN) |
                           (v != v ? GROUPS_FIRST_NAN : 0));
    }
    if (v == v) {
        groups_take_extreme(e, is_max, v);
    }
}

/* `x` is the value as a number, for accumulators that take one. */
static inline bool
take_value(struct plan_run *r, enum groups_kind kind, void *acc, uint8_t *flags,
           struct str s, const struct number *x)
{
    struct arena *blobs = &r->groups.blobs;
    bool good = true;

    switch (kind) {
    case ACC_COUNT:
        ++*(uint64_t *)acc;
        break;
    case ACC_SUM:
        good = sums_add(acc, flags, x, blobs);
        break;
    case ACC_MIN:
    case ACC_MAX:
        take_extreme(&r->row, acc, kind == ACC_MAX, flags, numbers_value(x));
        break;
    case ACC_TEXT:
        good = take_text(r, acc, *flags, s);
        break;
    case ACC_DISTINCT:
        good = distinct_add(acc, distinct_hash(s.p, s.n), blobs);
        break;
    case ACC_SKETCH:
        good = sketch_add(acc, numbers_value(x), blobs);
        break;
    }
    if (!(*flags & GROUPS_SEEN)) {
        *flags |= GROUPS_SEEN;
    }
    return good;
}

/* All accumulators of the row's group. */
static bool
take_row(struct plan_run *r, struct group *group)
{
    const struct plan_acc *accs = r->plan->accs;
    const struct str *values = r->row.values;
    const struct number *numbers = r->row.numbers;
    const uint8_t *states = r->row.states;
    uint32_t nr = r->plan->layout.nr;
    uint8_t *flags = groups_flags(&r->plan->layout, group);

    group->samples++;
    for (uint32_t i = 0; i < nr; i++) {
        const struct plan_acc *a = &accs[i];
        struct str value = values[a->slot];
        const struct number *x = NULL;

        if (!value.p) {
            continue;
        }
        if (a->numeric != PLAN_NONE) {
            if (states[a->numeric] != NUMERIC_GOOD) {
                continue;
            }
            x = &numbers[a->numeric];
        }
        if (!take_value(r, a->kind, group->data + a->offset, &flags[i], value,
                        x)) {
            return false;
        }
    }
    return true;
}

int
plan_row(struct plan_run *r)
{
    const struct plan *p = r->plan;
    struct group *group;

    for (uint32_t i = 0; i < p->nr_numeric; i++) {
        r->row.states[i] = NUMERIC_UNREAD;
    }
    for (size_t i = 0; i < p->q->nr_conds; i++) {
        if (!passes(&r->row, &p->conds[i])) {
            return DT_OK;
        }
    }
    if (p->q->nr_sets && !apply_sets(r)) {
        return DT_ERR_NOMEM;
    }
    r->stats.rows++;
    if (!prepare(r)) {
        return DT_OK;
    }
    group = find_group(r);
    return group && take_row(r, group) ? DT_OK : DT_ERR_NOMEM;
}

int
plan_settle(struct plan_run *r)
{
    int status = DT_OK;

    for (size_t i = 0; i < r->nr_pending; i++) {
        struct plan_pending *pending = &r->pending[i];

        if (!groups_own_text(&r->groups, pending->text, pending->own)) {
            status = DT_ERR_NOMEM;
        }
    }
    r->nr_pending = 0;
    if (r->scratch.nr) {
        arena_reset(&r->scratch, (size_t)1 << 20);
    }
    return status;
}
