/* SPDX-License-Identifier: Apache-2.0
 *
 * A query compiled for running.
 */
#include "plan.h"

#include "hash.h"

#include <stdlib.h>

struct compiler {
    struct plan *p;
    uint32_t cap_slots, cap_accs;
};

static uint32_t
slot_of(struct compiler *c, struct str name)
{
    struct plan *p = c->p;

    for (uint32_t i = 0; i < p->nr_slots; i++) {
        if (str_equal(p->names[i], name)) {
            return i;
        }
    }
    p->names[p->nr_slots] = name;
    return p->nr_slots++;
}

static uint32_t
numeric_of(struct compiler *c, uint32_t slot)
{
    struct plan *p = c->p;

    for (uint32_t i = 0; i < p->nr_numeric; i++) {
        if (p->numeric_slots[i] == slot) {
            return i;
        }
    }
    p->numeric_slots[p->nr_numeric] = slot;
    return p->nr_numeric++;
}

static enum groups_kind
kind_of(enum language_func f)
{
    switch (f) {
    case FUNC_COUNT:
        return ACC_COUNT;
    case FUNC_SUM:
    case FUNC_AVG:
    case FUNC_PERCENTAGE:
    case FUNC_PERCENTILE:
        return ACC_SUM;
    case FUNC_MIN:
        return ACC_MIN;
    case FUNC_MAX:
        return ACC_MAX;
    case FUNC_COUNT_DISTINCT:
        return ACC_DISTINCT;
    case FUNC_QUANTILE:
        return ACC_SKETCH;
    case FUNC_LAST:
    case FUNC_LEN:
    default:
        return ACC_TEXT;
    }
}

static bool
is_numeric(enum groups_kind kind)
{
    return kind == ACC_SUM || kind == ACC_MIN || kind == ACC_MAX ||
           kind == ACC_SKETCH;
}

/* Columns that need the same accumulator share it: sum, avg and percentage
 * of a field, several quantiles, a column that stands twice (Q20). */
static uint32_t
acc_of(struct compiler *c, enum groups_kind kind, uint32_t slot)
{
    struct plan *p = c->p;
    struct groups_layout *l = &p->layout;
    uint32_t i;

    for (i = 0; i < l->nr; i++) {
        if (l->accs[i].kind == kind && p->accs[i].slot == slot) {
            return i;
        }
    }
    l->accs[i].kind = kind;
    l->accs[i].offset = l->size;
    l->size += groups_acc_size(kind);
    l->nr++;
    p->accs[i].slot = slot;
    p->accs[i].kind = kind;
    p->accs[i].offset = l->accs[i].offset;
    p->accs[i].numeric = is_numeric(kind) ? numeric_of(c, slot) : PLAN_NONE;
    return i;
}

static void
compile_items(struct compiler *c)
{
    struct plan *p = c->p;
    const struct language_query *q = p->q;

    for (size_t i = 0; i < q->nr_items; i++) {
        const struct language_item *item = &q->items[i];
        uint32_t slot = slot_of(c, item->field);

        /* With one group field, its value is the key itself. */
        if (item->func == FUNC_LAST && q->nr_groups == 1 &&
            str_equal(q->groups[0], item->field)) {
            p->items[i].acc = PLAN_NONE;
            p->present[p->nr_present++] = slot;
        } else {
            p->items[i].acc = acc_of(c, kind_of(item->func), slot);
        }
    }
}

static void
compile_operand(struct compiler *c, enum language_op op,
                const struct language_operand *o, struct plan_operand *out)
{
    out->slot = PLAN_NONE;
    out->numeric = PLAN_NONE;
    out->number = o->number;
    out->text = o->text;
    if (!o->is_literal) {
        out->slot = slot_of(c, o->text);
        if (op < OP_STR_EQ) {
            out->numeric = numeric_of(c, out->slot);
        }
    }
}

