/* SPDX-License-Identifier: Apache-2.0
 *
 * A query compiled for running: which fields are needed, where their values
 * go, and what happens with a row.
 *
 * A plan is const once made and may be shared; a `struct row` belongs to one
 * instance.
 */
#ifndef MAPR_PLAN_H
#define MAPR_PLAN_H

#include "groups.h"
#include "language.h"
#include "numbers.h"

#define PLAN_NONE UINT32_MAX

/* An operand of a condition. */
struct plan_operand {
    uint32_t slot;    /* PLAN_NONE: a literal */
    uint32_t numeric; /* numeric operators: index into the numbers of a row */
    double number;
    struct str text;
};

struct plan_cond {
    enum language_op op;
    struct plan_operand left, right;
};

struct plan_set {
    const struct language_set *set;
    uint32_t target, arg; /* slots */
};

struct plan_acc {
    uint32_t slot;
    uint32_t numeric; /* PLAN_NONE: takes the text */
    enum groups_kind kind;
    uint32_t offset; /* in the group; both as in the layout */
};

/* How a column gets its value. */
struct plan_item {
    uint32_t acc; /* PLAN_NONE: it is the group key */
};

struct plan {
    const struct language_query *q;
    struct str *names; /* of the slots: every field that the query names */
    uint32_t nr_slots;
    uint32_t *numeric_slots; /* fields that are read as numbers */
    uint32_t nr_numeric;
    struct plan_cond *conds; /* q->nr_conds */
    struct plan_set *sets;   /* q->nr_sets */
    uint32_t *group_slots;   /* q->nr_groups */
    struct plan_acc *accs;   /* layout.nr */
    struct plan_item *items; /* q->nr_items */
    uint32_t *present;       /* slots of columns that are the group key */
    uint32_t nr_present;
    struct groups_layout layout;
    uint64_t fingerprint; /* of the layout: partials must agree */
    struct arena arena;
};

enum plan_numeric_state { NUMERIC_UNREAD = 0, NUMERIC_GOOD, NUMERIC_BAD };

/* A row while it is worked on. */
struct row {
    struct str *values;     /* by slot; p == NULL: missing */
    struct number *numbers; /* by numeric index */
    uint8_t *states;        /* enum plan_numeric_state */
    struct groups_place place;
};

struct plan_stats {
    uint64_t rows;         /* that passed `where` */
    uint64_t *not_numbers; /* by accumulator */
};

/* A text of the block that a group points to until plan_settle. */
struct plan_pending {
    struct groups_text *text;
    char *own;
};

/* What runs a plan: one an instance. */
struct plan_run {
    const struct plan *plan;
    struct groups groups;
    struct row row;
    struct plan_stats stats;
    struct arena scratch; /* texts made by `set`, until plan_settle */
    struct text key;
    struct plan_pending *pending;
    size_t nr_pending, cap_pending;
    struct arena arena;
};

/* Compiles; `q` must outlive the plan. DT_OK or DT_ERR_NOMEM. */
int plan_make(const struct language_query *q, struct plan **out);
void plan_free(struct plan *p);
/* The slot of a field, PLAN_NONE: nobody needs it. */
uint32_t plan_slot(const struct plan *p, struct str name);

int plan_run_init(struct plan_run *r, const struct plan *p, size_t budget);
void plan_run_fini(struct plan_run *r);
/* Aggregates r->row, whose values and place are set. DT_OK or DT_ERR_NOMEM. */
int plan_row(struct plan_run *r);
/* To be called before the bytes that values point to go away: copies what
 * the groups still need. DT_OK or DT_ERR_NOMEM. */
int plan_settle(struct plan_run *r);

#endif
