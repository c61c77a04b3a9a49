/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells and headers of CSV that is written.
 */
#include "csvtext.h"

void
csvtext_cell(struct text *out, struct str s, bool quoted)
{
    bool needs = false;

    for (size_t i = 0; quoted && i < s.n && !needs; i++) {
        needs =
            s.p[i] == '"' || s.p[i] == ',' || s.p[i] == '\n' || s.p[i] == '\r';
    }
    if (!needs) {
        text_str(out, s);
        return;
    }
    text_char(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"') {
            text_char(out, '"');
        }
        text_char(out, s.p[i]);
    }
    text_char(out, '"');
}

void
csvtext_header(const struct language_query *q, bool quoted, struct text *out)
{
    for (size_t i = 0; i < q->nr_items; i++) {
        const struct language_item *item = &q->items[i];

        if (i) {
            text_char(out, ',');
        }
        csvtext_cell(out, item->title,
                     quoted || item->func == FUNC_QUANTILE ||
                         item->is_computed);
    }
    text_char(out, '\n');
}
