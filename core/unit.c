/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of a source to runs of whole lines: slices of plain files, chunks of
 * streams.
 */
#include "unit.h"

#include "clock.h"
#include "config.h"
#include "lines.h"

#include <bytes.h>

#include <stdlib.h>

#define SLICE_AHEAD 1024u /* a line's end is usually this near */
#define SLICE_ROOM (INPUTS_SLICE + SLICE_AHEAD)
/* The kernel copies a file's bytes 1.2 times as fast to where they stand in a
 * page as they do in the file; a few bytes behind that place it is three times
 * slower. */
#define PLACE 4096u

/* ---- notes ---- */

/* A note is one line: a newline in a name that it tells must not begin another,
 * which would look like one of ours. `out` has four bytes for each of `text`.
 */
static size_t
one_line(char *out, const char *text)
{
    char *to = out;

    for (; *text; text++) {
        if (*text == '\n' || *text == '\r') {
            to += sprintf(to, "\\x%02x", (unsigned)*text);
        } else {
            *to++ = *text;
        }
    }
    *to = '\0';
    return (size_t)(to - out);
}

void
query_note(const struct query_env *env, uint32_t query,
           const struct cancel *cancel, const char *format, ...)
{
    char text[ERROR_TEXT_MAX], line[4 * ERROR_TEXT_MAX];
    va_list ap;
    int len;

    va_start(ap, format);
    len = vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    if (len < 0) {
        return;
    }
    const struct wire_frame f = {.type = WIRE_S_NOTE,
                                 .query = query,
                                 .data = line,
                                 .len = one_line(line, text)};
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

/* Where in the memory the byte at `offset` of a file is put. */
static size_t
mem_place(const struct buf *mem, uint64_t offset)
{
    return (size_t)((offset - (uintptr_t)mem->data) % PLACE);
}

/* Room for `cap` bytes behind their place. */
static int
mem_begin(struct unit *u, size_t cap, uint64_t offset)
{
    if (mem_reserve(&u->mem, cap + PLACE) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    u->at = u->mem.len = mem_place(&u->mem, offset);
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

/* Reading has failed. Whole lines were read; the begin of one whose rest cannot
 * be had is dropped, or the next file's first line would stand behind it. A
 * file that became shorter just ends. */
static void
fail_input(struct unit *u, const struct error *err)
{
    struct input *in = u->input;
    uint64_t at = u->pos + (u->mem.len - u->at);

    if (err->status != DT_ERR_NOENT) {
        const char *data = u->mem.data + u->at;
        const char *nl = memrchr(data, '\n', u->mem.len - u->at);

        u->mem.len = u->at + (nl ? (size_t)(nl + 1 - data) : 0);
        atomic_store(&in->is_broken, true);
    }
    pthread_mutex_lock(&in->failure_lock);
    if (!in->has_failed || at < in->failed_at) {
        in->failed_at = at;
        free(in->failure);
        in->failure = strdup(err->text);
    }
    in->has_failed = true;
    pthread_mutex_unlock(&in->failure_lock);
}

void
input_tell_failure(const struct inputs_args *a, const struct input *in)
{
    if (in->has_failed) {
        query_note(a->env, a->spec->id, a->cancel,
                   "Unable to read file(s) to the end|%s",
                   in->failure ? in->failure : in->target.path);
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

/* ---- progress ---- */

/* So many more bytes of the file were read. */
static void
tell_progress(const struct inputs_args *a, struct input *in, uint64_t bytes)
{
    atomic_fetch_add_explicit(&in->raw_done, bytes, memory_order_relaxed);
    progress_add(a->progress, bytes);
    progress_tick(a->progress, clock_now_ms());
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
                                room - u->mem.len, a->stop_fd, &err);

        if (n == DT_ERR_CANCELLED) {
            /* Stopped: the unit stays empty, the next is the last. */
            return cancel_is_set(a->cancel) ? DT_ERR_CANCELLED : DT_OK;
        }
        if (n < 0) {
            fail_input(u, &err);
        }
        *is_end = n <= 0;
        u->mem.len += n > 0 ? (size_t)n : 0;
        u->len = lines_take(u->mem.data + u->at, u->mem.len - u->at,
                            max_line(a), *is_end, &u->flags);
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

    /* what is read comes behind, to the begin of a page */
    if (mem_begin(u, carried + INPUTS_SLICE, -(uint64_t)carried) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    if (carried) {
        memcpy(u->mem.data + u->at, in->carry.data, carried);
        in->carry.len = 0;
    }
    u->mem.len += carried;
    rc = read_lines(a, u, &is_end);
    if (rc != DT_OK) {
        return rc;
    }
    in->is_exhausted = is_end;
    tell_progress(a, in, source_raw_offset(in->source) - in->raw_done);
    u->data = u->mem.data + u->at;
    u->offset = in->offset;
    in->offset += u->len;
    u->is_inside = in->is_inside;
    in->is_inside = (u->flags & DT_BLOCK_CUT) != 0;
    if (in->is_inside && !u->is_inside) {
        count_long(a, in);
    }
    u->at += u->len;
    rc = buf_append(&in->carry, u->mem.data + u->at, u->mem.len - u->at);
    u->mem.len = u->at;
    buf_shrink(&in->carry, INPUTS_SLICE);
    return rc;
}

void
unit_fini(struct unit *u)
{
    buf_fini(&u->mem);
}

/* ---- slices ---- */

/* Reads until `want` bytes from u->pos on are there, or the file ends. Makes
 * room for them. */
static int
fill_slice(struct unit *u, uint64_t want, bool *is_end)
{
    struct error err = ERROR_INIT;
    size_t until = u->at + (size_t)want;

    if (mem_reserve(&u->mem, until) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    while (u->mem.len < until) {
        ssize_t n = source_pread(u->input->source, u->mem.data + u->mem.len,
                                 until - u->mem.len,
                                 u->pos + (u->mem.len - u->at), &err);
        if (n < 0) {
            fail_input(u, &err);
        }
        if (n <= 0) {
            *is_end = true;
            break;
        }
        u->mem.len += (size_t)n;
    }
    return DT_OK;
}

/* How many bytes to have: of a slice that was cut off all and the rest of its
 * last line, else as many as end with a page of the file. */
static uint64_t
slice_want(const struct unit *u)
{
    if (u->end != UINT64_MAX && u->pos < u->end) {
        return u->end - u->pos + SLICE_AHEAD;
    }
    return INPUTS_SLICE - u->pos % PLACE;
}

/* Moves u->pos to the first line start of the slice: right behind the first
 * newline at or after pos - 1. DT_STOP: no line starts in it. */
static int
align_slice(struct unit *u)
{
    bool is_end = false;

    u->pos--;
    for (;;) {
        const char *nl;
        size_t len;

        u->at = u->mem.len = mem_place(&u->mem, u->pos);
        if (fill_slice(u, slice_want(u), &is_end) != DT_OK) {
            return DT_ERR_NOMEM;
        }
        len = u->mem.len - u->at;
        nl = memchr(u->mem.data + u->at, '\n', len);
        if (nl) {
            len = (size_t)(nl - (u->mem.data + u->at)) + 1;
            u->is_aligned = true;
        }
        u->at += len;
        u->pos += len;
        if (u->pos >= u->end || (is_end && !nl)) {
            return DT_STOP;
        }
        if (nl) {
            return DT_OK;
        }
    }
}

/* How much of the memory belongs to this slice: up to the end of the line
 * that starts before u->end. 0: its end was not read yet. */
static size_t
slice_share(const struct unit *u, size_t max, bool is_end, uint32_t *flags)
{
    const char *data = u->mem.data + u->at, *nl;
    size_t len = u->mem.len - u->at, from;

    if (u->end == UINT64_MAX || u->pos + len < u->end) {
        return lines_take(data, len, max, is_end, flags);
    }
    /* the newline that ends the last line of the slice */
    from = u->pos >= u->end ? 0 : (size_t)(u->end - 1 - u->pos);
    nl = memchr(data + from, '\n', len - from);
    if (nl) {
        *flags = 0;
        return (size_t)(nl - data) + 1;
    }
    return lines_take(data, len, max, is_end, flags);
}

/* Moves what lies behind the last run to its place in the memory, that is to
 * the front. After a long line, for which the memory was taken anew, the place
 * may lie further back than there is room. */
static void
drop_run(struct unit *u)
{
    size_t rest = u->mem.len - u->at, to = mem_place(&u->mem, u->pos);

    if (u->len) {
        if (to > u->at) {
            to = 0;
        }
        memmove(u->mem.data + to, u->mem.data + u->at, rest);
        u->at = to;
        u->mem.len = to + rest;
        u->len = 0;
    }
}

/* Reads on until there is a run. */
static int
read_run(const struct inputs_args *a, struct unit *u, bool *is_end)
{
    uint64_t want = slice_want(u);

    for (;;) {
        if (fill_slice(u, want, is_end) != DT_OK) {
            return DT_ERR_NOMEM;
        }
        u->len = slice_share(u, max_line(a), *is_end, &u->flags);
        if (u->len || *is_end) {
            return DT_OK;
        }
        want = (uint64_t)(u->mem.len - u->at) * 2;
    }
}

static int
next_slice_run(const struct inputs_args *a, struct unit *u)
{
    bool is_end = false;
    int rc = u->is_fresh ? mem_begin(u, SLICE_ROOM, u->pos)
                         : mem_reserve(&u->mem, SLICE_ROOM + PLACE);

    u->is_fresh = false;
    if (rc != DT_OK) {
        return rc;
    }
    drop_run(u);
    if (!u->is_aligned) {
        rc = align_slice(u);
    }
    if (rc == DT_OK) {
        rc = read_run(a, u, &is_end);
    }
    if (rc != DT_OK) {
        u->has_more = false;
        return rc;
    }
    tell_progress(a, u->input, u->len);
    u->data = u->mem.data + u->at;
    u->offset = u->pos;
    u->at += u->len;
    u->pos += u->len;
    if ((u->flags & DT_BLOCK_CUT) && !u->is_inside) {
        count_long(a, u->input);
    }
    u->is_inside = (u->flags & DT_BLOCK_CUT) != 0;
    u->has_more =
        !(is_end && u->at == u->mem.len) && (u->is_inside || u->pos < u->end);
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
    size_t rest = u->mem.len - u->at, at;
    struct buf mine = u->mem;

    if (mem_reserve(other, (rest > SLICE_ROOM ? rest : SLICE_ROOM) + PLACE) !=
        DT_OK) {
        return DT_ERR_NOMEM;
    }
    at = mem_place(other, u->pos);
    if (rest) {
        memcpy(other->data + at, u->mem.data + u->at, rest);
    }
    other->len = at + rest;
    u->mem = *other;
    u->at = at;
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

void
input_describe(const struct input *in, struct dt_source *out)
{
    out->name = in->target.name;
    out->path = in->target.path;
    if (out->size >=
        offsetof(struct dt_source, head_offset) + sizeof(out->head_offset)) {
        out->head = in->head;
        out->head_len = in->head_len;
        out->head_offset = in->head_offset;
    }
    if (out->size >=
        offsetof(struct dt_source, state_len) + sizeof(out->state_len)) {
        out->state = in->state;
        out->state_len = in->state_len;
    }
}
