/* SPDX-License-Identifier: Apache-2.0
 *
 * The journal of a systemd unit as text.
 */
#include "journal.h"

#include "permission.h"
#include "source.h"

#include <ctype.h>

bool
journal_is_target(const char *target)
{
    return strncmp(target, SOURCE_JOURNAL, strlen(SOURCE_JOURNAL)) == 0;
}

#ifndef HAVE_SYSTEMD

bool
journal_is_built(void)
{
    return false;
}

int
journal_open(const struct journal_args *args, struct journal **out,
             struct error *err)
{
    *out = NULL;
    return error_set(err, DT_ERR_INVAL,
                     "%s: this build cannot read the journal (it has no "
                     "libsystemd)",
                     args->target);
}

void
journal_close(struct journal *j)
{
    (void)j;
}

/* Nothing below can be called without an open journal. */

int
journal_set_empty(const struct journal *j, struct error *err)
{
    (void)j;
    return error_set(err, DT_ERR_INTERNAL, "no journal");
}

int
journal_next(struct journal *j, struct buf *out, struct error *err)
{
    (void)out;
    return journal_set_empty(j, err);
}

struct journal_mark
journal_mark(const struct journal *j)
{
    (void)j;
    return (struct journal_mark){0};
}

int
journal_seek_last(struct journal *j, uint64_t nr, struct error *err)
{
    (void)nr;
    return journal_set_empty(j, err);
}

int
journal_seek_mark(struct journal *j, const struct journal_mark *mark,
                  struct error *err)
{
    (void)mark;
    return journal_set_empty(j, err);
}

int
journal_seek_first(struct journal *j, struct error *err)
{
    return journal_set_empty(j, err);
}

int
journal_fd(const struct journal *j)
{
    (void)j;
    return -1;
}

int
journal_timeout_ms(const struct journal *j)
{
    (void)j;
    return -1;
}

int
journal_process(struct journal *j, struct error *err)
{
    return journal_set_empty(j, err);
}

#else

#include "cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <systemd/sd-journal.h>
#include <time.h>

#define MAX_UNIT 255u
#define MAX_DATA (64u << 20) /* bytes of one field that are looked at */

struct journal {
    sd_journal *sd;
    char *target;
    char *unit; /* with its suffix */
    struct journal_mark mark;
    bool is_current; /* journal_next is to give out the entry it stands at */
};

bool
journal_is_built(void)
{
    return true;
}

/* ---- opening ---- */

static int
failed(const struct journal *j, int e, const char *what, struct error *err)
{
    return error_errno(err, -e, "%s: %s", j->target, what);
}

