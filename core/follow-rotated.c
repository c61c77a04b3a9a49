/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that were rotated while nobody looked: between two looks, or while no
 * session was there. They are found in the path's folder by their names and
 * ages.
 */
#include "cleanup.h"
#include "follow-source.h"
#include "source-open.h"

#include <dirent.h>
#include <inttypes.h>

#define ROTATED_MAX 256u /* candidates */

struct rotated {
    struct follow_file *v[ROTATED_MAX];
    size_t nr;
};

/* "app.log" → "app.log.1", "app.log-20261130", "app-2026-11-30.log",
 * "app.1.log": the name, with or without its ending, and behind it digits and
 * what stands between them. Compressed ones are not meant. */
static bool
is_rotated_name(const char *base, const char *name)
{
    const char *dot = strrchr(base, '.');
    size_t base_len = strlen(base), name_len = strlen(name);
    size_t stem = dot && dot != base ? (size_t)(dot - base) : base_len;
    size_t ending = base_len - stem;

    if (!strcmp(base, name) || strncmp(base, name, stem) != 0) {
        return false;
    }
    if (!strncmp(base, name, base_len)) {
        name += base_len;
        name_len -= base_len;
    } else if (name_len > base_len &&
               !strcmp(name + name_len - ending, dot ? dot : "")) {
        name += stem;
        name_len -= base_len;
    } else {
        return false;
    }
    return name_len > 0 && strspn(name, "0123456789.-_:T") >= name_len &&
           strcspn(name, "0123456789") < name_len;
}

static void
free_rotated(struct rotated *r)
{
    for (size_t i = 0; i < r->nr; i++) {
        follow_file_free(r->v[i]);
    }
    r->nr = 0;
}

static struct follow_file *
open_rotated(struct follow *f, const struct follow_source *s, const char *name)
{
    struct follow_file *file = NULL;
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *path = NULL;
    struct stat st;
    int fd;

    if (asprintf(&path, "%s/%s", s->dir->path, name) < 0) {
        path = NULL;
        return NULL;
    }
    if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
        follow_find_file(f, st.st_dev, st.st_ino)) {
        return NULL;
    }
    fd = source_open_checked(path, f->args.permission, false, &st, &err);
    if (fd < 0) {
        follow_say(f, FOLLOW_LOG, "%s|%s|%s", path, s->name, err.text);
        return NULL;
    }
    file = follow_file_new(fd, &st);
    if (!file) {
        close(fd);
    } else if (follow_file_why_not(file) ||
               follow_find_file(f, file->dev, file->ino)) {
        follow_file_free(file);
        file = NULL;
    }
    return file;
}

/* Opens all rotated files of the path that are not followed already, `now`
 * left out. */
static void
find_rotated(struct follow *f, const struct follow_source *s,
             const struct follow_file *now, struct rotated *r)
{
    DIR *d = opendir(s->dir->path);
    const struct dirent *entry;

    r->nr = 0;
    while (d && r->nr < ROTATED_MAX && (entry = readdir(d))) {
        if (is_rotated_name(s->base, entry->d_name)) {
            struct follow_file *file = open_rotated(f, s, entry->d_name);

            if (file && file->ino == now->ino && file->dev == now->dev) {
                follow_file_free(file);
            } else if (file) {
                r->v[r->nr++] = file;
            }
        }
    }
    if (d) {
        closedir(d);
    }
}

/* Older first; with a coarse clock both times may be equal. */
static int
compare_age(const void *a, const void *b)
{
    const struct follow_file *x = *(struct follow_file *const *)a;
    const struct follow_file *y = *(struct follow_file *const *)b;
    int64_t d = x->born_ns - y->born_ns;

    d = d ? d : x->changed_ns - y->changed_ns;
    return d < 0 ? -1 : d > 0;
}

static void
note_passed(struct follow_source *s, const struct follow_file *file)
{
    s->passed[s->nr_passed++ % FOLLOW_NR_PASSED] = (struct follow_passed){
        .dev = file->dev, .ino = file->ino, .born_ns = file->born_ns};
}

static bool
is_passed(const struct follow_source *s, const struct follow_file *file)
{
    for (size_t i = 0; i < s->nr_passed && i < FOLLOW_NR_PASSED; i++) {
        const struct follow_passed *p = &s->passed[i];

        if (p->ino == file->ino && p->dev == file->dev &&
            p->born_ns == file->born_ns) {
            return true;
        }
    }
    return false;
}

/* Whether it was made while the path stood for something between the two. A
 * copy that copytruncate made is younger than `previous` too, but older than
 * the last look; or its place is known (follow_find_done). */
static bool
is_between(const struct follow_source *s, const struct follow_file *previous,
           const struct follow_file *file, int64_t until_ns)
{
    if (is_passed(s, file)) {
        return false;
    }
    if (file->born_ns) {
        return file->born_ns >= s->seen_ns && file->born_ns <= until_ns &&
               (!previous || file->born_ns >= previous->born_ns);
    }
    return file->changed_ns >= s->seen_ns &&
           (!previous || file->changed_ns >= previous->changed_ns);
}

