/* SPDX-License-Identifier: Apache-2.0
 *
 * The query engine: the bytes of files come out whole and in order, with the
 * same numbers, whatever the variant, the threads and the lengths of lines.
 */
#include "config.h"
#include "query.h"

#include <bytes.h>
#include <cleanup.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* What arrived at the sink. */
struct got {
    struct buf text;  /* the lines as they came; one newline added if cut */
    struct buf heads; /* "source:first_line\n" for each line */
    struct buf notes;
    struct query_end end;
    unsigned nr_ends;
    uint64_t next[64]; /* by source: the number that must come next */
    bool is_numbered;
};

static void
take_lines(struct got *g, const struct wire_frame *f)
{
    const char *data = f->data;
    bool is_ended = data[f->len - 1] == '\n';
    uint64_t nr = bytes_count_newlines(data, f->len) + !is_ended;

    assert_int_equal(buf_append(&g->text, data, f->len), DT_OK);
    assert_true(f->source < 64);
    if (!is_ended) {
        assert_true(f->flags & (DT_BLOCK_NOEOL | DT_BLOCK_CUT));
    }
    if (g->is_numbered) {
        if (f->first_line == 1) {
            g->next[f->source] = 1;
        }
        assert_true(f->first_line == g->next[f->source]);
        assert_int_equal(f->nr_lines, nr);
        g->next[f->source] += nr;
    }
}

static int
take_frame(void *ctx, const struct wire_frame *f, const struct cancel *cancel)
{
    struct got *g = ctx;
    struct error err = ERROR_INIT;

    (void)cancel;
    assert_int_equal(g->nr_ends, 0); /* END is the last */
    switch (f->type) {
    case WIRE_S_LINES:
        take_lines(g, f);
        break;
    case WIRE_S_NOTE:
        assert_int_equal(buf_append(&g->notes, f->data, f->len), DT_OK);
        assert_int_equal(buf_puts(&g->notes, "\n"), DT_OK);
        break;
    case WIRE_S_END:
        g->nr_ends++;
        assert_int_equal(query_end_parse(f->data, f->len, &g->end, &err),
                         DT_OK);
        break;
    default:
        break;
    }
    return DT_OK;
}

static const struct outq_sink sink = {.frame = take_frame};

static void
got_fini(struct got *g)
{
    buf_fini(&g->text);
    buf_fini(&g->heads);
    buf_fini(&g->notes);
    query_end_fini(&g->end);
}

struct setting {
    const char *config;
    bool turbo_off;
    bool plain;
    bool ordered;
};

