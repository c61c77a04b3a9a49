/* SPDX-License-Identifier: Apache-2.0
 *
 * Following the journals of units.
 */
#include "follow-journal.h"

#include "journal.h"
#include "lines.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>

/* An offset is the entry's number and, below it, bytes of its text. */
#define TEXT_BITS 24u
#define TEXT_MAX (1u << TEXT_BITS)

/* "SERIES-TIME": with the time, entries of other series that are older are not
 * taken for new ones. */
#define FINGERPRINT (JOURNAL_SERIES + 17u)

struct unit_journal {
    char *target;
    struct journal *journal; /* NULL: it could not be opened, or broke */
    bool is_announced;       /* its series was told */
    bool may_have_more;
    uint32_t generation;
    char fingerprint[FINGERPRINT];
    struct journal_mark mark; /* of the text */
    struct buf text;          /* of one entry */
    size_t pos;               /* of the text, given out or passed over */
    size_t first_pos; /* of the entry at `mark`, before there is a text */
    struct journal_mark resume; /* the entry that was given out in part, up to
                                   first_pos; series "": none */
    char for_log[ERROR_TEXT_MAX];
    char for_user[ERROR_TEXT_MAX];
    bool has_log, has_note; /* … that were not given out yet */
    uint64_t skip_lines;    /* of the first entries: last_lines counts lines */
};

struct follow_journal {
    struct unit_journal *v;
    uint32_t nr;
    uint32_t turn;
    size_t max_line;
};

/* Why the journal is not read (any more). What the rules refuse is told to the
 * log alone. */
static void
give_up(struct unit_journal *u, int rc, const struct error *err)
{
    bool is_refused = rc == DT_ERR_ACCES;

    journal_close(u->journal);
    u->journal = NULL;
    snprintf(u->for_log, sizeof(u->for_log), "%s", err->text);
    snprintf(u->for_user, sizeof(u->for_user), "Unable to read journal|%s|%.*s",
             u->target, (int)(sizeof(u->for_user) / 2),
             is_refused ? dt_strerror(rc) : err->text);
    u->has_log = is_refused;
    u->has_note = true;
}

/* ---- beginning and end ---- */

static const struct follow_resume *
find_resume(const struct follow_args *args, const char *target)
{
    for (size_t i = 0; i < args->nr_resume; i++) {
        if (strcmp(args->resume[i].path, target) == 0) {
            return &args->resume[i];
        }
    }
    return NULL;
}

/* In front of the last lines: entries may have several, so as many entries
 * are taken, and what is too much of them is passed over. */
static int
seek_lines(struct unit_journal *u, uint64_t lines, struct error *err)
{
    uint64_t have = 0;
    int rc = journal_seek_last(u->journal, lines, err);

    while (rc == DT_OK) {
        u->text.len = 0;
        rc = journal_next(u->journal, &u->text, err);
        if (rc == DT_OK) {
            have += lines_count(u->text.data, u->text.len, 0, SIZE_MAX);
        }
    }
    u->text.len = 0;
    u->skip_lines = have > lines ? have - lines : 0;
    return rc == DT_STOP ? journal_seek_last(u->journal, lines, err) : rc;
}

/* "SERIES-TIME"; see FINGERPRINT. */
static int
seek_resume(struct unit_journal *u, const struct follow_resume *r,
            struct error *err)
{
    struct journal_mark m = {.number = r->offset >> TEXT_BITS};

    if (sscanf(r->fingerprint, "%32[0-9a-f]-%" SCNx64, m.series, &m.time_us) !=
        2) {
        return journal_seek_first(u->journal, err); /* there was no entry */
    }
    u->resume = u->mark = m;
    u->first_pos = r->offset & (TEXT_MAX - 1);
    return journal_seek_mark(u->journal, &m, err);
}

