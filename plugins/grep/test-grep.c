/* SPDX-License-Identifier: Apache-2.0
 *
 * grep: the same lines with the same numbers however the input is cut up,
 * whatever is asked for; counts that add up; errors that say where.
 */
#include "mock.h"

#include "select.h"
#include "test-random-pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct mock_plugin grep;

static const char twelve[] = "1\n2\n3X\n4X\n5\n6\n7\n8X\n9\n10\n11X\n12\n";

static const struct {
    const char *text;
    struct mock_arg args[8];
    const char *out;
} facts[] = {
    {twelve, {{"regex", "X", 0}}, "3X\n4X\n8X\n11X\n"},
    {twelve, {{"regex", "^1", 0}, {"not", "X", 0}}, "1\n10\n12\n"},
    {twelve, {{"and", "X$", 0}, {"and", "1", 0}}, "11X\n"},
    {twelve,
     {{"regex", ".", 0}, {"not", "X", 0}, {"not", "1", 0}},
     "2\n5\n6\n7\n9\n"},
    {twelve,
     {{"regex", "x", 0}, {"ignore-case", "yes", 0}, {"max", "2", 0}},
     "3X\n4X\n"},
    {twelve, {{"regex", "x", 0}, {"ignore-case", "no", 0}}, ""},
    {twelve,
     {{"regex", "X", 0}, {"before", "2", 0}, {"after", "1", 0}},
     twelve},
    {twelve,
     {{"regex", "X", 0},
      {"before", "1", 0},
      {"after", "3", 0},
      {"max", "2", 0}},
     "2\n3X\n4X\n5\n6\n7\n"},
    {twelve,
     {{"regex", "X", 0}, {"invert", "1", 0}, {"before", "1", 0}},
     "1\n2\n4X\n5\n6\n7\n8X\n9\n10\n11X\n12\n"},
    {twelve,
     {{"regex", "X", 0}, {"before", "-1", 0}, {"max", "-5", 0}},
     "3X\n4X\n8X\n11X\n"},
    {"a\n\nb\n", {{"regex", ".", 0}}, "a\n\nb\n"},
    {"a\n\nb\n", {{"regex", "", 0}}, "a\n\nb\n"},
    {"a\n\nb\n", {{NULL, NULL, 0}}, "a\n\nb\n"},
    {"a\n\nb\n", {{"regex", ".", 0}, {"invert", "yes", 0}}, "\n"},
    {"a\n\nb\n", {{"regex", ".*", 0}, {"invert", "yes", 0}}, ""},
    {"a\n.\nb\n", {{"regex", ".", 0}, {"fixed", "yes", 0}}, ".\n"},
    {"a.*\nb\n", {{"regex", ".*", 0}, {"fixed", "yes", 0}}, "a.*\n"},
    {"a\r\nb\r\nb", {{"regex", "[ab]$", 0}}, "a\r\nb\r\nb"},
    {"no newline", {{"regex", "line$", 0}}, "no newline"},
    {"", {{"regex", "a", 0}}, ""},
};

static void
test_facts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
        for (size_t size = 0; size < 40; size++) {
            const struct mock_options o = {.text = facts[i].text,
                                           .args = facts[i].args,
                                           .block_bytes = size,
                                           .instances = 1 + size % 4,
                                           .no_numbers = size % 3 == 0,
                                           .last_in_lines = size % 2};
            struct mock_result r;

            if (mock_run(&grep, &o, &r) != DT_OK) {
                fail_msg("case %zu: %s", i, r.error);
            }
            if (!mock_out_is(&r, facts[i].out)) {
                fail_msg("case %zu, blocks of %zu: %.*s", i, size,
                         (int)r.out.len, r.out.data);
            }
            if (r.nr_violations) {
                fail_msg("case %zu: %s", i, r.violation);
            }
            mock_result_fini(&r);
        }
    }
}

/* ---- normal and turbo ---- */

struct query {
    struct pattern_text texts[3];
    char numbers[3][16];
    struct mock_arg args[12];
};

static void
add_arg(struct query *q, const char *name, const char *value, size_t len)
{
    size_t i = 0;

    while (q->args[i].name) {
        i++;
    }
    q->args[i] = (struct mock_arg){name, value, len};
}

