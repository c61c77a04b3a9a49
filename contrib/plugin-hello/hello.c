/* SPDX-License-Identifier: Apache-2.0
 *
 * hello: how many lines and bytes each file has, and how long its longest line
 * is, for every server and in total. A sample of a plugin with both stages,
 * made to be copied; docs/writing-plugins.md walks through it.
 *
 * `map` runs next to the files and counts. It may run as several instances at
 * once, and a big file may be shared out among them, so an instance knows its
 * share of a file only. It gives out one partial result a file:
 *
 *     0  u64  lines            all numbers big-endian, whatever machine
 *     8  u64  bytes            wrote them
 *    16  u64  longest line, in bytes without its newline
 *    24  u32  length of the host name
 *    28  u32  length of the file name
 *    32       host name, file name
 *
 * This is format 1 (`partial_format` below). `reduce` runs where the user is,
 * adds up the shares of all instances and servers and prints a table.
 *
 * The source is C99 as well as C++11: casts where C needs none, and
 * initialisers in the order of the members.
 */
#include <dtail/plugin.h>

#include <stdlib.h>

#define PARTIAL_FORMAT 1
#define PARTIAL_FIXED 32u
#define MAX_NAME 4096u      /* bytes of a host or file name */
#define MAX_COUNTS 1000000u /* partial results in one query */

struct count {
    uint32_t server; /* reduce: which one; two may have the same name */
    char *host;      /* NULL: nothing of this source was seen */
    char *file;
    uint64_t lines;
    uint64_t bytes;
    uint64_t longest;
};

/* An instance, of either stage. map: v[i] is source i (from 1). reduce: one for
 * each partial result that came. */
struct hello {
    struct dt_query *query;
    struct count *v;
    size_t nr;
    size_t cap;
};

/* ---- both stages ---- */

static int
hello_start(struct dt_query *q, void **self)
{
    struct hello *h = (struct hello *)calloc(1, sizeof(*h));

    if (!h) {
        return DT_ERR_NOMEM;
    }
    h->query = q;
    *self = h;
    return DT_OK;
}

static void
hello_close(void *self)
{
    struct hello *h = (struct hello *)self;

    for (size_t i = 0; i < h->nr; i++) {
        free(h->v[i].host);
        free(h->v[i].file);
    }
    free(h->v);
    free(h);
}

/* Makes v[0] to v[nr - 1] exist; new ones are all zero. */
static int
hello_grow(struct hello *h, size_t nr)
{
    if (nr > MAX_COUNTS) {
        return dt_error(h->query, DT_ERR_LIMIT,
                        "hello: more than %u files; name fewer", MAX_COUNTS);
    }
    if (nr > h->cap) {
        size_t cap = nr < 16 ? 16 : nr * 2;
        struct count *v =
            (struct count *)realloc(h->v, cap * sizeof(struct count));

        if (!v) {
            return DT_ERR_NOMEM;
        }
        h->v = v;
        h->cap = cap;
    }
    while (h->nr < nr) {
        memset(&h->v[h->nr++], 0, sizeof(struct count));
    }
    return DT_OK;
}

static char *
copy_text(const char *text, size_t len)
{
    char *copy = (char *)malloc(len + 1);

    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

static int
count_name(struct count *c, const char *host, size_t host_len, const char *file,
           size_t file_len)
{
    c->host = copy_text(host, host_len);
    c->file = copy_text(file, file_len);
    return c->host && c->file ? DT_OK : DT_ERR_NOMEM;
}

/* ---- map: counts ---- */

static int
hello_map_feed(void *self, const struct dt_block *block)
{
    struct hello *h = (struct hello *)self;
    struct dt_line line = DT_LINE_INIT;
    struct count *c;
    int r = hello_grow(h, (size_t)block->source + 1);

    if (r < 0) {
        return r;
    }
    c = &h->v[block->source];
    if (!c->host) {
        struct dt_source source;

        r = dt_source(h->query, block->source, &source);
        if (r == DT_OK) {
            r = count_name(c, source.host, strnlen(source.host, MAX_NAME),
                           source.name, strnlen(source.name, MAX_NAME));
        }
        if (r < 0) {
            return r;
        }
    }
    while (dt_next_line(block, &line)) {
        c->lines++;
        if (line.len > c->longest) {
            c->longest = line.len;
        }
    }
    c->bytes += block->len;
    return DT_OK;
}

static void
put_number(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--) {
        to[i] = (unsigned char)value;
        value >>= 8;
    }
}

/* One partial result a call; the host calls again for DT_AGAIN, and looks in
 * between whether the query was cancelled. */
static int
hello_map_drain(void *self, enum dt_drain why)
{
    struct hello *h = (struct hello *)self;
    unsigned char out[PARTIAL_FIXED + 2 * MAX_NAME];
    struct count *c;
    size_t host_len, file_len;
    int r;

    (void)why;
    while (h->nr && !h->v[h->nr - 1].host) {
        h->nr--;
    }
    if (h->nr == 0) {
        return DT_OK;
    }
    c = &h->v[h->nr - 1];
    host_len = strlen(c->host);
    file_len = strlen(c->file);
    put_number(out, c->lines, 8);
    put_number(out + 8, c->bytes, 8);
    put_number(out + 16, c->longest, 8);
    put_number(out + 24, host_len, 4);
    put_number(out + 28, file_len, 4);
    memcpy(out + PARTIAL_FIXED, c->host, host_len);
    memcpy(out + PARTIAL_FIXED + host_len, c->file, file_len);
    r = dt_emit_partial(h->query, out, PARTIAL_FIXED + host_len + file_len);
    if (r < 0) {
        return r;
    }
    free(c->host);
    free(c->file);
    h->nr--;
    return DT_AGAIN;
}

