/* SPDX-License-Identifier: Apache-2.0
 *
 * The log formats `csv` (cells between commas, no quotes; spec mapreduce
 * 10.6) and the header that it shares with `rfc4180`.
 *
 * Each file has a header of its own (Q26), also one that takes the place of
 * another while it is followed. A block that does not begin a
 * source, because the file was cut into slices or is followed from its end,
 * gets the header from the host (struct dt_source.head).
 */
#include "logformat-csv.h"

#include <stdlib.h>

struct csv {
    struct csv_sources sources;
};

static struct csv_source *
find_source(struct csv_sources *s, uint32_t id)
{
    struct csv_source *v;

    for (size_t i = 0; i < s->nr; i++) {
        if (s->v[i]->id == id) {
            return s->v[i];
        }
    }
    if (s->nr == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 8;
        struct csv_source **more = realloc(s->v, cap * sizeof(*more));

        if (!more) {
            return NULL;
        }
        s->v = more;
        s->cap = cap;
    }
    v = calloc(1, sizeof(*v));
    if (v) {
        v->id = id;
        s->v[s->nr++] = v;
    }
    return v;
}

static void
free_source(struct csv_source *v)
{
    if (v) {
        free_source(v->late);
        free(v->columns);
        text_fini(&v->open);
        free(v);
    }
}

/* Another file under the same name: its header comes next, in columns of its
 * own. The one before is kept for lines that are written to it late. */
static bool
begin_file(struct logformat *f, struct csv_source *v)
{
    struct csv_source *old = malloc(sizeof(*old));

    if (!old) {
        return false;
    }
    if (v->late && v->late->open.len) {
        f->stats.lines++;
        f->stats.rejects[REJECT_QUOTES]++; /* a record without its end */
    }
    free_source(v->late);
    *old = *v;
    old->late = NULL;
    *v = (struct csv_source){.id = v->id, .has_begun = true, .late = old};
    return true;
}

struct csv_source *
csv_source_of(struct csv_sources *s, struct logformat *f,
              const struct dt_block *b)
{
    struct csv_source *v = find_source(s, b->source);

    if (!v) {
        return NULL;
    }
    if (b->flags & DT_BLOCK_FIRST) {
        v->has_begun = true;
    } else if (f->is_following && b->len && b->offset == 0 && v->next_offset) {
        return begin_file(f, v) ? v : NULL;
    }
    /* A selection of lines (is_passed) leaves gaps of its own. */
    return v->late && !f->is_passed && b->offset != v->next_offset &&
                   b->offset == v->late->next_offset
               ? v->late
               : v;
}

void
csv_source_end(struct csv_sources *s, uint32_t id)
{
    for (size_t i = 0; i < s->nr; i++) {
        if (s->v[i]->id == id) {
            free_source(s->v[i]);
            s->v[i] = s->v[--s->nr];
            return;
        }
    }
}

void
csv_sources_fini(struct csv_sources *s)
{
    for (size_t i = 0; i < s->nr; i++) {
        free_source(s->v[i]);
    }
    free(s->v);
    memset(s, 0, sizeof(*s));
}

int
csv_set_heading(struct logformat *f, struct csv_source *s, uint32_t index,
                struct str name)
{
    uint32_t slot = name.n ? plan_slot(f->plan, name) : PLAN_NONE;
    struct csv_column *columns;

    hints_add(&f->hints, name);
    s->nr_headings = index + 1;
    s->has_header = true;
    if (slot == PLAN_NONE) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < s->nr; i++) {
        if (s->columns[i].slot == slot) {
            s->columns[i].index = index; /* the later column wins */
            return DT_OK;
        }
    }
    columns = realloc(s->columns, (s->nr + 1) * sizeof(*columns));
    if (!columns) {
        return DT_ERR_NOMEM;
    }
    s->columns = columns;
    columns[s->nr].index = index;
    columns[s->nr++].slot = slot;
    return DT_OK;
}

struct str
csv_without_bom(struct str line)
{
    if (line.n >= 3 && memcmp(line.p, "\xef\xbb\xbf", 3) == 0) {
        line.p += 3;
        line.n -= 3;
    }
    return line;
}

/* A header line without quotes. */
static int
take_header(struct logformat *f, struct csv_source *s, struct str line)
{
    uint32_t index = 0;
    const char *end;

    line = logformat_trim(csv_without_bom(line));
    end = line.p + line.n;
    for (const char *p = line.p; p <= end; index++) {
        const char *comma = p < end ? memchr(p, ',', (size_t)(end - p)) : NULL;
        struct str name = {p, (size_t)((comma ? comma : end) - p)};
        int status = csv_set_heading(f, s, index, name);

        if (status < 0) {
            return status;
        }
        if (!comma) {
            break;
        }
        p = comma + 1;
    }
    return DT_OK;
}

