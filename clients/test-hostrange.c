/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges in names: all names in their order, everything else refused.
 */
#include "hostrange.h"

#include "buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int
collect(void *ctx, const char *name, size_t len, struct error *err)
{
    struct buf *out = ctx;

    (void)err;
    return buf_printf(out, "%s%.*s", out->len ? " " : "", (int)len, name);
}

static const struct {
    const char *text, *names;
} good[] = {
    {"web1", "web1"},
    {"web[1-3]", "web1 web2 web3"},
    {"web[08-11].example", "web08.example web09.example web10.example "
                           "web11.example"},
    {"web[8-11]:22", "web8:22 web9:22 web10:22 web11:22"},
    {"web[007-007]", "web007"},
    {"r[1-2]h[0-1]", "r1h0 r1h1 r2h0 r2h1"},
    {"10.0.0.[254-255]:2223", "10.0.0.254:2223 10.0.0.255:2223"},
    {"h[999999998-999999999]", "h999999998 h999999999"},
    {"a[1-1]b[1-1]c[1-1]d[1-1]e", "a1b1c1d1e"},
    {"[::1]:2222", "[::1]:2222"},
    {"[1-2]", "[1-2]"}, /* an address to the reader of items, a bad one */
};

static void
test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct buf out = {0};
        struct error err = ERROR_INIT;

        assert_int_equal(hostrange_expand(good[i].text, strlen(good[i].text),
                                          collect, &out, &err),
                         DT_OK);
        assert_int_equal(buf_append(&out, "", 1), DT_OK);
        assert_string_equal(out.data, good[i].names);
        buf_fini(&out);
    }
}

static const struct {
    const char *text;
    int status;
} bad[] = {
    {"web[", DT_ERR_INVAL},
    {"web[]", DT_ERR_INVAL},
    {"web[1]", DT_ERR_INVAL},
    {"web[1-]", DT_ERR_INVAL},
    {"web[-2]", DT_ERR_INVAL},
    {"web[2-1]", DT_ERR_INVAL},
    {"web[1-2", DT_ERR_INVAL},
    {"web[1-2-3]", DT_ERR_INVAL},
    {"web[a-c]", DT_ERR_INVAL},
    {"web[1-2][", DT_ERR_INVAL},
    {"web[[1-2]]", DT_ERR_INVAL},
    {"web[+1-2]", DT_ERR_INVAL},
    {"web[1-1000000000]", DT_ERR_INVAL},
    {"web[0-100000]", DT_ERR_LIMIT},
    {"a[0-999]b[0-999]", DT_ERR_LIMIT},
    {"a[0-999999999]b[0-999999999]c[0-999999999]", DT_ERR_LIMIT},
    {"a[1-1]b[1-1]c[1-1]d[1-1]e[1-1]", DT_ERR_LIMIT},
};

static void
test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct buf out = {0};
        struct error err = ERROR_INIT;

        assert_int_equal(hostrange_expand(bad[i].text, strlen(bad[i].text),
                                          collect, &out, &err),
                         bad[i].status);
        assert_non_null(strstr(err.text, bad[i].text));
        assert_int_equal(out.len, 0);
        buf_fini(&out);
    }
}

/* The longest item with the longest numbers fits. */
static void
test_longest(void **state)
{
    char text[HOSTRANGE_MAX_NAME + 1];
    struct buf out = {0};
    struct error err = ERROR_INIT;
    static const char range[] = "[999999999-999999999]";
    const size_t len = sizeof(range) - 1;

    (void)state;
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < HOSTRANGE_MAX; i++) {
        memcpy(text + 1 + i * len, range, len);
    }
    assert_int_equal(
        hostrange_expand(text, HOSTRANGE_MAX_NAME, collect, &out, &err), DT_OK);
    assert_int_equal(out.len, HOSTRANGE_MAX_NAME - HOSTRANGE_MAX * (len - 9));
    buf_fini(&out);
}

static int
stop_at_second(void *ctx, const char *name, size_t len, struct error *err)
{
    (void)name;
    (void)len;
    return ++*(int *)ctx == 2 ? error_set(err, DT_ERR_IO, "enough") : DT_OK;
}

static void
test_taker_ends_it(void **state)
{
    struct error err = ERROR_INIT;
    int calls = 0;

    (void)state;
    assert_int_equal(
        hostrange_expand("h[1-9]", 6, stop_at_second, &calls, &err), DT_ERR_IO);
    assert_int_equal(calls, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_longest),
        cmocka_unit_test(test_taker_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
