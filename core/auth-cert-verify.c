/* SPDX-License-Identifier: Apache-2.0
 *
 * The signature of a certificate, with OpenSSL: ed25519, RSA with SHA-2
 * (RFC 8332), ECDSA (RFC 5656). SHA-1, DSA and authorities on hardware tokens
 * (sk-…) are refused.
 */
#include "auth-cert.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdlib.h>
#include <string.h>

#define MIN_RSA_BITS 2048
#define MAX_RSA_BITS 16384

/* A key and how it signs. */
struct authority {
    EVP_PKEY *key;
    bool is_ecdsa;
    const EVP_MD *digest; /* NULL: part of the algorithm */
};

static EVP_PKEY *
make_ed25519(struct auth_cert_bytes *in)
{
    struct auth_cert_bytes raw;

    if (!auth_cert_take(in, &raw) || raw.len != 32) {
        return NULL;
    }
    return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw.data,
                                       raw.len);
}

/* A key from its parameters, which are consumed. */
static EVP_PKEY *
make_key(const char *type, OSSL_PARAM_BLD *bld)
{
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(bld);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    EVP_PKEY *key = NULL;

    if (params && ctx && EVP_PKEY_fromdata_init(ctx) == 1 &&
        EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1) {
        key = NULL;
    }
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    return key;
}

static EVP_PKEY *
make_rsa(struct auth_cert_bytes *in)
{
    struct auth_cert_bytes e, n;
    OSSL_PARAM_BLD *bld;
    BIGNUM *be, *bn;
    EVP_PKEY *key = NULL;

    if (!auth_cert_take(in, &e) || !auth_cert_take(in, &n) || e.len > 8 ||
        n.len > MAX_RSA_BITS / 8 + 1) {
        return NULL;
    }
    be = BN_bin2bn(e.data, (int)e.len, NULL);
    bn = BN_bin2bn(n.data, (int)n.len, NULL);
    bld = OSSL_PARAM_BLD_new();
    if (be && bn && bld && BN_num_bits(bn) >= MIN_RSA_BITS &&
        OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_E, be) == 1 &&
        OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_N, bn) == 1) {
        key = make_key("RSA", bld);
    }
    OSSL_PARAM_BLD_free(bld);
    BN_free(be);
    BN_free(bn);
    return key;
}

/* `curve` as SSH calls it, `group` as OpenSSL does. OpenSSL refuses a point
 * that is not on the curve. */