static void
random_query(struct rng *r, struct query *q)
{
    static const char *const patterns[] = {"regex", "and", "not"};
    static const char *const numbers[] = {"before", "after", "max"};
    static const char *const flags[] = {"invert", "ignore-case", "fixed"};

    *q = (struct query){0};
    for (size_t i = 0; i < 3; i++) {
        if (rng_below(r, 3) == 0 && (i || rng_below(r, 10))) {
            random_line(r, &q->texts[i], 3, 0);
        } else if (i == 0) {
            random_pattern(r, &q->texts[i]);
        }
        if (q->texts[i].len) {
            add_arg(q, patterns[i], q->texts[i].text, q->texts[i].len);
        }
        if (rng_below(r, 4) == 0) {
            snprintf(q->numbers[i], sizeof(q->numbers[i]), "%u",
                     rng_below(r, 5));
            add_arg(q, numbers[i], q->numbers[i], 0);
        }
        if (rng_below(r, 6) == 0) {
            add_arg(q, flags[i], "yes", 0);
        }
    }
}

/* The lines that were given out as "number:text\n". */
static void
numbered(const struct mock_result *r, struct buf *out)
{
    out->len = 0;
    for (size_t i = 0; i < r->nr_emits; i++) {
        const struct mock_emit *e = &r->emits[i];
        uint64_t line = e->lines.first_line;

        assert_int_equal(e->kind, MOCK_LINES);
        assert_true(line > 0);
        for (size_t at = 0; at < e->len; line++) {
            const char *nl = memchr(e->bytes + at, '\n', e->len - at);
            size_t len = nl ? (size_t)(nl - e->bytes) - at : e->len - at;

            assert_int_equal(buf_printf(out, "%llu:%.*s\n",
                                        (unsigned long long)line, (int)len,
                                        e->bytes + at),
                             DT_OK);
            at += len + (nl != NULL);
        }
        assert_int_equal(line, e->lines.first_line + e->lines.nr_lines);
    }
}

static void
random_source(struct rng *r, struct buf *text)
{
    static const char *const ends[] = {"\n", "\n", "\r\n"};
    unsigned nr = rng_below(r, 80);

    text->len = 0;
    for (unsigned i = 0; i < nr; i++) {
        struct pattern_text line = {.len = 0};

        random_line(r, &line, 10, rng_below(r, 4) == 0);
        assert_int_equal(buf_append(text, line.text, line.len), DT_OK);
        if (i + 1 < nr || rng_below(r, 2)) {
            assert_int_equal(buf_puts(text, PICK(r, ends)), DT_OK);
        }
    }
}

/* One random query in normal mode, then in turbo in several shapes. */
static void
compare(struct rng *r, struct query *q, const struct mock_source *source)
{
    static const size_t sizes[] = {1, 2, 3, 7, 64, 300, 4096};
    struct mock_options o = {
        .sources = source, .nr_sources = 1, .args = q->args};
    struct buf want = {0}, got = {0};
    struct mock_result normal, turbo;
    char count[100];

    mock_run(&grep, &o, &normal);
    assert_int_equal(normal.nr_violations, 0);
    if (normal.status == DT_OK) {
        numbered(&normal, &want);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        o.block_bytes = sizes[i];
        o.instances = 1 + rng_below(r, 4);
        o.last_in_lines = rng_below(r, 2);
        o.no_numbers = rng_below(r, 2);
        mock_run(&grep, &o, &turbo);
        assert_int_equal(turbo.status, normal.status);
        assert_int_equal(turbo.nr_violations, 0);
        if (normal.status != DT_OK) {
            assert_string_equal(turbo.error, normal.error);
        } else if (o.no_numbers) {
            assert_int_equal(turbo.out.len, normal.out.len);
            assert_memory_equal(turbo.out.data, normal.out.data,
                                normal.out.len);
        } else {
            numbered(&turbo, &got);
            assert_int_equal(got.len, want.len);
            assert_memory_equal(got.data, want.data, want.len);
        }
        mock_result_fini(&turbo);
    }
    if (normal.status == DT_OK) {
        uint64_t nr = 0;

        for (size_t i = 0; i < normal.nr_emits; i++) {
            nr += normal.emits[i].lines.nr_lines;
        }
        for (size_t i = 0; q->args[i].name; i++) {
            if (strcmp(q->args[i].name, "before") == 0 ||
                strcmp(q->args[i].name, "after") == 0) {
                nr = UINT64_MAX; /* counts without context: another number */
            }
        }
        add_arg(q, "count", "yes", 0);
        mock_run(&grep, &o, &turbo);
        assert_int_equal(turbo.status, DT_OK);
        snprintf(count, sizeof(count), "mockhost:s:%llu\n",
                 (unsigned long long)nr);
        if (nr != UINT64_MAX && !mock_out_is(&turbo, count)) {
            fail_msg("count: %.*s, not %s", (int)turbo.out.len, turbo.out.data,
                     count);
        }
        mock_result_fini(&turbo);
    }
    mock_result_fini(&normal);
    buf_fini(&want);
    buf_fini(&got);
}

