/* SPDX-License-Identifier: Apache-2.0
 *
 * User certificates: what OpenSSH makes is read, what it would not accept is
 * refused, and so is everything that differs from it in a single bit.
 */
#include "auth-cert.h"

#include "base64.h"
#include "test-auth-cert.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define Y2026 1767225600 /* 2026-01-01 00:00 UTC */
#define Y2099 4070908800

struct blob {
    uint8_t bytes[4096];
    size_t len;
};

static struct blob
decode(const char *base64)
{
    struct blob b;

    assert_true(base64_decoded_max(strlen(base64)) <= sizeof(b.bytes));
    assert_true(base64_decode(b.bytes, &b.len, base64, strlen(base64)));
    return b;
}

/* Parsed, signature right, good for the user there and then. */
static int
judge(const struct blob *b, const char *user, const char *address, time_t now,
      struct error *err)
{
    const struct auth_peer peer = {.address = address, .now = now};
    struct auth_cert c;
    int st = auth_cert_parse(b->bytes, b->len, &c, err);

    if (st == DT_OK) {
        st = auth_cert_verify(&c, err);
    }
    return st == DT_OK ? auth_cert_check(&c, user, &peer, err) : st;
}

static void
good(const char *base64, const char *user, const char *address, time_t now)
{
    struct blob b = decode(base64);
    struct error err = ERROR_INIT;

    if (judge(&b, user, address, now, &err) != DT_OK) {
        fail_msg("%s", err.text);
    }
}

static void
bad(const char *base64, const char *user, const char *address, time_t now,
    const char *why)
{
    struct blob b = decode(base64);
    struct error err = ERROR_INIT;

    assert_int_equal(judge(&b, user, address, now, &err), DT_ERR_ACCES);
    if (!strstr(err.text, why)) {
        fail_msg("\"%s\" instead of \"%s\"", err.text, why);
    }
}

static const char *const signed_by[] = {CERT_ED25519, CERT_ECDSA256,
                                        CERT_ECDSA521, CERT_RSA};

static void
test_contents(void **state)
{
    struct blob b = decode(CERT_ED25519);
    struct error err = ERROR_INIT;
    struct auth_cert c;

    (void)state;
    assert_int_equal(auth_cert_parse(b.bytes, b.len, &c, &err), DT_OK);
    assert_int_equal(c.serial, 7);
    assert_int_equal(c.kind, 1);
    assert_true(auth_cert_is(&c.id, "alice@laptop"));
    assert_int_equal(c.valid_after, Y2026);
    assert_int_equal(c.valid_before, Y2099);
}

static void
test_good_and_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const char *cert = signed_by[i];

        good(cert, "alice", "192.0.2.7", Y2026);
        good(cert, "bob", "2001:db8::1", Y2099 - 1);
        bad(cert, "carol", "192.0.2.7", Y2026, "not among the principals");
        bad(cert, "alic", "192.0.2.7", Y2026, "not among the principals");
        bad(cert, "", "192.0.2.7", Y2026, "not among the principals");
        bad(cert, "alice", "192.0.3.7", Y2026, "source-address");
        bad(cert, "alice", "192.0.2.7", Y2026 - 1, "not valid yet");
        bad(cert, "alice", "192.0.2.7", Y2099, "expired");
        bad(cert, "alice", "192.0.2.7", -1, "not valid yet");
    }
    good(CERT_FOREVER, "alice", "203.0.113.5", Y2099 * 2);
    bad(CERT_FOR_ALL, "alice", "192.0.2.7", Y2026, "without principals");
    bad(CERT_HOST, "alice", "192.0.2.7", Y2026, "not a user certificate");
    bad(CERT_FORCE, "alice", "192.0.2.7", Y2026, "\"force-command\"");
    bad(CERT_SHA1, "alice", "192.0.2.7", Y2026, "signed with \"ssh-rsa\"");
}

static void
test_every_bit_counts(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct blob b = decode(signed_by[i]);

        for (size_t at = 0; at < b.len * 8; at++) {
            b.bytes[at / 8] ^= (uint8_t)(1u << at % 8);
            assert_int_equal(judge(&b, "alice", "192.0.2.7", Y2026, &err),
                             DT_ERR_ACCES);
            b.bytes[at / 8] ^= (uint8_t)(1u << at % 8);
        }
        assert_int_equal(judge(&b, "alice", "192.0.2.7", Y2026, &err), DT_OK);
    }
}

/* Cut short at each byte, in memory that ends there. */
static void
test_every_length(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct blob b = decode(signed_by[i]);

        for (size_t len = 0; len < b.len; len++) {
            uint8_t *cut = malloc(len ? len : 1);
            struct auth_cert c;

            assert_non_null(cut);
            memcpy(cut, b.bytes, len);
            assert_int_equal(auth_cert_parse(cut, len, &c, &err), DT_ERR_ACCES);
            free(cut);
        }
        b.bytes[b.len] = 0;
        b.len++;
        assert_int_equal(judge(&b, "alice", "192.0.2.7", Y2026, &err),
                         DT_ERR_ACCES);
    }
}

/* The signature of one with the contents of another. */
static void
test_signature_of_another(void **state)
{
    struct blob a = decode(CERT_FOREVER), b = decode(CERT_FORCE);
    struct error err = ERROR_INIT;
    struct auth_cert ca, cb;

    (void)state;
    assert_int_equal(auth_cert_parse(a.bytes, a.len, &ca, &err), DT_OK);
    assert_int_equal(auth_cert_parse(b.bytes, b.len, &cb, &err), DT_OK);
    assert_int_equal(auth_cert_verify(&ca, &err), DT_OK);
    ca.signature = cb.signature;
    assert_int_equal(auth_cert_verify(&ca, &err), DT_ERR_ACCES);
}

static void
test_key_of_certificate(void **state)
{
    (void)state;
    assert_true(auth_cert_is_for(CERT_ED25519, PLAIN));
    assert_true(auth_cert_is_for(CERT_RSA, PLAIN)); /* by another authority */
    assert_false(auth_cert_is_for(PLAIN, PLAIN));
    assert_false(auth_cert_is_for(CERT_ED25519, "AAAA"));
    assert_false(auth_cert_is_for(CERT_ED25519, ""));
    assert_false(auth_cert_is_for("", PLAIN));
    assert_false(auth_cert_is_for(
        CERT_ED25519, "AAAAC3NzaC1lZDI1NTE5AAAAIKMnixVTeULgqCC76jpKJGLaq9e26Oan"
                      "TQRJTOrvCX8P"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_good_and_bad),
        cmocka_unit_test(test_every_bit_counts),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_signature_of_another),
        cmocka_unit_test(test_key_of_certificate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