static EVP_PKEY *
make_ecdsa(struct auth_cert_bytes *in, const char *curve, const char *group)
{
    struct auth_cert_bytes name, point;
    OSSL_PARAM_BLD *bld;
    EVP_PKEY *key = NULL;

    if (!auth_cert_take(in, &name) || !auth_cert_is(&name, curve) ||
        !auth_cert_take(in, &point) || point.len > 200) {
        return NULL;
    }
    bld = OSSL_PARAM_BLD_new();
    if (bld &&
        OSSL_PARAM_BLD_push_utf8_string(bld, OSSL_PKEY_PARAM_GROUP_NAME, group,
                                        0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(bld, OSSL_PKEY_PARAM_PUB_KEY,
                                         point.data, point.len) == 1) {
        key = make_key("EC", bld);
    }
    OSSL_PARAM_BLD_free(bld);
    return key;
}

/* The authority's key, and the way in which `algorithm` signs with it. */
static bool
make_authority(const struct auth_cert_bytes *blob,
               const struct auth_cert_bytes *algorithm, struct authority *out)
{
    static const struct {
        const char *type, *curve, *group;
    } curves[] = {
        {"ecdsa-sha2-nistp256", "nistp256", "P-256"},
        {"ecdsa-sha2-nistp384", "nistp384", "P-384"},
        {"ecdsa-sha2-nistp521", "nistp521", "P-521"},
    };
    struct auth_cert_bytes in = *blob, type;

    *out = (struct authority){0};
    if (!auth_cert_take(&in, &type)) {
        return false;
    }
    if (auth_cert_is(&type, "ssh-ed25519") &&
        auth_cert_is(algorithm, "ssh-ed25519")) {
        out->key = make_ed25519(&in);
    } else if (auth_cert_is(&type, "ssh-rsa") &&
               (auth_cert_is(algorithm, "rsa-sha2-256") ||
                auth_cert_is(algorithm, "rsa-sha2-512"))) {
        out->digest = auth_cert_is(algorithm, "rsa-sha2-256") ? EVP_sha256()
                                                              : EVP_sha512();
        out->key = make_rsa(&in);
    }
    for (size_t i = 0; !out->key && i < 3; i++) {
        if (auth_cert_is(&type, curves[i].type) &&
            auth_cert_is(algorithm, curves[i].type)) {
            out->is_ecdsa = true;
            out->digest = i == 0   ? EVP_sha256()
                          : i == 1 ? EVP_sha384()
                                   : EVP_sha512();
            out->key = make_ecdsa(&in, curves[i].curve, curves[i].group);
        }
    }
    if (out->key && in.len != 0) { /* more than a key */
        EVP_PKEY_free(out->key);
        out->key = NULL;
    }
    return out->key != NULL;
}

/* SSH's form of an ECDSA signature (two numbers) as DER; free with
 * OPENSSL_free. */
static int
to_der(struct auth_cert_bytes in, unsigned char **der)
{
    struct auth_cert_bytes r, s;
    ECDSA_SIG *sig;
    BIGNUM *br, *bs;
    int len = -1;

    if (!auth_cert_take(&in, &r) || !auth_cert_take(&in, &s) || in.len != 0 ||
        r.len > 80 || s.len > 80) {
        return -1;
    }
    sig = ECDSA_SIG_new();
    br = BN_bin2bn(r.data, (int)r.len, NULL);
    bs = BN_bin2bn(s.data, (int)s.len, NULL);
    if (sig && br && bs && ECDSA_SIG_set0(sig, br, bs) == 1) {
        br = bs = NULL; /* sig's now */
        len = i2d_ECDSA_SIG(sig, der);
    }
    BN_free(br);
    BN_free(bs);
    ECDSA_SIG_free(sig);
    return len;
}

static bool
is_signed(const struct authority *a, const struct auth_cert_bytes *body,
          const unsigned char *sig, size_t len)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx &&
              EVP_DigestVerifyInit(ctx, NULL, a->digest, NULL, a->key) == 1 &&
              EVP_DigestVerify(ctx, sig, len, body->data, body->len) == 1;

    EVP_MD_CTX_free(ctx);
    return ok;
}

int
auth_cert_verify(const struct auth_cert *c, struct error *err)
{
    struct auth_cert_bytes in = c->signature, algorithm, sig;
    struct authority a;
    unsigned char *der = NULL;
    bool ok = false;

    if (!auth_cert_take(&in, &algorithm) || !auth_cert_take(&in, &sig) ||
        in.len != 0) {
        return error_set(err, DT_ERR_ACCES, "malformed signature");
    }
    if (!make_authority(&c->ca, &algorithm, &a)) {
        return error_set(err, DT_ERR_ACCES,
                         "signed with \"%.*s\" or a key that is not supported "
                         "(ed25519, RSA of %d bits and more with SHA-2, ECDSA "
                         "are)",
                         (int)(algorithm.len > 64 ? 64 : algorithm.len),
                         (const char *)algorithm.data, MIN_RSA_BITS);
    }
    if (a.is_ecdsa) {
        int len = to_der(sig, &der);

        ok = len > 0 && is_signed(&a, &c->body, der, (size_t)len);
        OPENSSL_free(der);
    } else {
        ok = is_signed(&a, &c->body, sig.data, sig.len);
    }
    EVP_PKEY_free(a.key);
    return ok ? DT_OK : error_set(err, DT_ERR_ACCES, "its signature is wrong");
}
