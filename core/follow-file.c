/* SPDX-License-Identifier: Apache-2.0
 *
 * One opened file that is followed.
 */
#include "follow-file.h"

#include "bytes.h"
#include "cleanup.h"
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/uio.h>

#define REST_MAX_BYTES (64u * 1024u)
#define SEEK_CHUNK (64u * 1024u)
/* NUL bytes read in one call, so that a cancel is noticed in between. */
#define NULS_PER_CALL (64u << 20)

/* FNV-1a, 64 bits: it has to tell a file from its successor, not to resist
 * anybody. */
static uint64_t
hash_of(const unsigned char *data, size_t len)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < len; i++) {
        h = (h ^ data[i]) * 0x100000001b3u;
    }
    return h;
}

struct follow_file *
follow_file_new(int fd, const struct stat *st)
{
    struct follow_file *f = calloc(1, sizeof(*f));
    struct statx x;

    if (!f) {
        return NULL;
    }
    f->fd = fd;
    f->dev = st->st_dev;
    f->ino = st->st_ino;
    f->size = (uint64_t)st->st_size;
    f->changed_ns = st->st_mtim.tv_sec * 1000000000ll + st->st_mtim.tv_nsec;
    f->wd = -1;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &x) == 0 &&
        (x.stx_mask & STATX_BTIME)) {
        f->born_ns = x.stx_btime.tv_sec * 1000000000ll + x.stx_btime.tv_nsec;
    }
    f->head_hash = hash_of(NULL, 0);
    follow_file_fingerprint(f);
    return f;
}

void
follow_file_free(struct follow_file *f)
{
    if (f) {
        close(f->fd);
        free(f->rest);
        free(f);
    }
}

static ssize_t
read_at(int fd, void *data, size_t len, uint64_t offset)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n =
            pread(fd, (char *)data + done, len - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -1;
        }
        if (n == 0) {
            break;
        }
        done += (size_t)n;
    }
    return (ssize_t)done;
}

/* ---- identity ---- */

/* NULs at the end are not counted: they may be space for more. */
bool
follow_file_fingerprint(struct follow_file *f)
{
    unsigned char head[FOLLOW_HEAD_BYTES];
    ssize_t n;

    if (f->head_len == FOLLOW_HEAD_BYTES) {
        return false;
    }
    n = read_at(f->fd, head, sizeof(head), 0);
    while (n > 0 && head[n - 1] == '\0') {
        n--;
    }
    if (n <= 0 || (size_t)n <= f->head_len ||
        hash_of(head, f->head_len) != f->head_hash) {
        return false; /* another beginning: a truncation, found elsewhere */
    }
    f->head_len = (size_t)n;
    f->head_hash = hash_of(head, (size_t)n);
    snprintf(f->fingerprint, sizeof(f->fingerprint), "%zd-%016" PRIx64, n,
             f->head_hash);
    return true;
}

bool
follow_file_has_fingerprint(const struct follow_file *f, const char *text)
{
    unsigned char head[FOLLOW_HEAD_BYTES];
    unsigned len;
    uint64_t hash;

    if (*text == '\0') {
        return true;
    }
    return sscanf(text, "%u-%" SCNx64, &len, &hash) == 2 &&
           len <= sizeof(head) &&
           read_at(f->fd, head, len, 0) == (ssize_t)len &&
           hash_of(head, len) == hash;
}

uint64_t
follow_file_tail_hash(const struct follow_file *f)
{
    return hash_of((const unsigned char *)f->tail, f->tail_len);
}

bool
follow_file_has_tail(const struct follow_file *f, uint64_t offset,
                     uint64_t hash)
{
    unsigned char tail[FOLLOW_TAIL_BYTES];
    size_t len = offset < sizeof(tail) ? (size_t)offset : sizeof(tail);

    return read_at(f->fd, tail, len, offset - len) == (ssize_t)len &&
           hash_of(tail, len) == hash;
}

bool
follow_file_is_copy(const struct follow_file *copy, const struct follow_file *f)
{
    /* The first bytes do not tell where all of them are NUL, the last ones
     * not where nothing was read. */
    return (f->lost_fingerprint[0] || f->lost_at > 0) &&
           copy->size >= f->lost_at &&
           follow_file_has_fingerprint(copy, f->lost_fingerprint) &&
           follow_file_has_tail(copy, f->lost_at, f->lost_tail_hash);
}

