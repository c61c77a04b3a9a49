/* SPDX-License-Identifier: Apache-2.0
 *
 * cat: gives out the bytes of its input, whatever they are and however they
 * come, in as few calls as they come in.
 */
#include "mock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct mock_plugin cat;

static const char bytes[] = "plain\n\n\0nul\n\xff\xfe\r\n\x1b[31m\nno newline";

static void
test_any_bytes(void **state)
{
    const struct mock_source source = {
        .name = "f", .data = bytes, .len = sizeof(bytes) - 1};

    (void)state;
    for (size_t size = 0; size < sizeof(bytes) + 1; size++) {
        const struct mock_options o = {.sources = &source,
                                       .nr_sources = 1,
                                       .block_bytes = size,
                                       .last_in_lines = size % 2};
        struct mock_result r;

        assert_int_equal(mock_run(&cat, &o, &r), DT_OK);
        assert_int_equal(r.out.len, sizeof(bytes) - 1);
        assert_memory_equal(r.out.data, bytes, sizeof(bytes) - 1);
        assert_int_equal(r.nr_violations, 0);
        /* one call a block, none for one without lines */
        assert_int_equal(r.nr_emits, r.nr_blocks - !(size % 2));
        mock_result_fini(&r);
    }
}

static void
test_ends_when_the_reader_is_gone(void **state)
{
    struct mock_result r;

    (void)state;
    assert_int_equal(
        mock_run(&cat,
                 &(struct mock_options){.text = "1\n2\n3\n", .fail_at = 2}, &r),
        DT_ERR_IO);
    assert_int_equal(r.nr_blocks, 2);
    assert_true(mock_out_is(&r, "1\n"));
    mock_result_fini(&r);
    assert_int_equal(
        mock_run(&cat,
                 &(struct mock_options){.text = "1\n2\n3\n", .cancel_at = 1},
                 &r),
        DT_ERR_CANCELLED);
    assert_int_equal(r.out.len, 0);
    mock_result_fini(&r);
}

static void
test_descriptor(void **state)
{
    const struct dt_plugin *d = plugin_descriptor(cat.plugin);

    (void)state;
    assert_true(d->flags & DT_VERBATIM);
    assert_null(d->reduce); /* the core prints */
}

static int
open_cat(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    if (mock_open(&cat, ".libs", "cat", NULL, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    return 0;
}

static int
close_cat(void **state)
{
    (void)state;
    mock_close(&cat);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_ends_when_the_reader_is_gone),
        cmocka_unit_test(test_descriptor),
    };

    return cmocka_run_group_tests(tests, open_cat, close_cat);
}
