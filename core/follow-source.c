/* SPDX-License-Identifier: Apache-2.0
 *
 * One path that is followed, and the files behind it.
 */
#include "follow-source.h"

#include "cleanup.h"
#include "source-open.h"

#include <errno.h>
#include <inttypes.h>

#define SETTLED_NS 1000000000ll /* many ticks of the clock of files */
#define WHOLE_LOOK_NS                                      \
    10000000000ll /* a mapping may be written without them \
                   */

struct follow_source *
follow_source_new(struct follow *f, const struct source_target *t)
{
    struct follow_source *s = calloc(1, sizeof(*s));
    const char *slash = strrchr(t->path, '/');
    CLEANUP_FREE char *folder =
        slash == t->path ? strdup("/")
        : slash          ? strndup(t->path, (size_t)(slash - t->path))
                         : strdup(".");

    if (!s || !folder || !(s->path = strdup(t->path)) ||
        !(s->name = strdup(t->name)) ||
        !(s->dir = follow_dir_ref(&f->events, folder))) {
        follow_source_free(f, s);
        return NULL;
    }
    s->id = f->next_id++;
    s->base = s->path + (slash ? slash + 1 - t->path : 0);
    s->is_literal = t->is_literal;
    s->is_initial = !f->is_started;
    s->is_dirty = s->needs_check = true;
    s->seen_ns = f->began_ns; /* when it was not there */
    for (size_t i = 0; i < f->args.nr_resume; i++) {
        if (!strcmp(f->resume[i].path, s->path)) {
            s->resume = &f->resume[i];
        }
    }
    return s;
}

static void
drop_file(struct follow *f, struct follow_file *file)
{
    follow_events_remove(&f->events, file);
    follow_file_free(file);
}

static void
drop_list(struct follow *f, struct follow_file *file)
{
    while (file) {
        struct follow_file *next = file->next;

        drop_file(f, file);
        file = next;
    }
}

void
follow_source_free(struct follow *f, struct follow_source *s)
{
    if (!s) {
        return;
    }
    drop_list(f, s->first);
    drop_list(f, s->late);
    follow_dir_unref(&f->events, s->dir);
    free(s->path);
    free(s->name);
    free(s);
}

/* ---- files that come and go ---- */

static bool
is_file(const struct follow_file *file, const struct stat *st)
{
    return file->ino == st->st_ino && file->dev == st->st_dev;
}

struct follow_file *
follow_find_file(const struct follow *f, uint64_t dev, uint64_t ino)
{
    for (size_t i = 0; i < f->nr_sources; i++) {
        struct follow_file *lists[] = {f->sources[i]->first,
                                       f->sources[i]->late};

        for (size_t l = 0; l < 2; l++) {
            for (struct follow_file *o = lists[l]; o; o = o->next) {
                if (o->ino == ino && o->dev == dev) {
                    return o;
                }
            }
        }
    }
    return NULL;
}

const struct follow_done *
follow_find_done(const struct follow *f, const struct follow_file *file)
{
    const struct follow_done *found = NULL;
    size_t nr = f->nr_done < FOLLOW_NR_DONE ? f->nr_done : FOLLOW_NR_DONE;

    for (size_t i = 1; i <= nr && !found; i++) { /* the latest first */
        const struct follow_done *d =
            &f->done[(f->nr_done - i) % FOLLOW_NR_DONE];

        if (d->ino == file->ino && d->dev == file->dev) {
            found = d;
        }
    }
    /* An inode number is soon used again, by quite another file. */
    return found && found->offset > 0 &&
                   follow_file_has_tail(file, found->offset, found->tail_hash)
               ? found
               : NULL;
}

void
follow_source_close(struct follow *f, struct follow_file *file)
{
    struct follow_done *d = &f->done[f->nr_done % FOLLOW_NR_DONE];
    struct stat st;

    if (fstat(file->fd, &st) == 0 && st.st_nlink > 0) {
        d->dev = file->dev;
        d->ino = file->ino;
        d->offset = file->offset;
        d->tail_hash = follow_file_tail_hash(file);
        f->nr_done++;
    }
    drop_file(f, file);
}