const char *
follow_file_why_not(const struct follow_file *f)
{
    static const unsigned char zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const unsigned char gzip[] = {0x1f, 0x8b, 0x08};
    unsigned char head[4];
    ssize_t n = read_at(f->fd, head, sizeof(head), 0);

    if ((n >= 3 && !memcmp(head, gzip, sizeof(gzip))) ||
        (n == 4 && !memcmp(head, zstd, sizeof(zstd)))) {
        return "compressed files cannot be followed; dcat and dgrep read them";
    }
    if (n >= 2 && ((head[0] == 0xff && head[1] == 0xfe) ||
                   (head[0] == 0xfe && head[1] == 0xff))) {
        return "UTF-16 files cannot be followed; dcat and dgrep read them";
    }
    return NULL;
}

bool
follow_file_look(struct follow_file *f)
{
    struct stat st;

    if (fstat(f->fd, &st) < 0) {
        return false;
    }
    /* A smaller size is a truncation, which the next read finds: until then
     * the old one tells how much was lost. */
    if ((uint64_t)st.st_size > f->size) {
        f->size = (uint64_t)st.st_size;
    }
    f->changed_ns = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
    return true;
}

/* ---- positions ---- */

/* What stands in front of the position now: `len` bytes were given out. */
static void
move_on(struct follow_file *f, const char *data, size_t len)
{
    size_t keep = 0;

    if (len < FOLLOW_TAIL_BYTES) {
        keep = FOLLOW_TAIL_BYTES - len;
        keep = keep < f->tail_len ? keep : f->tail_len;
        memmove(f->tail, f->tail + f->tail_len - keep, keep);
    } else {
        data += len - FOLLOW_TAIL_BYTES;
        f->offset += len - FOLLOW_TAIL_BYTES;
        len = FOLLOW_TAIL_BYTES;
    }
    memcpy(f->tail + keep, data, len);
    f->tail_len = keep + len;
    f->offset += len;
    f->rest_len = 0;
    f->nuls_to = 0;
}

static void
start_again(struct follow_file *f)
{
    f->offset = 0;
    f->tail_len = 0;
    f->rest_len = 0;
    f->nuls_to = 0;
    f->head_len = 0;
    f->head_hash = hash_of(NULL, 0);
    f->fingerprint[0] = '\0';
    f->is_announced = false;
    f->is_begun = false;
}

int
follow_file_seek(struct follow_file *f, uint64_t offset)
{
    size_t len =
        offset < FOLLOW_TAIL_BYTES ? (size_t)offset : FOLLOW_TAIL_BYTES;

    if (read_at(f->fd, f->tail, len, offset - len) != (ssize_t)len) {
        return DT_ERR_IO;
    }
    f->tail_len = len;
    f->offset = offset;
    f->rest_len = 0;
    return DT_OK;
}

int
follow_file_seek_end(struct follow_file *f)
{
    if (!follow_file_look(f)) {
        return DT_ERR_IO;
    }
    return follow_file_seek(f, f->size);
}

int
follow_file_seek_lines(struct follow_file *f, uint64_t n)
{
    CLEANUP_FREE char *chunk = malloc(SEEK_CHUNK + BYTES_SLACK);
    uint64_t at;
    uint64_t newlines = 0;
    bool is_end = true;

    if (!chunk) {
        return DT_ERR_NOMEM;
    }
    if (!follow_file_look(f)) {
        return DT_ERR_IO;
    }
    at = f->size;
    while (at > 0) {
        size_t len = at < SEEK_CHUNK ? (size_t)at : SEEK_CHUNK;

        at -= len;
        if (read_at(f->fd, chunk, len, at) != (ssize_t)len) {
            return DT_ERR_IO;
        }
        for (size_t i = len; i > 0; i--) {
            /* The newline at the very end closes a line, others open one. */
            if (chunk[i - 1] == '\n' && !is_end && ++newlines == n) {
                return follow_file_seek(f, at + i);
            }
            is_end = false;
        }
    }
    return follow_file_seek(f, 0);
}

/* ---- reading ---- */

static size_t
without_nuls_at_end(const char *data, size_t len)
{
    while (len > 0 && data[len - 1] == '\0') {
        len--;
    }
    return len;
}

