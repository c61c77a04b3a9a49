/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's functions as a plugin under test sees them: they keep everything
 * and check what the plugin hands over.
 */
#include "mock-host.h"
#include "cleanup.h"

#include <stdlib.h>

#define MAX_PARTIAL (8u << 20)

static struct mock_query *
mock_of(struct dt_query *q)
{
    return (struct mock_query *)q;
}

static void DT_PRINTF(2, 3)
    violate(struct mock_result *r, const char *format, ...)
{
    va_list ap;

    if (r->nr_violations++ == 0) {
        va_start(ap, format);
        vsnprintf(r->violation, sizeof(r->violation), format, ap);
        va_end(ap);
    }
}

/* ---- the host's functions ---- */

/* What every emit begins with. */
static int
before_emit(struct mock_query *m)
{
    const struct mock_options *o = m->options;
    size_t max = o->max_emits ? o->max_emits : 1000000;

    m->nr_emits++;
    if (m->is_over) {
        violate(m->out, "output after the end");
        return DT_ERR_CANCELLED;
    }
    if (m->nr_emits == o->cancel_at || m->nr_emits > max) {
        m->is_cancelled = true;
    }
    if (m->is_cancelled) {
        return DT_ERR_CANCELLED;
    }
    if (m->nr_emits == o->fail_at) {
        return o->fail_status ? o->fail_status : DT_ERR_IO;
    }
    return DT_OK;
}

/* Keeps what map gave out for the tests and for the reduce stage. */
static int
keep_emit(struct mock_query *m, enum mock_kind kind, const void *data,
          size_t len, const struct dt_lines *lines)
{
    struct mock_result *r = m->out;
    struct mock_emit *e;

    if (r->nr_emits == r->cap_emits) {
        size_t cap = r->cap_emits ? r->cap_emits * 2 : 64;
        struct mock_emit *grown = reallocarray(r->emits, cap, sizeof(*grown));

        if (!grown) {
            return DT_ERR_NOMEM;
        }
        r->emits = grown;
        r->cap_emits = cap;
    }
    e = &r->emits[r->nr_emits];
    *e = (struct mock_emit){.kind = kind, .len = len};
    e->bytes = malloc(len + 1);
    if (!e->bytes) {
        return DT_ERR_NOMEM;
    }
    memcpy(e->bytes, data, len);
    e->bytes[len] = '\0';
    if (lines) {
        memcpy(&e->lines, lines,
               lines->size < sizeof(*lines) ? lines->size : sizeof(*lines));
        e->lines.data = e->bytes;
    }
    r->nr_emits++;
    return DT_OK;
}

static size_t
count_lines(const char *data, size_t len)
{
    size_t nr = len && data[len - 1] != '\n';

    for (size_t i = 0; i < len; i++) {
        nr += data[i] == '\n';
    }
    return nr;
}

static void
check_lines(struct mock_query *m, const struct dt_lines *l)
{
    bool is_open = l->len && l->data[l->len - 1] != '\n';

    if (l->size < sizeof(*l)) {
        violate(m->out, "dt_lines.size is %zu", l->size);
    }
    if (l->len == 0) {
        violate(m->out, "lines without bytes");
    }
    if (l->source < 1 || l->source > m->nr_sources) {
        violate(m->out, "lines of the unknown source %u", (unsigned)l->source);
    }
    if (is_open && !(l->flags & (DT_BLOCK_NOEOL | DT_BLOCK_CUT))) {
        violate(m->out, "a line without newline and without a flag");
    }
    if (l->nr_lines && l->nr_lines != count_lines(l->data, l->len)) {
        violate(m->out, "nr_lines is %llu, there are %zu",
                (unsigned long long)l->nr_lines, count_lines(l->data, l->len));
    }
}

