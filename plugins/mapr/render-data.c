/* SPDX-License-Identifier: Apache-2.0
 *
 * Results for other programs: CSV and JSON.
 */
#include "render.h"

#include "csvtext.h"
#include "numbers.h"

#include <math.h>
#include <stdlib.h>

void
render_csv_header(const struct result *r, bool quoted, struct text *out)
{
    csvtext_header(r->plan->q, quoted, out);
}

void
render_csv_rows(const struct result *r, bool quoted, size_t from, size_t to,
                struct text *out)
{
    size_t limit = result_limit(r, SIZE_MAX);
    struct text cell = {0};

    for (size_t row = from; row < to; row++) {
        for (size_t i = 0; i < r->plan->q->nr_items; i++) {
            struct str s;

            if (i) {
                text_char(out, ',');
            }
            if (!quoted) {
                result_cell(r, result_row(r, row, limit), i, out);
                continue;
            }
            cell.len = 0;
            result_cell(r, result_row(r, row, limit), i, &cell);
            s.p = cell.data;
            s.n = cell.len;
            csvtext_cell(out, s, true);
        }
        text_char(out, '\n');
    }
    out->failed = out->failed || cell.failed;
    text_fini(&cell);
}

/* What is not UTF-8 becomes U+FFFD: JSON has no other bytes. */
static void
json_string(struct text *out, struct str s)
{
    text_char(out, '"');
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.p[i];
        size_t n = str_utf8_at(s.p + i, s.n - i);

        if (n == 0) {
            text_puts(out, "\xef\xbf\xbd");
            n = 1;
        } else if (c == '"' || c == '\\') {
            text_char(out, '\\');
            text_char(out, (char)c);
        } else if (c == '\n') {
            text_puts(out, "\\n");
        } else if (c < ' ' || c == 0x7f) {
            text_printf(out, "\\u%04x", c);
        } else {
            text_add(out, s.p + i, n);
        }
        i += n;
    }
    text_char(out, '"');
}

/* The shortest text that reads back as the same double. */
static void
json_double(struct text *out, double v)
{
    char digits[40];
    struct number x;

    if (v == floor(v) && fabs(v) < 9007199254740992.0) {
        text_printf(out, "%.0f", v);
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof(digits), "%.*g", precision, v);
        for (char *c = digits; *c; c++) {
            if (*c == ',') {
                *c = '.'; /* the locale of the process */
            }
        }
        if (numbers_parse(digits, strlen(digits), &x) == NUMBERS_OK &&
            numbers_value(&x) == v) {
            break;
        }
    }
    text_puts(out, digits);
}

static void
json_cell(const struct result *r, const struct result_row *row, size_t i,
          struct text *cell, struct text *out)
{
    enum language_func func = r->plan->q->items[i].func;
    struct str s;
    double v;

    cell->len = 0;
    if (func == FUNC_LAST || func == FUNC_COUNT ||
        func == FUNC_COUNT_DISTINCT) {
        result_cell(r, row, i, cell);
        s.p = cell->data;
        s.n = cell->len;
        if (func == FUNC_LAST) {
            json_string(out, s);
        } else {
            text_str(out, s);
        }
        return;
    }
    v = result_number(r, row, i);
    if (!isfinite(v)) {
        text_puts(out, isnan(v) ? "\"NaN\"" : v > 0 ? "\"+Inf\"" : "\"-Inf\"");
    } else if (func == FUNC_SUM && fabs(v) >= 9007199254740992.0) {
        result_cell(r, row, i, cell); /* all digits of a whole number */
        text_add(out, cell->data, cell->len - strlen(".000000"));
    } else {
        json_double(out, v);
    }
}

void
render_json(const struct result *r, bool lines, struct text *out)
{
    const struct language_query *q = r->plan->q;
    size_t limit = result_limit(r, SIZE_MAX);
    struct text cell = {0};

    text_puts(out, lines ? "" : "[");
    for (size_t row = 0; row < limit; row++) {
        text_puts(out, lines ? "" : row ? ",\n " : "\n ");
        for (size_t i = 0; i < q->nr_items; i++) {
            text_puts(out, i ? ", " : "{");
            json_string(out, q->items[i].title);
            text_puts(out, ": ");
            json_cell(r, result_row(r, row, limit), i, &cell, out);
        }
        text_puts(out, lines ? "}\n" : "}");
    }
    text_puts(out, lines ? "" : limit ? "\n]\n" : "]\n");
    out->failed = out->failed || cell.failed;
    text_fini(&cell);
}