/* ---- reduce: adds up and prints ---- */

static uint64_t
get_number(const char *from, int bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes; i++) {
        value = value << 8 | (unsigned char)from[i];
    }
    return value;
}

/* What comes from a server is checked like anything from outside. */
static int
hello_reduce_feed(void *self, const struct dt_block *block)
{
    struct hello *h = (struct hello *)self;
    uint64_t host_len, file_len;
    struct count *c;
    int r;

    if (!(block->flags & DT_BLOCK_PARTIAL) || block->len < PARTIAL_FIXED) {
        return dt_error(h->query, DT_ERR_PROTO,
                        "hello: %zu bytes are no partial result", block->len);
    }
    host_len = get_number(block->data + 24, 4);
    file_len = get_number(block->data + 28, 4);
    if (host_len > MAX_NAME || file_len > MAX_NAME ||
        block->len != PARTIAL_FIXED + host_len + file_len) {
        return dt_error(h->query, DT_ERR_PROTO,
                        "hello: a partial result of %zu bytes has names of "
                        "%llu and %llu",
                        block->len, (unsigned long long)host_len,
                        (unsigned long long)file_len);
    }
    r = hello_grow(h, h->nr + 1);
    if (r < 0) {
        return r;
    }
    c = &h->v[h->nr - 1];
    c->server = block->source;
    c->lines = get_number(block->data, 8);
    c->bytes = get_number(block->data + 8, 8);
    c->longest = get_number(block->data + 16, 8);
    return count_name(c, block->data + PARTIAL_FIXED, (size_t)host_len,
                      block->data + PARTIAL_FIXED + host_len, (size_t)file_len);
}

static int
compare_counts(const void *a, const void *b)
{
    const struct count *x = (const struct count *)a;
    const struct count *y = (const struct count *)b;
    int r = strcmp(x->host, y->host);

    if (r == 0) {
        r = (x->server > y->server) - (x->server < y->server);
    }
    return r ? r : strcmp(x->file, y->file);
}

static void
count_add(struct count *to, const struct count *from)
{
    to->lines += from->lines;
    to->bytes += from->bytes;
    to->longest = from->longest > to->longest ? from->longest : to->longest;
}

/* The input is exhausted: shares of the same file become one. */
static int
hello_reduce_finish(void *self)
{
    struct hello *h = (struct hello *)self;
    size_t nr = 0;

    if (h->nr == 0) {
        return DT_OK;
    }
    qsort(h->v, h->nr, sizeof(struct count), compare_counts);
    for (size_t i = 1; i < h->nr; i++) {
        if (compare_counts(&h->v[nr], &h->v[i]) == 0) {
            count_add(&h->v[nr], &h->v[i]);
            free(h->v[i].host);
            free(h->v[i].file);
        } else {
            h->v[++nr] = h->v[i];
        }
    }
    h->nr = nr + 1;
    return DT_OK;
}

static int
print_row(struct hello *h, const char *lines, const char *bytes,
          const char *longest, const char *host, const char *file)
{
    char row[2 * MAX_NAME + 128];
    int len = snprintf(row, sizeof(row), "%12s %15s %9s  %s%s%s\n", lines,
                       bytes, longest, host, *host ? ":" : "", file);

    return dt_emit_text(h->query, row, (size_t)len);
}

static int
print_count(struct hello *h, const struct count *c)
{
    char lines[24], bytes[24], longest[24];

    snprintf(lines, sizeof(lines), "%llu", (unsigned long long)c->lines);
    snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)c->bytes);
    snprintf(longest, sizeof(longest), "%llu", (unsigned long long)c->longest);
    return print_row(h, lines, bytes, longest, c->host, c->file);
}

static int
hello_reduce_drain(void *self, enum dt_drain why)
{
    struct hello *h = (struct hello *)self;
    struct count total;
    char host[] = "", file[] = "total";
    int r = print_row(h, "LINES", "BYTES", "LONGEST", "", "FILE");

    (void)why;
    memset(&total, 0, sizeof(total));
    total.host = host;
    total.file = file;
    for (size_t i = 0; r == DT_OK && i < h->nr; i++) {
        count_add(&total, &h->v[i]);
        r = print_count(h, &h->v[i]);
    }
    return r == DT_OK ? print_count(h, &total) : r;
}

/* ---- what the host sees ---- */

static const struct dt_stage hello_map = {
    sizeof(struct dt_stage),      hello_start, hello_map_feed, NULL,
    /* finish */ hello_map_drain, hello_close,
};

static const struct dt_stage hello_reduce = {
    sizeof(struct dt_stage), hello_start,        hello_reduce_feed,
    hello_reduce_finish,     hello_reduce_drain, hello_close,
};

static const struct dt_plugin plugin = {
    DT_PLUGIN_ABI,
    DT_TURBO | DT_PARALLEL,
    sizeof(struct dt_plugin),
    "hello",
    "1.0",
    "count lines and bytes, and find the longest line",
    "Prints a table with a row for each file of each server, and the total.\n"
    "Lengths are bytes; a line's newline is not part of its length.\n",
    PARTIAL_FORMAT,
    0,    /* spare */
    NULL, /* args */
    NULL, /* load */
    NULL, /* unload */
    &hello_map,
    &hello_reduce,
};

DT_REGISTER_PLUGIN(plugin)