static int
emit_lines(struct dt_query *q, const struct dt_lines *lines)
{
    struct mock_query *m = mock_of(q);
    int r = before_emit(m);

    if (r < 0) {
        return r;
    }
    check_lines(m, lines);
    if (m->role == DT_ROLE_REDUCE) {
        return buf_append(&m->out->out, lines->data, lines->len);
    }
    return keep_emit(m, MOCK_LINES, lines->data, lines->len, lines);
}

static int
emit_partial(struct dt_query *q, const void *data, size_t len)
{
    struct mock_query *m = mock_of(q);
    int r = before_emit(m);

    if (r < 0) {
        return r;
    }
    if (m->role == DT_ROLE_REDUCE) {
        violate(m->out, "a partial result from reduce");
        return DT_ERR_INVAL;
    }
    if (len > MAX_PARTIAL) {
        violate(m->out, "a partial result of %zu bytes", len);
        return DT_ERR_LIMIT;
    }
    return keep_emit(m, MOCK_PARTIAL, data, len, NULL);
}

static int
emit_text(struct dt_query *q, const char *data, size_t len)
{
    struct mock_query *m = mock_of(q);
    int r = before_emit(m);

    if (r < 0) {
        return r;
    }
    if (m->role != DT_ROLE_REDUCE) {
        r = keep_emit(m, MOCK_TEXT, data, len, NULL);
    }
    return r < 0 ? r : buf_append(&m->out->out, data, len);
}

static void
note(struct dt_query *q, const char *text)
{
    strv_add(&mock_of(q)->out->notes, text);
}

static void
error(struct dt_query *q, int status, const char *text)
{
    struct mock_result *r = mock_of(q)->out;

    if (!r->error[0]) {
        snprintf(r->error, sizeof(r->error), "%s", text);
    }
    if (status >= 0) {
        violate(r, "dt_error with the status %d", status);
    }
}

static void
log_line(struct dt_query *q, enum dt_log_level level UNUSED, const char *text)
{
    strv_add(&mock_of(q)->out->logs, text);
}

static const char *
arg(struct dt_query *q, const char *name, size_t index, size_t *len)
{
    const struct mock_arg *a = mock_of(q)->options->args;

    for (; a && a->name; a++) {
        if (strcmp(a->name, name) == 0 && index-- == 0) {
            if (len) {
                *len = a->len ? a->len : strlen(a->value);
            }
            return a->value;
        }
    }
    if (len) {
        *len = 0;
    }
    return NULL;
}

static bool
cancelled(struct dt_query *q)
{
    return mock_of(q)->is_cancelled;
}

static int
source(struct dt_query *q, uint32_t id, struct dt_source *out)
{
    const struct mock_query *m = mock_of(q);
    struct dt_source s = {.size = sizeof(s)};

    if (id < 1 || id > m->nr_sources) {
        return DT_ERR_NOENT;
    }
    s.name = m->sources[id - 1].name;
    s.path = m->role == DT_ROLE_MAP ? m->sources[id - 1].name : "";
    s.host = m->sources[id - 1].host ? m->sources[id - 1].host : "mockhost";
    s.head = m->sources[id - 1].data;
    while (*s.head == '\n') {
        s.head++;
        s.head_offset++;
    }
    s.head_len = strcspn(s.head, "\n");
    memcpy(out, &s, out->size < sizeof(s) ? out->size : sizeof(s));
    return DT_OK;
}

static enum dt_role
role(struct dt_query *q)
{
    return mock_of(q)->role;
}

static void
ordered(struct dt_query *q)
{
    struct mock_query *m = mock_of(q);

    if (!m->is_starting) {
        violate(m->out, "dt_ordered outside of start of map");
    }
    m->out->is_ordered = true;
}

const struct dt_host mock_host = {
    .size = sizeof(struct dt_host),
    .emit_lines = emit_lines,
    .emit_partial = emit_partial,
    .emit_text = emit_text,
    .note = note,
    .error = error,
    .log = log_line,
    .arg = arg,
    .cancelled = cancelled,
    .source = source,
    .role = role,
    .ordered = ordered,
};
