/* SPDX-License-Identifier: Apache-2.0
 *
 * mapr, the reduce stage: merges partial results; on a server it hands on what
 * came of it, at the client it prints.
 */
#include "mapr.h"

#include "hash.h"
#include "legacy.h"
#include "notes.h"
#include "partial.h"
#include "plot.h"
#include "render.h"

#include <stdlib.h>

#define PIECE ((size_t)256 * 1024) /* bytes of a dt_emit_text */
#define ROWS_AT_ONCE 4096u         /* of CSV */

enum output {
    OUTPUT_TABLE,
    OUTPUT_CSV,
    OUTPUT_JSON,
    OUTPUT_NDJSON,
    OUTPUT_OUTFILE,
    OUTPUT_LEGACY, /* for a server that talks to DTail 4 clients */
    OUTPUT_NONE
};

struct reduce {
    struct dt_query *host;
    struct mapr_query query;
    struct partial_sink sink;
    struct partial_writer writer;
    struct text partial;
    enum output output;
    struct render_options render;
    bool is_cumulative, is_following, has_plot, is_escaped;
    bool has_shown;
    uint64_t shown_hash; /* of what was rendered last */
    char host_name[256];
    uint64_t nr_legacy; /* messages of DTail 4 servers */
};

static void
reduce_close(void *self)
{
    struct reduce *r = self;

    partial_sink_fini(&r->sink);
    text_fini(&r->partial);
    mapr_query_fini(&r->query);
    free(r);
}

static int
read_output(struct reduce *r)
{
    static const char *const names[] = {"table",   "csv",    "json", "ndjson",
                                        "outfile", "legacy", "none"};
    const char *name = dt_arg(r->host, "output", 0, NULL);

    r->output = r->query.q->outfile.p ? OUTPUT_OUTFILE : OUTPUT_TABLE;
    if (!name) {
        return DT_OK;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(name, names[i]) == 0) {
            r->output = (enum output)i;
            return DT_OK;
        }
    }
    return dt_error(r->host, DT_ERR_INVAL,
                    "output \"%s\" is none of table, csv, json, ndjson, "
                    "outfile, none",
                    name);
}

static int
read_args(struct reduce *r)
{
    struct dt_query *q = r->host;
    const char *host = dt_arg(q, "host", 0, NULL);

    r->render.color = mapr_flag(q, "color", false);
    r->render.warn = mapr_flag(q, "warn", true);
    r->is_following = mapr_flag(q, "follow", false);
    r->is_cumulative = mapr_flag(q, "cumulative", true);
    r->is_escaped = mapr_flag(q, "escape", false);
    r->has_plot = mapr_flag(q, "plot", false);
    if (host) {
        snprintf(r->host_name, sizeof(r->host_name), "%s", host);
    } else {
        mapr_host_name(r->host_name, sizeof(r->host_name));
    }
    r->render.host = str_of(r->host_name);
    return read_output(r);
}

static int
reduce_start(struct dt_query *q, void **self)
{
    struct reduce *r = calloc(1, sizeof(*r));
    int status;

    if (!r) {
        return dt_error(q, DT_ERR_NOMEM, "query: out of memory");
    }
    r->host = q;
    status = mapr_query_init(&r->query, q);
    if (status == DT_OK &&
        partial_sink_init(&r->sink, r->query.plan, mapr_budget(q)) < 0) {
        status = dt_error(q, DT_ERR_NOMEM, "query: out of memory");
    }
    if (status == DT_OK) {
        status = read_args(r);
    }
    if (status < 0) {
        reduce_close(r);
        return status;
    }
    *self = r;
    return DT_OK;
}

static int
reduce_feed(void *self, const struct dt_block *block)
{
    struct reduce *r = self;
    char err[300] = "";
    int status;

    if (!(block->flags & DT_BLOCK_PARTIAL)) {
        return dt_error(r->host, DT_ERR_PROTO,
                        "query: lines came where partial results are expected");
    }
    if (block->len > strlen(LEGACY_PREFIX) &&
        memcmp(block->data, LEGACY_PREFIX, strlen(LEGACY_PREFIX)) == 0) {
        status = legacy_read(&r->sink, block->data, block->len, r->nr_legacy++);
    } else {
        status =
            partial_read(&r->sink, block->data, block->len, err, sizeof(err));
    }
    if (status < 0) {
        return dt_error(r->host, status, "query: %s",
                        err[0] ? err : dt_strerror(status));
    }
    return DT_OK;
}

static int
nomem(struct reduce *r)
{
    return dt_error(r->host, DT_ERR_NOMEM, "query: out of memory");
}

/* Gives out a text in pieces. */
static int
emit(struct reduce *r, struct text *t)
{
    int status = t->failed ? nomem(r) : DT_OK;

    for (size_t at = 0; at < t->len && status == DT_OK; at += PIECE) {
        size_t n = t->len - at < PIECE ? t->len - at : PIECE;

        status = dt_emit_text(r->host, t->data + at, n);
    }
    return status;
}

