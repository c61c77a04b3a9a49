/* SPDX-License-Identifier: Apache-2.0
 *
 * Following growing files: every complete line that is written to a path's
 * file, before or after rotation, is given out once and in order, as long as
 * the file can be opened (spec reading 11).
 *
 * A target is a path or a glob; a glob is expanded again and again. A source
 * is one path. Behind a path there is one file after the other: each has its
 * generation. inotify says when to look, a timer looks anyway, and where
 * inotify cannot help (file systems of other machines, a limit that was hit)
 * the files are looked at ten times a second.
 *
 *   rotated by rename    the old file to its end, then the new one from 0
 *   truncated, rewritten from 0 again; what was not read yet comes from the
 *                        copy, if there is one beside it, or a note says it
 *   link or folder       as rotated
 *   switched, recreated
 *   rotated twice        the one in between is found by its name and age
 *   gone                 what is open is read on; a file that appears is new
 *   a run of NUL bytes   (copytruncate) is passed over, with a note
 *   late lines           in a rotated file come with its own generation
 *
 * A line without its newline stays in the file until the newline comes, or
 * until another file follows it. Nothing that was read is kept here: the
 * position moves on when lines are given out, so a reader that lags holds
 * files open and no memory, up to `max_held_bytes` of rotated files.
 *
 * UTF-16 and compressed files are refused with a note.
 *
 * Threads: none inside; all calls from one thread at a time. While the
 * caller's output is blocked it should go on calling follow_watch when
 * follow_fd is readable, or files that are rotated twice may be missed.
 */
#ifndef CORE_FOLLOW_H
#define CORE_FOLLOW_H

#include "buf.h"
#include "error.h"

struct follow;
struct permission;
struct watch;

/* "LENGTH-HASH" of the first bytes of a file, at most FOLLOW_HEAD_BYTES. */
#define FOLLOW_HEAD_BYTES 1024u
#define FOLLOW_FINGERPRINT_MAX 48u

/* Where an earlier session stopped. */
struct follow_resume {
    const char *path;
    uint64_t dev, ino;
    const char *fingerprint; /* "": not known */
    uint64_t offset;
};

struct follow_args {
    const struct strv *patterns;         /* copied */
    const struct permission *permission; /* NULL: the kernel decides */
    size_t max_targets;                  /* MaxGlobTargets */
    size_t max_line;                     /* MaxLineLength */
    /* Where files begin that are there at the start and have no resume
     * position; files that appear later begin at 0. */
    bool from_start;
    uint64_t last_lines;     /* N lines before the end; 0: at the end */
    uint64_t max_held_bytes; /* of rotated files not read yet; 0: no limit */
    const struct follow_resume *resume; /* copied */
    size_t nr_resume;
    int64_t expand_ms; /* ReadGlobRetryIntervalMs; 0: 5000 */
    /* How long an unterminated rest waits for its newline when the next file
     * has bytes, and how long a rotated file is looked at for late lines;
     * below 0: not at all; 0: 1000 and 60000. */
    int64_t rest_ms, late_ms;
    bool no_events;      /* as if there were no inotify */
    bool refuse_output;  /* the file that standard output goes to is left out */
    struct watch *watch; /* the process's; NULL: one of its own */
};

enum follow_kind {
    FOLLOW_DATA,   /* whole lines */
    FOLLOW_SOURCE, /* a source has a (further) file, or its fingerprint grew */
    FOLLOW_NOTE,   /* text for the user */
    FOLLOW_LOG     /* text for the log */
};

/* Pointers are valid until the next call. */
struct follow_event {
    enum follow_kind kind;
    uint32_t source;     /* from 0; not set for NOTE and LOG */
    uint32_t generation; /* from 0, per source */
    const char *name;    /* as shown, and path as expanded */
    const char *path;
    uint64_t dev, ino;
    const char *fingerprint;
    int fd;          /* of the file, for its first line; not to be kept */
    uint64_t offset; /* DATA: of data[0] in the file; SOURCE: first byte */
    const char *data;
    size_t len;
    uint32_t flags;   /* DT_BLOCK_NOEOL: unterminated, and nothing follows in
                         this file; DT_BLOCK_CUT: more of the line follows */
    const char *text; /* NOTE, LOG */
};

/* Begins; opens nothing before the first follow_next. DT_OK, DT_ERR_NOMEM,
 * DT_ERR_INVAL (a malformed pattern, no pattern), DT_ERR_LIMIT. */
int follow_new(const struct follow_args *args, struct follow **out,
               struct error *err);
void follow_free(struct follow *f);

/* Readable when follow_next or follow_watch has something to do. */
int follow_fd(const struct follow *f);

/* The next event; lines go into `buffer`, whose `cap` is at least
 * follow_min_cap(max_line); lines longer than max_line may be among them
 * (lines_piece cuts them). DT_OK: *ev is filled in. DT_AGAIN: nothing now,
 * poll follow_fd. DT_ERR_NOMEM. Single files that fail are notes. */
int follow_next(struct follow *f, char *buffer, size_t cap,
                struct follow_event *ev, struct error *err);
size_t follow_min_cap(size_t max_line);

/* Takes notice of what happened to the files without giving anything out. */
int follow_watch(struct follow *f, struct error *err);

/* The same, as if timers had run out and events had come for every file. */
int follow_reconcile(struct follow *f, struct error *err);

/* How many sources there are, and whether one of them waits for a file. */
size_t follow_nr_sources(const struct follow *f);

#endif
