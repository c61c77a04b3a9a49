/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one plugin over text in memory: see mock.h. The host's functions are in
 * mock-host.c.
 */
#include "mock.h"
#include "cleanup.h"
#include "config.h"
#include "mock-host.h"

#include <stdlib.h>

#define READABLE_BEHIND 64u /* of a block, as plugin.h says */

/* ---- instances ---- */

static int
fail(struct mock_query *m, int status)
{
    if (m->out->status == DT_OK) {
        m->out->status = status;
    }
    return status;
}

/* Until it has no more, or the host has had enough. */
static int
drain(struct mock_query *m, struct instance *i, enum dt_drain why)
{
    size_t max = m->options->max_drains ? m->options->max_drains : 1000;
    int r;

    for (size_t nr = 1;; nr++) {
        r = instance_drain(i, why);
        if (r >= 0) {
            m->out->nr_drains++;
        }
        if (r != DT_AGAIN) {
            return r;
        }
        m->is_cancelled = m->is_cancelled || nr >= max;
    }
}

/* finish and drain, unless the query failed. */
static void
end_instance(struct mock_query *m, struct instance *i)
{
    int r = m->out->status;

    if (r == DT_OK) {
        r = instance_finish(i);
    }
    if (r == DT_OK) {
        r = drain(m, i, DT_DRAIN_FINAL);
    }
    if (r < 0) {
        fail(m, r);
    }
}

static void
close_instance(struct mock_query *m, struct instance *i)
{
    m->is_over = true;
    instance_close(i);
    m->is_over = false;
}

/* ---- feeding map ---- */

/* The plugin gets memory of its own for each block, which is gone after feed:
 * a sanitizer sees who keeps a pointer or reads too far. */
static int
feed_copy(struct instance *i, const struct dt_block *block)
{
    struct dt_block copy = *block;
    char *data = malloc(block->len + READABLE_BEHIND);
    int r;

    if (!data) {
        return DT_ERR_NOMEM;
    }
    if (block->len) {
        memcpy(data, block->data, block->len);
    }
    memset(data + block->len, '\n', READABLE_BEHIND);
    copy.data = data;
    r = instance_feed(i, &copy);
    memset(data, 0xdd, block->len);
    free(data);
    return r;
}

/* Where a source is read. */
struct reader {
    const char *data;
    size_t len;
    size_t at;
    uint64_t line; /* number of the next one */
};

/* Length of the next line with its newline. */
static size_t
line_len(const struct reader *r)
{
    const char *nl = memchr(r->data + r->at, '\n', r->len - r->at);

    return nl ? (size_t)(nl - (r->data + r->at)) + 1 : r->len - r->at;
}

/* Takes the next block; false at the end of the source. */
static bool
next_block(const struct mock_options *o, struct reader *r, struct dt_block *b)
{
    size_t start = r->at;

    b->flags &= ~(DT_BLOCK_CUT | DT_BLOCK_LINE | DT_BLOCK_FIRST);
    b->flags |= start == 0 ? DT_BLOCK_FIRST : 0;
    b->data = r->data + start;
    b->first_line = o->no_numbers ? 0 : r->line;
    b->offset = start;
    b->nr_lines = 0;
    while (r->at < r->len && !(b->flags & DT_BLOCK_CUT)) {
        size_t len = line_len(r);

        if (o->max_line && len > o->max_line) {
            len = o->max_line;
            b->flags |= DT_BLOCK_CUT;
        }
        if (b->nr_lines && r->at - start + len > o->block_bytes) {
            b->flags &= ~DT_BLOCK_CUT;
            break;
        }
        r->at += len;
        b->nr_lines++;
        r->line += r->data[r->at - 1] == '\n' || r->at == r->len;
        if (!o->block_bytes) {
            break;
        }
    }
    b->len = r->at - start;
    b->flags |= !o->block_bytes && b->len ? DT_BLOCK_LINE : 0;
    return b->len > 0;
}

static int
feed_block(struct mock_query *m, struct instance *i, struct dt_block *b)
{
    int r;

    m->out->nr_blocks++;
    m->out->nr_lines += b->nr_lines;
    if (m->options->no_numbers) {
        b->nr_lines = 0;
    }
    r = feed_copy(i, b);
    b->sequence++;
    if (r >= 0 && m->options->interval &&
        m->out->nr_blocks % m->options->interval == 0) {
        int d = drain(m, i, DT_DRAIN_INTERVAL);

        r = d < 0 ? d : r;
    }
    if (r == DT_STOP) {
        m->out->nr_stops++;
    }
    return r < 0 ? fail(m, r) : r;
}

