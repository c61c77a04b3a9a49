/* SPDX-License-Identifier: Apache-2.0
 *
 * Results as text: the terminal table.
 */
#include "render.h"

#include <stdlib.h>

/* SGR sequences of the default scheme (spec mapreduce 14). */
#define CYAN_ON_BLACK "\033[36m\033[40m"
#define WHITE_ON_BLUE "\033[37m\033[44m"
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define UNDERLINE "\033[4m"
#define REVERSE "\033[7m"
#define RESET "\033[0m"
#define DEFAULTS "\033[49m\033[39m"
#define DEFAULTS_ON "\033[39m\033[49m"

static void
right(struct text *out, struct str s, size_t width)
{
    size_t n = str_code_points(s);

    text_char(out, ' ');
    text_repeat(out, ' ', width > n ? width - n : 0);
    text_str(out, s);
    text_char(out, ' ');
}

static bool
is_group_field(const struct language_query *q, struct str name)
{
    for (size_t i = 0; i < q->nr_groups; i++) {
        if (str_equal(q->groups[i], name)) {
            return true;
        }
    }
    return false;
}

static void
header_cell(const struct result *r, size_t i, size_t width, bool color,
            struct text *out)
{
    const struct language_query *q = r->plan->q;

    if (color) {
        text_puts(out, WHITE_ON_BLUE BOLD);
        text_puts(out, q->order == i ? UNDERLINE : "");
        text_puts(out, is_group_field(q, q->items[i].name) ? REVERSE : "");
    }
    right(out, q->items[i].title, width);
    text_puts(out, color ? RESET DEFAULTS : "");
}

static void
delimiter(bool color, struct text *out)
{
    text_puts(out, color ? WHITE_ON_BLUE DIM "|" RESET DEFAULTS : "|");
}

static void
table_header(const struct result *r, const size_t *widths, bool color,
             struct text *out)
{
    size_t nr = r->plan->q->nr_items;

    for (size_t i = 0; i < nr; i++) {
        if (i) {
            delimiter(color, out);
        }
        header_cell(r, i, widths[i], color, out);
    }
    text_char(out, '\n');
    for (size_t i = 0; i < nr; i++) {
        if (i) {
            delimiter(color, out);
        }
        text_puts(out, color ? WHITE_ON_BLUE DIM : "");
        text_repeat(out, '-', widths[i] + 2);
        text_puts(out, color ? RESET DEFAULTS : "");
    }
    text_char(out, '\n');
}

static void
table_row(const struct result *r, const struct result_row *row,
          const size_t *widths, bool color, struct text *cell, struct text *out)
{
    for (size_t i = 0; i < r->plan->q->nr_items; i++) {
        struct str s;

        cell->len = 0;
        result_cell(r, row, i, cell);
        s.p = cell->data;
        s.n = cell->len;
        if (i) {
            delimiter(color, out);
        }
        text_puts(out, color ? WHITE_ON_BLUE : "");
        right(out, s, widths[i]);
        text_puts(out, color ? DEFAULTS : "");
    }
    text_char(out, '\n');
}

/* The widest of all groups, also of those that are not shown. */
static void
measure(const struct result *r, size_t *widths, struct text *cell)
{
    for (size_t i = 0; i < r->plan->q->nr_items; i++) {
        widths[i] = r->plan->q->items[i].title.n;
    }
    for (size_t row = 0; row < r->nr; row++) {
        for (size_t i = 0; i < r->plan->q->nr_items; i++) {
            cell->len = 0;
            result_cell(r, &r->rows[row], i, cell);
            if (cell->len > widths[i]) {
                widths[i] = cell->len;
            }
        }
    }
}

static void
query_text(const struct result *r, bool color, struct text *out)
{
    text_puts(out, color ? DEFAULTS_ON CYAN_ON_BLACK DIM : "");
    text_str(out, r->plan->q->text);
    text_puts(out, color ? RESET DEFAULTS DEFAULTS : "");
    text_char(out, '\n');
}

void
render_table(const struct result *r, const struct render_options *o,
             struct text *out)
{
    size_t limit = result_limit(r, RENDER_TERMINAL_ROWS);
    size_t *widths = calloc(r->plan->q->nr_items, sizeof(*widths));
    struct text cell = {0};

    if (r->nr == 0 || !widths) {
        out->failed = out->failed || !widths;
        free(widths);
        return;
    }
    measure(r, widths, &cell);
    query_text(r, o->color, out);
    if (o->warn && r->plan->q->limit == -1 && r->nr > limit) {
        text_printf(out,
                    "CLIENT|%.*s|WARN|Got %zu results but limited terminal "
                    "output to %u rows! Use 'limit' clause to override!\n",
                    (int)o->host.n, o->host.p, r->nr, RENDER_TERMINAL_ROWS);
    }
    text_puts(out, o->color ? DEFAULTS_ON : "");
    table_header(r, widths, o->color, out);
    for (size_t i = 0; i < limit; i++) {
        table_row(r, result_row(r, i, limit), widths, o->color, &cell, out);
    }
    text_puts(out, o->color ? DEFAULTS : "");
    text_char(out, '\n');
    out->failed = out->failed || cell.failed;
    text_fini(&cell);
    free(widths);
}