uint64_t
follow_source_unread(struct follow_file *file)
{
    follow_file_look(file);
    return file->size > file->offset ? file->size - file->offset : 0;
}

struct follow_file *
follow_source_take_first(struct follow_source *s)
{
    struct follow_file *file = s->first;

    s->first = file->next;
    if (!s->first) {
        s->last = NULL;
    }
    file->next = NULL;
    return file;
}

void
follow_source_retire(struct follow *f, struct follow_source *s)
{
    struct follow_file *file = follow_source_take_first(s);

    if (f->args.late_ms < 0) {
        follow_source_close(f, file);
        return;
    }
    file->quiet_since_ms = follow_now_ms();
    file->next = s->late;
    s->late = file;
}

void
follow_source_trim(struct follow *f, struct follow_source *s)
{
    uint64_t held = 0;
    size_t nr = 0;

    for (size_t i = 0; i < f->nr_sources; i++) {
        struct follow_file *file = f->sources[i]->first;

        for (; file && file->next; file = file->next) {
            held += follow_source_unread(file);
            nr += f->sources[i] == s;
        }
    }
    while (s->first && s->first->next &&
           (nr > FOLLOW_MAX_FILES ||
            (f->args.max_held_bytes && held > f->args.max_held_bytes))) {
        struct follow_file *file = follow_source_take_first(s);
        uint64_t bytes = follow_source_unread(file);

        follow_say(f, FOLLOW_NOTE,
                   "%" PRIu64 " bytes in %s given up: rotated, and too much "
                   "waits to be read",
                   bytes, s->path);
        follow_file_seek(file, file->size); /* as if it had been read */
        held -= bytes;
        nr--;
        follow_source_close(f, file);
    }
}

void
follow_source_insert(struct follow *f, struct follow_source *s,
                     struct follow_file *file, struct follow_file *before)
{
    struct follow_file **at = &s->first;
    char why[160];

    while (*at != before) {
        at = &(*at)->next;
    }
    file->next = before;
    *at = file;
    file->source = s;
    if (!before) {
        follow_say(f, FOLLOW_LOG, "%s|Another file|inode|%" PRIu64, s->path,
                   file->ino);
        s->last = file;
    }
    s->is_dirty = s->had_file = true;
    s->is_dead = false;
    if (follow_events_add(&f->events, file, why, sizeof(why)) != DT_OK) {
        follow_say(f, FOLLOW_NOTE,
                   "%s: %s; it and further files are looked at ten times a "
                   "second instead",
                   s->path, why);
    }
}

/* ---- what the path stands for ---- */

/* Another source may have the file because it was renamed from there: then
 * that one gives out its lines, and this one goes on where it ends. */
static bool
is_held_elsewhere(const struct follow *f, const struct follow_source *s,
                  const struct stat *st)
{
    for (size_t i = 0; i < f->nr_sources; i++) {
        const struct follow_source *o = f->sources[i];
        struct stat now;

        for (const struct follow_file *file = o->late; file && o != s;
             file = file->next) {
            if (is_file(file, st)) {
                return true;
            }
        }
        for (const struct follow_file *file = o->first; file && o != s;
             file = file->next) {
            if (is_file(file, st)) { /* or it has two names */
                return file != o->last || stat(o->path, &now) < 0 ||
                       !is_file(file, &now);
            }
        }
    }
    return false;
}

void
follow_source_refuse(struct follow *f, struct follow_source *s,
                     const struct stat *st, bool is_lasting, const char *reason,
                     const char *shown)
{
    if (s->state != SOURCE_REFUSED) {
        follow_say(f, FOLLOW_NOTE,
                   "Unable to read file(s), check server logs|%s|%s", s->path,
                   shown ? shown : reason);
    }
    if (s->state != SOURCE_REFUSED || is_lasting) {
        follow_say(f, FOLLOW_LOG, "%s|%s|%s", s->path, s->name, reason);
    }
    s->state = SOURCE_REFUSED;
    s->refused = is_lasting ? *st : (struct stat){0};
}

