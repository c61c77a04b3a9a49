/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of a source to runs of whole lines: slices of plain files, chunks of
 * streams.
 */
#include "unit.h"

#include "config.h"
#include "lines.h"

#include <bytes.h>

#include <stdlib.h>

#define SLICE_AHEAD 4096u /* a line's end is usually this near */

/* ---- notes ---- */

void
query_note(const struct query_env *env, uint32_t query,
           const struct cancel *cancel, const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list ap;
    int len;

    va_start(ap, format);
    len = vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    if (len < 0) {
        return;
    }
    const struct wire_frame f = {
        .type = WIRE_S_NOTE, .query = query, .data = text, .len = strlen(text)};
    outq_push(env->out, &f, cancel);
    if (env->log) {
        env->log(env->log_ctx, DT_LOG_WARN, text);
    }
}

/* ---- memory ---- */

/* Room for `cap` bytes and the slack that block searches may run over. */
static int
mem_reserve(struct buf *mem, size_t cap)
{
    size_t old = mem->cap;

    if (cap + BYTES_SLACK <= mem->cap) {
        return DT_OK;
    }
    char *data = realloc(mem->data, cap + BYTES_SLACK);

    if (!data) {
        return DT_ERR_NOMEM;
    }
    memset(data + old, 0, cap + BYTES_SLACK - old);
    mem->data = data;
    mem->cap = cap + BYTES_SLACK;
    return DT_OK;
}

static size_t
mem_room(const struct buf *mem)
{
    return mem->cap - BYTES_SLACK;
}

static size_t
max_line(const struct inputs_args *a)
{
    return (size_t)a->env->config->server.max_line_length;
}

/* ---- failures and long lines ---- */

static void
fail_input(const struct inputs_args *a, struct input *in,
           const struct error *err)
{
    if (!atomic_exchange(&in->has_failed, true)) {
        query_note(a->env, a->spec->id, a->cancel,
                   "Unable to read file(s) to the end|%s", err->text);
    }
}

static void
count_long(const struct inputs_args *a, struct input *in)
{
    if (atomic_fetch_add(&in->nr_long, 1) == 0) {
        query_note(a->env, a->spec->id, a->cancel,
                   "%s|Long log line, splitting into multiple lines",
                   in->target.path);
    }
}

/* ---- streams: the next chunk ---- */

/* Reads until there is a whole line, a piece of a long one, or the end. */
static int
read_lines(const struct inputs_args *a, struct unit *u, bool *is_end)
{
    struct input *in = u->input;
    struct error err = ERROR_INIT;

    for (;;) {
        size_t room = mem_room(&u->mem);
        ssize_t n = source_read(in->source, u->mem.data + u->mem.len,
                                room - u->mem.len, a->cancel->fd, &err);

        if (n == DT_ERR_CANCELLED) {
            return DT_ERR_CANCELLED;
        }
        if (n < 0) {
            fail_input(a, in, &err);
        }
        *is_end = n <= 0;
        u->mem.len += n > 0 ? (size_t)n : 0;
        u->len = lines_take(u->mem.data, u->mem.len, max_line(a), *is_end,
                            &u->flags);
        if (u->len || *is_end) {
            return DT_OK;
        }
        if (u->mem.len + INPUTS_SLICE / 2 > room &&
            mem_reserve(&u->mem, room + INPUTS_SLICE) != DT_OK) {
            return DT_ERR_NOMEM;
        }
    }
}