static void
compile(struct compiler *c)
{
    struct plan *p = c->p;
    const struct language_query *q = p->q;

    for (size_t i = 0; i < q->nr_groups; i++) {
        p->group_slots[i] = slot_of(c, q->groups[i]);
    }
    compile_items(c);
    for (size_t i = 0; i < q->nr_conds; i++) {
        p->conds[i].op = q->conds[i].op;
        compile_operand(c, q->conds[i].op, &q->conds[i].left,
                        &p->conds[i].left);
        compile_operand(c, q->conds[i].op, &q->conds[i].right,
                        &p->conds[i].right);
    }
    for (size_t i = 0; i < q->nr_sets; i++) {
        p->sets[i].set = &q->sets[i];
        p->sets[i].target = slot_of(c, q->sets[i].target);
        p->sets[i].arg = slot_of(c, q->sets[i].arg);
    }
}

static uint64_t
fingerprint(const struct plan *p)
{
    XXH64_hash_t h = 0;

    for (uint32_t i = 0; i < p->layout.nr; i++) {
        struct str name = p->names[p->accs[i].slot];

        h = XXH64(name.p, name.n, h + p->layout.accs[i].kind + 1);
    }
    for (size_t i = 0; i < p->q->nr_groups; i++) {
        h = XXH64(p->q->groups[i].p, p->q->groups[i].n, h + 100);
    }
    return h;
}

int
plan_make(const struct language_query *q, struct plan **out)
{
    struct plan *p = calloc(1, sizeof(*p));
    struct compiler c = {.p = p};
    size_t names =
        q->nr_items + q->nr_groups + 2 * q->nr_conds + 2 * q->nr_sets + 1;

    *out = NULL;
    if (!p) {
        return DT_ERR_NOMEM;
    }
    p->q = q;
#define ARRAY(member, nr) \
    (p->member = arena_alloc(&p->arena, ((nr) + 1) * sizeof(*p->member)))
    if (!ARRAY(names, names) || !ARRAY(numeric_slots, names) ||
        !ARRAY(conds, q->nr_conds) || !ARRAY(sets, q->nr_sets) ||
        !ARRAY(group_slots, q->nr_groups) || !ARRAY(accs, q->nr_items) ||
        !ARRAY(items, q->nr_items) || !ARRAY(present, q->nr_items) ||
        !ARRAY(layout.accs, q->nr_items)) {
        plan_free(p);
        return DT_ERR_NOMEM;
    }
#undef ARRAY
    compile(&c);
    p->fingerprint = fingerprint(p);
    *out = p;
    return DT_OK;
}

void
plan_free(struct plan *p)
{
    if (p) {
        arena_fini(&p->arena);
        free(p);
    }
}

uint32_t
plan_slot(const struct plan *p, struct str name)
{
    for (uint32_t i = 0; i < p->nr_slots; i++) {
        if (str_equal(p->names[i], name)) {
            return i;
        }
    }
    return PLAN_NONE;
}

int
plan_run_init(struct plan_run *r, const struct plan *p, size_t budget)
{
    memset(r, 0, sizeof(*r));
    r->plan = p;
    r->row.values =
        arena_alloc(&r->arena, (p->nr_slots + 1) * sizeof(*r->row.values));
    r->row.numbers =
        arena_alloc(&r->arena, (p->nr_numeric + 1) * sizeof(*r->row.numbers));
    r->row.states = arena_alloc(&r->arena, p->nr_numeric + 1);
    r->stats.not_numbers =
        arena_alloc(&r->arena, (p->layout.nr + 1) * sizeof(uint64_t));
    if (!r->row.values || !r->row.numbers || !r->row.states ||
        !r->stats.not_numbers ||
        groups_init(&r->groups, &p->layout, budget) < 0) {
        plan_run_fini(r);
        return DT_ERR_NOMEM;
    }
    return DT_OK;
}

void
plan_run_fini(struct plan_run *r)
{
    groups_fini(&r->groups);
    arena_fini(&r->scratch);
    arena_fini(&r->arena);
    text_fini(&r->key);
    free(r->pending);
    memset(r, 0, sizeof(*r));
}
