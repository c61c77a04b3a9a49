/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenSSH user certificates (OpenSSH's PROTOCOL.certkeys): reading one,
 * verifying its signature and what it allows.
 *
 * libssh verifies that the client has the key inside the certificate, and
 * nothing else of it. All else happens here, in the listener's look-up child.
 */
#ifndef CORE_AUTH_CERT_H
#define CORE_AUTH_CERT_H

#include "auth-options.h"
#include "error.h"

#include <stdint.h>

#define AUTH_CERT_MAX_PRINCIPALS 256u /* as sshd has it */

/* A piece of the certificate's own bytes. */
struct auth_cert_bytes {
    const uint8_t *data;
    size_t len;
};

/* Points into the bytes that were parsed. */
struct auth_cert {
    struct auth_cert_bytes key_type; /* of the certificate */
    uint64_t serial;
    uint32_t kind; /* 1: a user's, 2: a host's */
    struct auth_cert_bytes id;
    struct auth_cert_bytes principals;
    uint64_t valid_after;
    uint64_t valid_before;
    struct auth_cert_bytes critical;
    struct auth_cert_bytes ca;   /* the authority's public key, as a blob */
    struct auth_cert_bytes body; /* what is signed */
    struct auth_cert_bytes signature;
};

/* True for the name of a certificate type that may log in. */
bool auth_cert_type_ok(const char *type);

/* DT_OK, or DT_ERR_ACCES with what is wrong with the form. */
int auth_cert_parse(const uint8_t *blob, size_t len, struct auth_cert *out,
                    struct error *err);
/* Whether the signature is that of the authority's key inside. DT_OK, or
 * DT_ERR_ACCES; says nothing about whether that authority is trusted. */
int auth_cert_verify(const struct auth_cert *c, struct error *err);
/* Kind, principals, validity and critical options, which are honoured or
 * refuse the certificate. DT_OK, or DT_ERR_ACCES with the reason. */
int auth_cert_check(const struct auth_cert *c, const char *user,
                    const struct auth_peer *peer, struct error *err);

/* Whether the certificate is for that key; both in base64. */
bool auth_cert_is_for(const char *cert, const char *key);

/* For parsers: takes the next string, u32 or u64 off *in. */
bool auth_cert_take(struct auth_cert_bytes *in, struct auth_cert_bytes *out);
bool auth_cert_is(const struct auth_cert_bytes *b, const char *text);

#endif