/* Sets where to begin, and `mark` to what counts as given out. */
static int
seek(struct unit_journal *u, const struct follow_args *args, struct error *err)
{
    const struct follow_resume *r = find_resume(args, u->target);
    int rc;

    u->first_pos = TEXT_MAX - 1;
    if (r) {
        return seek_resume(u, r, err);
    }
    if (args->from_start) {
        return journal_seek_first(u->journal, err);
    }
    rc = args->last_lines ? seek_lines(u, args->last_lines, err)
                          : journal_seek_last(u->journal, 0, err);
    u->mark = journal_mark(u->journal);
    if (args->last_lines && u->mark.number > 0) {
        u->mark.number--; /* this one is still to come */
    }
    return rc;
}

static void
open_unit(struct unit_journal *u, const struct follow_args *args,
          const char *dir)
{
    const struct journal_args journal = {
        .target = u->target, .dir = dir, .permission = args->permission};
    struct error err = ERROR_INIT;
    int rc = journal_open(&journal, &u->journal, &err);

    rc = rc ? rc : seek(u, args, &err);
    u->may_have_more = true;
    if (rc != DT_OK) {
        give_up(u, rc, &err);
    }
}

static bool
is_known(const struct follow_journal *f, const char *target)
{
    for (uint32_t i = 0; i < f->nr; i++) {
        if (strcmp(f->v[i].target, target) == 0) {
            return true;
        }
    }
    return false;
}

int
follow_journal_new(const struct follow_args *args, const char *dir,
                   struct follow_journal **out, struct error *err)
{
    const struct strv *p = args->patterns;
    struct follow_journal *f = calloc(1, sizeof(*f));

