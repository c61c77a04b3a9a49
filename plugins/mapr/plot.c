/* SPDX-License-Identifier: Apache-2.0
 *
 * Results as a picture of Unicode blocks.
 */
#include "plot.h"

#include <math.h>
#include <stdlib.h>

#define MAX_BARS 40u
#define HEIGHT 8u /* rows of a curve; each shows eight steps */
#define MIN_WIDTH 30u
#define MAX_WIDE 6u /* columns of a bucket at most */

static const char *const eighths[] = {"",  "▏", "▎", "▍", "▌",
                                      "▋", "▊", "▉", "█"};
static const char *const levels[] = {" ", "▁", "▂", "▃", "▄",
                                     "▅", "▆", "▇", "█"};

/* The column to show: the one of `order by` if it is a number, else the
 * first. */
static size_t
value_column(const struct result *r)
{
    const struct language_query *q = r->plan->q;

    if (q->order != LANGUAGE_NONE && !result_is_text(r, q->order)) {
        return q->order;
    }
    for (size_t i = 0; i < q->nr_items; i++) {
        if (!result_is_text(r, i)) {
            return i;
        }
    }
    return LANGUAGE_NONE;
}

/* The texts of a row, else its group key. */
static void
label_of(const struct result *r, const struct result_row *row, struct text *out)
{
    bool any = false;

    for (size_t i = 0; i < r->plan->q->nr_items; i++) {
        if (result_is_text(r, i)) {
            text_puts(out, any ? " " : "");
            result_cell(r, row, i, out);
            any = true;
        }
    }
    if (!any && row->is_other) {
        text_puts(out, "(other)");
    } else if (!any) {
        text_str(out, groups_key(&r->plan->layout, row->group));
    }
    for (size_t i = 0; i < out->len; i++) {
        if ((unsigned char)out->data[i] < ' ' || out->data[i] == 0x7f) {
            out->data[i] = '?';
        }
    }
}

/* Left-aligned in `width` columns, cut with an ellipsis. */
static void
fit(struct text *out, struct str s, size_t width)
{
    size_t n = str_code_points(s), at = 0, shown = 0;

    while (at < s.n && shown < (n > width ? width - 1 : width)) {
        size_t len = str_utf8_at(s.p + at, s.n - at);

        text_add(out, s.p + at, len ? len : 1);
        at += len ? len : 1;
        shown++;
    }
    if (at < s.n) {
        text_puts(out, "…");
        shown++;
    }
    text_repeat(out, ' ', width - shown);
}

static double
magnitude(double v)
{
    return isfinite(v) ? fabs(v) : 0;
}

static void
bars(const struct result *r, size_t column, size_t width, struct text *out)
{
    size_t limit = result_limit(r, MAX_BARS), labels = 0, numbers = 0, room;
    struct text cell = {0};
    double top = 0;

    for (size_t i = 0; i < limit; i++) {
        const struct result_row *row = result_row(r, i, limit);
        struct str s;

        cell.len = 0;
        label_of(r, row, &cell);
        s.p = cell.data;
        s.n = cell.len;
        labels = str_code_points(s) > labels ? str_code_points(s) : labels;
        cell.len = 0;
        result_cell(r, row, column, &cell);
        numbers = cell.len > numbers ? cell.len : numbers;
        top = fmax(top, magnitude(result_number(r, row, column)));
    }
    labels = labels > width / 3 ? width / 3 : labels;
    room = width > labels + numbers + 14 ? width - labels - numbers - 4 : 10;
    for (size_t i = 0; i < limit; i++) {
        const struct result_row *row = result_row(r, i, limit);
        double v = result_number(r, row, column);
        size_t steps =
            top > 0 ? (size_t)(magnitude(v) / top * (double)room * 8 + 0.5) : 0;
        struct str s;

        cell.len = 0;
        label_of(r, row, &cell);
        s.p = cell.data;
        s.n = cell.len;
        fit(out, s, labels);
        text_puts(out, v < 0 ? " -" : " ▕");
        for (size_t j = 0; j < steps / 8; j++) {
            text_puts(out, eighths[8]);
        }
        text_puts(out, eighths[steps % 8]);
        text_char(out, ' ');
        result_cell(r, row, column, out);
        text_char(out, '\n');
    }
    if (limit < r->nr) {
        text_printf(out, "… and %zu more\n", r->nr - limit);
    }
    text_fini(&cell);
}

/* What a curve shows of a row: nothing of what is below 0. */
static double
height_of(const struct result *r, size_t i, size_t column)
{
    double v = result_number(r, &r->rows[i], column);

    return isfinite(v) && v > 0 ? v : 0;
}

