/* SPDX-License-Identifier: Apache-2.0
 *
 * The log format `rfc4180`: CSV with quoted cells, in which commas, newlines
 * and doubled quotes may stand.
 *
 * Whether a newline ends a record depends on every quote before it, so a
 * source is read whole and in order by one instance (dt_ordered), and a record
 * that is open at the end of a block is carried into the next. The result
 * then cannot depend on threads or block sizes. A quote inside a cell that
 * does not begin with one is a plain character, as in most readers: one stray
 * quote must not swallow the rest of the file.
 */
#include "logformat-csv.h"

#include <stdlib.h>

#define MAX_RECORD ((size_t)1 << 20) /* bytes of a record that spans blocks */

struct quoted {
    struct csv_sources sources;
    struct str *cells;
    size_t nr_cells, cap_cells;
};

static int
rfc4180_open(struct logformat *f, char *err, size_t err_size)
{
    (void)err;
    (void)err_size;
    f->state = calloc(1, sizeof(struct quoted));
    return f->state ? DT_OK : DT_ERR_NOMEM;
}

static void
rfc4180_close(struct logformat *f)
{
    struct quoted *q = f->state;

    csv_sources_fini(&q->sources);
    free(q->cells);
    free(q);
}

static bool
add_cell(struct quoted *q, const char *p, size_t n)
{
    if (q->nr_cells == q->cap_cells) {
        size_t cap = q->cap_cells ? 2 * q->cap_cells : 32;
        struct str *cells = realloc(q->cells, cap * sizeof(*cells));

        if (!cells) {
            return false;
        }
        q->cells = cells;
        q->cap_cells = cap;
    }
    q->cells[q->nr_cells].p = p;
    q->cells[q->nr_cells++].n = n;
    return true;
}

/* Where the quoted cell that begins behind `p` ends: at its closing quote;
 * NULL: not in these bytes. *doubled: it holds quotes. */
static const char *
closing_quote(const char *p, const char *end, bool *doubled)
{
    *doubled = false;
    while ((p = p < end ? memchr(p, '"', (size_t)(end - p)) : NULL) != NULL) {
        if (p + 1 < end && p[1] == '"') {
            *doubled = true;
            p += 2;
            continue;
        }
        return p;
    }
    return NULL;
}

/* A copy of a cell with its doubled quotes made single. */
static char *
undouble(struct arena *scratch, const char *p, size_t *n)
{
    char *copy = arena_alloc(scratch, *n + 1), *to = copy;

    if (!copy) {
        return NULL;
    }
    for (size_t i = 0; i < *n; i++) {
        *to++ = p[i];
        i += p[i] == '"';
    }
    *n = (size_t)(to - copy);
    return copy;
}

enum cut { CUT_GOOD, CUT_OPEN, CUT_BAD, CUT_NOMEM };

/* Cuts the record that begins at *p into cells; *p comes to stand behind its
 * newline. CUT_OPEN: it goes on behind `end`. CUT_BAD: text behind a closing
 * quote; *p is behind the line. */
static enum cut
cut_record(struct quoted *q, struct arena *scratch, const char **p,
           const char *end, bool at_eof)
{
    const char *at = *p, *nl;

    q->nr_cells = 0;
    for (;;) {
        const char *stop;

        if (at < end && *at == '"') {
            bool doubled;
            const char *start = at + 1, *text = start;
            size_t n;

            stop = closing_quote(start, end, &doubled);
            if (!stop || (stop + 1 == end && !at_eof)) {
                return CUT_OPEN;
            }
            n = (size_t)(stop - start);
            if (doubled && !(text = undouble(scratch, start, &n))) {
                return CUT_NOMEM;
            }
            if (!add_cell(q, text, n)) {
                return CUT_NOMEM;
            }
            stop++;
            stop += stop + 1 < end && stop[0] == '\r' && stop[1] == '\n';
            if (stop < end && *stop != ',' && *stop != '\n') {
                nl = memchr(stop, '\n', (size_t)(end - stop));
                *p = nl ? nl + 1 : end;
                return CUT_BAD;
            }
        } else {
            for (stop = at; stop < end && *stop != ',' && *stop != '\n';) {
                stop++;
            }
            if (!add_cell(q, at,
                          (size_t)(stop - at) -
                              (stop > at && stop[-1] == '\r' &&
                               (stop == end || *stop == '\n')))) {
                return CUT_NOMEM;
            }
        }
        if (stop == end || *stop == '\n') {
            *p = stop < end ? stop + 1 : end;
            return CUT_GOOD;
        }
        at = stop + 1;
    }
}

static int
take_header(struct logformat *f, struct csv_source *s, const struct quoted *q)
{
    for (size_t i = 0; i < q->nr_cells; i++) {
        struct str name = q->cells[i];
        int status;

        status = csv_set_heading(f, s, (uint32_t)i, name);
        if (status < 0) {
            return status;
        }
    }
    return DT_OK;
}

/* A record: header, blank line or row. */
static int
take_record(struct logformat *f, const struct dt_block *b, struct csv_source *s,
            struct str raw, size_t offset)
{
    const struct quoted *q = f->state;
    struct str *values;

