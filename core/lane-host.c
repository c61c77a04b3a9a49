/* SPDX-License-Identifier: Apache-2.0
 *
 * What the map stage of a plugin can call: struct dt_host of a lane.
 */
#include "lane-host.h"

#include <bytes.h>

#define PARTIAL_MAX (8u * 1024u * 1024u)

static struct lane *
lane_of(struct dt_query *q)
{
    return (struct lane *)q;
}

/* Nothing may come behind the last drain, so close emits in vain. */
static bool
may_emit(const struct lane *l)
{
    return !l->is_closing && !cancel_is_set(l->sh->cancel);
}

/* Without lines: another session may go on there. */
static int
set_place(struct lane *l, const struct lane_place *place)
{
    l->place = *place;
    l->place.is_set = true;
    return DT_OK;
}

/* What an older plugin's struct does not have is as 0. */
static void
read_place(const struct lane *l, const struct dt_lines *lines,
           struct lane_place *out)
{
    const bool is_new =
        lines->size >= offsetof(struct dt_lines, state) + sizeof(lines->state);

    *out = (struct lane_place){.generation = l->generation,
                               .offset = lines->offset};
    if (!l->sh->spec->follow || !is_new) {
        return;
    }
    if (lines->generation) {
        out->generation = lines->generation;
    }
    if (lines->state_len && lines->state_len <= DT_STATE_MAX) {
        out->state_len = lines->state_len;
        memcpy(out->state, lines->state, lines->state_len);
    }
}

static int
host_emit_lines(struct dt_query *q, const struct dt_lines *lines)
{
    struct lane *l = lane_of(q);
    uint64_t nr = lines->nr_lines;
    bool is_ended = lines->len && lines->data[lines->len - 1] == '\n';
    struct lane_place place;

    if (!may_emit(l)) {
        return DT_ERR_CANCELLED;
    }
    read_place(l, lines, &place);
    if (lines->len == 0) {
        return set_place(l, &place);
    }
    if (lines->len > WIRE_MAX_FRAME - WIRE_MAX_FIXED || nr > UINT32_MAX) {
        return dt_error(q, DT_ERR_LIMIT,
                        "%zu bytes of lines at once; at most %u are allowed",
                        lines->len, WIRE_MAX_FRAME - WIRE_MAX_FIXED);
    }
    if ((l->sh->is_numbered || l->sh->env->live) && nr == 0) {
        nr = bytes_count_newlines(lines->data, lines->len) + !is_ended;
    }
    l->nr_sent += nr;
    l->bytes_sent += lines->len;
    l->place.has_lines = true;
    l->place.is_set = false;
    l->place.generation = place.generation;
    l->place.offset = place.offset;
    const struct wire_frame f = {
        .type = WIRE_S_LINES,
        .query = l->sh->spec->id,
        .source = lines->source,
        .flags = is_ended ? 0 : lines->flags & (DT_BLOCK_NOEOL | DT_BLOCK_CUT),
        .generation = place.generation,
        .first_line = l->sh->is_numbered ? lines->first_line : 0,
        .nr_lines = (uint32_t)nr,
        .offset = lines->offset,
        .data = lines->data,
        .len = lines->len};
    return packer_lines(&l->packer, &f, place.state, place.state_len);
}

/* Hands a partial to the instance that merges on the server. */
static int
feed_combine(struct lane *l, const void *data, size_t len)
{
    struct dt_block b = {.size = sizeof(b), .flags = DT_BLOCK_PARTIAL};
    int rc;

    l->slack.len = 0;
    if (buf_reserve(&l->slack, len + BYTES_SLACK) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    memcpy(l->slack.data, data, len);
    memset(l->slack.data + len, 0, BYTES_SLACK);
    b.data = l->slack.data;
    b.len = len;
    pthread_mutex_lock(&l->sh->combine_lock);
    rc = instance_feed(l->sh->combine->instance, &b);
    pthread_mutex_unlock(&l->sh->combine_lock);
    return rc == DT_STOP ? DT_OK : rc;
}

static int
host_emit_partial(struct dt_query *q, const void *data, size_t len)
{
    struct lane *l = lane_of(q);

    if (!may_emit(l)) {
        return DT_ERR_CANCELLED;
    }
    if (len > PARTIAL_MAX) {
        return dt_error(q, DT_ERR_LIMIT,
                        "a partial result of %zu bytes; at most %u are "
                        "allowed",
                        len, PARTIAL_MAX);
    }
    if (l->sh->combine && l->role == DT_ROLE_MAP) {
        return feed_combine(l, data, len);
    }
    l->bytes_sent += len;
    const struct wire_frame f = {.type = WIRE_S_PARTIAL,
                                 .query = l->sh->spec->id,
                                 .data = data,
                                 .len = len};
    return packer_frame(&l->packer, &f);
}

static int
host_emit_text(struct dt_query *q, const char *data, size_t len)
{
    struct lane *l = lane_of(q);

    if (!may_emit(l)) {
        return DT_ERR_CANCELLED;
    }
    if (len > PARTIAL_MAX) {
        return dt_error(q, DT_ERR_LIMIT,
                        "%zu bytes of text at once; at most %u are allowed",
                        len, PARTIAL_MAX);
    }
    l->bytes_sent += len;
    const struct wire_frame f = {.type = WIRE_S_TEXT,
                                 .query = l->sh->spec->id,
                                 .data = data,
                                 .len = len};
    return packer_frame(&l->packer, &f);
}

static void
host_note(struct dt_query *q, const char *text)
{
    struct lane *l = lane_of(q);

    query_note(l->sh->env, l->sh->spec->id, l->sh->cancel, "%s", text);
}

static void
host_error(struct dt_query *q, int status, const char *text)
{
    lane_fail(lane_of(q)->sh, status, text);
}

static void
host_log(struct dt_query *q, enum dt_log_level level, const char *text)
{
    const struct query_env *env = lane_of(q)->sh->env;

    if (env->log) {
        env->log(env->log_ctx, level, text);
    }
}

static const char *
host_arg(struct dt_query *q, const char *name, size_t index, size_t *len)
{
    return query_spec_arg(lane_of(q)->sh->spec, name, index, len);
}

static bool
host_cancelled(struct dt_query *q)
{
    return cancel_is_set(lane_of(q)->sh->cancel);
}

static int
host_source(struct dt_query *q, uint32_t id, struct dt_source *out)
{
    return inputs_lookup(lane_of(q)->sh->inputs, id, out);
}

static enum dt_role
host_role(struct dt_query *q)
{
    return lane_of(q)->role;
}

static void
host_ordered(struct dt_query *q)
{
    lane_of(q)->sh->is_ordered = true;
}

static uint64_t
host_line_at(struct dt_query *q, uint32_t source, uint64_t offset)
{
    return inputs_line_at(lane_of(q)->sh->inputs, source, offset);
}

const struct dt_host lane_host = {
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
    .line_at = host_line_at,
};
