/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes reading: whatever stands in a file, it is read to an end or an error
 * that names it, the same for every size of the reads; and the two gzip
 * engines agree.
 */
#include "fuzz.h"
#include "source-decoder.h"
#include "source.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_OUT (1u << 20) /* decoded bytes that are looked at */

struct result {
    uint8_t *data; /* MAX_OUT */
    size_t len;
    ssize_t status;
};

static void
read_file(const char *path, size_t step, struct result *r)
{
    struct source_target target = {
        .path = (char *)path, .name = (char *)path, .is_literal = true};
    const struct source_open_args args = {.is_serverless = true};
    struct error err = {0};
    struct source *s = NULL;

    r->len = 0;
    r->status = source_open(&target, &args, &s, &err);
    while (r->status == DT_OK && r->len + step <= MAX_OUT) {
        ssize_t n = source_read(s, r->data + r->len, step, -1, &err);

        fuzz_require(n <= (ssize_t)step);
        if (n <= 0) {
            r->status = n;
            break;
        }
        r->len += (size_t)n;
    }
    fuzz_require(r->status >= 0 || strstr(err.text, path));
    if (s) {
        fuzz_require(source_raw_offset(s) <= source_raw_size(s) ||
                     source_raw_size(s) == 0);
    }
    source_close(s);
}

/* ---- the engines of gzip, on bytes in memory ---- */

struct memory {
    struct decoder base;
    const uint8_t *data;
    size_t len;
};

static ssize_t
memory_read(struct decoder *d, void *data, size_t cap, int cancel_fd,
            struct error *err)
{
    struct memory *m = (struct memory *)d;
    size_t n = m->len < cap ? m->len : cap;

    (void)cancel_fd;
    (void)err;
    if (n) {
        memcpy(data, m->data, n);
    }
    m->data += n;
    m->len -= n;
    return (ssize_t)n;
}

static void
memory_close(struct decoder *d)
{
    (void)d;
}

static void
gunzip(const uint8_t *data, size_t len, enum decoder_gzip_engine engine,
       struct result *r)
{
    struct memory m = {{memory_read, memory_close}, data, len};
    struct error err = {0};
    struct decoder *d = NULL;

    r->len = 0;
    fuzz_require(decoder_gzip_new(&m.base, "f", engine, &d, &err) == DT_OK);
    for (;;) {
        r->status = d->read(d, r->data + r->len, MAX_OUT - r->len, -1, &err);
        if (r->status <= 0) {
            break;
        }
        r->len += (size_t)r->status;
        if (r->len == MAX_OUT) {
            break;
        }
    }
    decoder_close(d);
}

static void
compare_engines(const uint8_t *data, size_t len, struct result *a,
                struct result *b)
{
    gunzip(data, len, DECODER_GZIP_ZLIB, a);
    gunzip(data, len, DECODER_GZIP_FASTEST, b);
    fuzz_require(memcmp(a->data, b->data, a->len < b->len ? a->len : b->len) ==
                 0);
    if (a->len < MAX_OUT && b->len < MAX_OUT) {
        fuzz_require(a->status == b->status);
        fuzz_require(a->status < 0 || a->len == b->len);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct result a = {.data = malloc(MAX_OUT)};
    struct result b = {.data = malloc(MAX_OUT)};
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char path[32];
    bool is_gzip;

    fuzz_require(a.data && b.data && fd >= 0);
    fuzz_require(write(fd, data, len) == (ssize_t)len);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    read_file(path, 4096, &a);
    read_file(path, 1 + (len ? data[len - 1] & 7u : 0), &b);
    is_gzip = len > 2 && data[0] == 0x1f && data[1] == 0x8b;
    if (a.len + 4096 < MAX_OUT) {
        size_t both = a.len < b.len ? a.len : b.len;

        fuzz_require(a.status == b.status);
        fuzz_require(a.len == b.len || (is_gzip && a.status < 0));
        fuzz_require(memcmp(a.data, b.data, both) == 0);
    }
    if (is_gzip) {
        compare_engines(data, len, &a, &b);
    }
    close(fd);
    free(a.data);
    free(b.data);
    return 0;
}