    while (raw.n && (raw.p[raw.n - 1] == '\n' || raw.p[raw.n - 1] == '\r')) {
        raw.n--;
    }
    if (!logformat_selects(f, raw) || raw.n == 0) {
        return DT_OK;
    }
    if (!s->has_header) {
        return take_header(f, s, q);
    }
    if (q->nr_cells > s->nr_headings) {
        f->stats.rejects[REJECT_CELLS]++;
        return DT_OK;
    }
    values = logformat_begin(f);
    for (uint32_t i = 0; i < s->nr; i++) {
        if (s->columns[i].index < q->nr_cells) {
            values[s->columns[i].slot] = q->cells[s->columns[i].index];
        }
    }
    return logformat_row(f, b, offset, raw);
}

/* All records of a run of bytes; what is open at the end is left: *rest. */
static int
take_records(struct logformat *f, const struct dt_block *b,
             struct csv_source *s, struct str data, size_t base, bool at_eof,
             struct str *rest)
{
    struct quoted *q = f->state;
    const char *p = data.p, *end = data.p + data.n;

    if (!s->has_header) {
        p = csv_without_bom(data).p; /* else its quote would not be first */
    }
    while (p < end) {
        const char *start = p;
        enum cut cut = cut_record(q, &f->run->scratch, &p, end, at_eof);
        struct str raw = {start, (size_t)(p - start)};
        int status = DT_OK;

        if (cut == CUT_OPEN) {
            break;
        }
        if (cut == CUT_NOMEM) {
            return DT_ERR_NOMEM;
        }
        if (cut == CUT_BAD) {
            f->stats.lines++;
            f->stats.rejects[REJECT_QUOTES]++;
        } else {
            status = take_record(f, b, s, raw, base + (size_t)(start - data.p));
        }
        if (status < 0) {
            return status;
        }
    }
    rest->p = p;
    rest->n = (size_t)(end - p);
    return DT_OK;
}

/* A quote that was never closed: the first line of what is open is given up,
 * and reading goes on behind it. */
static int
give_up_line(struct logformat *f, struct str *data, enum logformat_reject why)
{
    const char *nl = memchr(data->p, '\n', data->n);
    size_t n = nl ? (size_t)(nl - data->p) + 1 : data->n;

    f->stats.lines++;
    f->stats.rejects[why]++;
    data->p += n;
    data->n -= n;
    return DT_OK;
}

static int
take_block(struct logformat *f, const struct dt_block *b, struct csv_source *s,
           struct str data, size_t base, bool at_eof)
{
    struct str rest;
    int status = take_records(f, b, s, data, base, at_eof, &rest);

    while (status == DT_OK && rest.n && (at_eof || rest.n > MAX_RECORD)) {
        give_up_line(f, &rest, at_eof ? REJECT_QUOTES : REJECT_LONG);
        base += (size_t)(rest.p - data.p);
        data = rest;
        status = take_records(f, b, s, data, base, at_eof, &rest);
    }
    if (status < 0) {
        return status;
    }
    /* The texts of the groups may point into what is replaced now. */
    status = plan_settle(f->run);
    if (rest.p != s->open.data || rest.n != s->open.len) {
        size_t at = 0;

        if (s->open.len && rest.p >= s->open.data &&
            rest.p <= s->open.data + s->open.len) {
            memmove(s->open.data, rest.p, rest.n);
            at = rest.n;
        }
        s->open.len = at;
        if (at == 0) {
            text_add(&s->open, rest.p, rest.n);
        }
    }
    return s->open.failed ? DT_ERR_NOMEM : status;
}

/* What is open in a file whose end was never announced. */
static int
finish_source(struct logformat *f, struct csv_source *s)
{
    struct str data = {s->open.data, s->open.len};
    const struct dt_block b = {.size = sizeof(b),
                               .source = s->id,
                               .data = data.p,
                               .len = data.n,
                               .sequence = f->run->row.place.sequence};

    return data.n ? take_block(f, &b, s, data, 0 - data.n, true) : DT_OK;
}

static int
rfc4180_feed(struct logformat *f, const struct dt_block *b)
{
    struct quoted *q = f->state;
    struct csv_source *s = csv_source_of(&q->sources, f, b);
    bool at_eof = b->flags & DT_BLOCK_LAST;
    size_t base = 0;
    struct str head, rest, data = {b->data, b->len};
    int status = DT_OK;

    if (!s) {
        return DT_ERR_NOMEM;
    }
    if (!s->has_header && !s->open.len && b->len) {
        status = csv_head(f, s, b, &head);
        if (status == DT_OK && head.p) {
            status = take_records(f, b, s, head, 0, true, &rest);
        }
    }
    if (s->open.len) {
        base -= s->open.len; /* it began before this block */
        text_add(&s->open, b->data, b->len);
        data.p = s->open.data;
        data.n = s->open.len;
    }
    if (status == DT_OK && !s->open.failed) {
        status = take_block(f, b, s, data, base, at_eof);
    }
    s->next_offset = b->offset + b->len;
    if (at_eof) {
        status =
            status == DT_OK && s->late ? finish_source(f, s->late) : status;
        csv_source_end(&q->sources, b->source);
    }
    return status;
}

static int
rfc4180_finish(struct logformat *f)
{
    struct quoted *q = f->state;
    int status = DT_OK;

    for (size_t i = 0; i < q->sources.nr && status == DT_OK; i++) {
        struct csv_source *s = q->sources.v[i];

        if (s->late) {
            status = finish_source(f, s->late);
        }
        status = status < 0 ? status : finish_source(f, s);
    }
    return status;
}

const struct logformat_ops logformat_rfc4180 = {
    .name = "rfc4180",
    .is_ordered = true,
    .open = rfc4180_open,
    .feed = rfc4180_feed,
    .finish = rfc4180_finish,
    .close = rfc4180_close,
};