static void
test_turbo_is_normal(void **state)
{
    struct rng r = rng_new(51);
    struct buf text = {0};
    struct query q;

    (void)state;
    for (unsigned long i = 0; i < test_effort(400); i++) {
        struct mock_source source = {.name = "s"};

        random_query(&r, &q);
        random_source(&r, &text);
        source.data = text.len ? text.data : "";
        source.len = text.len;
        compare(&r, &q, &source);
    }
    buf_fini(&text);
}

/* ---- counts ---- */

static const struct mock_source files[] = {
    {.name = "b.log", .host = "web2", .data = "x\ny\nx\n"},
    {.name = "a.log", .host = "web1", .data = "x\n"},
    {.name = "empty", .host = "web1", .data = ""},
    {.name = "b.log", .host = "web1", .data = "y\nx"},
    {.name = "c\nd", .host = "web1", .data = "y"},
};

static void
test_counts(void **state)
{
    const struct mock_arg args[] = {
        {"regex", "x", 0}, {"count", "yes", 0}, {NULL, NULL, 0}};

    (void)state;
    for (size_t size = 0; size < 12; size++) {
        for (size_t nr = 1; nr < 5; nr++) {
            const struct mock_options o = {.sources = files,
                                           .nr_sources = 5,
                                           .args = args,
                                           .block_bytes = size,
                                           .instances = nr,
                                           .no_numbers = size % 2};
            struct mock_result r;

            assert_int_equal(mock_run(&grep, &o, &r), DT_OK);
            if (!mock_out_is(&r, "web1:a.log:1\nweb1:b.log:1\nweb1:c?d:0\n"
                                 "web1:empty:0\nweb2:b.log:2\n")) {
                fail_msg("%.*s", (int)r.out.len, r.out.data);
            }
            assert_int_equal(r.nr_violations, 0);
            mock_result_fini(&r);
        }
    }
}

static void
test_count_with_max(void **state)
{
    const struct mock_arg args[] = {{"regex", "X", 0},
                                    {"count", "yes", 0},
                                    {"max", "3", 0},
                                    {"after", "5", 0},
                                    {NULL, NULL, 0}};

    (void)state;
    for (size_t size = 0; size < 40; size++) {
        const struct mock_options o = {
            .text = twelve, .args = args, .block_bytes = size};
        struct mock_result r;

        assert_int_equal(mock_run(&grep, &o, &r), DT_OK);
        assert_true(mock_out_is(&r, "mockhost:text:3\n"));
        mock_result_fini(&r);
    }
}

/* Bytes that no grep has written. */
static void
test_broken_partials(void **state)
{
    static const char good[] = "\0\0\0\0\0\0\0\x05\0\0\0\1\0\0\0\1\0\0\0\2"
                               "hn/n";
    struct mock_result r;
    struct dt_block b = {.size = sizeof(b),
                         .flags = DT_BLOCK_PARTIAL,
                         .data = good,
                         .len = sizeof(good) - 1};
    char bad[sizeof(good)];

    (void)state;
    assert_int_equal(mock_reduce_one(&grep, &b, &r), DT_OK);
    assert_true(mock_out_is(&r, "h:n:5\n"));
    mock_result_fini(&r);
    for (b.len = 0; b.len < sizeof(good) - 1; b.len++) {
        assert_int_equal(mock_reduce_one(&grep, &b, &r), DT_ERR_PROTO);
        mock_result_fini(&r);
    }
    memcpy(bad, good, sizeof(good));
    bad[12] = '\x7f'; /* a name of 2 GB */
    b.data = bad;
    assert_int_equal(mock_reduce_one(&grep, &b, &r), DT_ERR_PROTO);
    assert_non_null(strstr(r.error, "bad at 0"));
    mock_result_fini(&r);
}

/* ---- what goes wrong ---- */

