/* SPDX-License-Identifier: Apache-2.0
 *
 * The sample plugin hello: counts are the same however the input is cut up,
 * and what is no partial result is refused. TEST_HELLO_DIR: folder of another
 * dt-hello.so, for tests/test-hello-outside.sh.
 */
#include "mock.h"

#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct mock_plugin hello;

static const struct mock_source sources[] = {
    {.name = "b.log", .host = "web2", .data = "1\n22\n\n4444\n55"},
    {.name = "a.log", .host = "web1", .data = "x\n"},
    {.name = "empty.log", .host = "web1", .data = ""},
    {.name = "b.log", .host = "web1", .data = "one line of 22 bytes\n"},
};

static const char table[] =
    "       LINES           BYTES   LONGEST  FILE\n"
    "           1               2         1  web1:a.log\n"
    "           1              21        20  web1:b.log\n"
    "           0               0         0  web1:empty.log\n"
    "           5              13         4  web2:b.log\n"
    "           7              36        20  total\n";

static void
test_table(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 24; bytes++) {
        for (size_t nr = 1; nr < 5; nr++) {
            const struct mock_options o = {.sources = sources,
                                           .nr_sources = 4,
                                           .block_bytes = bytes,
                                           .instances = nr};
            struct mock_result r;

            assert_int_equal(mock_run(&hello, &o, &r), DT_OK);
            if (!mock_out_is(&r, table)) {
                fail_msg("%zu bytes a block, %zu instances:\n%.*s", bytes, nr,
                         (int)r.out.len, r.out.data);
            }
            assert_int_equal(r.nr_violations, 0);
            mock_result_fini(&r);
        }
    }
}

static void
test_nothing(void **state)
{
    struct mock_result r;

    (void)state;
    assert_int_equal(mock_run(&hello, &(struct mock_options){0}, &r), DT_OK);
    assert_true(mock_out_is(&r,
                            "       LINES           BYTES   LONGEST  FILE\n"
                            "           0               0         0  total\n"));
    mock_result_fini(&r);
}

/* The documented bytes of format 1. */
static void
test_format(void **state)
{
    static const char expected[] = "\0\0\0\0\0\0\0\x05"
                                   "\0\0\0\0\0\0\0\x0d"
                                   "\0\0\0\0\0\0\0\x04"
                                   "\0\0\0\x04"
                                   "\0\0\0\x05"
                                   "web2b.log";
    const struct mock_options o = {
        .sources = sources, .nr_sources = 1, .no_reduce = true};
    struct mock_result r;

    (void)state;
    assert_int_equal(plugin_descriptor(hello.plugin)->partial_format, 1);
    assert_int_equal(mock_run(&hello, &o, &r), DT_OK);
    assert_int_equal(r.nr_emits, 1);
    assert_int_equal(r.emits[0].kind, MOCK_PARTIAL);
    assert_int_equal(r.emits[0].len, sizeof(expected) - 1);
    assert_memory_equal(r.emits[0].bytes, expected, sizeof(expected) - 1);
    mock_result_fini(&r);
}

static void
test_cancelled(void **state)
{
    (void)state;
    for (size_t at = 1; at < 8; at++) {
        const struct mock_options o = {
            .sources = sources, .nr_sources = 4, .cancel_at = at};
        struct mock_result r;

        assert_int_equal(mock_run(&hello, &o, &r), DT_ERR_CANCELLED);
        assert_string_equal(r.error, "");
        mock_result_fini(&r);
    }
}

/* Bytes that no hello has written, straight into reduce. */
static void
test_broken_partials(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        unsigned flags;
    } cases[] = {
        {"", 0, DT_BLOCK_PARTIAL},
        {"lines, not a partial result at all\n", 35, 0},
        {"\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\1h",
         33, DT_BLOCK_PARTIAL},
        {"\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\1hfx",
         35, DT_BLOCK_PARTIAL},
        {"\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\xff\xff\xff\xff\0\0"
         "\0"
         "\3hf",
         34, DT_BLOCK_PARTIAL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct dt_block b = {.size = sizeof(b),
                                   .flags = cases[i].flags,
                                   .data = cases[i].bytes,
                                   .len = cases[i].len};
        struct mock_result r;

        assert_int_equal(mock_reduce_one(&hello, &b, &r), DT_ERR_PROTO);
        assert_int_equal(strncmp(r.error, "hello: ", 7), 0);
        mock_result_fini(&r);
    }
}

static int
open_hello(void **state)
{
    const char *dir = getenv("TEST_HELLO_DIR");
    struct error err = ERROR_INIT;

    (void)state;
    if (mock_open(&hello, dir ? dir : TEST_PLUGIN_DIR, "hello", NULL, &err) <
        0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    return 0;
}

static int
close_hello(void **state)
{
    (void)state;
    mock_close(&hello);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_broken_partials),
    };

    return cmocka_run_group_tests(tests, open_hello, close_hello);
}
