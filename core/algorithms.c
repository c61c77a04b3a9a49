/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of SSH algorithms in the configuration.
 */
#include "algorithms.h"

#include <libssh/libssh.h>
#include <libssh/server.h>
#include <string.h>

/* No SHA-1 signatures (ssh-rsa), which libssh accepts by default. */
#define PUBLIC_KEYS                                                            \
    "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521," \
    "sk-ssh-ed25519@openssh.com,sk-ecdsa-sha2-nistp256@openssh.com,"           \
    "rsa-sha2-512,rsa-sha2-256"
#define CERTIFICATES                               \
    "ssh-ed25519-cert-v01@openssh.com,"            \
    "ecdsa-sha2-nistp256-cert-v01@openssh.com,"    \
    "ecdsa-sha2-nistp384-cert-v01@openssh.com,"    \
    "ecdsa-sha2-nistp521-cert-v01@openssh.com,"    \
    "sk-ssh-ed25519-cert-v01@openssh.com,"         \
    "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com," \
    "rsa-sha2-512-cert-v01@openssh.com,rsa-sha2-256-cert-v01@openssh.com"

static const struct {
    enum ssh_bind_options_e option;
    const char *what;
} kinds[NR_ALGORITHMS_KINDS] = {
    [ALGORITHMS_KEX] = {SSH_BIND_OPTIONS_KEY_EXCHANGE, "a key exchange method"},
    [ALGORITHMS_CIPHER] = {SSH_BIND_OPTIONS_CIPHERS_C_S, "a cipher"},
    [ALGORITHMS_MAC] = {SSH_BIND_OPTIONS_HMAC_C_S, "a MAC"},
    [ALGORITHMS_HOST_KEY] = {SSH_BIND_OPTIONS_HOSTKEY_ALGORITHMS,
                             "a host key algorithm"},
    [ALGORITHMS_PUBLIC_KEY] = {SSH_BIND_OPTIONS_PUBKEY_ACCEPTED_KEY_TYPES,
                               "a public key algorithm"},
};

/* What stands in configurations of the Go program and libssh does not have. */
static bool
is_foreign(const char *name)
{
    static const char *const names[] = {
        "mlkem768x25519-sha256",
        "hmac-sha1-96",
        "arcfour",
        "arcfour128",
        "arcfour256",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* libssh drops unknown names silently, and fails when none is left: so each is
 * tried alone, on an object of its own. A comma would make two of one. */
static int
check(enum algorithms_kind kind, const char *name, struct error *err)
{
    ssh_bind trial;
    bool known;

    if (is_foreign(name)) {
        return DT_OK;
    }
    if (strcmp(name, "ssh-rsa") == 0 || strcmp(name, "ssh-dss") == 0 ||
        strncmp(name, "ssh-rsa-cert", 12) == 0 ||
        strncmp(name, "ssh-dss-cert", 12) == 0) {
        return error_set(err, DT_ERR_INVAL,
                         "\"%s\" signs with SHA-1 and is not offered", name);
    }
    trial = ssh_bind_new();
    if (!trial) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    known = *name && !strchr(name, ',') &&
            ssh_bind_options_set(trial, kinds[kind].option, name) == SSH_OK;
    ssh_bind_free(trial);
    return known ? DT_OK
                 : error_set(err, DT_ERR_INVAL,
                             "\"%.100s\" is not %s that libssh %s has", name,
                             kinds[kind].what, ssh_version(0));
}

int
algorithms_check_kex(const char *name, struct error *err)
{
    return check(ALGORITHMS_KEX, name, err);
}

int
algorithms_check_cipher(const char *name, struct error *err)
{
    return check(ALGORITHMS_CIPHER, name, err);
}

int
algorithms_check_mac(const char *name, struct error *err)
{
    return check(ALGORITHMS_MAC, name, err);
}

int
algorithms_check_host_key(const char *name, struct error *err)
{
    return check(ALGORITHMS_HOST_KEY, name, err);
}

int
algorithms_check_public_key(const char *name, struct error *err)
{
    return check(ALGORITHMS_PUBLIC_KEY, name, err);
}

int
algorithms_join(const struct strv *names, struct buf *out, struct strv *dropped,
                struct error *err)
{
    int rc = DT_OK;

    for (size_t i = 0; rc == DT_OK && i < names->nr; i++) {
        const char *name = names->v[i];

        if (is_foreign(name)) {
            rc = strv_add(dropped, name);
            continue;
        }
        rc = buf_printf(out, "%s%s", out->len ? "," : "", name);
        /* two names of one method; clients may know only the older one */
        if (rc == DT_OK && strcmp(name, "curve25519-sha256") == 0) {
            rc = buf_puts(out, ",curve25519-sha256@libssh.org");
        }
    }
    if (rc == DT_OK && out->len == 0) {
        return error_set(err, DT_ERR_INVAL,
                         "libssh %s has none of these algorithms",
                         ssh_version(0));
    }
    if (rc == DT_OK) {
        rc = buf_append(out, "", 1);
    }
    return rc == DT_OK ? DT_OK : error_set(err, rc, "out of memory");
}

const char *
algorithms_public_keys(bool with_certificates)
{
    return with_certificates ? CERTIFICATES "," PUBLIC_KEYS : PUBLIC_KEYS;
}