/* Rows of a file, some at a time: there may be millions. */
static int
emit_csv(struct reduce *r, const struct result *result, bool quoted)
{
    size_t limit = result_limit(result, SIZE_MAX);
    struct text t = {0};
    int status;

    render_csv_header(result, quoted, &t);
    status = emit(r, &t);
    for (size_t row = 0; row < limit && status == DT_OK; row += ROWS_AT_ONCE) {
        size_t end = row + ROWS_AT_ONCE < limit ? row + ROWS_AT_ONCE : limit;

        t.len = 0;
        render_csv_rows(result, quoted, row, end, &t);
        status = emit(r, &t);
    }
    text_fini(&t);
    return status;
}

/* The table, and the picture below it; not again when nothing changed. */
static int
emit_table(struct reduce *r, const struct result *result)
{
    struct text t = {0};
    uint64_t hash;
    int status = DT_OK;

    render_table(result, &r->render, &t);
    if (r->has_plot) {
        /* A terminal may have another size now. */
        plot(result, (size_t)mapr_count(r->host, "width", 0), &t);
    }
    hash = XXH3_64bits(t.data ? t.data : "", t.len);
    if (!r->has_shown || hash != r->shown_hash) {
        r->has_shown = true;
        r->shown_hash = hash;
        status = emit(r, &t);
    }
    text_fini(&t);
    return status;
}

static int
emit_json(struct reduce *r, const struct result *result, bool lines)
{
    struct text t = {0};
    int status;

    render_json(result, lines, &t);
    status = emit(r, &t);
    text_fini(&t);
    return status;
}

/* What came since the last time; old peers add up. */
static int
emit_legacy(struct reduce *r)
{
    struct text t = {0};
    int status;

    legacy_write(r->query.plan, &r->sink.groups, &t);
    status = emit(r, &t);
    text_fini(&t);
    groups_reset(&r->sink.groups);
    return status;
}

static int
emit_result(struct reduce *r, bool final)
{
    const struct language_query *q = r->query.q;
    bool append_later = q->is_append && !r->is_following && !final;
    bool one_document = !r->is_following && !final;
    struct result result;
    int status;

    if (r->output == OUTPUT_LEGACY) {
        return emit_legacy(r);
    }
    /* A one-shot run appends its final result only (Q33), and gives out one
     * document for other programs. */
    if (r->output == OUTPUT_NONE ||
        (r->output == OUTPUT_OUTFILE && append_later) ||
        (r->output != OUTPUT_TABLE && r->output != OUTPUT_OUTFILE &&
         one_document)) {
        return DT_OK;
    }
    status = result_make(&result, r->query.plan, &r->sink.groups);
    if (status < 0) {
        result_fini(&result);
        return nomem(r);
    }
    result.is_escaped = r->is_escaped;
    switch (r->output) {
    case OUTPUT_TABLE:
        status = emit_table(r, &result);
        break;
    case OUTPUT_CSV:
        status = emit_csv(r, &result, true);
        break;
    case OUTPUT_JSON:
    case OUTPUT_NDJSON:
        status = emit_json(r, &result, r->output == OUTPUT_NDJSON);
        break;
    case OUTPUT_OUTFILE:
        status = emit_csv(r, &result, false);
        break;
    case OUTPUT_LEGACY:
    case OUTPUT_NONE:
        break;
    }
    result_fini(&result);
    return status;
}

static int
drain_combined(struct reduce *r, bool final)
{
    int status, emitted;

    status = partial_write(&r->writer, r->query.plan, &r->sink.groups,
                           &r->sink.hosts, &r->sink.stats, final, &r->partial);
    if (status < 0) {
        return nomem(r);
    }
    if (r->partial.len) {
        emitted = dt_emit_partial(r->host, r->partial.data, r->partial.len);
        if (emitted < 0) {
            return emitted;
        }
    }
    if (status == DT_OK && !final) {
        const struct plan *p = r->query.plan;
        struct partial_stats *s = &r->sink.stats;

        groups_reset(&r->sink.groups);
        memset(&s->lines, 0, sizeof(s->lines));
        memset(s->not_numbers, 0, p->layout.nr * sizeof(*s->not_numbers));
        s->rows = s->other_rows = 0;
        memset(&r->writer, 0, sizeof(r->writer));
    }
    return status;
}

static int
reduce_drain(void *self, enum dt_drain why)
{
    struct reduce *r = self;
    bool final = why == DT_DRAIN_FINAL;
    int status;

    if (dt_role(r->host) == DT_ROLE_COMBINE) {
        return drain_combined(r, final);
    }
    status = emit_result(r, final);
    if (status == DT_OK && final) {
        notes_tell(r->host, r->query.plan, &r->sink);
    }
    if (status == DT_OK && !final && !r->is_cumulative) {
        groups_reset(&r->sink.groups);
    }
    return status;
}

const struct dt_stage mapr_reduce = {
    .size = sizeof(struct dt_stage),
    .start = reduce_start,
    .feed = reduce_feed,
    .drain = reduce_drain,
    .close = reduce_close,
};