/* The greatest value of the rows that fall into a column of the picture. */
static double *
columns_of(const struct result *r, size_t column, size_t nr_rows,
           size_t nr_columns)
{
    double *v = calloc(nr_columns, sizeof(*v));

    for (size_t i = 0; v && i < nr_rows; i++) {
        double *to = &v[i * nr_columns / nr_rows];

        *to = fmax(*to, height_of(r, i, column));
    }
    return v;
}

/* The greatest of all, and how the table writes it; how many are below 0. */
static double
top_of(const struct result *r, size_t column, size_t nr_rows, struct text *out,
       size_t *nr_below)
{
    double top = 0;

    *nr_below = 0;
    for (size_t i = 0; i < nr_rows; i++) {
        double v = height_of(r, i, column);

        *nr_below += result_number(r, &r->rows[i], column) < 0;
        if (v > top || i == 0) {
            top = v;
            out->len = 0;
            if (v > 0) {
                result_cell(r, &r->rows[i], column, out);
            } else {
                text_char(out, '0');
            }
        }
    }
    return top;
}

/* The first and the last key below the picture, where they have room. */
static void
axis(const struct result *r, size_t margin, size_t nr_rows, size_t nr_columns,
     size_t room, struct text *out)
{
    struct text first = {0}, last = {0};
    struct str a, b;
    size_t len;

    label_of(r, &r->rows[0], &first);
    label_of(r, &r->rows[nr_rows - 1], &last);
    a.p = first.data;
    a.n = first.len;
    b.p = last.data;
    b.n = last.len;
    text_repeat(out, ' ', margin + 1);
    if (str_code_points(a) > room) {
        fit(out, a, room);
    } else {
        text_str(out, a);
    }
    len = str_code_points(a) + str_code_points(b);
    if (nr_rows > 1 && len < room) {
        text_repeat(out, ' ', len < nr_columns ? nr_columns - len : 1);
        text_str(out, b);
    }
    text_char(out, '\n');
    text_fini(&first);
    text_fini(&last);
}

static void
curve(const struct result *r, size_t column, size_t width, struct text *out)
{
    size_t nr_rows = r->nr - r->rows[r->nr - 1].is_other, margin, nr_columns;
    size_t room, wide, nr_below;
    struct text high = {0};
    double *v, top = top_of(r, column, nr_rows, &high, &nr_below);

    margin = high.len ? high.len : 1;
    room = width > margin + 12 ? width - margin - 2 : 10;
    nr_columns = room < nr_rows ? room : nr_rows;
    wide = nr_columns ? room / nr_columns : 1;
    wide = wide < MAX_WIDE ? wide : MAX_WIDE;
    v = nr_rows ? columns_of(r, column, nr_rows, nr_columns) : NULL;
    if (!v) {
        text_fini(&high);
        return;
    }
    text_str(out, r->plan->q->items[column].title);
    text_char(out, '\n');
    for (size_t row = HEIGHT; row-- > 0;) {
        if (row == HEIGHT - 1) {
            text_add(out, high.data, high.len);
        } else {
            text_repeat(out, ' ', row == 0 ? margin - 1 : margin);
            text_puts(out, row == 0 ? "0" : "");
        }
        text_puts(out, "▕");
        for (size_t i = 0; i < nr_columns; i++) {
            size_t steps =
                top > 0 ? (size_t)(v[i] / top * HEIGHT * 8 + 0.5) : 0;
            size_t here = steps > row * 8 ? steps - row * 8 : 0;

            for (size_t j = 0; j < wide; j++) {
                text_puts(out, levels[here < 8 ? here : 8]);
            }
        }
        while (out->len && out->data[out->len - 1] == ' ') {
            out->len--;
        }
        text_char(out, '\n');
    }
    axis(r, margin, nr_rows, nr_columns * wide, room, out);
    if (nr_below) {
        text_printf(out, "%zu values below 0 are not drawn\n", nr_below);
    }
    free(v);
    text_fini(&high);
}

/* Rows are buckets in order: the only group field is bucket(…). */
static bool
is_series(const struct language_query *q)
{
    bool computed = false;

    for (size_t i = 0; i < q->nr_sets; i++) {
        computed = computed || (q->sets[i].is_implied && q->nr_groups == 1 &&
                                str_equal(q->sets[i].target, q->groups[0]));
    }
    return computed && q->order == LANGUAGE_NONE;
}

void
plot(const struct result *r, size_t width, struct text *out)
{
    size_t column = value_column(r);

    width = width == 0 ? 80 : width < MIN_WIDTH ? MIN_WIDTH : width;
    if (r->nr == 0 || column == LANGUAGE_NONE) {
        return;
    }
    if (is_series(r->plan->q)) {
        curve(r, column, width, out);
    } else {
        bars(r, column, width, out);
    }
}
