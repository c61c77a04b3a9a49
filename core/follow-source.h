/* SPDX-License-Identifier: Apache-2.0
 *
 * One path that is followed, and the files that stand behind it one after the
 * other; and what the parts of a follow share.
 *
 * One thread at a time.
 */
#ifndef CORE_FOLLOW_SOURCE_H
#define CORE_FOLLOW_SOURCE_H

#include "follow-events.h"
#include "source.h"

#define FOLLOW_MAX_FILES 64u /* rotated ones of a source that wait */
#define FOLLOW_NR_DONE 256u

#define FOLLOW_NR_PASSED 8u

struct follow_passed {
    uint64_t dev, ino;
    int64_t born_ns;
};

struct follow_source {
    uint32_t id;
    char *path, *name;
    struct follow_dir *dir;
    const char *base; /* last component, in path */
    bool is_literal;
    bool is_initial;  /* was there when the follow began */
    bool is_dirty;    /* step has something to look at */
    bool needs_check; /* of the path */
    bool is_dead;     /* nothing more can come */
    bool had_file;
    uint32_t nr_generations;
    struct follow_file *first; /* oldest that is read on */
    struct follow_file *last;  /* what the path stands for, or stood for */
    struct follow_file *late;  /* given out; late lines may come */
    const struct follow_resume *resume; /* NULL once used */
    /* What was told already: one message a change of state. */
    enum { SOURCE_NEW, SOURCE_OPEN, SOURCE_MISSING, SOURCE_REFUSED } state;
    int64_t missing_since_ms; /* 0: the path is there */
    int64_t seen_ns; /* when the path stood for `last`, by the clock of files */
    /* Rotated files that were there at such a time: the clock of files ticks
     * slowly, so one that was made in the same tick would look younger. */
    struct follow_passed passed[FOLLOW_NR_PASSED];
    size_t nr_passed;    /* ever noted; the last ones are kept */
    struct stat refused; /* that file; do not try again */
};

struct follow_text {
    enum follow_kind kind;
    struct follow_text *next;
    char text[];
};

/* A file that is no longer read, and how far it was. */
struct follow_done {
    uint64_t dev, ino, offset;
    uint64_t tail_hash; /* of the last bytes that were read */
};

struct follow {
    struct follow_args args; /* pointers in it are copies or cleared */
    struct strv patterns;
    struct follow_dir **pattern_dirs;
    bool *pattern_failed; /* told that nothing matches */
    struct follow_resume *resume;
    struct follow_source **sources;
    size_t nr_sources;
    size_t turn; /* which source is next */
    uint32_t next_id;
    unsigned nr_calls;
    bool is_started;
    bool is_busy; /* a source could go on at once */
    bool expand_is_due;
    bool told_limit;
    struct follow_events events;
    int epoll_fd, timer_fd;
    int64_t tick_ms; /* what the timer is set to */
    int64_t reconciled_ms, expanded_ms;
    int64_t began_ns; /* by the clock of files; 0: not yet */
    struct follow_text *texts, **texts_end;
    struct follow_text *shown;               /* valid until the next call */
    struct follow_done done[FOLLOW_NR_DONE]; /* a ring */
    size_t nr_done;
};

int64_t follow_now_ms(void);
/* Queues a text; out of memory loses it. */
void follow_say(struct follow *f, enum follow_kind kind, const char *format,
                ...) DT_PRINTF(3, 4);

struct follow_source *follow_source_new(struct follow *f,
                                        const struct source_target *t);
void follow_source_free(struct follow *f, struct follow_source *s);

/* Looks what the path stands for now; opens and queues what is new. */
void follow_source_check(struct follow *f, struct follow_source *s);
/* Gives out the next event of this source. DT_OK; DT_STOP: nothing now;
 * DT_AGAIN: nothing yet, but it can go on at once. */
int follow_source_step(struct follow *f, struct follow_source *s, char *buffer,
                       size_t cap, struct follow_event *ev);
/* Says once that the file `st` cannot be read, and why: `reason`, or to the
 * user `shown`, if that is not NULL. `is_lasting`: it would be the same the
 * next time, until somebody changes the file. */
void follow_source_refuse(struct follow *f, struct follow_source *s,
                          const struct stat *st, bool is_lasting,
                          const char *reason, const char *shown);
/* True: the file is of a form that cannot be followed; that was said once. */
bool follow_source_refuse_form(struct follow *f, struct follow_source *s,
                               const struct follow_file *file);
/* Takes the oldest file out of the queue. */
struct follow_file *follow_source_take_first(struct follow_source *s);
/* The oldest file was read to its end and another one follows: it is looked
 * at for late lines, or closed. */
void follow_source_retire(struct follow *f, struct follow_source *s);
/* Remembers how far the file was read, and closes it. */
void follow_source_close(struct follow *f, struct follow_file *file);
/* Bytes behind the position, as the file is now. */
uint64_t follow_source_unread(struct follow_file *file);
/* Lets go of what takes too much: files, or bytes not read yet. */
void follow_source_trim(struct follow *f, struct follow_source *s);

/* Puts a file in front of another one of its source, or behind all of them
 * (`before` NULL); takes it. */
void follow_source_insert(struct follow *f, struct follow_source *s,
                          struct follow_file *file, struct follow_file *before);
int64_t follow_clock_ns(void); /* as files get their times */
/* How far this very file was read before; NULL: not known. */
const struct follow_done *follow_find_done(const struct follow *f,
                                           const struct follow_file *file);
/* Whether a source has this file, as its present one or as a rotated one. */
struct follow_file *follow_find_file(const struct follow *f, uint64_t dev,
                                     uint64_t ino);

/* follow-rotated.c: files that were rotated while nobody looked. */

/* Queues, oldest first, what stood behind the path after it was last looked at
 * and before `now`, judged by names and ages. */
void follow_push_between(struct follow *f, struct follow_source *s,
                         const struct follow_file *now);
/* `file` was truncated: puts in front of it what was copied away before, from
 * the position where it had been read. False: there is no copy. */
bool follow_insert_copy(struct follow *f, struct follow_source *s,
                        struct follow_file *file);
/* Sets the position of `now`, the first file that is opened for the path, by
 * the resume position; queues the rotated files before it. */
void follow_resume_source(struct follow *f, struct follow_source *s,
                          struct follow_file *now);

#endif
