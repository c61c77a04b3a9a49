/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of a result: final values and their order (spec mapreduce 13).
 */
#ifndef MAPR_RESULT_H
#define MAPR_RESULT_H

#include "plan.h"

struct result_row {
    struct group *group;
    uint64_t prefix; /* of the key, for sorting */
    double number;   /* what `order by` goes by */
    bool is_other;
};

/* Borrows plan and groups; good until the groups change. */
struct result {
    const struct plan *plan;
    struct result_row *rows; /* in their order; "(other)", if any, is last */
    size_t nr;
    double *totals;  /* by item: of a percentage */
    double **ranked; /* by item: sums of all groups, ascending; NULL: not a
                        percentile */
    size_t *nr_nan;  /* by item: NaN among them */
    bool is_escaped; /* control bytes in cells are shown as \xNN; may be set
                        after result_make */
    struct arena arena;
};

/* DT_OK or DT_ERR_NOMEM; result_fini in both cases. */
int result_make(struct result *r, const struct plan *plan,
                const struct groups *groups);
void result_fini(struct result *r);

/* How many rows are shown: `limit` of the query, else `fallback` (SIZE_MAX:
 * all). "(other)" is always among them. */
size_t result_limit(const struct result *r, size_t fallback);
/* Row i of the `limit` that are shown. */
const struct result_row *result_row(const struct result *r, size_t i,
                                    size_t limit);

/* Appends a cell as it is shown. */
void result_cell(const struct result *r, const struct result_row *row,
                 size_t item, struct text *out);
/* True when the column holds text. */
bool result_is_text(const struct result *r, size_t item);
/* The number of a cell; 0 when there is none. */
double result_number(const struct result *r, const struct result_row *row,
                     size_t item);

#endif
