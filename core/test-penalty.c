/* SPDX-License-Identifier: Apache-2.0
 *
 * Penalties of sources: adding up, running down, exemptions, a table that is
 * full.
 */
#include "penalty.h"

#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define UNIT 5000
#define MAX 600000

static char *exempt_words[] = {(char *)"loopback", (char *)"192.0.2.128/25",
                               (char *)"2001:db8:1::/48"};
static const struct strv exempt = {.v = exempt_words, .nr = 3};
static const struct penalty_limits limits = {UNIT, MAX, &exempt};

static int
setup(void **state)
{
    struct penalty *p = malloc(sizeof(*p));

    if (p) {
        penalty_init(p);
    }
    *state = p;
    return p ? 0 : -1;
}

static int
teardown(void **state)
{
    free(*state);
    return 0;
}

static int64_t
fail_at(struct penalty *p, const char *address, int64_t now)
{
    return penalty_add(p, &limits, address, PENALTY_FAILURE, now);
}

static bool
blocked(struct penalty *p, const char *address, int64_t now)
{
    return penalty_is_blocked(p, &limits, address, now);
}

static void
test_third_failure_blocks(void **state)
{
    struct penalty *p = *state;

    assert_int_equal(fail_at(p, "192.0.2.1", 1000), 0);
    assert_int_equal(fail_at(p, "192.0.2.1", 1000), 0);
    assert_false(blocked(p, "192.0.2.1", 1000));
    assert_int_equal(fail_at(p, "192.0.2.1", 1000), 3 * UNIT);
    assert_true(blocked(p, "192.0.2.1", 1000));
    assert_false(blocked(p, "192.0.2.2", 1000));
    /* until nothing is owed any more, not only below the threshold */
    assert_true(blocked(p, "192.0.2.1", 1000 + 3 * UNIT - 1));
    assert_false(blocked(p, "192.0.2.1", 1000 + 3 * UNIT));
    /* and then from the start */
    assert_int_equal(fail_at(p, "192.0.2.1", 1000 + 3 * UNIT), 0);
    assert_false(blocked(p, "192.0.2.1", 1000 + 3 * UNIT));
}

static void
test_slow_failures_do_not(void **state)
{
    struct penalty *p = *state;

    for (int64_t now = 1; now < 100 * UNIT; now += UNIT) {
        assert_int_equal(fail_at(p, "192.0.2.1", now), 0);
        assert_false(blocked(p, "192.0.2.1", now));
    }
}

static void
test_kinds(void **state)
{
    struct penalty *p = *state;
    int64_t ms = 0;
    int n;

    for (n = 0; n < 100 && ms == 0; n++) {
        ms = penalty_add(p, &limits, "192.0.2.1", PENALTY_NO_LOGIN, 1);
    }
    assert_int_equal(n, 15);
    assert_int_equal(penalty_add(p, &limits, "192.0.2.2", PENALTY_TOO_SLOW, 1),
                     0);
    assert_int_equal(penalty_add(p, &limits, "192.0.2.2", PENALTY_TOO_SLOW, 1),
                     4 * UNIT);
    assert_int_equal(penalty_add(p, &limits, "192.0.2.3", PENALTY_ABUSE, 1),
                     18 * UNIT);
}

static void
test_most(void **state)
{
    struct penalty *p = *state;

    for (int i = 0; i < 1000; i++) {
        penalty_add(p, &limits, "192.0.2.1", PENALTY_ABUSE, 1);
    }
    assert_true(blocked(p, "192.0.2.1", MAX));
    assert_false(blocked(p, "192.0.2.1", MAX + 1));
}

static void
test_exempt_and_off(void **state)
{
    static const char *const good[] = {
        "127.0.0.1",   "127.9.9.9",       "::1",
        "192.0.2.200", "2001:db8:1:5::9", "::ffff:127.0.0.1"};
    static const struct penalty_limits off = {0, MAX, &exempt};
    struct penalty *p = *state;

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        penalty_add(p, &limits, good[i], PENALTY_ABUSE, 1);
        assert_false(blocked(p, good[i], 1));
    }
    penalty_add(p, &off, "192.0.2.1", PENALTY_ABUSE, 1);
    assert_false(blocked(p, "192.0.2.1", 1));
    penalty_add(p, &limits, "192.0.2.1", PENALTY_ABUSE, 1);
    assert_true(blocked(p, "192.0.2.1", 1));
    assert_false(penalty_is_blocked(p, &off, "192.0.2.1", 1));
    penalty_add(p, &limits, "no address", PENALTY_ABUSE, 1);
    assert_false(blocked(p, "no address", 1));
}

/* Whoever has a /64 has all of it. */
static void
test_ipv6(void **state)
{
    struct penalty *p = *state;

    penalty_add(p, &limits, "2001:db8::1", PENALTY_ABUSE, 1);
    assert_true(blocked(p, "2001:db8::ffff:1:2:3", 1));
    assert_false(blocked(p, "2001:db8:0:1::1", 1));
}

/* A million sources take no memory; who owes much is not pushed out by those
 * who owe little. */
static void
test_many_sources(void **state)
{
    struct penalty *p = *state;
    char text[32];

    for (int i = 0; i < 5; i++) {
        penalty_add(p, &limits, "198.51.100.1", PENALTY_ABUSE, 1);
    }
    for (unsigned i = 0; i < 1000000; i++) {
        snprintf(text, sizeof(text), "10.%u.%u.%u", i >> 16 & 255, i >> 8 & 255,
                 i & 255);
        penalty_add(p, &limits, text, PENALTY_NO_LOGIN, 1);
    }
    assert_true(blocked(p, "198.51.100.1", 1));
}

int
main(void)
{
#define WITH_TABLE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_TABLE(test_third_failure_blocks),
        WITH_TABLE(test_slow_failures_do_not),
        WITH_TABLE(test_kinds),
        WITH_TABLE(test_most),
        WITH_TABLE(test_exempt_and_off),
        WITH_TABLE(test_ipv6),
        WITH_TABLE(test_many_sources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