/* Feeds one source to the instances in turn; after DT_STOP an instance gets no
 * more of it. */
static int
feed_source(struct mock_query *m, uint32_t id, struct instance **v, size_t nr,
            uint64_t *sequence)
{
    const struct mock_source *s = &m->sources[id - 1];
    struct reader reader = {s->data, s->len ? s->len : strlen(s->data), 0, 1};
    struct dt_block b = {
        .size = sizeof(b), .source = id, .sequence = *sequence};
    CLEANUP_FREE bool *is_stopped = calloc(nr, sizeof(bool));
    size_t turn = 0;
    int r = is_stopped ? DT_OK : fail(m, DT_ERR_NOMEM);

    while (r >= 0 && next_block(m->options, &reader, &b)) {
        size_t k = turn++ % nr;

        if (reader.at == reader.len && b.data[b.len - 1] != '\n') {
            b.flags |= DT_BLOCK_NOEOL;
        }
        if (reader.at == reader.len && m->options->last_in_lines) {
            b.flags |= DT_BLOCK_LAST;
        }
        if (!is_stopped[k]) {
            r = feed_block(m, v[k], &b);
            is_stopped[k] = r == DT_STOP;
        }
    }
    if (r >= 0 && (reader.len == 0 || !m->options->last_in_lines)) {
        /* as the real host: also of an empty source, and after DT_STOP */
        b.flags = DT_BLOCK_LAST | (reader.len == 0 ? DT_BLOCK_FIRST : 0);
        b.data = "";
        b.nr_lines = 0;
        r = feed_block(m, v[turn % nr], &b);
    }
    *sequence = b.sequence;
    return r < 0 ? r : DT_OK;
}

/* Starts, feeds, ends and closes the instances of the map stage. */
static void
run_map(const struct mock_plugin *p, struct mock_query *m)
{
    size_t nr = m->options->instances ? m->options->instances : 1;
    struct instance **v = calloc(nr, sizeof(*v));
    uint64_t sequence = 0;
    int r = v ? DT_OK : fail(m, DT_ERR_NOMEM);

    for (size_t i = 0; r == DT_OK && i < nr; i++) {
        m->is_starting = true;
        r = instance_start(p->plugin, DT_ROLE_MAP, &m->query, &v[i]);
        m->is_starting = false;
        if (r < 0) {
            fail(m, r);
        }
    }
    for (uint32_t id = 1; r == DT_OK && id <= m->nr_sources; id++) {
        /* each source whole in one instance, or cut up among them */
        r = m->out->is_ordered ? feed_source(m, id, &v[id % nr], 1, &sequence)
                               : feed_source(m, id, v, nr, &sequence);
    }
    for (size_t i = 0; v && i < nr; i++) {
        if (v[i]) {
            end_instance(m, v[i]);
        }
    }
    for (size_t i = 0; v && i < nr; i++) {
        close_instance(m, v[i]);
    }
    free(v);
}

/* ---- the other stage ---- */

/* Does the reduce stage get it? */
static bool
takes(const struct dt_plugin *d, enum mock_kind kind)
{
    return kind == MOCK_PARTIAL ||
           (kind == MOCK_LINES && !(d->flags & DT_PRINTED));
}

/* Hands what map gave out to one instance of the reduce stage. */
static void
run_reduce(const struct mock_plugin *p, struct mock_query *m, enum dt_role as)
{
    const struct dt_plugin *d = plugin_descriptor(p->plugin);
    struct mock_result *r = m->out;
    struct mock_emit *emits = STEAL_PTR(r->emits);
    size_t nr = r->nr_emits;
    struct instance *i = NULL;
    int status;

    /* in combine the emits are collected anew, for reduce proper */
    r->nr_emits = r->cap_emits = 0;
    m->role = as;
    status = instance_start(p->plugin, as, &m->query, &i);
    for (size_t k = 0; k < nr; k++) {
        struct dt_block b = {.size = sizeof(b),
                             .source = emits[k].lines.source,
                             .flags = emits[k].lines.flags,
                             .data = emits[k].bytes,
                             .len = emits[k].len,
                             .first_line = emits[k].lines.first_line,
                             .nr_lines = emits[k].lines.nr_lines,
                             .sequence = k};

        b.flags |= emits[k].kind == MOCK_PARTIAL ? DT_BLOCK_PARTIAL : 0;
        if (status >= 0 && takes(d, emits[k].kind)) {
            status = feed_copy(i, &b);
        }
    }
    if (status < 0) {
        fail(m, status);
    }
    if (i) {
        end_instance(m, i);
        close_instance(m, i);
    }
    if (as == DT_ROLE_COMBINE) {
        for (size_t k = 0; k < nr; k++) {
            free(emits[k].bytes);
        }
        free(emits);
    } else {
        r->emits = emits;
        r->nr_emits = r->cap_emits = nr;
    }
}

