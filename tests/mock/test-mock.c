/* SPDX-License-Identifier: Apache-2.0
 *
 * The mock host: runs a plugin's stages, notices what is against the rules,
 * and ends what has no end of its own.
 */
#include "mock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct mock_plugin trouble;

static void
run(const struct mock_options *options, struct mock_result *r)
{
    mock_run(&trouble, options, r);
    if (r->nr_violations) {
        fail_msg("against the rules: %s", r->violation);
    }
}

static const char text[] = "one\ntwo\n\nthree, which is longer\nlast";

/* Any size of blocks and number of instances gives the same bytes. */
static void
test_blocks(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < sizeof(text) + 2; bytes++) {
        for (size_t nr = 1; nr < 4; nr++) {
            for (int variant = 0; variant < 8; variant++) {
                const struct mock_options o = {.text = text,
                                               .block_bytes = bytes,
                                               .instances = nr,
                                               .last_in_lines = variant & 1,
                                               .no_numbers = variant & 2,
                                               .interval = variant & 4};
                struct mock_result r;

                run(&o, &r);
                assert_int_equal(r.status, DT_OK);
                assert_true(mock_out_is(&r, text));
                assert_int_equal(r.nr_lines, 5);
                mock_result_fini(&r);
            }
        }
    }
}

static void
test_lines_are_numbered(void **state)
{
    static const size_t offsets[] = {4, 8, 9, 32, 36};
    struct mock_result r;

    (void)state;
    run(&(struct mock_options){.text = text, .no_reduce = true}, &r);
    assert_int_equal(r.nr_emits, 5);
    for (size_t i = 0; i < r.nr_emits; i++) {
        const struct dt_lines *l = &r.emits[i].lines;

        assert_int_equal(l->first_line, i + 1);
        assert_int_equal(l->nr_lines, 1);
        assert_int_equal(l->offset, offsets[i]);
        assert_int_equal(l->flags & DT_BLOCK_NOEOL,
                         i == 4 ? DT_BLOCK_NOEOL : 0);
    }
    mock_result_fini(&r);
}

static void
test_long_lines_are_cut(void **state)
{
    struct mock_result r;

    (void)state;
    run(&(struct mock_options){.text = "abcdefgh\nxy\n",
                               .max_line = 5,
                               .block_bytes = 100},
        &r);
    assert_true(mock_out_is(&r, "abcdefgh\nxy\n"));
    assert_int_equal(r.nr_emits, 2);
    assert_int_equal(r.emits[0].lines.flags, DT_BLOCK_CUT);
    assert_int_equal(r.emits[1].lines.first_line, 1);
    mock_result_fini(&r);
}

static void
test_no_source(void **state)
{
    struct mock_result r;

    (void)state;
    run(&(struct mock_options){0}, &r);
    assert_int_equal(r.status, DT_OK);
    assert_int_equal(r.nr_blocks, 0);
    assert_int_equal(r.nr_drains, 2);
    mock_result_fini(&r);
}

static void
test_several_sources(void **state)
{
    static const struct mock_source sources[] = {
        {.name = "a", .data = "1\n2\n"},
        {.name = "empty", .data = ""},
        {.name = "b", .data = "3\0\n4", .len = 4},
    };
    struct mock_result r;

    (void)state;
    run(&(struct mock_options){.sources = sources, .nr_sources = 3}, &r);
    assert_int_equal(r.out.len, 8);
    assert_memory_equal(r.out.data, "1\n2\n3\0\n4", 8);
    assert_int_equal(r.emits[2].lines.source, 3);
    mock_result_fini(&r);
}

/* ---- misbehaviour ---- */

static void
run_trouble(const char *what, const char *hook, const char *stage,
            struct mock_options o, struct mock_result *r)
{
    const struct mock_arg args[] = {
        {"do", what, 0}, {"hook", hook, 0}, {"stage", stage, 0}, {0}};

    o.text = text;
    o.args = args;
    mock_run(&trouble, &o, r);
}