bool
follow_source_refuse_form(struct follow *f, struct follow_source *s,
                          const struct follow_file *file)
{
    const char *why = follow_file_why_not(file);
    struct error err = ERROR_INIT;

    if (fstat(file->fd, &s->refused) < 0) {
        s->refused = (struct stat){0};
    }
    if (why) {
        error_set(&err, DT_ERR_INVAL, "%s: %s", s->path, why);
    } else if (!f->args.refuse_output ||
               source_open_refuse_output(s->path, &s->refused, &err) == DT_OK) {
        return false;
    }
    if (s->state != SOURCE_REFUSED) {
        follow_say(f, FOLLOW_NOTE, "%s", err.text);
    }
    s->state = SOURCE_REFUSED;
    return true;
}

/* Copies have to be queued before other files come behind. */
static void
check_truncation(struct follow *f, struct follow_source *s,
                 struct follow_file *file)
{
    bool was_pending = file->is_truncated;
    struct follow_file **at = &s->first;

    if (!follow_file_look_for_truncation(file)) {
        return;
    }
    while (*at != file) {
        at = &(*at)->next;
    }
    if (follow_insert_copy(f, s, file) && !was_pending) {
        file->is_truncated = false; /* nothing is lost, the copy has it */
    } else if (*at != file) {
        follow_file_move_truncation(*at, file);
    }
}

static void
set_start(struct follow *f, struct follow_source *s, struct follow_file *file)
{
    const struct follow_done *done = follow_find_done(f, file);
    int status = DT_OK;

    if (s->resume) {
        follow_resume_source(f, s, file);
    } else if (done) {
        status = follow_file_seek(file, done->offset);
    } else if (s->had_file || (s->is_literal && !s->is_initial)) {
        if (s->last) {
            check_truncation(f, s, s->last);
        }
        follow_push_between(f, s, file);
    } else if (s->is_initial && !f->args.from_start) {
        status = f->args.last_lines
                     ? follow_file_seek_lines(file, f->args.last_lines)
                     : follow_file_seek_end(file);
    }
    if (status != DT_OK) { /* it shrank this very moment */
        follow_say(f, FOLLOW_LOG, "%s|%s|read from its start", s->path,
                   s->name);
    }
}

/* Closes what is only kept open for late lines, of all sources. */
static bool
close_late(struct follow *f)
{
    bool has_any = false;

    for (size_t i = 0; i < f->nr_sources; i++) {
        struct follow_source *s = f->sources[i];

        while (s->late) {
            struct follow_file *file = s->late;

            s->late = file->next;
            follow_source_close(f, file);
            has_any = true;
        }
    }
    return has_any;
}

static void
open_file(struct follow *f, struct follow_source *s, const struct stat *seen)
{
    struct error err = ERROR_INIT;
    struct follow_file *file;
    struct stat st;
    int64_t now = follow_clock_ns();
    int fd = source_open_checked(s->path, f->args.permission, false, &st, &err);

    if (fd == DT_ERR_LIMIT && close_late(f)) { /* too many open files */
        fd = source_open_checked(s->path, f->args.permission, false, &st, &err);
    }
    if (fd < 0) {
        follow_source_refuse(
            f, s, seen, fd == DT_ERR_ACCES || fd == DT_ERR_INVAL, err.text,
            fd == DT_ERR_ACCES ? source_denied(f->args.permission) : NULL);
        return;
    }
    file = follow_file_new(fd, &st);
    if (!file) {
        close(fd);
        follow_source_refuse(f, s, seen, false, "out of memory", NULL);
        return;
    }
    if (follow_find_file(f, file->dev, file->ino) && !is_file(file, seen)) {
        follow_file_free(file); /* replaced just now: look once more */
        s->needs_check = s->is_dirty = true;
        return;
    }
    if (follow_source_refuse_form(f, s, file)) {
        follow_file_free(file);
        return;
    }
    s->state = SOURCE_OPEN;
    set_start(f, s, file);
    follow_source_insert(f, s, file, NULL);
    follow_source_trim(f, s);
    s->seen_ns = now;
}