/* Without a reduce stage, or with DT_PRINTED, the core prints the lines. */
static void
print_lines(struct mock_result *r)
{
    for (size_t k = 0; k < r->nr_emits; k++) {
        if (r->emits[k].kind == MOCK_LINES) {
            buf_append(&r->out, r->emits[k].bytes, r->emits[k].len);
        }
    }
}

int
mock_run(const struct mock_plugin *p, const struct mock_options *options,
         struct mock_result *out)
{
    const struct mock_source text = {.name = "text", .data = options->text};
    struct mock_query m = {
        .query = {.host = &mock_host},
        .options = options,
        .sources = options->text ? &text : options->sources,
        .nr_sources = options->text ? 1 : options->nr_sources,
        .out = out,
        .role = DT_ROLE_MAP,
    };
    const struct dt_plugin *d = plugin_descriptor(p->plugin);

    memset(out, 0, sizeof(*out));
    run_map(p, &m);
    if (out->status == DT_OK && options->combine) {
        run_reduce(p, &m, DT_ROLE_COMBINE);
    }
    if (!d->reduce || (d->flags & DT_PRINTED)) {
        print_lines(out);
    }
    if (d->reduce && out->status == DT_OK && !options->no_reduce) {
        run_reduce(p, &m, DT_ROLE_REDUCE);
    }
    return out->status;
}

int
mock_reduce_one(const struct mock_plugin *p, const struct dt_block *block,
                struct mock_result *out)
{
    const struct mock_options options = {0};
    struct mock_query m = {.query = {.host = &mock_host},
                           .options = &options,
                           .out = out,
                           .role = DT_ROLE_REDUCE};
    struct instance *i;
    int r;

    memset(out, 0, sizeof(*out));
    r = instance_start(p->plugin, DT_ROLE_REDUCE, &m.query, &i);
    if (r == DT_OK) {
        r = feed_copy(i, block);
    }
    if (r < 0) {
        fail(&m, r);
    }
    if (i) {
        end_instance(&m, i);
        close_instance(&m, i);
    }
    return out->status;
}

/* ---- around it ---- */

int
mock_open(struct mock_plugin *p, const char *dir, const char *name,
          const char *config_json, struct error *err)
{
    char *copy_name = strdup(name), *json = NULL;
    struct config_plugin settings = {
        .name = copy_name, .enable = true, .turbo = CONFIG_UNSET};
    struct config config = {0};
    int r;

    *p = (struct mock_plugin){0};
    json = strdup(config_json ? config_json : "{}");
    settings.config = json;
    config.server.plugins = &settings;
    config.server.nr_plugins = 1;
    r = copy_name && json ? plugins_open(dir, &config, &p->table, err)
                          : error_set(err, DT_ERR_NOMEM, "out of memory");
    free(copy_name);
    free(json);
    if (r < 0) {
        return r;
    }
    plugins_load(p->table, NULL);
    p->plugin = plugins_find(p->table, name);
    if (!p->plugin) {
        for (size_t i = 0; i < plugins_count(p->table); i++) {
            const struct plugin *other = plugins_at(p->table, i);

            if (strcmp(plugin_name(other), name) == 0) {
                error_set(err, DT_ERR_INVAL, "%s", plugin_refused(other));
            }
        }
        mock_close(p);
        return DT_ERR_INVAL;
    }
    return DT_OK;
}

void
mock_close(struct mock_plugin *p)
{
    plugins_free(p->table);
    *p = (struct mock_plugin){0};
}

void
mock_result_fini(struct mock_result *r)
{
    for (size_t i = 0; i < r->nr_emits; i++) {
        free(r->emits[i].bytes);
    }
    free(r->emits);
    buf_fini(&r->out);
    strv_fini(&r->notes);
    strv_fini(&r->logs);
    memset(r, 0, sizeof(*r));
}

bool
mock_out_is(const struct mock_result *r, const char *text)
{
    return r->out.len == strlen(text) &&
           (r->out.len == 0 || memcmp(r->out.data, text, r->out.len) == 0);
}
