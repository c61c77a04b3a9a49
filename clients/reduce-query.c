/* SPDX-License-Identifier: Apache-2.0
 *
 * The reduce stage of one query, and the host that it sees.
 */
#include "reduce-query.h"

#include "outq.h"
#include "plugin.h"
#include "screen.h"

#include <stdatomic.h>
#include <stdlib.h>

#define SLACK 64u
#define MAX_ORIGINS (1u << 24)

static struct reduce_query *
of(struct dt_query *q)
{
    return (struct reduce_query *)q;
}

/* ---- host functions ---- */

static int
host_emit_text(struct dt_query *q, const char *data, size_t len)
{
    struct reduce_query *rq = of(q);

    if (rq->is_closing) {
        return DT_ERR_CANCELLED;
    }
    if (rq->sink) {
        return rq->sink->ops->add(rq->sink->ctx, data, len);
    }
    if (rq->screen) {
        return screen_add(rq->screen, data, len, rq->cancel);
    }
    return rq->is_escaped
               ? printer_sequences(rq->printer, data, len, rq->cancel)
               : printer_text(rq->printer, data, len, rq->cancel);
}

static int
host_emit_lines(struct dt_query *q, const struct dt_lines *lines)
{
    struct reduce_query *rq = of(q);
    struct printer_source *s;
    int rc;

    if (rq->is_closing) {
        return DT_ERR_CANCELLED;
    }
    if (lines->source >= rq->nr_origins) {
        return DT_ERR_NOENT;
    }
    /* Rare: a stage that prints lines of its own choice. */
    s = printer_source_new(SIZE_MAX, rq->origins[lines->source].host,
                           rq->origins[lines->source].name);
    if (!s) {
        return DT_ERR_NOMEM;
    }
    rc = printer_lines(rq->printer, s, lines->data, lines->len,
                       lines->first_line, rq->cancel);
    printer_source_free(s);
    return rc;
}

static int
host_emit_partial(struct dt_query *q, const void *data, size_t len)
{
    (void)q;
    (void)data;
    (void)len;
    return DT_ERR_INVAL; /* nobody stands behind the last stage */
}

static void
host_note(struct dt_query *q, const char *text)
{
    struct reduce_query *rq = of(q);

    if (!rq->is_second) {
        /* On a terminal what it is about stands above it. */
        (void)printer_flush(rq->printer, rq->cancel);
        log_warn(rq->diag->log, "%s|%s", rq->spec->plugin, text);
    }
}

static void
host_error(struct dt_query *q, int status, const char *text)
{
    struct reduce_query *rq = of(q);

    if (rq->err.status == DT_OK) {
        error_set(&rq->err, status < 0 ? status : DT_ERR_INTERNAL, "%s: %s",
                  rq->spec->plugin, text);
    }
}

static void
host_log(struct dt_query *q, enum dt_log_level level, const char *text)
{
    const struct reduce_query *rq = of(q);

    log_at(rq->diag->log, log_plugin_level(level), "%s|%s", rq->spec->plugin,
           text);
}

static const char *
host_arg(struct dt_query *q, const char *name, size_t index, size_t *len)
{
    struct reduce_query *rq = of(q);
    const char *value = query_spec_arg(rq->spec, name, index, len);
    size_t width, height;

    if (value || index > 0 || strcmp(name, "width") != 0) {
        return value;
    }
    /* not given: what the terminal has now */
    output_size(printer_output(rq->printer), &width, &height);
    if (width == 0) {
        return NULL;
    }
    snprintf(rq->width, sizeof(rq->width), "%zu", width);
    if (len) {
        *len = strlen(rq->width);
    }
    return rq->width;
}

static bool
host_cancelled(struct dt_query *q)
{
    const struct reduce_query *rq = of(q);
    const struct output *out = printer_output(rq->printer);

    return (rq->cancel &&
            atomic_load((const _Atomic int *)&rq->cancel->why) != 0) ||
           output_error(out) != 0 || output_is_stopped(out);
}

static int
host_source(struct dt_query *q, uint32_t id, struct dt_source *out)
{
    const struct reduce_query *rq = of(q);

    if (id >= rq->nr_origins) {
        return DT_ERR_NOENT;
    }
    out->name = rq->origins[id].name;
    out->path = "";
    out->host = rq->origins[id].host;
    return DT_OK;
}

static enum dt_role
host_role(struct dt_query *q)
{
    (void)q;
    return DT_ROLE_REDUCE;
}

static void
host_ordered(struct dt_query *q)
{
    (void)q; /* concerns map only */
}

static const struct dt_host host = {
    .size = sizeof(struct dt_host),
    .emit_lines = host_emit_lines,
    .emit_partial = host_emit_partial,
    .emit_text = host_emit_text,
    .note = host_note,
    .error = host_error,
    .log = host_log,
    .arg = host_arg,
    .cancelled = host_cancelled,
    .source = host_source,
    .role = host_role,
    .ordered = host_ordered,
};