    *out = NULL;
    if (f) {
        f->v = calloc(p->nr + 1, sizeof(*f->v));
    }
    if (!f || !f->v) {
        free(f);
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    f->max_line = args->max_line;
    for (size_t i = 0; i < p->nr; i++) {
        struct unit_journal *u = &f->v[f->nr];

        if (!journal_is_target(p->v[i]) || is_known(f, p->v[i])) {
            continue;
        }
        u->target = strdup(p->v[i]);
        if (!u->target) {
            follow_journal_free(f);
            return error_set(err, DT_ERR_NOMEM, "out of memory");
        }
        f->nr++;
        open_unit(u, args, dir);
    }
    if (f->nr == 0) {
        follow_journal_free(f);
        return DT_OK;
    }
    *out = f;
    return DT_OK;
}

void
follow_journal_free(struct follow_journal *f)
{
    if (!f) {
        return;
    }
    for (uint32_t i = 0; i < f->nr; i++) {
        journal_close(f->v[i].journal);
        free(f->v[i].target);
        buf_fini(&f->v[i].text);
    }
    free(f->v);
    free(f);
}

uint32_t
follow_journal_count(const struct follow_journal *f)
{
    return f ? f->nr : 0;
}

/* ---- giving out ---- */

static uint64_t
offset_of(const struct journal_mark *mark, size_t pos)
{
    return mark->number << TEXT_BITS | (pos < TEXT_MAX ? pos : TEXT_MAX - 1);
}

/* Passes over lines at the begin of the text that nobody asked for. */
static void
skip_lines(struct unit_journal *u)
{
    while (u->skip_lines > 0 && u->pos < u->text.len) {
        const char *at = u->text.data + u->pos;
        const char *nl = memchr(at, '\n', u->text.len - u->pos);

        u->pos = nl ? (size_t)(nl + 1 - u->text.data) : u->text.len;
        u->skip_lines--;
    }
}

/* Makes the text of the next entry. DT_OK, DT_AGAIN (none now); errors are
 * said, and end this journal. */
static int
next_entry(struct unit_journal *u)
{
    struct error err = ERROR_INIT;
    int rc;

    u->text.len = u->pos = 0;
    rc = journal_next(u->journal, &u->text, &err);
    if (rc == DT_STOP) {
        u->may_have_more = false;
        return DT_AGAIN;
    }
    if (rc != DT_OK) {
        give_up(u, rc, &err);
        return DT_AGAIN;
    }
    if (strcmp(journal_mark(u->journal).series, u->mark.series) != 0) {
        u->generation += *u->mark.series != '\0';
        u->is_announced = false;
    }
    u->mark = journal_mark(u->journal);
    if (u->resume.number == u->mark.number &&
        strcmp(u->resume.series, u->mark.series) == 0) {
        u->pos = u->first_pos < u->text.len ? u->first_pos : u->text.len;
    }
    u->resume = (struct journal_mark){0};
    skip_lines(u);
    return DT_OK;
}

static void
fill(const struct unit_journal *u, struct follow_event *ev,
     enum follow_kind kind)
{
    *ev = (struct follow_event){
        .kind = kind,
        .name = u->target,
        .path = u->target,
        .fd = -1,
        .generation = u->generation,
        .fingerprint = u->fingerprint,
        .offset = offset_of(&u->mark, u->text.len ? u->pos : u->first_pos)};
}

/* Another series, or the first. */
static void
announce(struct unit_journal *u, struct follow_event *ev)
{
    u->is_announced = true;
    u->fingerprint[0] = '\0';
    if (*u->mark.series) {
        snprintf(u->fingerprint, sizeof(u->fingerprint), "%s-%" PRIx64,
                 u->mark.series, u->mark.time_us);
    }
    fill(u, ev, FOLLOW_SOURCE);
}

/* The part of the text that fits. */
static void
give_text(const struct follow_journal *f, struct unit_journal *u, char *buffer,
          size_t cap, struct follow_event *ev)
{
    size_t left = u->text.len - u->pos, n = left < cap ? left : cap;

    fill(u, ev, FOLLOW_DATA);
    n = lines_take(u->text.data + u->pos, n, f->max_line, n == left,
                   &ev->flags);
    memcpy(buffer, u->text.data + u->pos, n);
    ev->data = buffer;
    ev->len = n;
    u->pos += n;
}

/* DT_OK: an event; DT_AGAIN: nothing now. */
static int
step(const struct follow_journal *f, struct unit_journal *u, char *buffer,
     size_t cap, struct follow_event *ev)
{
    for (;;) {
        if (u->has_log || u->has_note) {
            *ev = (struct follow_event){
                .kind = u->has_log ? FOLLOW_LOG : FOLLOW_NOTE,
                .text = u->has_log ? u->for_log : u->for_user};
            *(u->has_log ? &u->has_log : &u->has_note) = false;
            return DT_OK;
        }
        if (!u->journal) {
            return DT_AGAIN;
        }
        if (!u->is_announced) {
            announce(u, ev);
            return DT_OK;
        }
        if (u->pos < u->text.len) {
            give_text(f, u, buffer, cap, ev);
            return DT_OK;
        }
        if ((!u->may_have_more || next_entry(u) != DT_OK) && !u->has_note) {
            return DT_AGAIN;
        }
    }
}

int
follow_journal_next(struct follow_journal *f, char *buffer, size_t cap,
                    struct follow_event *ev)
{
    for (uint32_t i = 0; i < f->nr; i++) {
        uint32_t at = (f->turn + i) % f->nr;

        if (step(f, &f->v[at], buffer, cap, ev) == DT_OK) {
            ev->source = at;
            f->turn = (at + 1) % f->nr;
            return DT_OK;
        }
    }
    return DT_AGAIN;
}

/* ---- waiting ---- */

size_t
follow_journal_poll(const struct follow_journal *f, struct pollfd *p,
                    int *timeout_ms)
{
    size_t nr = 0;

    *timeout_ms = -1;
    for (uint32_t i = 0; i < f->nr; i++) {
        const struct journal *j = f->v[i].journal;
        int ms = j ? journal_timeout_ms(j) : -1;

        if (j) {
            p[nr++] = (struct pollfd){.fd = journal_fd(j), .events = POLLIN};
        }
        if (ms >= 0 && (*timeout_ms < 0 || ms < *timeout_ms)) {
            *timeout_ms = ms;
        }
    }
    return nr;
}

void
follow_journal_process(struct follow_journal *f)
{
    for (uint32_t i = 0; i < f->nr; i++) {
        struct unit_journal *u = &f->v[i];
        struct error err = ERROR_INIT;

        if (u->journal && journal_process(u->journal, &err) == DT_OK) {
            u->may_have_more = true;
        }
    }
}
