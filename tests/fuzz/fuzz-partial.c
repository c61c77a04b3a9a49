/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the reader of partial results: whatever comes, it is merged or
 * refused with a reason; what was merged can be written, read back the same,
 * and shown.
 */
#include "fuzz.h"

#include "partial.h"
#include "render.h"

#include <string.h>

static const char query_text[] =
    "select k,count(a),sum(a),min(a),max(a),last(b),len(b),count_distinct(a),"
    "quantile(a,0.5),percentile(a),percentage(a) group by k,j order by sum(a)";

/* Everything that the sink holds, as partials. */
static void
write_all(struct partial_sink *s, struct partial_sink *into, struct text *all)
{
    struct partial_writer w = {.acc = 0};
    struct text one = {0};
    char err[300];
    int status;

    do {
        status = partial_write(&w, s->plan, &s->groups, &s->hosts, &s->stats,
                               false, &one);
        fuzz_require(status >= 0);
        text_add(all, one.data, one.len);
        if (into && one.len) {
            fuzz_require(partial_read(into, one.data, one.len, err,
                                      sizeof(err)) == DT_OK);
        }
    } while (status == DT_AGAIN);
    text_fini(&one);
}

static void
show(const struct partial_sink *s)
{
    const struct render_options options = {.warn = true};
    struct result r;
    struct text out = {0};

    fuzz_require(result_make(&r, s->plan, &s->groups) == DT_OK);
    render_table(&r, &options, &out);
    render_json(&r, false, &out);
    fuzz_require(!out.failed);
    text_fini(&out);
    result_fini(&r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct language_query *q;
    struct language_error error;
    struct plan *p;
    struct partial_sink a, b;
    struct text once = {0}, copy = {0};
    char err[300] = "";
    int status;

    fuzz_require(language_parse(query_text, strlen(query_text), &q, &error) ==
                 DT_OK);
    fuzz_require(plan_make(q, &p) == DT_OK);
    fuzz_require(partial_sink_init(&a, p, (size_t)1 << 26) == DT_OK);
    fuzz_require(partial_sink_init(&b, p, (size_t)1 << 26) == DT_OK);
    /* The seeds need not know the fingerprint. */
    text_add(&copy, data, len);
    if (copy.len >= 12) {
        for (int i = 0; i < 8; i++) {
            copy.data[4 + i] = (char)(p->fingerprint >> 8 * i);
        }
    }
    status = partial_read(&a, copy.data ? copy.data : "", copy.len, err,
                          sizeof(err));
    fuzz_require(status == DT_OK || err[0] || status == DT_ERR_NOMEM);
    write_all(&a, &b, &once);
    fuzz_require(a.groups.nr == b.groups.nr);
    show(&b);
    partial_sink_fini(&a);
    partial_sink_fini(&b);
    text_fini(&once);
    text_fini(&copy);
    plan_free(p);
    language_free(q);
    return 0;
}