/* ---- the stage ---- */

/* An argument `escape` is a plugin's promise that its text holds no control
 * bytes but its own (docs/writing-plugins.md). */
static bool
escapes_itself(struct reduce_query *rq)
{
    const char *value = host_arg(&rq->q, "escape", 0, NULL);

    return value && strcmp(value, "yes") == 0;
}

int
reduce_query_start(struct reduce_query *rq, const struct plugins *plugins,
                   struct error *err)
{
    int rc;

    rq->q.host = &host;
    rq->plugin = plugins ? plugins_find(plugins, rq->spec->plugin) : NULL;
    if (!rq->plugin || !plugin_descriptor(rq->plugin)->reduce) {
        return DT_OK;
    }
    rc = instance_start(rq->plugin, DT_ROLE_REDUCE, &rq->q, &rq->instance);
    rq->is_escaped = escapes_itself(rq);
    if (rc != DT_OK) {
        return error_set(err, rc, "%s",
                         rq->err.status ? rq->err.text : dt_strerror(rc));
    }
    return DT_OK;
}

void
reduce_query_fini(struct reduce_query *rq)
{
    rq->is_closing = true; /* nothing may come behind the end */
    instance_close(rq->instance);
    screen_free(rq->screen);
    for (size_t i = 0; i < rq->nr_origins; i++) {
        free(rq->origins[i].name);
        free(rq->origins[i].host);
    }
    free(rq->origins);
    buf_fini(&rq->slack);
}

int
reduce_query_origin(struct reduce_query *rq, const char *name,
                    const char *host_name, uint32_t *out)
{
    struct reduce_origin *o;

    if (rq->nr_origins == rq->cap_origins) {
        size_t cap = rq->cap_origins ? rq->cap_origins * 2 : 16;

        o = cap > MAX_ORIGINS
                ? NULL
                : reallocarray(rq->origins, cap, sizeof(*rq->origins));
        if (!o) {
            return DT_ERR_NOMEM;
        }
        rq->origins = o;
        rq->cap_origins = cap;
    }
    o = &rq->origins[rq->nr_origins];
    o->name = strdup(name);
    o->host = strdup(host_name);
    if (!o->name || !o->host) {
        free(o->name);
        free(o->host);
        return DT_ERR_NOMEM;
    }
    *out = (uint32_t)rq->nr_origins++;
    return DT_OK;
}

static int
ended(struct reduce_query *rq, int rc)
{
    rq->is_over = true;
    if (rc < 0 && rq->err.status == DT_OK && rc != DT_ERR_CANCELLED) {
        error_set(&rq->err, rc, "%s: %s", rq->spec->plugin, dt_strerror(rc));
    }
    return rc;
}

int
reduce_query_feed(struct reduce_query *rq, const struct wire_frame *f,
                  uint32_t origin, bool has_slack)
{
    struct dt_block block = {
        .size = sizeof(block),
        .source = origin,
        .flags = f->flags,
        .data = f->data,
        .len = f->len,
        .first_line = f->first_line,
        .nr_lines = f->nr_lines,
        .offset = f->offset - (f->type == WIRE_S_LINES ? f->len : 0),
        .sequence = rq->sequence++,
    };
    int rc;

    if (f->type == WIRE_S_PARTIAL) {
        block.flags = DT_BLOCK_PARTIAL;
        block.offset = 0;
    }
    if (!has_slack) {
        rq->slack.len = 0;
        if (buf_reserve(&rq->slack, f->len + SLACK) != DT_OK) {
            return ended(rq, DT_ERR_NOMEM);
        }
        buf_append(&rq->slack, f->data, f->len);
        memset(rq->slack.data + f->len, 0, SLACK);
        block.data = rq->slack.data;
    }
    rc = instance_feed(rq->instance, &block);
    return rc == DT_OK ? DT_OK : ended(rq, rc);
}

/* A result is complete. A file that cannot be written now may be at the next
 * interval; at the end it is an error. */
static int
commit(struct reduce_query *rq, enum dt_drain why)
{
    struct error err = ERROR_INIT;

    if (rq->screen) {
        screen_commit(rq->screen);
    }
    if (!rq->sink || rq->sink->ops->commit(rq->sink->ctx, &err) == DT_OK) {
        return DT_OK;
    }
    if (why != DT_DRAIN_FINAL) {
        log_error(rq->diag->log, "%s", err.text);
        return DT_OK;
    }
    rq->err = err;
    return ended(rq, err.status);
}

int
reduce_query_drain(struct reduce_query *rq, enum dt_drain why)
{
    int rc = DT_OK;

    if (why == DT_DRAIN_FINAL) {
        rc = instance_finish(rq->instance);
    }
    while (rc == DT_OK || rc == DT_AGAIN) {
        rc = instance_drain(rq->instance, why);
        if (rc == DT_OK) {
            return commit(rq, why);
        }
    }
    return ended(rq, rc);
}
