/* SPDX-License-Identifier: Apache-2.0
 *
 * One path that is followed: giving out what its files hold, in their order.
 */
#include "follow-source.h"

#include <errno.h>
#include <inttypes.h>

static void
fill_event(struct follow_event *ev, enum follow_kind kind,
           const struct follow_source *s, const struct follow_file *file)
{
    *ev = (struct follow_event){.kind = kind,
                                .source = s->id,
                                .generation = file->generation,
                                .name = s->name,
                                .path = s->path,
                                .dev = file->dev,
                                .ino = file->ino,
                                .fingerprint = file->fingerprint,
                                .fd = file->fd,
                                .offset = file->offset};
}

static bool
announce(struct follow_source *s, struct follow_file *file,
         struct follow_event *ev)
{
    if (file->is_announced) {
        return false;
    }
    if (!file->is_begun) {
        file->is_begun = true;
        file->generation = s->nr_generations++;
    }
    follow_file_fingerprint(file);
    file->is_announced = true;
    file->announced_len = file->head_len;
    fill_event(ev, FOLLOW_SOURCE, s, file);
    return true;
}

/* The lines' event, and what follows from their having been read. */
static int
give_lines(const struct follow_source *s, struct follow_file *file,
           const struct follow_lines *lines, struct follow_event *ev)
{
    fill_event(ev, FOLLOW_DATA, s, file);
    ev->data = lines->data;
    ev->len = lines->len;
    ev->offset = lines->offset;
    ev->flags = lines->flags;
    if (file->announced_len == 0 || (file->announced_len < FOLLOW_HEAD_BYTES &&
                                     file->offset >= FOLLOW_HEAD_BYTES)) {
        follow_file_fingerprint(file);
        file->is_announced = file->head_len == file->announced_len;
    }
    return DT_OK;
}

static int
after_truncation(struct follow *f, struct follow_source *s,
                 struct follow_file *file, const struct follow_lines *rest,
                 struct follow_event *ev)
{
    uint64_t lost = file->lost;

    fill_event(ev, FOLLOW_DATA, s, file);
    if (follow_insert_copy(f, s, file)) {
        return DT_AGAIN; /* the rest is in the copy too */
    }
    if (lost) {
        follow_say(f, FOLLOW_NOTE,
                   "%s was truncated: at least %" PRIu64 " bytes that were not "
                   "read yet are lost",
                   s->path, lost);
    } else {
        follow_say(f, FOLLOW_NOTE,
                   "%s was truncated: what was written just before may be lost",
                   s->path);
    }
    ev->data = rest->data;
    ev->len = rest->len;
    ev->offset = rest->offset;
    ev->flags = rest->flags;
    return rest->len ? DT_OK : DT_AGAIN;
}

/* Reading failed: it is opened anew, and goes on where it was. */
static void
note_failure(struct follow *f, struct follow_source *s, int saved_errno)
{
    char reason[128];

    follow_source_refuse(f, s, &(struct stat){0}, false,
                         strerror_r(saved_errno, reason, sizeof(reason)), NULL);
}

/* One read of a file. DT_OK: an event; DT_STOP: nothing complete now;
 * DT_AGAIN: call again; DT_ERR_IO. */
static int
read_file(struct follow *f, struct follow_source *s, struct follow_file *file,
          bool is_final, char *buffer, size_t cap, struct follow_event *ev)
{
    struct follow_lines lines;

    if (file->offset == 0 && !file->is_truncated &&
        follow_source_refuse_form(f, s, file)) {
        return DT_ERR_IO; /* it was empty when it was opened */
    }
    switch (follow_file_read(file, buffer, cap, f->args.max_line, is_final,
                             &lines)) {
    case FILE_LINES:
        return lines.len ? give_lines(s, file, &lines, ev) : DT_AGAIN;
    case FILE_HOLE:
        follow_say(f, FOLLOW_NOTE,
                   "%s: %zu NUL bytes at byte %" PRIu64 " passed over", s->path,
                   lines.len, lines.offset);
        return DT_AGAIN;
    case FILE_BUSY:
        f->is_busy = true;
        return DT_AGAIN;
    case FILE_TRUNCATED:
        return after_truncation(f, s, file, &lines, ev);
    case FILE_FAILED:
        note_failure(f, s, errno);
        return DT_ERR_IO;
    case FILE_END:
        break;
    }
    return DT_STOP;
}