static const struct {
    struct mock_arg args[4];
    int status;
    const char *error;
} mistakes[] = {
    {{{"regex", "a(b", 0}},
     DT_ERR_INVAL,
     "pattern \"a(b\": offset 1: expected )"},
    {{{"regex", "a", 0}, {"not", "*", 0}}, DT_ERR_INVAL, "offset 0"},
    {{{"max", "five", 0}}, DT_ERR_INVAL, "max \"five\": expected a number"},
    {{{"before", "1x", 0}}, DT_ERR_INVAL, "before"},
    {{{"after", "99999999999999999999", 0}}, DT_ERR_INVAL, "after"},
};

static void
test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
        const struct mock_options o = {.text = "a\n", .args = mistakes[i].args};
        struct mock_result r;

        assert_int_equal(mock_run(&grep, &o, &r), mistakes[i].status);
        if (!strstr(r.error, mistakes[i].error)) {
            fail_msg("%s", r.error);
        }
        assert_int_equal(r.nr_blocks, 0);
        mock_result_fini(&r);
    }
}

static void
test_too_expensive(void **state)
{
    const struct mock_arg args[] = {{"regex", "(a+)+$", 0}, {NULL, NULL, 0}};
    const size_t len = 100000;
    char *text = malloc(len + 32);

    (void)state;
    assert_non_null(text);
    memcpy(text, "one\ntwo\n", 8);
    memset(text + 8, 'a', len);
    strcpy(text + 8 + len, "b\nfour\n");
    for (size_t size = 0; size < 3; size++) {
        const struct mock_options o = {.text = text,
                                       .args = args,
                                       .block_bytes = size * 150000,
                                       .no_numbers = size == 2};
        struct mock_result r;

        assert_int_equal(mock_run(&grep, &o, &r), DT_ERR_LIMIT);
        if (!strstr(r.error,
                    o.no_numbers
                        ? "pattern too expensive on text, the line at byte 8"
                        : "pattern too expensive on text line 3")) {
            fail_msg("%s", r.error);
        }
        mock_result_fini(&r);
    }
    free(text);
}

static void
test_cancelled(void **state)
{
    const struct mock_arg args[] = {{"regex", "X", 0}, {NULL, NULL, 0}};

    (void)state;
    for (size_t size = 0; size < 30; size += 5) {
        const struct mock_options o = {
            .text = twelve, .args = args, .block_bytes = size, .cancel_at = 2};
        struct mock_result r;

        assert_int_equal(mock_run(&grep, &o, &r), DT_ERR_CANCELLED);
        assert_true(mock_out_is(&r, size ? "3X\n4X\n" : "3X\n") ||
                    mock_out_is(&r, "3X\n"));
        mock_result_fini(&r);
    }
}

static void
test_log(void **state)
{
    static const struct {
        const char *pattern, *text;
    } logs[] = {
        {"plain", "Using optimized literal string matching for pattern:|plain"},
        {"pl.in", "Using regex matching for pattern:|pl.in"},
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct mock_arg args[] = {{"regex", logs[i].pattern, 0},
                                        {NULL, NULL, 0}};
        struct mock_result r;
        bool is_there = false;

        mock_run(&grep, &(struct mock_options){.text = "a\n", .args = args},
                 &r);
        for (size_t k = 0; k < r.logs.nr; k++) {
            is_there |= strstr(r.logs.v[k], logs[i].text) != NULL;
        }
        assert_true(is_there);
        mock_result_fini(&r);
    }
}

/* Neighbours leave in one call, and only context keeps a query in order. */
static void
test_runs(void **state)
{
    const struct mock_arg plain[] = {{"regex", "X", 0}, {NULL, NULL, 0}};
    const struct mock_arg after[] = {
        {"regex", "X", 0}, {"after", "1", 0}, {NULL, NULL, 0}};
    struct mock_options o = {
        .text = twelve, .args = plain, .block_bytes = 4096};
    struct mock_result r;

    (void)state;
    assert_int_equal(mock_run(&grep, &o, &r), DT_OK);
    assert_int_equal(r.nr_emits, 3);
    assert_int_equal(r.emits[0].lines.nr_lines, 2);
    assert_false(r.is_ordered);
    mock_result_fini(&r);
    o.args = after;
    assert_int_equal(mock_run(&grep, &o, &r), DT_OK);
    assert_true(r.is_ordered);
    mock_result_fini(&r);
}

static int
open_grep(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    if (mock_open(&grep, ".libs", "grep", NULL, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    return 0;
}

static int
close_grep(void **state)
{
    (void)state;
    mock_close(&grep);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_turbo_is_normal),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_count_with_max),
        cmocka_unit_test(test_broken_partials),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_too_expensive),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_runs),
    };

    return cmocka_run_group_tests(tests, open_grep, close_grep);
}
