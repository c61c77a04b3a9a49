/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs, decoded to plain bytes: which files a user's argument means, opening
 * them, and the chain of decoders that their first bytes ask for.
 */
#include "source.h"

#include "cleanup.h"
#include "fileglob.h"
#include "journal.h"
#include "source-decoder.h"
#include "source-open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>

struct source {
    char *path;
    int fd;               /* owned by `file` */
    struct decoder *file; /* the bottom of the chain; NULL: a journal */
    struct decoder *top;  /* owns the chain */
    bool decompress;
    bool verbatim;
    bool is_sized; /* a regular file with an honest size */
    bool is_random;
    enum { STAGE_FILE, STAGE_DECODED, STAGE_READY } stage; /* of the chain */
    uint64_t start;      /* file offset of the first content byte */
    uint64_t size;       /* of the file when it was opened */
    struct error failed; /* once reading failed, it stays so */
    _Atomic uint64_t pread_bytes;
    uint64_t journal_bytes;
};

/* ---- targets ---- */

void
source_targets_fini(struct source_targets *t)
{
    for (size_t i = 0; i < t->nr; i++) {
        free(t->v[i].path);
        free(t->v[i].name);
    }
    free(t->v);
    *t = (struct source_targets){0};
}

int
source_targets_append(struct source_targets *to, struct source_targets *more)
{
    struct source_target *v;

    if (more->nr == 0) {
        return DT_OK;
    }
    v = reallocarray(to->v, to->nr + more->nr, sizeof(*v));
    if (!v) {
        return DT_ERR_NOMEM;
    }
    memcpy(v + to->nr, more->v, more->nr * sizeof(*v));
    to->v = v;
    to->nr += more->nr;
    more->nr = 0; /* the strings have moved */
    return DT_OK;
}

/* The shown name (spec reading 2.3): the components of the path at whose place
 * the pattern has a `*`, else the last one. Pattern and path are clean, so
 * their components correspond. A new string or NULL. */
static char *
source_name(const char *pattern, const char *path)
{
    const char *last = strrchr(path, '/');
    struct buf name = {0};
    int status = DT_OK;

    last = last ? last + 1 : path;
    while (*pattern && *path && status == DT_OK) {
        size_t pattern_len = strcspn(pattern, "/");
        size_t path_len = strcspn(path, "/");

        if (memchr(pattern, '*', pattern_len)) {
            status = buf_printf(&name, "%s%.*s", name.len ? "/" : "",
                                (int)path_len, path);
        }
        pattern += pattern_len;
        pattern += *pattern == '/';
        path += path_len;
        path += *path == '/';
    }
    if (status == DT_OK && name.len == 0) {
        status = buf_puts(&name, last);
    }
    if (status != DT_OK || buf_append(&name, "", 1) != DT_OK) {
        buf_fini(&name);
    }
    return name.data;
}

