/* SPDX-License-Identifier: Apache-2.0
 *
 * An opened input, decoded to plain bytes: file, gzip, zstd, standard input.
 * Sources are opened by the core after the permission check; a plugin never
 * sees a path that it may open itself. Files are read, never mapped.
 *
 * Threads: one at a time, but for source_pread, which any thread may call.
 */
#ifndef CORE_SOURCE_H
#define CORE_SOURCE_H

#include "buf.h"
#include "error.h"

#include <sys/stat.h>

/* A target that begins so is the journal of a unit, not a path. */
#define SOURCE_JOURNAL "journal:"

struct source;
struct permission;

/* A file that a glob gave, not opened yet. Owned strings. */
struct source_target {
    char *path; /* as expanded */
    char *name; /* as shown to the user: spec "source id" */
    bool is_stdin;
    bool is_literal; /* named without a wildcard: a problem deserves a note */
};
struct source_targets {
    struct source_target *v;
    size_t nr;
    size_t matched; /* before the limit */
};
void source_targets_fini(struct source_targets *t);
/* Moves all targets of `more` behind those of `to`. DT_OK, DT_ERR_NOMEM. */
int source_targets_append(struct source_targets *to,
                          struct source_targets *more);

/* Expands one file argument ("-" or "": standard input when allowed). At most
 * `max` targets are kept. Nothing found is DT_OK with nr 0. DT_ERR_INVAL: a
 * malformed pattern. */
int source_expand(const char *pattern, bool allow_stdin, size_t max,
                  struct source_targets *out, struct error *err);

struct source_open_args {
    const struct permission *permission; /* NULL: no rules beyond the kernel */
    bool is_serverless;      /* fifos that the user names are fine */
    bool verbatim;           /* keep BOM and UTF-16 as they are */
    const char *journal_dir; /* Server.JournalDir; NULL or "": this machine's */
};

/* Opens, checks what was opened, recognises compression by magic bytes.
 * Errors: DT_ERR_NOENT, DT_ERR_ACCES, DT_ERR_IO, DT_ERR_INVAL (a directory, a
 * device); the text names the path. */
int source_open(const struct source_target *target,
                const struct source_open_args *args, struct source **out,
                struct error *err);
void source_close(struct source *s);

/* Reads the next decoded bytes. Returns how many, 0 at the end, or a negative
 * status with err set (data given out before stay good; a file that shrank
 * is DT_ERR_NOENT behind the data that were left). A wait for input
 * that may never come (fifo, standard input) ends with DT_ERR_CANCELLED when
 * `cancel_fd` becomes readable. */
ssize_t source_read(struct source *s, void *data, size_t cap, int cancel_fd,
                    struct error *err);

/* True when bytes at any offset can be had with source_pread: a plain,
 * regular, undecoded file with a size. Offsets count from the first content
 * byte (behind a stripped BOM). */
bool source_is_random(const struct source *s);
/* As pread(2): a short count is not the end, 0 is; and DT_ERR_NOENT instead of
 * 0 where the file had bytes when it was opened (it shrank). */
ssize_t source_pread(struct source *s, void *data, size_t cap, uint64_t offset,
                     struct error *err);
/* Content size now (fstat), 0 if not known. */
uint64_t source_size(const struct source *s);
/* Bytes of the underlying file that were read, for progress and counters; what
 * source_pread read twice may count twice, up to the size. */
uint64_t source_raw_offset(const struct source *s);
/* Size of the underlying file now, compressed or not; 0 if not known. */
uint64_t source_raw_size(const struct source *s);
/* No regular file: it has no size, and may have no end. */
bool source_is_endless(const struct source *s);
const char *source_path(const struct source *s);

#endif