/* Keeps the unterminated line. What is too long for that is lost if the file
 * is truncated, and then counted as such. */
static void
keep_rest(struct follow_file *f, const char *data, size_t len)
{
    len = without_nuls_at_end(data, len);
    f->rest_len = 0;
    if (len > REST_MAX_BYTES) {
        return;
    }
    if (len > f->rest_cap) {
        char *rest = realloc(f->rest, len);

        if (!rest) {
            return;
        }
        f->rest = rest;
        f->rest_cap = len;
    }
    if (len) {
        memcpy(f->rest, data, len);
    }
    f->rest_len = len;
}

static void
begin_again(struct follow_file *f)
{
    uint64_t known = f->offset + f->rest_len;
    uint64_t lost = f->size > known ? f->size - known : 0;
    struct stat st;

    if (f->is_truncated) { /* once more before it was told */
        f->lost += lost;
    } else {
        f->lost = lost;
        f->lost_at = f->offset;
        f->lost_tail_hash = follow_file_tail_hash(f);
        f->lost_rest_len = f->rest_len;
        memcpy(f->lost_fingerprint, f->fingerprint, sizeof(f->fingerprint));
    }
    f->is_truncated = true;
    start_again(f);
    f->size = fstat(f->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    follow_file_fingerprint(f);
}

bool
follow_file_look_for_truncation(struct follow_file *f)
{
    char tail[FOLLOW_TAIL_BYTES];
    struct stat st;

    if (f->offset == 0
            ? !follow_file_has_fingerprint(f, f->fingerprint)
            : read_at(f->fd, tail, f->tail_len, f->offset - f->tail_len) !=
                      (ssize_t)f->tail_len ||
                  memcmp(tail, f->tail, f->tail_len) != 0) {
        begin_again(f);
        return true;
    }
    if (fstat(f->fd, &st) == 0 && (uint64_t)st.st_size < f->size) {
        f->size = (uint64_t)st.st_size; /* cut behind the position */
    }
    follow_file_look(f);
    if (f->size > f->head_len) {
        follow_file_fingerprint(f);
    }
    return false;
}

void
follow_file_move_truncation(struct follow_file *to, struct follow_file *from)
{
    free(to->rest);
    to->rest = from->rest;
    to->rest_cap = from->rest_cap;
    to->is_truncated = from->is_truncated;
    to->lost = from->lost;
    to->lost_at = from->lost_at;
    to->lost_tail_hash = from->lost_tail_hash;
    to->lost_rest_len = from->lost_rest_len;
    memcpy(to->lost_fingerprint, from->lost_fingerprint,
           sizeof(to->lost_fingerprint));
    from->rest = NULL;
    from->rest_cap = from->rest_len = 0;
    from->is_truncated = false;
}

static enum follow_read
tell_truncation(struct follow_file *f, char *buffer, struct follow_lines *out)
{
    *out = (struct follow_lines){.data = buffer,
                                 .len = f->lost_rest_len,
                                 .offset = f->lost_at,
                                 .flags = DT_BLOCK_NOEOL};
    if (f->lost_rest_len) {
        memcpy(buffer, f->rest, f->lost_rest_len);
    }
    f->is_truncated = false;
    return FILE_TRUNCATED;
}

static size_t
nuls_at_start(const char *data, size_t len)
{
    size_t n = 0;

    while (n < len && data[n] == '\0') {
        n++;
    }
    return n;
}

static enum follow_read
skip_nuls(struct follow_file *f, uint64_t to, struct follow_lines *out)
{
    static const char zeros[FOLLOW_TAIL_BYTES];
    uint64_t from = f->offset;

    *out = (struct follow_lines){.offset = from, .len = (size_t)(to - from)};
    move_on(f, zeros, sizeof(zeros) < out->len ? sizeof(zeros) : out->len);
    f->offset = to;
    return FILE_HOLE;
}

/* The buffer was all NUL. Looks for where they end, without keeping them; if
 * that is the end of the file (space allocated in advance), they are not a
 * hole but what the writer will fill. */
static enum follow_read
find_end_of_nuls(struct follow_file *f, char *buffer, size_t cap, uint64_t seen,
                 struct follow_lines *out)
{
    uint64_t at = f->nuls_to > seen ? f->nuls_to : seen;

    for (size_t total = 0; total < NULS_PER_CALL;) {
        off_t data = lseek(f->fd, (off_t)at, SEEK_DATA);
        ssize_t n;
        size_t run;

        if (data < 0 && errno == ENXIO) {
            return FILE_END;
        }
        at = data > (off_t)at ? (uint64_t)data : at;
        n = read_at(f->fd, buffer, cap, at);
        if (n < 0) {
            return FILE_FAILED;
        }
        run = nuls_at_start(buffer, (size_t)n);
        at += run;
        f->nuls_to = at;
        if (run < (size_t)n) {
            return skip_nuls(f, at, out);
        }
        if (n == 0) {
            return FILE_END;
        }
        total += run;
    }
    return FILE_BUSY;
}

/* Whole lines from the bytes at the position. */
static enum follow_read
take_lines(struct follow_file *f, char *buffer, size_t len, size_t max_line,
           bool is_final, struct follow_lines *out)
{
    size_t bom =
        f->offset == 0 && len >= 3 && !memcmp(buffer, "\xef\xbb\xbf", 3) ? 3
                                                                         : 0;
    size_t take =
        lines_take(buffer, len, max_line + bom, is_final, &out->flags);

    if (out->flags) { /* without a newline: NULs may be space for more */
        size_t text = without_nuls_at_end(buffer, len);

        if (out->flags == DT_BLOCK_CUT) {
            take = text > max_line ? take : 0;
        } else {
            take = text;
            out->flags = text && buffer[text - 1] != '\n' ? out->flags : 0;
        }
    }
    if (take == 0) {
        keep_rest(f, buffer, len);
        return FILE_END;
    }
    out->data = buffer + bom;
    out->len = take - bom;
    out->offset = f->offset + bom;
    move_on(f, buffer, take);
    return FILE_LINES;
}

/* The bytes in front of the position and those behind it. Fewer than there were
 * is truncation only when a second look, byte for byte, says the same: network
 * file systems give fewer than they have. */
static ssize_t
read_on(const struct follow_file *f, char *tail, char *buffer, size_t cap)
{
    struct iovec v[2] = {{tail, f->tail_len}, {buffer, cap}};
    uint64_t from = f->offset - f->tail_len;
    ssize_t n, more;

    do {
        n = preadv(f->fd, v, 2, (off_t)from);
    } while (n < 0 && errno == EINTR);
    if (n < 0 || (size_t)n >= f->tail_len + f->rest_len) {
        return n;
    }
    n = read_at(f->fd, tail, f->tail_len, from);
    if (n < 0 || (size_t)n < f->tail_len) {
        return n;
    }
    more = read_at(f->fd, buffer, cap, f->offset);
    return more < 0 ? more : n + more;
}

enum follow_read
follow_file_read(struct follow_file *f, char *buffer, size_t cap,
                 size_t max_line, bool is_final, struct follow_lines *out)
{
    char tail[FOLLOW_TAIL_BYTES];
    size_t len, run;
    ssize_t n;

    *out = (struct follow_lines){0};
    if (f->is_truncated) {
        return tell_truncation(f, buffer, out);
    }
    n = read_on(f, tail, buffer, cap);
    if (n < 0) {
        return FILE_FAILED;
    }
    if ((size_t)n < f->tail_len || memcmp(tail, f->tail, f->tail_len) != 0 ||
        (f->offset == 0 && !follow_file_has_fingerprint(f, f->fingerprint))) {
        begin_again(f);
        return tell_truncation(f, buffer, out);
    }
    len = (size_t)n - f->tail_len;
    if (f->rest_len &&
        (len < f->rest_len || memcmp(buffer, f->rest, f->rest_len) != 0)) {
        begin_again(f);
        return tell_truncation(f, buffer, out);
    }
    f->size = f->offset + len > f->size ? f->offset + len : f->size;
    if (len == 0) {
        return FILE_END;
    }
    run = nuls_at_start(buffer, len);
    if (run == len) {
        return find_end_of_nuls(f, buffer, cap, f->offset + run, out);
    }
    /* At the start of a file, and behind a hole, even a short one is one. */
    if (run >= FOLLOW_HOLE_MIN ||
        (run > 0 && (f->offset == 0 || f->tail[f->tail_len - 1] == '\0'))) {
        return skip_nuls(f, f->offset + run, out);
    }
    return take_lines(f, buffer, len, max_line, is_final, out);
}
