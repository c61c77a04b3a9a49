/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenSSH user certificates: form and contents.
 */
#include "auth-cert.h"

#include "auth-address.h"
#include "base64.h"
#include "cleanup.h"

#include <stdlib.h>
#include <string.h>

#define KIND_USER 1u
#define FOREVER UINT64_MAX
#define MAX_LIST 4096u /* bytes of source-address */

/* Types that may log in, and how many strings their keys consist of. */
static const struct {
    const char *name;
    unsigned nr_fields;
} types[] = {
    {"ssh-ed25519-cert-v01@openssh.com", 1},
    {"ssh-rsa-cert-v01@openssh.com", 2},
    {"ecdsa-sha2-nistp256-cert-v01@openssh.com", 2},
    {"ecdsa-sha2-nistp384-cert-v01@openssh.com", 2},
    {"ecdsa-sha2-nistp521-cert-v01@openssh.com", 2},
    {"sk-ssh-ed25519-cert-v01@openssh.com", 2},
    {"sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", 3},
};

#define NR_TYPES (sizeof(types) / sizeof(*types))

/* ---- bytes ---- */

static bool
take_number(struct auth_cert_bytes *in, size_t bytes, uint64_t *out)
{
    if (in->len < bytes) {
        return false;
    }
    *out = 0;
    for (size_t i = 0; i < bytes; i++) {
        *out = *out << 8 | in->data[i];
    }
    in->data += bytes;
    in->len -= bytes;
    return true;
}

bool
auth_cert_take(struct auth_cert_bytes *in, struct auth_cert_bytes *out)
{
    uint64_t len;

    if (!take_number(in, 4, &len) || len > in->len) {
        return false;
    }
    *out = (struct auth_cert_bytes){in->data, (size_t)len};
    in->data += len;
    in->len -= (size_t)len;
    return true;
}

bool
auth_cert_is(const struct auth_cert_bytes *b, const char *text)
{
    return b->len == strlen(text) && memcmp(b->data, text, b->len) == 0;
}

/* ---- form ---- */

bool
auth_cert_type_ok(const char *type)
{
    for (size_t i = 0; i < NR_TYPES; i++) {
        if (strcmp(types[i].name, type) == 0) {
            return true;
        }
    }
    return false;
}

/* Type, nonce and the user's key. */
static bool
take_key(struct auth_cert_bytes *in, struct auth_cert *out)
{
    struct auth_cert_bytes ignored;
    size_t i = 0;

    if (!auth_cert_take(in, &out->key_type)) {
        return false;
    }
    while (i < NR_TYPES && !auth_cert_is(&out->key_type, types[i].name)) {
        i++;
    }
    if (i == NR_TYPES || !auth_cert_take(in, &ignored)) {
        return false;
    }
    for (unsigned n = 0; n < types[i].nr_fields; n++) {
        if (!auth_cert_take(in, &ignored)) {
            return false;
        }
    }
    return true;
}

/* What is certified. */
static bool
take_contents(struct auth_cert_bytes *in, struct auth_cert *out)
{
    struct auth_cert_bytes ignored;
    uint64_t kind;

    if (!take_number(in, 8, &out->serial) || !take_number(in, 4, &kind)) {
        return false;
    }
    out->kind = (uint32_t)kind;
    return auth_cert_take(in, &out->id) &&
           auth_cert_take(in, &out->principals) &&
           take_number(in, 8, &out->valid_after) &&
           take_number(in, 8, &out->valid_before) &&
           auth_cert_take(in, &out->critical) &&
           auth_cert_take(in, &ignored) && /* extensions only permit */
           auth_cert_take(in, &ignored) && /* reserved */
           auth_cert_take(in, &out->ca);
}

int
auth_cert_parse(const uint8_t *blob, size_t len, struct auth_cert *out,
                struct error *err)
{
    struct auth_cert_bytes in = {blob, len};

    *out = (struct auth_cert){0};
    if (!take_key(&in, out) || !take_contents(&in, out)) {
        return error_set(err, DT_ERR_ACCES, "malformed certificate");
    }
    out->body = (struct auth_cert_bytes){blob, len - in.len};
    if (!auth_cert_take(&in, &out->signature) || in.len != 0) {
        return error_set(err, DT_ERR_ACCES, "malformed certificate");
    }
    return DT_OK;
}

/* ---- contents ---- */

/* One of the principals must be the user; a certificate for everybody, which
 * one without principals is, lets nobody in. */
