/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON members: every byte comes back when they are read again.
 */
#include "ndjson.h"

#include "base64.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void
expect(const char *value, size_t len, const char *want)
{
    struct buf out = {0};

    assert_int_equal(ndjson_member(&out, "text", value, len), DT_OK);
    assert_int_equal(out.len, strlen(want));
    assert_memory_equal(out.data, want, out.len);
    buf_fini(&out);
}

static void
test_forms(void **state)
{
    (void)state;
    expect("", 0, "\"text\":\"\"");
    expect("a\"\\\t\r\0z", 7, "\"text\":\"a\\\"\\\\\\t\\r\\u0000z\"");
    expect("\v\x1b[m\x7f", 5, "\"text\":\"\\u000b\\u001b[m\\u007f\"");
    expect("\xe2\x82\xac \xc2\x9b", 6, "\"text\":\"\xe2\x82\xac \\u009b\"");
    expect("ab\xff", 3, "\"text_base64\":\"YWL/\"");
    expect("\xed\xa0\x80", 3, "\"text_base64\":\"7aCA\"");
    expect("cut \xe2\x82", 6, "\"text_base64\":\"Y3V0IOKC\"");
}

/* Reads a member with jansson and compares the bytes. */
static void
check_round_trip(const char *value, size_t len)
{
    struct buf out = {0};
    json_t *object, *text, *coded;

    assert_int_equal(buf_puts(&out, "{"), DT_OK);
    assert_int_equal(ndjson_member(&out, "text", value, len), DT_OK);
    assert_int_equal(buf_puts(&out, "}"), DT_OK);
    object = json_loadb(out.data, out.len, JSON_ALLOW_NUL, NULL);
    assert_non_null(object);
    text = json_object_get(object, "text");
    coded = json_object_get(object, "text_base64");
    assert_true(!text != !coded);
    if (text) {
        assert_int_equal(json_string_length(text), len);
        assert_memory_equal(json_string_value(text), value, len);
    } else {
        char bytes[16];
        size_t nr = 0;

        assert_true(base64_decode(bytes, &nr, json_string_value(coded),
                                  json_string_length(coded)));
        assert_int_equal(nr, len);
        assert_memory_equal(bytes, value, len);
    }
    json_decref(object);
    buf_fini(&out);
}

/* Every pair of bytes. */
static void
test_round_trip(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 65536; i++) {
        const char pair[2] = {(char)(i >> 8), (char)(i & 255)};

        check_round_trip(pair, 2);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_round_trip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