/* Runs pcat over the files and gives what came out. */
static void
run_pcat(const struct setting *s, char **files, struct got *g)
{
    struct config *config = NULL;
    struct plugins *plugins = NULL;
    struct error err = ERROR_INIT;
    struct query *query = NULL;
    struct query_spec spec = {.id = 1,
                              .plugin = (char *)(uintptr_t) "pcat",
                              .turbo_off = s->turbo_off,
                              .plain = s->plain};
    eventfd_t value;

    assert_int_equal(
        config_parse(s->config, strlen(s->config), "test", &config, &err),
        DT_OK);
    if (plugins_open(TEST_PLUGIN_DIR, config, &plugins, &err) != DT_OK) {
        fail_msg("%s", err.text);
    }
    plugins_load(plugins, NULL);
    const struct query_env env = {.config = config,
                                  .plugins = plugins,
                                  .out = outq_new_sink(&sink, g),
                                  .user = "test",
                                  .host = "testhost",
                                  .done_fd = eventfd(0, EFD_CLOEXEC)};
    for (size_t i = 0; files[i]; i++) {
        assert_int_equal(strv_add(&spec.files, files[i]), DT_OK);
    }
    if (s->ordered) {
        assert_int_equal(query_spec_add_arg(&spec, "ordered", "1", 1), DT_OK);
    }
    g->is_numbered = !s->plain;
    if (query_start(&env, &spec, &query, &err) != DT_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(eventfd_read(env.done_fd, &value), 0);
    assert_int_equal(query_state(query), QUERY_DONE);
    query_free(query);
    spec.plugin = NULL;
    query_spec_fini(&spec);
    outq_free(env.out);
    close(env.done_fd);
    plugins_free(plugins);
    config_free(config);
    assert_int_equal(g->nr_ends, 1);
}

/* ---- files ---- */

static char *
temp_file(const void *data, size_t len)
{
    char name[] = "/tmp/test-query-XXXXXX";
    int fd = mkstemp(name);
    size_t done = 0;

    assert_true(fd >= 0);
    while (done < len) {
        ssize_t n = write(fd, (const char *)data + done, len - done);

        assert_true(n > 0);
        done += (size_t)n;
    }
    close(fd);
    return strdup(name);
}

/* Lines of random lengths; `most` of them short. */
static void
random_lines(struct buf *b, size_t bytes, size_t longest, unsigned *seed)
{
    while (b->len < bytes) {
        size_t len = (size_t)rand_r(seed) % 100;

        if (rand_r(seed) % 50 == 0) {
            len = (size_t)rand_r(seed) % longest;
        }
        assert_int_equal(buf_reserve(b, len + 1), DT_OK);
        for (size_t i = 0; i < len; i++) {
            b->data[b->len + i] = (char)('a' + (i + b->len) % 26);
        }
        b->len += len;
        b->data[b->len++] = '\n';
    }
}

#define TURBO(n)                                                               \
    "{\"Server\":{\"Plugins\":{\"pcat\":{\"Turbo\":true,\"Threads\":" #n "}}}" \
    "}"
#define SHORT(n)                           \
    "{\"Server\":{\"MaxLineLength\":1024," \
    "\"Plugins\":{\"pcat\":{\"Turbo\":true,\"Threads\":" #n "}}}}"

static const struct setting settings[] = {
    {TURBO(1), false, true, false}, {TURBO(1), false, false, false},
    {TURBO(4), false, true, false}, {TURBO(4), false, false, false},
    {TURBO(2), false, true, true},  {TURBO(2), false, false, true},
    {TURBO(2), true, true, false},  {TURBO(2), true, false, false},
};

static void
expect_same(const struct buf *want, char **files)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        struct got g = {0};

        run_pcat(&settings[i], files, &g);
        assert_int_equal(g.end.status, DT_OK);
        assert_int_equal(g.text.len, want->len);
        if (want->len) {
            assert_memory_equal(g.text.data, want->data, want->len);
        }
        assert_int_equal(g.notes.len, 0);
        got_fini(&g);
    }
}

static void
test_random_files(void **state)
{
    unsigned seed = 1;

    (void)state;
    for (int round = 0; round < 6; round++) {
        struct buf b = {0};
        char *files[2] = {NULL, NULL};

        random_lines(&b, (size_t)rand_r(&seed) % (3u << 20), 300000, &seed);
        if (round % 2) {
            b.len -= b.len ? 1 : 0; /* no newline at the end */
        }
        files[0] = temp_file(b.data, b.len);
        expect_same(&b, files);
        unlink(files[0]);
        free(files[0]);
        buf_fini(&b);
    }
}

/* Lines that end at, in front of and behind the border of a slice, and at the
 * border of what is read behind it. */
static void
test_lines_end_at_borders(void **state)
{
    static const int offsets[] = {-2,   -1,   0,    1,    2,
                                  1022, 1023, 1024, 1025, 4096};
    const size_t slice = (size_t)256 * 1024;
    struct buf b = {0};
    char *files[2] = {NULL, NULL};

    (void)state;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        size_t len = 5 * slice;

        b.len = 0;
        assert_int_equal(buf_reserve(&b, len), DT_OK);
        for (size_t at = 0; at < len; at++) {
            b.data[at] = (char)('a' + at % 26);
        }
        for (size_t at = slice; at < len; at += slice) {
            b.data[at + (size_t)offsets[i]] = '\n';
        }
        b.len = len;
        files[0] = temp_file(b.data, b.len);
        expect_same(&b, files);
        unlink(files[0]);
        free(files[0]);
    }
    buf_fini(&b);
}