static int
check_principals(const struct auth_cert *c, const char *user, struct error *err)
{
    struct auth_cert_bytes in = c->principals, one;
    bool found = false;
    unsigned nr = 0;

    while (in.len > 0) {
        if (++nr > AUTH_CERT_MAX_PRINCIPALS || !auth_cert_take(&in, &one)) {
            return error_set(err, DT_ERR_ACCES,
                             "malformed principals, or more than %u",
                             AUTH_CERT_MAX_PRINCIPALS);
        }
        found = found || auth_cert_is(&one, user);
    }
    if (!found) {
        return error_set(err, DT_ERR_ACCES,
                         nr ? "%s is not among the principals"
                            : "without principals it is not for %s",
                         user);
    }
    return DT_OK;
}

static int
check_validity(const struct auth_cert *c, time_t now, struct error *err)
{
    uint64_t t = now > 0 ? (uint64_t)now : 0;

    if (t < c->valid_after) {
        return error_set(err, DT_ERR_ACCES, "not valid yet");
    }
    if (c->valid_before != FOREVER && t >= c->valid_before) {
        return error_set(err, DT_ERR_ACCES, "expired");
    }
    return DT_OK;
}

/* A list of addresses and address/bits, one of which must fit. */
static int
check_source(const struct auth_cert_bytes *value, const char *address,
             struct error *err)
{
    char list[MAX_LIST + 1], *rest = list, *entry;
    bool found = false;

    if (value->len > MAX_LIST || memchr(value->data, '\0', value->len)) {
        return error_set(err, DT_ERR_ACCES, "malformed source-address");
    }
    memcpy(list, value->data, value->len);
    list[value->len] = '\0';
    while ((entry = strsep(&rest, ","))) {
        int hit = auth_address_in_net(entry, address);

        if (hit < 0) {
            return error_set(err, DT_ERR_ACCES, "malformed source-address");
        }
        found = found || hit > 0;
    }
    return found ? DT_OK
                 : error_set(err, DT_ERR_ACCES,
                             "source-address does not allow %s", address);
}

static int
check_option(const struct auth_cert_bytes *name, struct auth_cert_bytes data,
             const struct auth_peer *peer, struct error *err)
{
    struct auth_cert_bytes value;

    if (!auth_cert_is(name, "source-address")) {
        return error_set(
            err, DT_ERR_ACCES, "critical option \"%.*s\" is not supported",
            (int)(name->len > 100 ? 100 : name->len), (const char *)name->data);
    }
    if (!auth_cert_take(&data, &value) || data.len != 0) {
        return error_set(err, DT_ERR_ACCES, "malformed source-address");
    }
    return check_source(&value, peer->address, err);
}

static int
check_critical(const struct auth_cert *c, const struct auth_peer *peer,
               struct error *err)
{
    struct auth_cert_bytes in = c->critical, name, data;
    int st = DT_OK;

    while (st == DT_OK && in.len > 0) {
        if (!auth_cert_take(&in, &name) || !auth_cert_take(&in, &data)) {
            return error_set(err, DT_ERR_ACCES, "malformed critical options");
        }
        st = check_option(&name, data, peer, err);
    }
    return st;
}

int
auth_cert_check(const struct auth_cert *c, const char *user,
                const struct auth_peer *peer, struct error *err)
{
    int st;

    if (c->kind != KIND_USER) {
        return error_set(err, DT_ERR_ACCES, "it is not a user certificate");
    }
    st = check_principals(c, user, err);
    if (st == DT_OK) {
        st = check_validity(c, peer->now, err);
    }
    return st == DT_OK ? check_critical(c, peer, err) : st;
}

/* The key's own fields stand in the certificate right behind the nonce. */
static bool
has_key(struct auth_cert_bytes cert, struct auth_cert_bytes key)
{
    struct auth_cert_bytes ignored;

    return auth_cert_take(&cert, &ignored) && /* type */
           auth_cert_take(&cert, &ignored) && /* nonce */
           auth_cert_take(&key, &ignored) &&  /* type */
           key.len > 0 && cert.len >= key.len &&
           memcmp(cert.data, key.data, key.len) == 0;
}

bool
auth_cert_is_for(const char *cert, const char *key)
{
    size_t room = base64_decoded_max(strlen(cert)) + 1;
    size_t key_room = base64_decoded_max(strlen(key)) + 1;
    CLEANUP_FREE uint8_t *a = malloc(room);
    CLEANUP_FREE uint8_t *b = malloc(key_room);
    size_t a_len, b_len;

    return a && b && base64_decode(a, &a_len, cert, strlen(cert)) &&
           base64_decode(b, &b_len, key, strlen(key)) &&
           has_key((struct auth_cert_bytes){a, a_len},
                   (struct auth_cert_bytes){b, b_len});
}