int
csv_head(struct logformat *f, struct csv_source *s, const struct dt_block *b,
         struct str *head)
{
    struct dt_source source;

    head->p = NULL;
    if (b->offset == 0 || (s->has_begun && b->offset == s->next_offset)) {
        return DT_OK; /* the header comes in this block or a later one */
    }
    if (dt_source(f->query, b->source, &source) < 0 || !source.head) {
        /* When following without a known header the first new line is taken,
         * as DTail 4 does; a slice without one cannot be read. */
        return f->is_following ? DT_OK : DT_ERR_LIMIT;
    }
    head->p = source.head;
    head->n = source.head_len;
    s->has_head = true;
    s->head_offset = source.head_offset;
    return logformat_trim(*head).n ? DT_OK : DT_ERR_LIMIT;
}

static int
csv_open(struct logformat *f, char *err, size_t err_size)
{
    (void)err;
    (void)err_size;
    f->state = calloc(1, sizeof(struct csv));
    return f->state ? DT_OK : DT_ERR_NOMEM;
}

static void
csv_close(struct logformat *f)
{
    struct csv *csv = f->state;

    csv_sources_fini(&csv->sources);
    free(csv);
}

/* A line with its commas at data[at[0 … nr - 1]]. */
static int
csv_line(struct logformat *f, const struct dt_block *b, struct csv_source *s,
         struct str raw, const uint32_t *at, size_t nr)
{
    struct str line = logformat_trim(raw);
    struct str *values;

    if (!logformat_selects(f, raw) || line.n == 0) {
        return DT_OK; /* blank lines are no rows (Q24) */
    }
    if (!s->has_header) {
        return take_header(f, s, raw);
    }
    if (s->has_head &&
        b->offset + (uint64_t)(raw.p - b->data) == s->head_offset) {
        return DT_OK;
    }
    if (nr + 1 > s->nr_headings) {
        f->stats.rejects[REJECT_CELLS]++;
        return DT_OK;
    }
    values = logformat_begin(f);
    for (uint32_t i = 0; i < s->nr; i++) {
        uint32_t index = s->columns[i].index;
        const char *p, *end;

        if (index > nr) {
            continue;
        }
        p = index == 0 ? line.p : b->data + at[index - 1] + 1;
        end = index == nr ? line.p + line.n : b->data + at[index];
        values[s->columns[i].slot].p = p;
        values[s->columns[i].slot].n = (size_t)(end - p);
    }
    return logformat_row(f, b, (size_t)(line.p - b->data), line);
}

static int
csv_lines(struct logformat *f, const struct dt_block *b, struct csv_source *s)
{
    struct delimiters *d = &f->delimiters;
    size_t first = 0, start = 0, nr_lines;

    if (delimiters_reserve(d, b->len) < 0) {
        return DT_ERR_NOMEM;
    }
    f->find(b->data, b->len, ',', d);
    nr_lines = d->nr_lines;
    if (b->len && b->data[b->len - 1] != '\n') {
        d->lines[nr_lines++] = (uint32_t)d->nr;
        d->at[d->nr] = (uint32_t)b->len;
    }
    for (size_t i = 0; i < nr_lines; i++) {
        size_t last = d->lines[i], end = d->at[last];
        struct str raw = {b->data + start, end - start};
        int status = csv_line(f, b, s, raw, d->at + first, last - first);

        if (status < 0) {
            return status;
        }
        first = last + 1;
        start = end + 1;
    }
    return DT_OK;
}

static int
csv_feed(struct logformat *f, const struct dt_block *b)
{
    struct csv *csv = f->state;
    struct csv_source *s = csv_source_of(&csv->sources, f, b);
    struct str head;
    int status = DT_OK;

    if (!s) {
        return DT_ERR_NOMEM;
    }
    if (!s->has_header && b->len) {
        status = csv_head(f, s, b, &head);
        if (status == DT_OK && head.p) {
            status = take_header(f, s, head);
        }
    }
    if (status == DT_OK) {
        status = csv_lines(f, b, s);
    }
    s->next_offset = b->offset + b->len;
    if (b->flags & DT_BLOCK_LAST) {
        csv_source_end(&csv->sources, b->source);
    }
    return status;
}

const struct logformat_ops logformat_csv = {
    .name = "csv",
    .open = csv_open,
    .feed = csv_feed,
    .close = csv_close,
};