static void
test_errors(void **state)
{
    static const char *const hooks[] = {"start", "feed", "finish", "drain"};
    static const char *const stages[] = {"map", "reduce"};

    (void)state;
    for (size_t h = 0; h < 4; h++) {
        for (size_t s = 0; s < 2; s++) {
            struct mock_result r;
            char expected[64];

            run_trouble("error", hooks[h], stages[s],
                        (struct mock_options){.instances = 3}, &r);
            snprintf(expected, sizeof(expected), "trouble: %s gives up",
                     hooks[h]);
            assert_int_equal(r.status, DT_ERR_LIMIT);
            assert_string_equal(r.error, expected);
            mock_result_fini(&r);
        }
    }
}

static void
test_endless(void **state)
{
    struct mock_result r;

    (void)state;
    run_trouble("endless", "drain", "map",
                (struct mock_options){.max_drains = 7}, &r);
    assert_int_equal(r.status, DT_ERR_CANCELLED);
    assert_int_equal(r.nr_drains, 7);
    mock_result_fini(&r);
    run_trouble("endless", "feed", "map",
                (struct mock_options){.max_emits = 10}, &r);
    assert_int_equal(r.status, DT_ERR_CANCELLED);
    assert_int_equal(r.nr_emits, 10);
    mock_result_fini(&r);
    run_trouble("endless", "feed", "reduce",
                (struct mock_options){.max_emits = 15}, &r);
    assert_int_equal(r.status, DT_ERR_CANCELLED);
    mock_result_fini(&r);
}

static void
test_cancel_and_failed_emit(void **state)
{
    struct mock_result r;

    (void)state;
    run(&(struct mock_options){.text = text, .cancel_at = 3}, &r);
    assert_int_equal(r.status, DT_ERR_CANCELLED);
    assert_int_equal(r.nr_emits, 2);
    mock_result_fini(&r);
    run(&(struct mock_options){.text = text, .fail_at = 2}, &r);
    assert_int_equal(r.status, DT_ERR_IO);
    assert_int_equal(r.nr_emits, 1);
    assert_int_equal(r.nr_drains, 0);
    mock_result_fini(&r);
}

static void
test_late_output(void **state)
{
    struct mock_result r;

    (void)state;
    run_trouble("late", "close", "reduce", (struct mock_options){0}, &r);
    assert_int_equal(r.nr_violations, 1);
    assert_string_equal(r.violation, "output after the end");
    assert_true(mock_out_is(&r, text));
    mock_result_fini(&r);
}

static void
test_mute(void **state)
{
    struct mock_result r;

    (void)state;
    run_trouble("mute", "feed", "map", (struct mock_options){0}, &r);
    assert_int_equal(r.status, DT_OK);
    assert_int_equal(r.out.len, 0);
    mock_result_fini(&r);
}

static void
test_open(void **state)
{
    struct error err = ERROR_INIT;
    struct mock_plugin p;

    (void)state;
    assert_int_equal(mock_open(&p, TEST_PLUGIN_DIR, "none", NULL, &err),
                     DT_ERR_INVAL);
    assert_non_null(strstr(err.text, "there is no such plugin"));
    assert_int_equal(
        mock_open(&p, TEST_PLUGIN_DIR, "failing", "{\"Depth\": 1}", &err),
        DT_ERR_INVAL);
    assert_non_null(strstr(err.text, "{\"Depth\": 1}"));
}

static int
open_trouble(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    if (mock_open(&trouble, TEST_PLUGIN_DIR, "trouble", NULL, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    return 0;
}

static int
close_trouble(void **state)
{
    (void)state;
    mock_close(&trouble);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_lines_are_numbered),
        cmocka_unit_test(test_long_lines_are_cut),
        cmocka_unit_test(test_no_source),
        cmocka_unit_test(test_several_sources),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_cancel_and_failed_emit),
        cmocka_unit_test(test_late_output),
        cmocka_unit_test(test_mute),
        cmocka_unit_test(test_open),
    };

    return cmocka_run_group_tests(tests, open_trouble, close_trouble);
}
