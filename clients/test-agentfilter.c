/* SPDX-License-Identifier: Apache-2.0
 *
 * The agent's list of keys, shortened; malformed ones are refused.
 */
#include "agentfilter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Two keys: "AB" with comment "c", "D" without one. */
static const uint8_t two[] = "\x0c\0\0\0\2"
                             "\0\0\0\2AB\0\0\0\1c"
                             "\0\0\0\1D\0\0\0\0";
#define LEN (sizeof(two) - 1)

static void
check(uint64_t index, const char *want, size_t want_len)
{
    uint8_t copy[LEN];

    memcpy(copy, two, LEN);
    assert_int_equal(agentfilter_shorten(copy, LEN, index), want_len);
    assert_memory_equal(copy, want, want_len);
}

static void
test_shorten(void **state)
{
    (void)state;
    check(0, "\x0c\0\0\0\1\0\0\0\2AB\0\0\0\1c", 16);
    check(1, "\x0c\0\0\0\1\0\0\0\1D\0\0\0\0", 14);
    check(2, "\x0c\0\0\0\0", 5);
    check(UINT64_MAX, "\x0c\0\0\0\0", 5);
}

static void
test_malformed(void **state)
{
    (void)state;
    for (size_t len = 0; len < LEN; len++) {
        uint8_t copy[LEN];

        memcpy(copy, two, LEN);
        assert_int_equal(agentfilter_shorten(copy, len, 7), 0);
    }
    uint8_t other[] = "\x05";
    assert_int_equal(agentfilter_shorten(other, 1, 0), 0);
    uint8_t big[] = "\x0c\0\0\0\1\xff\xff\xff\xff..";
    assert_int_equal(agentfilter_shorten(big, sizeof(big) - 1, 0), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shorten),
        cmocka_unit_test(test_malformed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