/* Takes both strings, also when it fails. */
static int
add_target(struct source_targets *t, char *path, char *name, bool is_literal,
           bool is_stdin, struct error *err)
{
    struct source_target *v = reallocarray(t->v, t->nr + 1, sizeof(*t->v));

    t->v = v ? v : t->v;
    if (!v || !path || !name) {
        free(path);
        free(name);
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    v[t->nr++] = (struct source_target){.path = path,
                                        .name = name,
                                        .is_stdin = is_stdin,
                                        .is_literal = is_literal};
    return DT_OK;
}

static int
expand_pattern(const char *pattern, size_t max, struct source_targets *out,
               struct error *err)
{
    CLEANUP_FREE char *clean = fileglob_clean(pattern);
    struct strv paths = {0};
    int status;

    if (!clean) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    status = fileglob_expand(clean, max, &paths, &out->matched, err);
    for (size_t i = 0; status == DT_OK && i < paths.nr; i++) {
        char *name = source_name(clean, paths.v[i]);

        status = add_target(out, STEAL_PTR(paths.v[i]), name,
                            !strpbrk(clean, "*?["), false, err);
    }
    strv_fini(&paths);
    return status;
}

int
source_expand(const char *pattern, bool allow_stdin, size_t max,
              struct source_targets *out, struct error *err)
{
    int status;

    *out = (struct source_targets){0};
    if (*pattern == '\0' && !allow_stdin) {
        return error_set(err, DT_ERR_INVAL, "empty file name");
    }
    if (allow_stdin && (*pattern == '\0' || !strcmp(pattern, "-"))) {
        out->matched = 1;
        status = add_target(out, strdup("-"), strdup("-"), true, true, err);
    } else if (journal_is_target(pattern)) {
        out->matched = 1;
        status =
            add_target(out, strdup(pattern), strdup(pattern), true, false, err);
    } else {
        status = expand_pattern(pattern, max, out, err);
    }
    if (status != DT_OK) {
        source_targets_fini(out);
    }
    return status;
}

/* ---- the chain ---- */

/* What first bytes may mean; 0: more are needed to tell. */
enum { FORMAT_UNDECIDED, FORMAT_PLAIN, FORMAT_GZIP, FORMAT_ZSTD };

/* What the first bytes say; more than `len` are needed if undecided. A file
 * that ends within a magic number is taken for a cut compressed file from two
 * bytes of gzip and four of zstd on. */
static int
compression_of(const uint8_t *p, size_t len, bool is_end)
{
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t skippable[] = {0x50, 0x2a, 0x4d, 0x18};
    static const uint8_t gzip[] = {0x1f, 0x8b, 0x08};
    size_t i = 0;

    if (len == 0) {
        return is_end ? FORMAT_PLAIN : FORMAT_UNDECIDED;
    }
    if (p[0] == gzip[0]) {
        while (i < len && i < sizeof(gzip) && p[i] == gzip[i]) {
            i++;
        }
        if (i == sizeof(gzip) || (is_end && i == len && i == 2)) {
            return FORMAT_GZIP;
        }
    } else if (p[0] == zstd[0]) {
        while (i < len && i < sizeof(zstd) && p[i] == zstd[i]) {
            i++;
        }
    } else if ((p[0] & 0xf0) == skippable[0]) {
        i = 1;
        while (i < len && i < sizeof(skippable) && p[i] == skippable[i]) {
            i++;
        }
    }
    if (i == sizeof(zstd)) {
        return FORMAT_ZSTD;
    }
    return i == len && !is_end ? FORMAT_UNDECIDED : FORMAT_PLAIN;
}

enum { BOM_UNDECIDED, BOM_NONE, BOM_UTF8, BOM_UTF16LE, BOM_UTF16BE };

static int
bom_of(const uint8_t *p, size_t len, bool is_end)
{
    static const uint8_t utf8[] = {0xef, 0xbb, 0xbf};

    if (len >= 2 && p[0] == 0xff && p[1] == 0xfe) {
        return BOM_UTF16LE;
    }
    if (len >= 2 && p[0] == 0xfe && p[1] == 0xff) {
        return BOM_UTF16BE;
    }
    if (len >= sizeof(utf8) && !memcmp(p, utf8, sizeof(utf8))) {
        return BOM_UTF8;
    }
    if (is_end || len >= sizeof(utf8)) {
        return BOM_NONE;
    }
    return len == 0 || (len == 1 && p[0] >= 0xfe) || !memcmp(p, utf8, len)
               ? BOM_UNDECIDED
               : BOM_NONE;
}

/* Puts a peek on the top of the chain. */
static int
push_peek(struct source *s, struct error *err)
{
    struct decoder *peek;
    int status = decoder_peek_new(s->top, &peek, err);

    if (status == DT_OK) {
        s->top = peek;
    }
    return status;
}

/* Looks at as many of the first bytes as `judge` needs; 0: it needs more. */
static int
judge_start(struct source *s, int cancel_fd,
            int (*judge)(const uint8_t *p, size_t len, bool is_end),
            int *verdict, struct error *err)
{
    for (;;) {
        const uint8_t *bytes;
        bool is_end;
        size_t len = decoder_peek_bytes(s->top, &bytes, &is_end);
        int status;

        *verdict = judge(bytes, len, is_end);
        if (*verdict) {
            return DT_OK;
        }
        status = decoder_peek_fill(s->top, len, cancel_fd, err);
        if (status != DT_OK) {
            return status;
        }
    }
}

static int
add_decompression(struct source *s, int cancel_fd, struct error *err)
{
    struct decoder *d = NULL;
    int format = FORMAT_PLAIN;
    int status = DT_OK;

    if (s->decompress) {
        status = judge_start(s, cancel_fd, compression_of, &format, err);
    }
    if (status != DT_OK) {
        return status;
    }
    if (format == FORMAT_PLAIN) {
        s->is_random = s->is_sized;
        return DT_OK;
    }
    status =
        format == FORMAT_GZIP
            ? decoder_gzip_new(s->top, s->path, DECODER_GZIP_FASTEST, &d, err)
            : decoder_zstd_new(s->top, s->path, &d, err);
    if (status == DT_OK) {
        s->top = d;
        status = push_peek(s, err);
    }
    return status;
}

static int
add_encoding(struct source *s, int cancel_fd, struct error *err)
{
    struct decoder *d = NULL;
    int bom = BOM_NONE;
    int status = DT_OK;

    if (!s->verbatim) {
        status = judge_start(s, cancel_fd, bom_of, &bom, err);
    }
    if (status != DT_OK) {
        return status;
    }
    if (bom == BOM_UTF8) {
        decoder_peek_drop(s->top, 3);
        s->start += 3;
    } else if (bom != BOM_NONE) {
        s->is_random = false;
        decoder_peek_drop(s->top, 2);
        status = decoder_utf16_new(s->top, bom == BOM_UTF16BE, &d, err);
        if (status == DT_OK) {
            s->top = d;
        }
    }
    return status;
}

/* Completes the chain as the first bytes ask for; goes on where it was
 * cancelled. */
static int
build_chain(struct source *s, int cancel_fd, struct error *err)
{
    int status = DT_OK;

    if (s->stage == STAGE_FILE) {
        status = add_decompression(s, cancel_fd, err);
        s->stage = status == DT_OK ? STAGE_DECODED : s->stage;
    }
    if (status == DT_OK && s->stage == STAGE_DECODED) {
        status = add_encoding(s, cancel_fd, err);
        s->stage = status == DT_OK ? STAGE_READY : s->stage;
    }
    return status;
}

/* ---- opening ---- */

static int
open_stdin(struct stat *st, struct error *err)
{
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

    if (fd >= 0 && fstat(fd, st) == 0) {
        if (!S_ISDIR(st->st_mode)) {
            return fd;
        }
        errno = EISDIR;
    }
    int status = error_errno(err, errno, "standard input: cannot be read");

    if (fd >= 0) {
        close(fd);
    }
    return status;
}

/* Takes fd, also when it fails. */
static int
open_chain(struct source *s, int fd, bool is_stdin, const struct stat *st,
           struct error *err)
{
    struct decoder_file_args args = {.fd = fd, .path = s->path};
    off_t at = is_stdin ? lseek(fd, 0, SEEK_CUR) : 0;
    int status;

    s->fd = fd;
    args.can_wait = !S_ISREG(st->st_mode);
    args.is_sized = S_ISREG(st->st_mode) && st->st_size > 0 && at >= 0;
    args.start = args.is_sized ? (uint64_t)at : 0;
    args.size = args.is_sized ? (uint64_t)st->st_size : 0;
    status = decoder_file_new(&args, &s->file, err);
    if (status != DT_OK) {
        close(fd);
        return status;
    }
    s->top = s->file;
    s->is_sized = args.is_sized;
    s->start = args.start;
    s->size = args.size;
    status = push_peek(s, err);
    if (status == DT_OK && s->is_sized) { /* this cannot block */
        status = add_decompression(s, -1, err);
        s->stage = STAGE_DECODED;
    }
    if (status == DT_OK && s->is_random) {
        status = add_encoding(s, -1, err);
        s->stage = STAGE_READY;
        if (s->is_random) { /* what was looked at can be read again */
            s->top = decoder_peek_remove(s->top);
            decoder_file_seek(s->file, s->start - args.start);
        }
    }
    return status;
}

static int
open_journal(const struct source_target *target,
             const struct source_open_args *args, struct source **out,
             struct error *err)
{
    const struct journal_args journal = {
        .target = target->path,
        .dir = args->journal_dir ? args->journal_dir : "",
        .permission = args->permission};
    struct source *s = calloc(1, sizeof(*s));
    int status;

    if (!s || !(s->path = strdup(target->path))) {
        free(s);
        return error_set(err, DT_ERR_NOMEM, "%s: out of memory", target->path);
    }
    s->fd = -1;
    s->stage = STAGE_READY;
    status = decoder_journal_new(&journal, &s->top, err);
    if (status != DT_OK) {
        source_close(s);
        return status;
    }
    *out = s;
    return DT_OK;
}

int
source_open(const struct source_target *target,
            const struct source_open_args *args, struct source **out,
            struct error *err)
{
    struct source *s;
    struct stat st;
    int fd;
    int status;

    if (!target->is_stdin && journal_is_target(target->path)) {
        return open_journal(target, args, out, err);
    }
    fd = target->is_stdin
             ? open_stdin(&st, err)
             : source_open_checked(target->path, args->permission,
                                   args->is_serverless && target->is_literal,
                                   &st, err);
    if (fd < 0) {
        return fd;
    }
    status = args->is_serverless
                 ? source_open_refuse_output(target->path, &st, err)
                 : DT_OK;
    if (status != DT_OK) {
        close(fd);
        return status;
    }
    s = calloc(1, sizeof(*s));
    if (!s || !(s->path = strdup(target->path))) {
        free(s);
        close(fd);
        return error_set(err, DT_ERR_NOMEM, "%s: out of memory", target->path);
    }
    s->decompress = !target->is_stdin;
    s->verbatim = args->verbatim;
    status = open_chain(s, fd, target->is_stdin, &st, err);
    if (status != DT_OK) {
        source_close(s);
        return status;
    }
    *out = s;
    return DT_OK;
}

void
source_close(struct source *s)
{
    if (s) {
        decoder_close(s->top);
        free(s->path);
        free(s);
    }
}

/* ---- reading ---- */

ssize_t
source_read(struct source *s, void *data, size_t cap, int cancel_fd,
            struct error *err)
{
    ssize_t n = DT_OK;

    if (s->failed.status < 0) {
        return error_set(err, s->failed.status, "%s", s->failed.text);
    }
    if (cap == 0) {
        return error_set(err, DT_ERR_INVAL, "%s: no room to read into",
                         s->path);
    }
    if (s->stage != STAGE_READY) {
        n = build_chain(s, cancel_fd, &s->failed);
    }
    if (n == DT_OK) {
        n = s->top->read(s->top, data, cap, cancel_fd, &s->failed);
    }
    if (n < 0) {
        error_set(err, (int)n, "%s", s->failed.text);
        if (n == DT_ERR_CANCELLED) {
            s->failed.status = DT_OK; /* may be asked again */
        }
    }
    s->journal_bytes += !s->file && n > 0 ? (uint64_t)n : 0;
    return n;
}

bool
source_is_random(const struct source *s)
{
    return s->is_random && s->stage == STAGE_READY;
}

ssize_t
source_pread(struct source *s, void *data, size_t cap, uint64_t offset,
             struct error *err)
{
    uint64_t at;
    ssize_t n;

    if (!source_is_random(s) || __builtin_add_overflow(s->start, offset, &at) ||
        at > INT64_MAX) {
        return error_set(err, DT_ERR_INVAL, "%s: cannot be read at an offset",
                         s->path);
    }
    do {
        n = pread(s->fd, data, cap, (off_t)at);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return error_errno(err, errno, "%s: reading at byte %" PRIu64 " failed",
                           s->path, at);
    }
    if (n == 0 && cap > 0) {
        return decoder_file_check_size(s->fd, s->path, at, s->size, err);
    }
    atomic_fetch_add_explicit(&s->pread_bytes, (uint64_t)n,
                              memory_order_relaxed);
    return n;
}

uint64_t
source_size(const struct source *s)
{
    uint64_t size = source_raw_size(s);

    return source_is_random(s) && size > s->start ? size - s->start : 0;
}

uint64_t
source_raw_size(const struct source *s)
{
    struct stat st;

    return s->is_sized && fstat(s->fd, &st) == 0 && st.st_size > 0
               ? (uint64_t)st.st_size
               : 0;
}

uint64_t
source_raw_offset(const struct source *s)
{
    uint64_t bytes =
        atomic_load_explicit(&s->pread_bytes, memory_order_relaxed);
    uint64_t size = bytes ? source_raw_size(s) : 0;

    if (!s->file) {
        return s->journal_bytes;
    }
    return decoder_file_consumed(s->file) + (bytes < size ? bytes : size);
}

bool
source_is_endless(const struct source *s)
{
    struct stat st;

    return fstat(s->fd, &st) != 0 || !S_ISREG(st.st_mode);
}

const char *
source_path(const struct source *s)
{
    return s->path;
}
