/* SPDX-License-Identifier: Apache-2.0
 *
 * Base64: the vectors of RFC 4648, and nothing but canonical text is taken.
 */
#include "base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
test_vectors(void **state)
{
    static const char *const vectors[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xff\xef\xbe", "/+++"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        const char *plain = vectors[i][0], *text = vectors[i][1];
        char encoded[16], decoded[16];
        size_t len;

        assert_int_equal(base64_encoded_len(strlen(plain)), strlen(text));
        base64_encode(encoded, plain, strlen(plain));
        assert_memory_equal(encoded, text, strlen(text));
        assert_true(base64_decoded_max(strlen(text)) >= strlen(plain));
        assert_true(base64_decode(decoded, &len, text, strlen(text)));
        assert_int_equal(len, strlen(plain));
        assert_memory_equal(decoded, plain, len);
    }
}

static void
test_refused(void **state)
{
    static const char *const bad[] = {
        "Z",    "Zg",   "Zg=",      "Zh==",     "Zm9=",   "=Zg=", "====",
        "Z===", "Zg==", "Zg==Zg==", "Zm 9vYg=", "Zm9v\n", "Zm9-", "Zm9_",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char decoded[16];
        size_t len;
        bool good = strcmp(bad[i], "Zg==") == 0; /* the only one */

        assert_int_equal(base64_decode(decoded, &len, bad[i], strlen(bad[i])),
                         good);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
