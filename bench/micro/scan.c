/* SPDX-License-Identifier: Apache-2.0
 *
 * micro-scan FILE [PATTERN...]: how fast blocks in the second-level cache are
 * searched, in GB/s of one core. The file (at most 256 MB are read) is taken
 * in blocks of 256 KiB; each is touched, then measured three times, of which
 * the best counts, so that other load on the machine matters little.
 */
#include "match.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCK ((size_t)256 * 1024)
#define FILE_MAX ((size_t)256 * 1024 * 1024)

struct input {
    char *data; /* with slack */
    size_t len; /* whole lines */
};

/* What is measured: returns something that depends on all of the block. */
typedef size_t (*work_fn)(void *ctx, const char *data, size_t len);

static int64_t
now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int
read_file(const char *path, struct input *in)
{
    FILE *f = fopen(path, "rb");

    in->data = calloc(1, FILE_MAX + BYTES_SLACK);
    if (!f || !in->data) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    in->len = fread(in->data, 1, FILE_MAX, f);
    fclose(f);
    while (in->len && in->data[in->len - 1] != '\n') {
        in->len--;
    }
    return in->len ? 0 : -1;
}

static void
measure(const struct input *in, const char *what, work_fn work, void *ctx)
{
    static char block[BLOCK + BYTES_SLACK];
    size_t sum = 0, bytes = 0;
    int64_t total = 0;

    for (size_t at = 0; at < in->len;) {
        size_t len = in->len - at < BLOCK ? in->len - at : BLOCK;
        int64_t best = INT64_MAX;

        if (len == BLOCK) {
            len =
                (size_t)(bytes_line_start(in->data + at, in->data + at + len) -
                         (in->data + at));
        }
        memcpy(block, in->data + at, len);
        for (int i = 0; i < 3; i++) {
            int64_t start = now_ns(), took;
            size_t result = work(ctx, block, len);

            took = now_ns() - start;
            best = took < best ? took : best;
            sum += i ? 0 : result;
        }
        total += best;
        bytes += len;
        at += len;
    }
    printf("%-44s %6.2f GB/s  %zu\n", what, (double)bytes / (double)total, sum);
}

static size_t
count_lines(void *ctx, const char *data, size_t len)
{
    return bytes_count_at(*(enum bytes_level *)ctx, data, len, '\n');
}

static size_t
check_ascii(void *ctx, const char *data, size_t len)
{
    return bytes_is_ascii_at(*(enum bytes_level *)ctx, data, len);
}

static size_t
check_utf8(void *ctx, const char *data, size_t len)
{
    (void)ctx;
    return bytes_utf8_valid(data, len);
}

static size_t
check_long(void *ctx, const char *data, size_t len)
{
    (void)ctx;
    return bytes_find_long_line(data, len, 16384);
}

static size_t
search_block(void *ctx, const char *data, size_t len)
{
    struct match_state *s = ctx;
    size_t nr = 0, start, end;

    match_begin(s, data, len);
    while (match_next(s, &start, &end) == 1) {
        nr++;
    }
    return nr;
}

static size_t
search_lines(void *ctx, const char *data, size_t len)
{
    const char *end = data + len, *next;
    size_t nr = 0;

    for (; data < end; data = next) {
        next = bytes_line_end(data, end);
        nr += match_line(ctx, data, (size_t)(next - data)) == 1;
    }
    return nr;
}

static int
measure_pattern(const struct input *in, const char *pattern)
{
    static const struct {
        const char *name;
        unsigned hooks;
        bool ignore_case;
        work_fn work;
    } ways[] = {
        {"", 0, false, search_block},
        {"by block", MATCH_BY_BLOCK, false, search_block},
        {"line by line", 0, false, search_lines},
        {"ignoring case", 0, true, search_block},
    };
    const struct match_term term = {pattern, strlen(pattern), false};

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        const struct match_args args = {.terms = &term,
                                        .nr_terms = 1,
                                        .ignore_case = ways[i].ignore_case,
                                        .hooks = ways[i].hooks};
        struct match_error err;
        struct match_state *s;
        struct match *m;
        char what[100];

        if (match_compile(&args, &m, &err) != DT_OK ||
            match_state_new(m, NULL, NULL, &s) != DT_OK) {
            fprintf(stderr, "%s\n", err.text);
            return -1;
        }
        if (!match_is_literal(m) || !(ways[i].hooks & MATCH_BY_BLOCK)) {
            snprintf(what, sizeof(what), "%s %s", pattern, ways[i].name);
            measure(in, what, ways[i].work, s);
        }
        match_state_free(s);
        match_free(m);
    }
    return 0;
}

static void
measure_bytes(const struct input *in)
{
    static const char *const names[] = {"plain", "SSE2", "AVX2"};

    for (enum bytes_level l = BYTES_PLAIN; l <= bytes_level(); l++) {
        char what[60];

        snprintf(what, sizeof(what), "newlines, %s", names[l]);
        measure(in, what, count_lines, &l);
        snprintf(what, sizeof(what), "ASCII, %s", names[l]);
        measure(in, what, check_ascii, &l);
    }
    measure(in, "UTF-8", check_utf8, NULL);
    measure(in, "long lines", check_long, NULL);
}

int
main(int argc, char **argv)
{
    static const char *const usual[] = {"user999 ",
                                        "ERROR",
                                        "Validating input for user71",
                                        "(ERROR|WARN).*user[0-9]+9 ",
                                        "user[0-9]+ action1[0-9] took",
                                        "[a-z]+ action77 took [0-9]+9",
                                        NULL};
    const char *const *patterns =
        argc > 2 ? (const char *const *)argv + 2 : usual;
    struct input in;
    int status = 0;

    if (argc < 2 || read_file(argv[1], &in) < 0) {
        fprintf(stderr, "usage: micro-scan FILE [PATTERN...]\n");
        return 2;
    }
    if (argc == 2) {
        measure_bytes(&in);
    }
    for (size_t i = 0; patterns[i] && status == 0; i++) {
        status = measure_pattern(&in, patterns[i]);
    }
    free(in.data);
    return status ? 1 : 0;
}