/* Inserts what was made since the last look, and after `previous` if there is
 * one, in front of `before` or behind all files. `is_now`: the path stands for
 * `before`; what is left over is noted. Empties the list. */
static void
insert_between(struct follow *f, struct follow_source *s, struct rotated *r,
               const struct follow_file *previous, int64_t until_ns,
               struct follow_file *before, bool is_now)
{
    qsort(r->v, r->nr, sizeof(*r->v), compare_age);
    for (size_t i = 0; i < r->nr; i++) {
        struct follow_file *file = r->v[i];
        /* Written to before `before` was: copied away from it. */
        bool is_copy = before && follow_file_look(before) &&
                       before->changed_ns > file->changed_ns;

        if (!is_between(s, previous, file, until_ns) ||
            follow_find_done(f, file) || (before && !is_copy)) {
            if (is_now) {
                note_passed(s, file);
            }
            follow_file_free(file);
        } else {
            follow_source_insert(f, s, file, before);
        }
    }
    r->nr = 0;
}

/* When the file was made; later than anything if that is not known. */
static int64_t
birth(const struct follow_file *file)
{
    return file->born_ns ? file->born_ns : INT64_MAX;
}

void
follow_push_between(struct follow *f, struct follow_source *s,
                    const struct follow_file *now)
{
    struct rotated r;

    if (s->last && s->last->offset == 0) {
        /* perhaps copied away and truncated before anything was read */
        find_rotated(f, s, now, &r);
        insert_between(f, s, &r, NULL, birth(now), s->last, false);
    }
    find_rotated(f, s, now, &r);
    insert_between(f, s, &r, NULL, birth(now), NULL, false);
}

bool
follow_insert_copy(struct follow *f, struct follow_source *s,
                   struct follow_file *file)
{
    struct follow_file *copy = NULL;
    struct rotated r;
    struct stat st;
    bool is_now;

    find_rotated(f, s, file, &r);
    /* looked at behind the list: then all in it was made before */
    is_now = stat(s->path, &st) == 0 && st.st_dev == file->dev &&
             st.st_ino == file->ino;
    for (size_t i = 0; i < r.nr && !copy; i++) {
        /* it may have been read already, in front of this very file */
        const struct follow_done *done = follow_find_done(f, r.v[i]);
        uint64_t from = done ? done->offset : file->lost_at;

        if (follow_file_is_copy(r.v[i], file) &&
            follow_file_seek(r.v[i], from) == DT_OK) {
            copy = r.v[i];
            r.v[i] = r.v[--r.nr];
        }
    }
    if (copy) {
        follow_source_insert(f, s, copy, file);
    }
    /* truncated more than once: the copies of later contents */
    insert_between(f, s, &r, copy, INT64_MAX, file, is_now);
    return copy != NULL;
}

/* ---- resuming ---- */

static bool
is_place(const struct follow_resume *at, const struct follow_file *file,
         bool by_number)
{
    return (!by_number || (file->ino == at->ino && file->dev == at->dev)) &&
           file->size >= at->offset &&
           follow_file_has_fingerprint(file, at->fingerprint);
}

/* Takes the file at which an earlier session stopped out of the list. Where
 * the file was copied away (copytruncate), its number is another one. */
static struct follow_file *
take_place(struct rotated *r, const struct follow_resume *at, bool by_number)
{
    for (size_t i = 0; i < r->nr; i++) {
        struct follow_file *file = r->v[i];

        if (is_place(at, file, by_number)) {
            r->v[i] = r->v[--r->nr];
            return file;
        }
    }
    return NULL;
}

void
follow_resume_source(struct follow *f, struct follow_source *s,
                     struct follow_file *now)
{
    const struct follow_resume *at = s->resume;
    bool is_same = now->ino == at->ino && now->dev == at->dev;
    struct follow_file *file;
    struct rotated r;

    s->resume = NULL;
    s->seen_ns = 0; /* what was made while no session was there counts, also
                       when the path came later than this one */
    if (is_place(at, now, true) && follow_file_seek(now, at->offset) == DT_OK) {
        return;
    }
    find_rotated(f, s, now, &r);
    file = take_place(&r, at, !is_same);
    if (!file && *at->fingerprint) {
        file = take_place(&r, at, false);
    }
    if (file && follow_file_seek(file, at->offset) == DT_OK) {
        follow_source_insert(f, s, file, NULL);
        insert_between(f, s, &r, file, birth(now), NULL, false);
        return;
    }
    follow_file_free(file);
    free_rotated(&r);
    follow_say(f, FOLLOW_NOTE,
               "%s was %s meanwhile: what it had behind byte %" PRIu64
               " is lost; how many bytes cannot be told, as no copy is left",
               s->path, is_same ? "truncated" : "replaced", at->offset);
}
