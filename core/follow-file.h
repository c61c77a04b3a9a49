/* SPDX-License-Identifier: Apache-2.0
 *
 * One opened file that is followed: its position, and reading whole lines from
 * there while it is appended to, truncated, rewritten or full of NUL bytes.
 *
 * One thread at a time. The position is an offset in the file; unread bytes
 * stay in the file, but for a copy of a short unterminated rest, which a
 * truncation would take away.
 */
#ifndef CORE_FOLLOW_FILE_H
#define CORE_FOLLOW_FILE_H

#include "follow.h"

#include <sys/stat.h>

#define FOLLOW_TAIL_BYTES 256u
/* A shorter run of NUL bytes is text, unless it begins a file or goes on. */
#define FOLLOW_HOLE_MIN 1024u

struct follow_file {
    int fd; /* owned */
    uint64_t dev, ino;
    int64_t born_ns, changed_ns; /* 0: not known; mtime when last looked at */
    uint32_t generation;
    uint64_t offset; /* of the next byte to give out */
    uint64_t size;   /* when last looked at */
    /* Of a truncation: to be told by the next read; bytes that were never
     * read; position, length of the rest, last and first bytes before it. */
    bool is_truncated;
    uint64_t lost, lost_at, lost_tail_hash;
    size_t lost_rest_len;
    char lost_fingerprint[FOLLOW_FINGERPRINT_MAX];
    char fingerprint[FOLLOW_FINGERPRINT_MAX];
    size_t head_len; /* bytes that the fingerprint covers */
    uint64_t head_hash;
    bool is_begun;         /* has its generation */
    bool is_announced;     /* FOLLOW_SOURCE was given out, */
    size_t announced_len;  /* with so much of the fingerprint */
    bool has_successor;    /* and that one has bytes: this one ends */
    int64_t rest_since_ms; /* 0: not waiting */
    int64_t quiet_since_ms;
    uint64_t nuls_to; /* NUL bytes were seen from offset up to here */
    char *rest;       /* the unterminated line, as read before */
    size_t rest_len, rest_cap;
    size_t tail_len; /* the last bytes in front of offset: if they differ, */
    char tail[FOLLOW_TAIL_BYTES]; /* it is not the file it was */
    /* As it was when it was last looked at wholly; checked_ns 0: never. */
    struct stat checked;
    int64_t checked_ns;
    int wd; /* of inotify; -1: none */
    bool is_polled;
    struct follow_file *next; /* newer */
    struct follow_file *next_in_bucket;
    struct follow_source *source;
};

/* Takes `fd` on success. `st` is its state. NULL: out of memory. */
struct follow_file *follow_file_new(int fd, const struct stat *st);
void follow_file_free(struct follow_file *f);

/* Positions; each reads what identifies the place. DT_OK or an error. */
int follow_file_seek(struct follow_file *f, uint64_t offset);
int follow_file_seek_end(struct follow_file *f);
/* `n` lines before the end; an unterminated one counts. */
int follow_file_seek_lines(struct follow_file *f, uint64_t n);

/* Takes the fingerprint anew if more bytes are there. True: it changed. */
bool follow_file_fingerprint(struct follow_file *f);
/* Whether the file begins with what the text stands for; "" does not say. */
bool follow_file_has_fingerprint(const struct follow_file *f, const char *text);
/* The bytes in front of the position; and whether a file has such ones in
 * front of `offset`. */
uint64_t follow_file_tail_hash(const struct follow_file *f);
bool follow_file_has_tail(const struct follow_file *f, uint64_t offset,
                          uint64_t hash);
/* Why such a file cannot be followed, as text for the user, by its first
 * bytes; NULL: it can. */
const char *follow_file_why_not(const struct follow_file *f);

/* Looks at size and time. False: it cannot be examined any more. */
bool follow_file_look(struct follow_file *f);
/* Looks whether it was truncated or rewritten; then the position is 0 again,
 * and the next read tells (is_truncated). */
bool follow_file_look_for_truncation(struct follow_file *f);

/* What is to be told of a truncation of `from` is told by `to` instead, which
 * comes first. */
void follow_file_move_truncation(struct follow_file *to,
                                 struct follow_file *from);
/* Whether `copy` is what `f` was before the truncation that was found last:
 * the same beginning, and long enough to have the position. */
bool follow_file_is_copy(const struct follow_file *copy,
                         const struct follow_file *f);

enum follow_read {
    FILE_LINES,     /* whole lines in the buffer */
    FILE_END,       /* nothing complete now */
    FILE_HOLE,      /* a run of NUL bytes was passed over */
    FILE_BUSY,      /* passing over one; call again */
    FILE_TRUNCATED, /* the position is 0 again; `lost` is set, and lines are
                       those of the unterminated rest, if it was kept */
    FILE_FAILED     /* errno */
};
struct follow_lines {
    const char *data;
    size_t len; /* FILE_HOLE: the number of NUL bytes */
    uint64_t offset;
    uint32_t flags;
};
/* `is_final`: an unterminated rest is given out. */
enum follow_read follow_file_read(struct follow_file *f, char *buffer,
                                  size_t cap, size_t max_line, bool is_final,
                                  struct follow_lines *out);

#endif