static void
test_several_files_stay_in_order(void **state)
{
    struct buf all = {0};
    char *files[6] = {NULL};
    unsigned seed = 7;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct buf b = {0};

        random_lines(&b, i == 2 ? 0 : (size_t)(1 + i) * 400000, 500, &seed);
        files[i] = temp_file(b.data, b.len);
        assert_int_equal(buf_append(&all, b.data, b.len), DT_OK);
        buf_fini(&b);
    }
    expect_same(&all, files);
    for (size_t i = 0; i < 5; i++) {
        unlink(files[i]);
        free(files[i]);
    }
    buf_fini(&all);
}

/* Longer lines than allowed come in pieces that together are the file. */
static void
test_long_lines_are_cut(void **state)
{
    const struct setting ways[] = {
        {SHORT(1), false, false, false}, {SHORT(1), true, false, false},
        {SHORT(3), false, true, false},  {SHORT(3), true, true, false},
        {SHORT(3), false, false, false}, {SHORT(3), false, false, true},
    };
    struct buf b = {0};
    char *files[2] = {NULL, NULL};
    unsigned seed = 3;

    (void)state;
    random_lines(&b, 2u << 20, 700000, &seed);
    files[0] = temp_file(b.data, b.len);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct got g = {0};

        run_pcat(&ways[i], files, &g);
        assert_int_equal(g.text.len, b.len);
        assert_memory_equal(g.text.data, b.data, b.len);
        assert_int_equal(buf_append(&g.notes, "", 1), DT_OK);
        assert_non_null(strstr(g.notes.data, "Long log line"));
        got_fini(&g);
    }
    unlink(files[0]);
    free(files[0]);
    buf_fini(&b);
}

static void
test_no_source_still_ends(void **state)
{
    char *files[] = {(char *)(uintptr_t) "/nonexistent/*.log",
                     (char *)(uintptr_t) "/nonexistent/a", NULL};

    (void)state;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        struct got g = {0};

        run_pcat(&settings[i], files, &g);
        assert_int_equal(g.end.status, DT_OK);
        assert_int_equal(g.end.failed, 2);
        assert_int_equal(g.end.sources, 0);
        assert_int_equal(buf_append(&g.notes, "", 1), DT_OK);
        assert_non_null(strstr(g.notes.data, "/nonexistent/a"));
        got_fini(&g);
    }
}

/* What nobody reads is kept up to a limit, which its owner can ask for. */
static void
test_unread_answers_fill_the_queue(void **state)
{
    static const char text[1000];
    const struct wire_frame f = {
        .type = WIRE_S_NOTE, .data = text, .len = sizeof(text)};
    int fd[2];
    struct outq *q;
    int nr = 0;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    q = outq_new_fd(fd[0], -1);
    assert_non_null(q);
    assert_false(outq_is_full(q));
    while (!outq_is_full(q)) {
        assert_true(nr++ < 100000);
        assert_int_equal(outq_post(q, &f), DT_OK);
    }
    assert_true(nr > 1000);
    while (outq_is_full(q)) {
        char got[4096];

        assert_true(read(fd[1], got, sizeof(got)) > 0);
        assert_int_equal(outq_pump(q), DT_OK);
    }
    outq_free(q);
    close(fd[0]);
    close(fd[1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_files),
        cmocka_unit_test(test_lines_end_at_borders),
        cmocka_unit_test(test_several_files_stay_in_order),
        cmocka_unit_test(test_long_lines_are_cut),
        cmocka_unit_test(test_no_source_still_ends),
        cmocka_unit_test(test_unread_answers_fill_the_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
