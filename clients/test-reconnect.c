/* SPDX-License-Identifier: Apache-2.0
 *
 * When a client that follows connects again.
 */
#include "reconnect.h"

#include "clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void
expect_delay(struct reconnect *r, int64_t ms)
{
    int64_t got = reconnect_delay_ms(r);

    assert_in_range(got, ms * 8 / 10, ms * 12 / 10);
}

static void
test_doubles_up_to_a_minute(void **state)
{
    static const int64_t want[] = {2000,  4000,  8000, 16000,
                                   32000, 60000, 60000};
    struct reconnect r = {0};

    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        expect_delay(&r, want[i]);
    }
    for (int i = 0; i < 100000; i++) {
        expect_delay(&r, 60000);
    }
    (void)state;
}

/* Many clients of one server do not come back at the same moment. */
static void
test_differs(void **state)
{
    int64_t least = INT64_MAX, most = 0;

    for (int i = 0; i < 2000; i++) {
        struct reconnect r = {0};
        int64_t ms = reconnect_delay_ms(&r);

        least = ms < least ? ms : least;
        most = ms > most ? ms : most;
    }
    assert_in_range(least, 1600, 1700);
    assert_in_range(most, 2300, 2400);
    (void)state;
}

static void
test_starts_anew_after_a_good_minute(void **state)
{
    struct reconnect r = {0};

    expect_delay(&r, 2000);
    expect_delay(&r, 4000);
    reconnect_established(&r);
    expect_delay(&r, 8000); /* it did not last */
    reconnect_established(&r);
    r.established_ms -= 59000;
    expect_delay(&r, 16000);
    reconnect_established(&r);
    r.established_ms -= 60000;
    expect_delay(&r, 2000);
    /* an attempt that came to nothing is no session */
    expect_delay(&r, 4000);
    (void)state;
}

static void
test_when_it_helps(void **state)
{
    struct link_result link = {.err = ERROR_INIT};
    struct reduce_summary sum = {.has_hello = true};

    /* broken off */
    link.err.status = DT_ERR_IO;
    assert_true(reconnect_helps(&link, &sum, 1));
    /* refused */
    link.err.status = DT_ERR_ACCES;
    assert_false(reconnect_helps(&link, &sum, 1));
    link.err.status = DT_ERR_INVAL;
    assert_false(reconnect_helps(&link, &sum, 1));
    /* over, as with --max; sent home; a query that failed */
    link.err.status = DT_OK;
    sum.nr_ended = 1;
    sum.status = DT_OK;
    assert_false(reconnect_helps(&link, &sum, 1));
    sum.status = DT_ERR_CANCELLED;
    assert_true(reconnect_helps(&link, &sum, 1));
    sum.status = DT_ERR_INVAL;
    assert_false(reconnect_helps(&link, &sum, 1));
    (void)state;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles_up_to_a_minute),
        cmocka_unit_test(test_differs),
        cmocka_unit_test(test_starts_anew_after_a_good_minute),
        cmocka_unit_test(test_when_it_helps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
