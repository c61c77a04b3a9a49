/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of a result: final values and their order.
 */
#include "result.h"

#include <math.h>
#include <stdlib.h>

static const char other_name[] = "(other)";

static const struct language_item *
item_of(const struct result *r, size_t item)
{
    return &r->plan->q->items[item];
}

/* The accumulator of a cell; NULL: it never saw a value. */
static const void *
acc_of(const struct result *r, const struct result_row *row, size_t item,
       uint8_t *flags)
{
    const struct groups_layout *l = &r->plan->layout;
    uint32_t acc = r->plan->items[item].acc;

    *flags = 0;
    if (acc == PLAN_NONE) {
        return NULL;
    }
    *flags = groups_flags(l, row->group)[acc];
    return *flags & GROUPS_SEEN ? groups_acc(l, row->group, acc) : NULL;
}

static struct str
text_of(const struct result *r, const struct result_row *row, size_t item)
{
    const struct groups_text *t;
    struct str s = {"", 0};
    uint8_t flags;

    if (row->is_other) {
        return str_of(other_name);
    }
    if (r->plan->items[item].acc == PLAN_NONE) {
        return groups_key(&r->plan->layout, row->group);
    }
    t = acc_of(r, row, item, &flags);
    if (t) {
        s.p = t->p;
        s.n = t->n;
    }
    return s;
}

static double
sum_of(const struct result *r, const struct result_row *row, size_t item)
{
    uint8_t flags;
    const struct sums *s = acc_of(r, row, item, &flags);

    return s ? sums_value(s, flags) : 0;
}

static double
text_number(struct str s)
{
    struct number x;

    switch (numbers_parse(s.p, s.n, &x)) {
    case NUMBERS_OK:
        return numbers_value(&x);
    case NUMBERS_TOO_LARGE:
        return x.is_negative ? -HUGE_VAL : HUGE_VAL;
    case NUMBERS_BAD:
    default:
        return 0;
    }
}