/* Whether one of the files behind it has bytes: then the writer has moved on,
 * and what it wrote to this one before can be seen by now. */
static bool
is_followed(struct follow_file *file)
{
    for (file = file->next; file; file = file->next) {
        if (follow_file_look(file) && file->size > 0) {
            return true;
        }
    }
    return false;
}

/* The path is gone for long, and so is the file, or it is another source's. */
static bool
is_abandoned(const struct follow *f, const struct follow_source *s,
             const struct follow_file *file)
{
    struct stat st;

    return s->missing_since_ms && f->args.late_ms >= 0 &&
           follow_now_ms() - s->missing_since_ms >= f->args.late_ms &&
           (!s->is_literal || (fstat(file->fd, &st) == 0 && st.st_nlink == 0));
}

/* The first file has nothing complete. DT_STOP: it is the one to wait for;
 * DT_AGAIN: look again; DT_OK: an event; DT_ERR_IO. */
static int
end_first(struct follow *f, struct follow_source *s, char *buffer, size_t cap,
          struct follow_event *ev)
{
    struct follow_file *file = s->first;
    bool is_followed_now = is_followed(file);
    int status;

    if (!is_followed_now && !is_abandoned(f, s, file)) {
        return DT_STOP;
    }
    if (is_followed_now && !file->has_successor) {
        file->has_successor = true; /* read once more after having seen that */
        return DT_AGAIN;
    }
    if (follow_source_unread(file) > 0) {
        int64_t now = follow_now_ms();

        if (file->rest_since_ms == 0) {
            file->rest_since_ms = now;
        }
        if (now - file->rest_since_ms < f->args.rest_ms) {
            return DT_STOP;
        }
        status = read_file(f, s, file, true, buffer, cap, ev);
        if (status != DT_STOP) {
            return status;
        }
    }
    follow_source_retire(f, s);
    if (!s->first && !s->is_literal) {
        s->is_dead = true;
    }
    return DT_AGAIN;
}

/* Late lines of rotated files. */
static int
step_late(struct follow *f, struct follow_source *s, char *buffer, size_t cap,
          struct follow_event *ev)
{
    int64_t now = follow_now_ms();
    struct follow_file **at = &s->late;

    while (*at) {
        struct follow_file *file = *at;
        bool is_over = now - file->quiet_since_ms >= f->args.late_ms;
        int status = DT_STOP;

        if (is_over || follow_source_unread(file) > 0) {
            status = read_file(f, s, file, is_over, buffer, cap, ev);
        }
        if (status == DT_OK || status == DT_AGAIN) {
            file->quiet_since_ms = now;
            return status;
        }
        if (is_over || status < 0) {
            *at = file->next;
            follow_source_close(f, file);
        } else {
            at = &file->next;
        }
    }
    return DT_STOP;
}

int
follow_source_step(struct follow *f, struct follow_source *s, char *buffer,
                   size_t cap, struct follow_event *ev)
{
    int status;

    if (s->needs_check) {
        follow_source_check(f, s);
    }
    if (f->texts) {
        return DT_AGAIN; /* texts come before what follows from them */
    }
    if (s->first) {
        if (announce(s, s->first, ev)) {
            return DT_OK;
        }
        status = read_file(f, s, s->first, false, buffer, cap, ev);
        if (status == DT_STOP) {
            status = end_first(f, s, buffer, cap, ev);
        }
        if (status < 0) {
            follow_source_close(f, follow_source_take_first(s));
            s->is_dirty = false; /* the timer tries again */
            return DT_STOP;
        }
        if (status != DT_STOP) {
            return status;
        }
    }
    status = step_late(f, s, buffer, cap, ev);
    if (status == DT_STOP) {
        s->is_dirty = s->needs_check;
    }
    return status;
}
