/* SPDX-License-Identifier: Apache-2.0
 *
 * bench-mapr PLUGIN QUERY FILE [THREADS|line]: runs both stages over a file as
 * the core does, blocks of 256 KiB by an atomic counter, or line by line, and
 * prints the result; wall seconds go to standard error. For measuring the
 * plugin alone: no permissions, no frames, no network.
 */
#include <dtail/plugin.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK ((size_t)256 * 1024)
#define SLACK ((size_t)64 * 1024) /* the longest line here */

struct bench {
    struct dt_query query;
    enum dt_role role;
    const char *text;
    const struct dt_plugin *plugin;
    int fd;
    char head[4096];
    size_t size;
    bool by_line;
    _Atomic size_t next;
    void *reduce;
    pthread_mutex_t lock;
    atomic_bool failed;
};

static struct bench *
bench_of(struct dt_query *q)
{
    return (struct bench *)(void *)q;
}

static int
no_lines(struct dt_query *q, const struct dt_lines *lines)
{
    (void)q;
    (void)lines;
    return DT_OK;
}

static int
to_reduce(struct dt_query *q, const void *data, size_t len)
{
    struct bench *b = bench_of(q);
    struct dt_block block = {.size = sizeof(block),
                             .flags = DT_BLOCK_PARTIAL,
                             .data = data,
                             .len = len};

    return b->plugin->reduce->feed(b->reduce, &block);
}

static int
to_stdout(struct dt_query *q, const char *data, size_t len)
{
    (void)q;
    return fwrite(data, 1, len, stdout) == len ? DT_OK : DT_ERR_IO;
}

static void
to_stderr(struct dt_query *q, const char *text)
{
    (void)q;
    fprintf(stderr, "note: %s\n", text);
}

static void
report(struct dt_query *q, int status, const char *text)
{
    bench_of(q)->failed = true;
    fprintf(stderr, "error %d: %s\n", status, text);
}

static void
no_log(struct dt_query *q, enum dt_log_level level, const char *text)
{
    (void)q;
    (void)level;
    (void)text;
}

static const char *
get_arg(struct dt_query *q, const char *name, size_t index, size_t *len)
{
    const char *value =
        index == 0 && strcmp(name, "query") == 0 ? bench_of(q)->text : NULL;

    if (len) {
        *len = value ? strlen(value) : 0;
    }
    return value;
}

static bool
not_cancelled(struct dt_query *q)
{
    (void)q;
    return false;
}

static int
get_source(struct dt_query *q, uint32_t id, struct dt_source *out)
{
    (void)id;
    out->name = out->path = out->host = "";
    out->head = bench_of(q)->head;
    out->head_len = strcspn(out->head, "\n");
    return DT_OK;
}

static enum dt_role
get_role(struct dt_query *q)
{
    return bench_of(q)->role;
}

static void
is_ordered(struct dt_query *q)
{
    (void)q;
}

static const struct dt_host host = {.size = sizeof(host),
                                    .emit_lines = no_lines,
                                    .emit_partial = to_reduce,
                                    .emit_text = to_stdout,
                                    .note = to_stderr,
                                    .error = report,
                                    .log = no_log,
                                    .arg = get_arg,
                                    .cancelled = not_cancelled,
                                    .source = get_source,
                                    .role = get_role,
                                    .ordered = is_ordered};

/* The lines that begin in slice i. */
static bool
read_slice(struct bench *b, size_t i, char *buffer, struct dt_block *block)
{
    size_t from = i * BLOCK, want = BLOCK + SLACK, lead = from ? 1 : 0;
    ssize_t got = pread(b->fd, buffer, want + lead, (off_t)(from - lead));
    char *start = buffer, *end;
    const char *nl;

    if (got <= (ssize_t)lead) {
        return false;
    }
    if (lead) {
        nl = memchr(buffer, '\n', (size_t)got);
        if (!nl || nl >= buffer + BLOCK + lead) {
            block->len = 0;
            return true;
        }
        start = buffer + (nl - buffer) + 1;
    }
    end = buffer + got;
    if ((size_t)got > BLOCK + lead) {
        nl = memchr(buffer + BLOCK + lead - 1, '\n',
                    (size_t)got - BLOCK - lead + 1);
        end = nl ? buffer + (nl - buffer) + 1 : end;
    }
    memset(buffer + got, 0, 64);
    block->data = start;
    block->len = (size_t)(end - start);
    return true;
}

