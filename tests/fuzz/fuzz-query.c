/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the query language: what is refused says why and where, what is
 * accepted can be explained, warned about, compiled, and means the same when
 * it is parsed again.
 */
#include "fuzz.h"

#include "language.h"
#include "plan.h"

static void
look_at(const struct language_query *q)
{
    struct text text = {0};
    struct plan *p;

    fuzz_require(q->nr_items > 0 && q->nr_groups > 0 && q->interval > 0);
    fuzz_require(q->order == LANGUAGE_NONE || q->order < q->nr_items);
    language_warnings(q, &text);
    language_table_pattern(q, &text);
    language_extension(q);
    fuzz_require(plan_make(q, &p) == DT_OK);
    fuzz_require(p->layout.nr <= q->nr_items);
    for (uint32_t i = 0; i < p->layout.nr; i++) {
        fuzz_require(p->accs[i].slot < p->nr_slots);
    }
    plan_free(p);
    text_fini(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *query = (const char *)data;
    struct language_query *q;
    struct language_error err;
    struct text text = {0};

    if (language_parse(query, len, &q, &err) < 0) {
        fuzz_require(q == NULL && err.text[0]);
        fuzz_require(err.at == LANGUAGE_NONE || err.at <= len);
        language_explain(query, len, &err, &text);
        fuzz_require(text.len > 0);
        text_fini(&text);
        return 0;
    }
    look_at(q);
    language_free(q);
    return 0;
}
