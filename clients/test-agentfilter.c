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
check(int64_t index, const char *only, const char *want, size_t want_len)
{
    uint8_t copy[LEN];
    struct strv keys = {0};
    struct agentfilter_choice choice = {index, only ? &keys : NULL};

    if (only && *only) {
        assert_int_equal(strv_add(&keys, only), DT_OK);
    }
    memcpy(copy, two, LEN);
    assert_int_equal(agentfilter_shorten(copy, LEN, &choice), want_len);
    strv_fini(&keys);
    assert_memory_equal(copy, want, want_len);
}

static void
test_shorten(void **state)
{
    (void)state;
    check(0, NULL, "\x0c\0\0\0\1\0\0\0\2AB\0\0\0\1c", 16);
    check(1, NULL, "\x0c\0\0\0\1\0\0\0\1D\0\0\0\0", 14);
    check(2, NULL, "\x0c\0\0\0\0", 5);
    check(INT64_MAX, NULL, "\x0c\0\0\0\0", 5);
    check(-1, NULL, (const char *)two, LEN);
    /* "RA==" is "D", "QUI=" is "AB" */
    check(-1, "RA==", "\x0c\0\0\0\1\0\0\0\1D\0\0\0\0", 14);
    check(1, "QUI=", "\x0c\0\0\0\0", 5);
    check(0, "QUI=", "\x0c\0\0\0\1\0\0\0\2AB\0\0\0\1c", 16);
    check(-1, "", "\x0c\0\0\0\0", 5);
}

static void
test_malformed(void **state)
{
    const struct agentfilter_choice seventh = {7, NULL}, first = {0, NULL};

    (void)state;
    for (size_t len = 0; len < LEN; len++) {
        uint8_t copy[LEN];

        memcpy(copy, two, LEN);
        assert_int_equal(agentfilter_shorten(copy, len, &seventh), 0);
    }
    uint8_t other[] = "\x05";
    assert_int_equal(agentfilter_shorten(other, 1, &first), 0);
    uint8_t big[] = "\x0c\0\0\0\1\xff\xff\xff\xff..";
    assert_int_equal(agentfilter_shorten(big, sizeof(big) - 1, &first), 0);
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