/* A rotated file that has come back to its name goes on as the present one. */
static bool
promote_late(struct follow_source *s, const struct stat *st)
{
    struct follow_file **at = &s->late;
    struct follow_file *file;

    while (*at && !is_file(*at, st)) {
        at = &(*at)->next;
    }
    file = *at;
    if (!file) {
        return false;
    }
    *at = file->next;
    file->next = NULL;
    file->has_successor = false;
    file->rest_since_ms = 0;
    if (s->last) {
        s->last->next = file;
    } else {
        s->first = file;
    }
    s->last = file;
    return true;
}

static void
note_missing(struct follow *f, struct follow_source *s)
{
    int64_t now = follow_now_ms();

    if (s->missing_since_ms == 0) {
        s->missing_since_ms = now;
        follow_dir_refresh(&f->events, s->dir);
    } else if (s->state == SOURCE_OPEN && s->is_literal &&
               now - s->missing_since_ms >= 1000) {
        s->state = SOURCE_MISSING;
        follow_say(f, FOLLOW_NOTE, "%s: no such file now, waiting for it",
                   s->path);
    }
    s->is_dirty = true;
}

static int64_t
ns_of(const struct timespec *t)
{
    return t->tv_sec * 1000000000ll + t->tv_nsec;
}

/* Whether the only file of the source, which stands for its path, was looked at
 * wholly since it was changed last. The clock of files ticks slowly: what was
 * changed shortly before a look may have been changed behind it, too. */
static bool
is_settled(const struct follow_source *s, const struct follow_file *file,
           const struct stat *st, int64_t now)
{
    const struct stat *then = &file->checked;

    return s->first == file && !file->next && !s->late && !file->is_truncated &&
           st->st_size == then->st_size &&
           ns_of(&st->st_mtim) == ns_of(&then->st_mtim) &&
           ns_of(&st->st_ctim) == ns_of(&then->st_ctim) &&
           file->checked_ns - ns_of(&st->st_ctim) > SETTLED_NS &&
           file->checked_ns - ns_of(&st->st_mtim) > SETTLED_NS &&
           now - file->checked_ns < WHOLE_LOOK_NS;
}

void
follow_source_check(struct follow *f, struct follow_source *s)
{
    struct stat st;
    int64_t now = follow_clock_ns();

    s->needs_check = false;
    if (stat(s->path, &st) < 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            note_missing(f, s);
        }
        return;
    }
    s->missing_since_ms = 0;
    if (s->state == SOURCE_MISSING) {
        s->state = SOURCE_OPEN;
    }
    for (struct follow_file *file = s->first; file; file = file->next) {
        if (is_file(file, &st)) {
            s->seen_ns = now;
            if (!is_settled(s, file, &st, now)) {
                file->checked = st;
                file->checked_ns = now;
                check_truncation(f, s, file);
                s->is_dirty = true;
            }
            return;
        }
    }
    s->is_dirty = true;
    if (promote_late(s, &st)) {
        return;
    }
    if (s->state == SOURCE_REFUSED && s->refused.st_ino == st.st_ino &&
        s->refused.st_dev == st.st_dev &&
        s->refused.st_ctim.tv_sec == st.st_ctim.tv_sec &&
        s->refused.st_ctim.tv_nsec == st.st_ctim.tv_nsec) {
        return;
    }
    if (!is_held_elsewhere(f, s, &st)) {
        follow_dir_refresh(&f->events, s->dir);
        open_file(f, s, &st);
    }
}
