/* SPDX-License-Identifier: Apache-2.0
 *
 * The line about progress: when, and what stands in it. Time is an argument.
 */
#include "meter.h"

#include "clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MB 1000000u

static void
expect(struct meter *m, int64_t now, size_t width, const char *want)
{
    struct buf text = {0};

    assert_int_equal(meter_text(m, now, width, &text), DT_OK);
    assert_int_equal(buf_append(&text, "", 1), DT_OK);
    assert_string_equal(text.data, want);
    buf_fini(&text);
}

static void
test_time(void **state)
{
    struct meter *m = meter_new(1, 1, true, 5000);
    struct buf text = {0};

    (void)state;
    assert_int_equal(meter_next_ms(m), 5000 + METER_AFTER_MS);
    assert_int_equal(meter_text(m, 5999, 79, &text), DT_AGAIN);
    expect(m, 6000, 79, "0 B, 0 B/s");
    assert_int_equal(meter_next_ms(m), 6000 + METER_EVERY_MS);
    assert_int_equal(meter_text(m, 6249, 79, &text), DT_AGAIN);
    meter_free(m);
    assert_int_equal(meter_next_ms(NULL), CLOCK_NEVER);
    assert_int_equal(meter_text(NULL, 9999, 79, &text), DT_AGAIN);
    meter_bytes(NULL, 0, 0, 1, 1);
    meter_query_over(NULL, 0, 0, 1);
    meter_server_over(NULL, 0, true);
    meter_free(NULL);
    buf_fini(&text);
}

static void
test_local(void **state)
{
    struct meter *m = meter_new(1, 1, true, 0);

    (void)state;
    meter_bytes(m, 0, 0, 250 * MB, 1000 * MB);
    expect(m, 1000, 79, "250 MB of 1.00 GB (25 %), 250 MB/s, 3 s left");
    meter_bytes(m, 0, 0, 251 * MB, 1000 * MB);
    expect(m, 2000, 79, "251 MB of 1.00 GB (25 %), 126 MB/s, 6 s left");
    /* the rate is that of the last looks */
    for (int i = 3; i <= 10; i++) {
        meter_bytes(m, 0, 0, 250 * MB + (uint64_t)i * MB / 2, 1000 * MB);
        expect(m, i * 1000, 3, "");
    }
    meter_bytes(m, 0, 0, 255 * MB + MB / 2, 1000 * MB);
    expect(m, 11000, 79,
           "256 MB of 1.00 GB (26 %), 500 kB/s, 24 min 49 s left");
    meter_free(m);
}

static void
test_servers(void **state)
{
    struct meter *m = meter_new(3, 2, false, 0);

    (void)state;
    meter_bytes(m, 0, 0, 1500, 20000);
    meter_bytes(m, 0, 1, 0, 10000);
    expect(m, 1000, 79,
           "1.50 kB of at least 30.0 kB, 1.50 kB/s, 0 of 3 servers done");
    meter_server_over(m, 1, false);
    meter_bytes(m, 2, 0, 10000, 0); /* does not say how much there is */
    meter_query_over(m, 2, 1, 70);
    expect(m, 2000, 79,
           "11.6 kB of at least 40.1 kB, 5.79 kB/s, 0 of 3 servers done, "
           "1 failed");
    meter_query_over(m, 2, 0, 12000);
    meter_server_over(m, 2, true);
    expect(m, 4000, 99,
           "13.6 kB of 42.1 kB (32 %), 3.39 kB/s, 8 s left, "
           "1 of 3 servers done, 1 failed");
    /* a query that ended early leaves nothing to read */
    meter_query_over(m, 0, 0, 1600);
    meter_query_over(m, 0, 1, 0);
    meter_server_over(m, 0, true);
    expect(m, 8000, 99,
           "13.7 kB of 13.7 kB (100 %), 1.71 kB/s, 0 s left, "
           "2 of 3 servers done, 1 failed");
    /* numbers of nobody change nothing */
    meter_bytes(m, 3, 0, 5, 5);
    meter_bytes(m, 0, 2, 5, 5);
    meter_server_over(m, 3, true);
    expect(m, 8250, 25, "13.7 kB of 13.7 kB");
    meter_free(m);
}

static void
test_units(void **state)
{
    static const struct {
        uint64_t left, seconds;
        const char *text;
    } cases[] = {
        {59, 1, "59 s left"},
        {61, 1, "1 min 1 s left"},
        {3660, 1, "1 h 1 min left"},
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct meter *m = meter_new(1, 1, true, 0);
        struct buf text = {0};

        meter_bytes(m, 0, 0, 1, 1 + cases[i].left);
        assert_int_equal(meter_text(m, 1000, 79, &text), DT_OK);
        assert_int_equal(buf_puts(&text, ""), DT_OK);
        assert_int_equal(buf_append(&text, "", 1), DT_OK);
        assert_non_null(strstr(text.data, cases[i].text));
        buf_fini(&text);
        meter_free(m);
    }
}

/* Whatever the width, nothing is cut in the middle of a piece. */
static void
test_width(void **state)
{
    static const char whole[] = "250 MB of 1.00 GB (25 %), 250 MB/s, 3 s left";

    (void)state;
    for (size_t width = 0; width < 60; width++) {
        struct meter *m = meter_new(1, 1, true, 0);
        struct buf text = {0};

        meter_bytes(m, 0, 0, 250 * MB, 1000 * MB);
        assert_int_equal(meter_text(m, 1000, width, &text), DT_OK);
        assert_true(text.len <= width);
        assert_memory_equal(text.data ? text.data : "", whole, text.len);
        assert_true(text.len == 0 || text.len == 17 || text.len == 24 ||
                    text.len == 34 || text.len == 44);
        buf_fini(&text);
        meter_free(m);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),    cmocka_unit_test(test_local),
        cmocka_unit_test(test_servers), cmocka_unit_test(test_units),
        cmocka_unit_test(test_width),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