/* 100 × the share of groups whose sum is not above the own one. */
static double
percentile(const struct result *r, size_t item, double own)
{
    const double *v = r->ranked[item];
    size_t low = 0, high = r->nr - r->nr_nan[item];

    if (isnan(own)) {
        return 100;
    }
    while (low < high) {
        size_t mid = (low + high) / 2;

        if (v[mid] <= own) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return 100 * (double)(low + r->nr_nan[item]) / (double)r->nr;
}

bool
result_is_text(const struct result *r, size_t item)
{
    return item_of(r, item)->func == FUNC_LAST;
}

double
result_number(const struct result *r, const struct result_row *row, size_t item)
{
    const struct language_item *it = item_of(r, item);
    uint8_t flags;
    const void *acc = acc_of(r, row, item, &flags);

    switch (it->func) {
    case FUNC_LAST:
        return row->is_other ? 0 : text_number(text_of(r, row, item));
    case FUNC_COUNT:
        return acc ? (double)*(const uint64_t *)acc : 0;
    case FUNC_SUM:
        return sum_of(r, row, item);
    case FUNC_AVG:
        return row->group->samples
                   ? sum_of(r, row, item) / (double)row->group->samples
                   : 0;
    case FUNC_MIN:
    case FUNC_MAX:
        return flags & GROUPS_FIRST_NAN
                   ? NAN
                   : (acc ? ((const struct groups_extreme *)acc)->value : 0);
    case FUNC_LEN:
        return acc && !row->is_other
                   ? (double)((const struct groups_text *)acc)->n
                   : 0;
    case FUNC_PERCENTAGE:
        return r->totals[item] == 0
                   ? 0
                   : 100 * sum_of(r, row, item) / r->totals[item];
    case FUNC_PERCENTILE:
        return percentile(r, item, sum_of(r, row, item));
    case FUNC_COUNT_DISTINCT:
        return acc ? (double)distinct_count(acc) : 0;
    case FUNC_QUANTILE:
    default:
        return acc ? sketch_quantile(acc, it->quantile) : 0;
    }
}

/* For a terminal, on which lines of others must not move the cursor. */
static void
add_escaped(struct text *out, struct str s)
{
    for (size_t i = 0; i < s.n;) {
        size_t len = str_utf8_at(s.p + i, s.n - i);
        unsigned char c = (unsigned char)s.p[i];
        bool is_c1 = len == 2 && c == 0xc2 && (unsigned char)s.p[i + 1] < 0xa0;

        if (len && c >= 0x20 && c != 0x7f && !is_c1) {
            text_add(out, s.p + i, len);
            i += len;
        } else {
            text_printf(out, "\\x%02x", c);
            i++;
        }
    }
}

void
result_cell(const struct result *r, const struct result_row *row, size_t item,
            struct text *out)
{
    enum language_func func = item_of(r, item)->func;
    uint8_t flags;
    const void *acc;

    switch (func) {
    case FUNC_LAST:
        if (r->is_escaped) {
            add_escaped(out, text_of(r, row, item));
        } else {
            text_str(out, text_of(r, row, item));
        }
        break;
    case FUNC_COUNT:
        acc = acc_of(r, row, item, &flags);
        numbers_format_u64(out, acc ? *(const uint64_t *)acc : 0);
        break;
    case FUNC_COUNT_DISTINCT:
        acc = acc_of(r, row, item, &flags);
        numbers_format_u64(out, acc ? distinct_count(acc) : 0);
        break;
    case FUNC_SUM:
        acc = acc_of(r, row, item, &flags);
        if (acc) {
            sums_format(acc, flags, out);
            break;
        } /* fall through */
    default:
        numbers_format(out, result_number(r, row, item));
        break;
    }
}

/* ---- order ---- */

static uint64_t
key_prefix(struct str key)
{
    uint64_t v = 0;

    for (size_t i = 0; i < 8; i++) {
        v = v << 8 | (i < key.n ? (unsigned char)key.p[i] : 0);
    }
    return v;
}

static int
compare_keys(const struct result_row *a, const struct result_row *b,
             const struct groups_layout *l)
{
    if (a->prefix != b->prefix) {
        return a->prefix < b->prefix ? -1 : 1;
    }
    return str_compare(groups_key(l, a->group), groups_key(l, b->group));
}

static int
by_key(const void *pa, const void *pb, void *ctx)
{
    return compare_keys(pa, pb, ctx);
}

/* NaN rows last (Q32); ties by key in both directions. */
static int
by_number(const struct result_row *a, const struct result_row *b,
          const struct groups_layout *l, bool ascending)
{
    bool nan_a = isnan(a->number), nan_b = isnan(b->number);

    if (nan_a != nan_b) {
        return nan_a ? 1 : -1;
    }
    if (!nan_a && a->number != b->number) {
        return (a->number < b->number) == ascending ? -1 : 1;
    }
    return compare_keys(a, b, l);
}

static int
by_ascending(const void *a, const void *b, void *ctx)
{
    return by_number(a, b, ctx, true);
}

static int
by_descending(const void *a, const void *b, void *ctx)
{
    return by_number(a, b, ctx, false);
}

static int
by_double(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;

    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    return (a > b) - (a < b);
}

static void
sort_rows(struct result *r)
{
    const struct language_query *q = r->plan->q;
    struct groups_layout *l =
        (struct groups_layout *)(uintptr_t)&r->plan->layout;
    size_t nr = r->nr;

    if (nr && r->rows[nr - 1].is_other) {
        nr--; /* stays last */
    }
    if (nr == 0) {
        return;
    }
    if (q->order == LANGUAGE_NONE) {
        qsort_r(r->rows, nr, sizeof(*r->rows), by_key, l);
        return;
    }
    for (size_t i = 0; i < nr; i++) {
        r->rows[i].number = result_number(r, &r->rows[i], q->order);
    }
    qsort_r(r->rows, nr, sizeof(*r->rows),
            q->is_ascending ? by_ascending : by_descending, l);
}

/* ---- what needs all groups ---- */

static int
make_total(struct result *r, size_t item)
{
    struct sums total = {{0}, NULL};
    uint8_t flags = 0;

    for (size_t i = 0; i < r->nr; i++) {
        uint8_t own;
        const struct sums *s = acc_of(r, &r->rows[i], item, &own);

        if (s && !sums_merge(&total, &flags, s, own, &r->arena)) {
            return DT_ERR_NOMEM;
        }
    }
    r->totals[item] = sums_value(&total, flags);
    return DT_OK;
}

static int
make_ranks(struct result *r, size_t item)
{
    double *v = calloc(r->nr + 1, sizeof(*v));

    if (!v) {
        return DT_ERR_NOMEM;
    }
    r->ranked[item] = v;
    for (size_t i = 0; i < r->nr; i++) {
        v[i] = sum_of(r, &r->rows[i], item);
        r->nr_nan[item] += isnan(v[i]) != 0;
    }
    qsort(v, r->nr, sizeof(*v), by_double);
    return DT_OK;
}

static int
make_wholes(struct result *r)
{
    size_t nr = r->plan->q->nr_items;
    int status = DT_OK;

    r->totals = arena_alloc(&r->arena, nr * sizeof(*r->totals));
    r->ranked = arena_alloc(&r->arena, nr * sizeof(*r->ranked));
    r->nr_nan = arena_alloc(&r->arena, nr * sizeof(*r->nr_nan));
    if (!r->totals || !r->ranked || !r->nr_nan) {
        return DT_ERR_NOMEM;
    }
    for (size_t i = 0; i < nr && status == DT_OK; i++) {
        if (item_of(r, i)->func == FUNC_PERCENTAGE) {
            status = make_total(r, i);
        } else if (item_of(r, i)->func == FUNC_PERCENTILE) {
            status = make_ranks(r, i);
        }
    }
    return status;
}

int
result_make(struct result *r, const struct plan *plan,
            const struct groups *groups)
{
    struct groups_walk walk = {0, 0};
    struct group *group;
    int status;

    memset(r, 0, sizeof(*r));
    r->plan = plan;
    r->rows = malloc((groups->nr + 2) * sizeof(*r->rows));
    if (!r->rows) {
        return DT_ERR_NOMEM;
    }
    while ((group = groups_next(groups, &walk)) != NULL) {
        struct result_row *row = &r->rows[r->nr];

        if (group->samples == 0) {
            continue; /* nothing in it could be used (Q29) */
        }
        r->nr++;
        row->group = group;
        row->prefix = key_prefix(groups_key(&plan->layout, group));
        row->number = 0;
        row->is_other = false;
    }
    if (groups->other) {
        struct result_row other = {groups->other, 0, 0, true};

        r->rows[r->nr++] = other;
    }
    status = make_wholes(r);
    if (status == DT_OK) {
        sort_rows(r);
    }
    return status;
}

void
result_fini(struct result *r)
{
    for (size_t i = 0; r->ranked && i < r->plan->q->nr_items; i++) {
        free(r->ranked[i]);
    }
    free(r->rows);
    arena_fini(&r->arena);
    memset(r, 0, sizeof(*r));
}

size_t
result_limit(const struct result *r, size_t fallback)
{
    int64_t limit = r->plan->q->limit;
    size_t want = limit == -1 ? fallback : limit < 0 ? SIZE_MAX : (size_t)limit;

    return want < r->nr ? want : r->nr;
}

const struct result_row *
result_row(const struct result *r, size_t i, size_t limit)
{
    if (i + 1 == limit && r->rows[r->nr - 1].is_other) {
        return &r->rows[r->nr - 1];
    }
    return &r->rows[i];
}