/* The name of a unit with its suffix; *out is a new string. */
static int
unit_name(const char *target, char **out, struct error *err)
{
    const char *name = target + strlen(SOURCE_JOURNAL);
    size_t len = strlen(name);
    bool is_good = len > 0 && len <= MAX_UNIT && *name != '-';

    for (const char *p = name; *p; p++) {
        is_good = is_good && !isspace((unsigned char)*p) &&
                  !iscntrl((unsigned char)*p);
    }
    if (!is_good) {
        return error_set(err, DT_ERR_INVAL,
                         "%.300s: a unit is expected: 1 to %u bytes, without "
                         "blanks and control characters, not beginning with -",
                         target, MAX_UNIT);
    }
    if (asprintf(out, "%s%s", name, strchr(name, '.') ? "" : ".service") < 0) {
        *out = NULL;
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    return DT_OK;
}

/* The rules must allow what the user wrote and what it means: neither a rule
 * for "nginx" nor one for "nginx.service" can be got round by the other. */
static int
check(const struct journal *j, const struct permission *permission,
      struct error *err)
{
    CLEANUP_FREE char *whole = NULL;
    int rc;

    if (!permission) {
        return DT_OK;
    }
    if (asprintf(&whole, SOURCE_JOURNAL "%s", j->unit) < 0) {
        whole = NULL;
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    rc = permission_check(permission, -1, j->target, err);
    return rc == DT_OK ? permission_check(permission, -1, whole, err) : rc;
}

static int
match(struct journal *j, const char *field, const char *value)
{
    CLEANUP_FREE char *text = NULL;

    if (asprintf(&text, "%s=%s", field, value) < 0) {
        text = NULL;
        return -ENOMEM;
    }
    return sd_journal_add_match(j->sd, text, 0);
}

/* What the unit wrote, what systemd says of it, and its core dumps: as
 * journalctl -u. */
static int
add_matches(struct journal *j)
{
    int e = match(j, "_SYSTEMD_UNIT", j->unit);

    e = e < 0 ? e : sd_journal_add_disjunction(j->sd);
    e = e < 0 ? e : match(j, "_PID", "1");
    e = e < 0 ? e : match(j, "UNIT", j->unit);
    e = e < 0 ? e : sd_journal_add_disjunction(j->sd);
    e = e < 0 ? e : match(j, "_UID", "0");
    e = e < 0 ? e : match(j, "OBJECT_SYSTEMD_UNIT", j->unit);
    e = e < 0 ? e : sd_journal_add_disjunction(j->sd);
    e = e < 0 ? e : match(j, "MESSAGE_ID", "fc2e22bc6ee647b6b90729ab34a250b1");
    e = e < 0 ? e : match(j, "_UID", "0");
    return e < 0 ? e : match(j, "COREDUMP_UNIT", j->unit);
}

static int
open_files(struct journal *j, const char *dir, struct error *err)
{
    int e = *dir ? sd_journal_open_directory(&j->sd, dir, 0)
                 : sd_journal_open(&j->sd, SD_JOURNAL_LOCAL_ONLY);

    if (e < 0) {
        j->sd = NULL;
        return failed(j, e, *dir ? dir : "the journal cannot be opened", err);
    }
    e = sd_journal_set_data_threshold(j->sd, MAX_DATA);
    e = e < 0 ? e : add_matches(j);
    e = e < 0 ? e : sd_journal_seek_head(j->sd);
    return e < 0 ? failed(j, e, "the journal cannot be read", err) : DT_OK;
}

int
journal_open(const struct journal_args *args, struct journal **out,
             struct error *err)
{
    struct journal *j = calloc(1, sizeof(*j));
    int rc;

    *out = NULL;
    if (!j || !(j->target = strdup(args->target))) {
        free(j);
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    rc = unit_name(args->target, &j->unit, err);
    rc = rc ? rc : check(j, args->permission, err);
    rc = rc ? rc : open_files(j, args->dir, err);
    if (rc != DT_OK) {
        journal_close(j);
        return rc;
    }
    *out = j;
    return DT_OK;
}

void
journal_close(struct journal *j)
{
    if (j) {
        sd_journal_close(j->sd);
        free(j->target);
        free(j->unit);
        free(j);
    }
}

int
journal_set_empty(const struct journal *j, struct error *err)
{
    return error_set(err, DT_ERR_NOENT,
                     "%s: no entries of that unit (an unknown unit, or its "
                     "journal may not be read)",
                     j->target);
}

/* ---- an entry as text ---- */

/* A field of the current entry, without its name; NULL: it has none. Valid
 * until the next call. */
static const char *
field(const struct journal *j, const char *name, size_t *len)
{
    size_t skip = strlen(name) + 1;
    const void *data;

    if (sd_journal_get_data(j->sd, name, &data, len) < 0 || *len < skip) {
        *len = 0;
        return NULL;
    }
    *len -= skip;
    return (const char *)data + skip;
}

/* Appends the first of the fields that the entry has. */
static bool
add_first(const struct journal *j, const char *const names[], struct buf *out,
          int *rc)
{
    for (size_t i = 0; names[i]; i++) {
        size_t len;
        const char *text = field(j, names[i], &len);

        if (text && len > 0) {
            *rc = *rc ? *rc : buf_append(out, text, len);
            return true;
        }
    }
    return false;
}

/* When it happened, as the sender says, else when it was written. */
static int
add_time(const struct journal *j, struct buf *out)
{
    char shown[32];
    uint64_t us = 0;
    struct tm tm;
    time_t t;
    size_t len;
    const char *text = field(j, "_SOURCE_REALTIME_TIMESTAMP", &len);

    if (text && len > 0 && len < sizeof(shown)) {
        memcpy(shown, text, len);
        shown[len] = '\0';
        us = strtoull(shown, NULL, 10);
    }
    if (us == 0 && sd_journal_get_realtime_usec(j->sd, &us) < 0) {
        us = 0;
    }
    t = (time_t)(us / 1000000);
    if (!localtime_r(&t, &tm) ||
        strftime(shown, sizeof(shown), "%b %d %H:%M:%S", &tm) == 0) {
        return buf_puts(out, "???");
    }
    return buf_puts(out, shown);
}

/* "Mon DD HH:MM:SS host ident[pid]: ". */
static int
add_head(const struct journal *j, struct buf *out)
{
    static const char *const host[] = {"_HOSTNAME", NULL};
    static const char *const ident[] = {"SYSLOG_IDENTIFIER", "_COMM", NULL};
    static const char *const pid[] = {"_PID", "SYSLOG_PID", NULL};
    int rc = add_time(j, out);
    size_t before;

    rc = rc ? rc : buf_puts(out, " ");
    if (add_first(j, host, out, &rc)) {
        rc = rc ? rc : buf_puts(out, " ");
    }
    if (!add_first(j, ident, out, &rc)) {
        rc = rc ? rc : buf_puts(out, "unknown");
    }
    before = out->len;
    rc = rc ? rc : buf_puts(out, "[");
    if (!add_first(j, pid, out, &rc)) {
        out->len = before;
    } else {
        rc = rc ? rc : buf_puts(out, "]");
    }
    return rc ? rc : buf_puts(out, ": ");
}

/* The message's lines; those behind the first begin below it. */
static int
add_message(const struct journal *j, size_t indent, struct buf *out)
{
    size_t len;
    const char *text = field(j, "MESSAGE", &len);
    int rc = DT_OK;

    while (len > 0 && text[len - 1] == '\n') {
        len--;
    }
    for (bool is_first = true; rc == DT_OK; is_first = false) {
        const char *end = len > 0 ? memchr(text, '\n', len) : NULL;
        size_t n = end ? (size_t)(end - text) : len;

        if (!is_first) {
            rc = buf_reserve(out, indent);
            if (rc == DT_OK) {
                memset(out->data + out->len, ' ', indent);
                out->len += indent;
            }
        }
        rc = rc || n == 0 ? rc : buf_append(out, text, n);
        rc = rc ? rc : buf_puts(out, "\n");
        if (!end) {
            break;
        }
        text = end + 1;
        len -= n + 1;
    }
    return rc;
}

/* "s=SERIES;i=NUMBER;…": systemd.journal-fields(7), __CURSOR. */
static void
take_mark(struct journal *j)
{
    char *cursor = NULL;

    if (sd_journal_get_cursor(j->sd, &cursor) >= 0) {
        struct journal_mark m = {0};

        (void)sd_journal_get_realtime_usec(j->sd, &m.time_us);
        if (sscanf(cursor, "s=%32[0-9a-f];i=%" SCNx64, m.series, &m.number) ==
            2) {
            j->mark = m;
        }
    }
    free(cursor);
}

int
journal_next(struct journal *j, struct buf *out, struct error *err)
{
    size_t before = out->len;
    int rc, e = j->is_current;

    j->is_current = false;
    e = e ? e : sd_journal_next(j->sd);
    if (e < 0) {
        return failed(j, e, "reading the journal failed", err);
    }
    if (e == 0) {
        return DT_STOP;
    }
    take_mark(j);
    rc = add_head(j, out);
    rc = rc ? rc : add_message(j, out->len - before, out);
    if (rc != DT_OK) {
        out->len = before;
        return error_set(err, rc, "%s: out of memory", j->target);
    }
    return DT_OK;
}

struct journal_mark
journal_mark(const struct journal *j)
{
    return j->mark;
}

/* ---- seeking ---- */

int
journal_seek_first(struct journal *j, struct error *err)
{
    int e = sd_journal_seek_head(j->sd);

    j->is_current = false;
    return e < 0 ? failed(j, e, "seeking failed", err) : DT_OK;
}

int
journal_seek_last(struct journal *j, uint64_t nr, struct error *err)
{
    int e = sd_journal_seek_tail(j->sd);

    j->is_current = false;
    e = e < 0 ? e : sd_journal_previous_skip(j->sd, nr > 0 ? nr : 1);
    if (e < 0) {
        return failed(j, e, "seeking failed", err);
    }
    if (e == 0) { /* there is none: all that comes is new */
        return journal_seek_first(j, err);
    }
    take_mark(j);
    j->is_current = nr > 0; /* this one is still to be given out */
    return DT_OK;
}

int
journal_seek_mark(struct journal *j, const struct journal_mark *mark,
                  struct error *err)
{
    char cursor[128];
    int e;

    snprintf(cursor, sizeof(cursor), "s=%s;i=%" PRIx64 ";t=%" PRIx64,
             mark->series, mark->number, mark->time_us);
    j->is_current = false;
    e = sd_journal_seek_cursor(j->sd, cursor);
    return e < 0 ? failed(j, e, "seeking failed", err) : DT_OK;
}

/* ---- following ---- */

int
journal_fd(const struct journal *j)
{
    return sd_journal_get_fd(j->sd);
}

int
journal_timeout_ms(const struct journal *j)
{
    uint64_t us, now;
    struct timespec t;

    if (sd_journal_get_timeout(j->sd, &us) < 0 || us == UINT64_MAX) {
        return -1;
    }
    clock_gettime(CLOCK_MONOTONIC, &t);
    now = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
    us = us > now ? us - now : 0;
    return us / 1000 < INT_MAX ? (int)((us + 999) / 1000) : INT_MAX;
}

int
journal_process(struct journal *j, struct error *err)
{
    int e = sd_journal_process(j->sd);

    return e < 0 ? failed(j, e, "watching the journal failed", err) : DT_OK;
}

#endif
