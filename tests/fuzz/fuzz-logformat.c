/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the log formats: the first byte chooses the format, the second how
 * the rest is cut into blocks. The counts must add up, and a format that may
 * be cut must find the same rows in one block and in many.
 */
#include "fuzz.h"

#include "logformat.h"

#include <string.h>

static const char *const formats[] = {
    "select a,count(a),sum(b),last(c) group by a logformat default",
    "select a,count(a),sum(b),last(c) group by a logformat generickv",
    "select a,count(a),sum(b),last(c) group by a logformat csv",
    "select a,count(a),sum(b),last(c) group by a logformat rfc4180",
    "select a,count(a),sum(b),last(c) group by a logformat json",
    "select a,count(a),sum(b),last(c.d) group by a logformat json",
    "select a,count(a),sum(b),last(c) group by a logformat logfmt",
    "select a,count(a),sum(b),last(c) group by a logformat regex "
    "\"(?P<a>\\w*)=(?P<b>.*?) (?P<c>.)\"",
    "from x select $time,count($line) group by $date,$hour",
    "from * select $time,count($line) group by $date,$hour",
    "from \"a.|b\" select $time,count($line) group by $line",
    "select bucket($line,60),last($h) set $h = md5sum(maskdigits($line))"};

struct fuzz_query {
    struct dt_query query;
    const char *data;
    size_t len;
};

static int
first_line(struct dt_query *q, uint32_t id, struct dt_source *out)
{
    const struct fuzz_query *fuzz = (const struct fuzz_query *)(void *)q;
    const char *p = fuzz->data, *end = p + fuzz->len, *start = p;

    (void)id;
    for (; p < end && *p && strchr(" \t\r\n", *p); p++) {
        start = *p == '\n' ? p + 1 : start;
    }
    p = start < end ? memchr(start, '\n', (size_t)(end - start)) : NULL;
    out->head = start;
    out->head_offset = (uint64_t)(start - fuzz->data);
    out->head_len = (size_t)((p ? p : end) - start);
    return DT_OK;
}

static const struct dt_host host = {.size = sizeof(host), .source = first_line};

/* Feeds whole lines, about `step` bytes a block; each block in memory of its
 * own with the slack that the host promises. */
static bool
feed(struct logformat *f, struct plan_run *run, const char *data, size_t len,
     size_t step)
{
    for (size_t at = 0; at < len;) {
        size_t end = at + step < len ? at + step : len;
        const char *nl = memchr(data + end - 1, '\n', len - end + 1);
        char *copy;
        int status;
        struct dt_block b = {.size = sizeof(b), .source = 1, .offset = at};

        end = nl ? (size_t)(nl - data) + 1 : len;
        copy = calloc(1, end - at + 64);
        fuzz_require(copy);
        memcpy(copy, data + at, end - at);
        b.data = copy;
        b.len = end - at;
        b.sequence = at;
        b.flags = at == 0 ? DT_BLOCK_FIRST : 0;
        b.flags |= end == len ? DT_BLOCK_LAST : 0;
        status = f->ops->feed(f, &b);
        fuzz_require(status == DT_OK || status == DT_ERR_LIMIT);
        fuzz_require(plan_settle(run) == DT_OK);
        free(copy);
        if (status < 0) {
            return false; /* csv: the host's header line is no header */
        }
        at = end;
    }
    return true;
}

struct outcome {
    uint64_t failed;
    uint64_t lines, selected, rows, groups;
};

static struct outcome
run_once(const struct plan *p, const char *data, size_t len, size_t step)
{
    struct logformat_machine machine = {str_of("h"), str_of("UTC"),
                                        str_of("0")};
    struct fuzz_query query = {{&host}, data, len};
    struct logformat f = {.query = &query.query};
    struct plan_run run;
    struct outcome o;
    char err[300] = "";

    f.ops = logformat_find(language_format(p->q, NULL));
    f.format_pattern = p->q->pattern;
    fuzz_require(f.ops);
    fuzz_require(plan_run_init(&run, p, (size_t)1 << 26) == DT_OK);
    fuzz_require(logformat_open(&f, &run, &machine, err, sizeof(err)) == DT_OK);
    o.failed = !feed(&f, &run, data, len, step);
    o.lines = f.stats.lines;
    o.selected = f.stats.selected;
    o.rows = run.stats.rows;
    o.groups = run.groups.nr;
    fuzz_require(f.stats.selected <= f.stats.lines);
    fuzz_require(run.stats.rows <= f.stats.lines);
    logformat_close(&f);
    plan_run_fini(&run);
    return o;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *text;
    struct language_query *q;
    struct language_error error;
    struct plan *p;
    struct outcome one, many;

    if (len < 3) {
        return 0;
    }
    text = formats[data[0] % (sizeof(formats) / sizeof(*formats))];
    fuzz_require(language_parse(text, strlen(text), &q, &error) == DT_OK);
    fuzz_require(plan_make(q, &p) == DT_OK);
    one = run_once(p, (const char *)data + 2, len - 2, len);
    many = run_once(p, (const char *)data + 2, len - 2, 1u + data[1]);
    fuzz_require(one.failed || many.failed ||
                 memcmp(&one, &many, sizeof(one)) == 0);
    plan_free(p);
    language_free(q);
    return 0;
}