/* Fills the unit's memory with whole lines from the source. */
int
unit_read_chunk(const struct inputs_args *a, struct unit *u)
{
    struct input *in = u->input;
    size_t carried = in->carry.len;
    bool is_end = false;
    int rc;

    if (mem_reserve(&u->mem, carried + INPUTS_SLICE) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    if (carried) {
        memcpy(u->mem.data, in->carry.data, carried);
        in->carry.len = 0;
    }
    u->mem.len = carried;
    rc = read_lines(a, u, &is_end);
    if (rc != DT_OK) {
        return rc;
    }
    in->is_exhausted = is_end;
    u->data = u->mem.data;
    u->offset = in->offset;
    in->offset += u->len;
    u->is_inside = in->is_inside;
    in->is_inside = (u->flags & DT_BLOCK_CUT) != 0;
    if (in->is_inside && !u->is_inside) {
        count_long(a, in);
    }
    rc = buf_append(&in->carry, u->mem.data + u->len, u->mem.len - u->len);
    u->mem.len = u->len;
    buf_shrink(&in->carry, INPUTS_SLICE);
    return rc;
}

void
unit_fini(struct unit *u)
{
    buf_fini(&u->mem);
}

/* ---- slices ---- */

/* Reads from u->pos until `want` bytes are there or the file ends. */
static int
fill_slice(const struct inputs_args *a, struct unit *u, size_t want,
           bool *is_end)
{
    struct error err = ERROR_INIT;
    size_t len = u->mem.len;

    while (len < want) {
        ssize_t n = source_pread(u->input->source, u->mem.data + len,
                                 want - len, u->pos + len, &err);
        if (n < 0) {
            fail_input(a, u->input, &err);
        }
        if (n <= 0) {
            *is_end = true;
            break;
        }
        len += (size_t)n;
    }
    u->mem.len = len;
    return DT_OK;
}

/* Moves u->pos to the first line start of the slice: right behind the first
 * newline at or after pos - 1. False: no line starts in it. */
static int
align_slice(const struct inputs_args *a, struct unit *u)
{
    bool is_end = false;
    const char *nl;
    int rc;

    u->pos--;
    u->mem.len = 0;
    rc = fill_slice(
        a, u, (size_t)(u->end == UINT64_MAX ? INPUTS_SLICE : u->end - u->pos),
        &is_end);
    while (rc == DT_OK) {
        nl = memchr(u->mem.data, '\n', u->mem.len);
        if (nl) {
            size_t skip = (size_t)(nl - u->mem.data) + 1;

            u->pos += skip;
            u->mem.len -= skip;
            memmove(u->mem.data, nl + 1, u->mem.len);
            u->is_aligned = true;
            return u->pos < u->end ? DT_OK : DT_STOP;
        }
        u->pos += u->mem.len;
        u->mem.len = 0;
        if (is_end || u->pos >= u->end) {
            return DT_STOP;
        }
        rc = fill_slice(a, u, INPUTS_SLICE, &is_end);
    }
    return rc;
}

/* How much of the memory belongs to this slice: up to the end of the line
 * that starts before u->end. 0: its end was not read yet. */
static size_t
slice_share(const struct unit *u, size_t max, bool is_end, uint32_t *flags)
{
    const char *nl;
    size_t from;

    if (u->end == UINT64_MAX || u->pos + u->mem.len < u->end) {
        return lines_take(u->mem.data, u->mem.len, max, is_end, flags);
    }
    /* the newline that ends the last line of the slice */
    from = u->pos >= u->end ? 0 : (size_t)(u->end - 1 - u->pos);
    nl = memchr(u->mem.data + from, '\n', u->mem.len - from);
    if (nl) {
        *flags = 0;
        return (size_t)(nl - u->mem.data) + 1;
    }
    return lines_take(u->mem.data, u->mem.len, max, is_end, flags);
}

/* Moves what lies behind the last run to the front of the memory. */
static void
drop_run(struct unit *u)
{
    if (u->len) {
        u->mem.len -= u->len;
        memmove(u->mem.data, u->mem.data + u->len, u->mem.len);
        u->len = 0;
    }
}

static int
next_slice_run(const struct inputs_args *a, struct unit *u)
{
    size_t max = max_line(a);
    size_t want = INPUTS_SLICE;
    bool is_end = false;
    int rc;

    if (mem_reserve(&u->mem, 2 * INPUTS_SLICE) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    drop_run(u);
    if (!u->is_aligned) {
        rc = align_slice(a, u);
        if (rc != DT_OK) {
            u->has_more = false;
            return rc;
        }
    }
    if (u->end != UINT64_MAX && u->pos < u->end) {
        want = (size_t)(u->end - u->pos) + SLICE_AHEAD;
    }
    for (;;) {
        rc = fill_slice(a, u, want, &is_end);
        if (rc != DT_OK) {
            return rc;
        }
        u->data = u->mem.data;
        u->len = slice_share(u, max, is_end, &u->flags);
        if (u->len || is_end) {
            break;
        }
        want = u->mem.len * 2;
        if (mem_reserve(&u->mem, want) != DT_OK) {
            return DT_ERR_NOMEM;
        }
    }
    u->offset = u->pos;
    u->pos += u->len;
    if ((u->flags & DT_BLOCK_CUT) && !u->is_inside) {
        count_long(a, u->input);
    }
    u->is_inside = (u->flags & DT_BLOCK_CUT) != 0;
    u->has_more =
        !(is_end && u->len == u->mem.len) && (u->is_inside || u->pos < u->end);
    return u->len ? DT_OK : DT_STOP;
}

int
unit_next_run(const struct inputs_args *a, struct unit *u)
{
    if (u->is_last) {
        return DT_STOP;
    }
    if (!u->is_slice) {
        /* the one run of a chunk was read by inputs_next */
        int rc = u->is_fresh ? DT_OK : DT_STOP;

        u->is_fresh = false;
        return rc;
    }
    if (!u->has_more || atomic_load(&u->input->is_stopped)) {
        return DT_STOP;
    }
    if (cancel_is_set(a->cancel)) {
        return DT_ERR_CANCELLED;
    }
    return next_slice_run(a, u);
}

int
unit_detach(struct unit *u, struct buf *other)
{
    size_t rest = u->mem.len - u->len;
    struct buf mine = u->mem;

    if (mem_reserve(other, rest > INPUTS_SLICE ? rest : INPUTS_SLICE) !=
        DT_OK) {
        return DT_ERR_NOMEM;
    }
    if (rest) {
        memcpy(other->data, u->mem.data + u->len, rest);
    }
    other->len = rest;
    u->mem = *other;
    u->len = 0;
    *other = mine;
    return DT_OK;
}

uint64_t
input_line_at(const struct input *in, uint64_t offset)
{
    struct error err = ERROR_INIT;
    struct buf mem = {0};
    uint64_t line = 1, at = 0;

    if (!in->is_random || !in->source ||
        mem_reserve(&mem, INPUTS_SLICE) != DT_OK) {
        return 0;
    }
    while (line && at < offset) {
        size_t want =
            offset - at < INPUTS_SLICE ? (size_t)(offset - at) : INPUTS_SLICE;
        ssize_t n = source_pread(in->source, mem.data, want, at, &err);

        if (n <= 0) {
            line = 0;
        } else {
            line += bytes_count_newlines(mem.data, (size_t)n);
            at += (uint64_t)n;
        }
    }
    buf_fini(&mem);
    return line;
}