static int
feed(struct bench *b, void *self, struct dt_block *block)
{
    struct dt_line line = DT_LINE_INIT;
    struct dt_block one = *block;
    int status = DT_OK;

    if (!b->by_line) {
        return b->plugin->map->feed(self, block);
    }
    while (status == DT_OK && dt_next_line(block, &line)) {
        one.data = line.data;
        one.len = line.whole_len;
        one.flags = DT_BLOCK_LINE;
        one.sequence++;
        status = b->plugin->map->feed(self, &one);
    }
    return status;
}

static void *
run(void *arg)
{
    struct bench *b = arg;
    char *buffer = malloc(BLOCK + SLACK + 128);
    struct dt_block block = {.size = sizeof(block), .source = 1};
    void *self = NULL;
    size_t i;
    int status = b->plugin->map->start(&b->query, &self);

    if (status < 0 || !buffer) {
        free(buffer);
        return NULL;
    }
    while (i = b->next++, read_slice(b, i, buffer, &block)) {
        block.sequence = i << 20;
        block.offset = i * BLOCK;
        block.flags = i == 0 ? DT_BLOCK_FIRST : 0;
        if (block.len && (status = feed(b, self, &block)) != DT_OK) {
            break;
        }
    }
    if (status == DT_OK) {
        status = b->plugin->map->finish(self);
    }
    pthread_mutex_lock(&b->lock);
    do {
        status =
            status < 0 ? status : b->plugin->map->drain(self, DT_DRAIN_FINAL);
    } while (status == DT_AGAIN);
    pthread_mutex_unlock(&b->lock);
    b->plugin->map->close(self);
    free(buffer);
    return NULL;
}

static int
run_all(struct bench *b, int nr)
{
    pthread_t threads[64];
    int status;

    b->role = DT_ROLE_REDUCE;
    status = b->plugin->reduce->start(&b->query, &b->reduce);
    if (status < 0) {
        return 1;
    }
    b->role = DT_ROLE_MAP;
    for (int i = 1; i < nr; i++) {
        pthread_create(&threads[i], NULL, run, b);
    }
    run(b);
    for (int i = 1; i < nr; i++) {
        pthread_join(threads[i], NULL);
    }
    b->role = DT_ROLE_REDUCE;
    do {
        status = b->plugin->reduce->drain(b->reduce, DT_DRAIN_FINAL);
    } while (status == DT_AGAIN);
    b->plugin->reduce->close(b->reduce);
    return status < 0 || b->failed;
}

int
main(int argc, char **argv)
{
    struct bench b = {.query = {.host = &host},
                      .lock = PTHREAD_MUTEX_INITIALIZER};
    const struct dt_plugin *(*entry)(void);
    struct timespec t0, t1;
    struct stat st;
    void *so = argc >= 4 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int nr = argc > 4 ? atoi(argv[4]) : 1, result;

    *(void **)&entry = so ? dlsym(so, "dt_plugin_entry") : NULL;
    b.fd = argc >= 4 ? open(argv[3], O_RDONLY | O_CLOEXEC) : -1;
    if (!entry || b.fd < 0 || fstat(b.fd, &st) < 0) {
        fprintf(stderr, "usage: bench-mapr PLUGIN QUERY FILE [N|line]\n");
        return 2;
    }
    if (pread(b.fd, b.head, sizeof(b.head) - 1, 0) < 0) {
        return 1;
    }
    b.plugin = entry();
    b.text = argv[2];
    b.by_line = argc > 4 && strcmp(argv[4], "line") == 0;
    nr = nr < 1 ? 1 : nr > 64 ? 64 : nr;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    result = b.plugin->load(&b.query, "{}") < 0 || run_all(&b, nr);
    clock_gettime(CLOCK_MONOTONIC, &t1);
    fprintf(stderr, "%.3f s, %.2f GB/s\n",
            (double)(t1.tv_sec - t0.tv_sec) +
                (double)(t1.tv_nsec - t0.tv_nsec) / 1e9,
            (double)st.st_size / 1e9 /
                ((double)(t1.tv_sec - t0.tv_sec) +
                 (double)(t1.tv_nsec - t0.tv_nsec) / 1e9));
    return result;
}
