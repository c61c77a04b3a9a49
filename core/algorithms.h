/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of SSH algorithms in the configuration: which of them libssh can do,
 * and which this server would not let it.
 */
#ifndef CORE_ALGORITHMS_H
#define CORE_ALGORITHMS_H

#include "buf.h"
#include "error.h"

enum algorithms_kind {
    ALGORITHMS_KEX = 0,
    ALGORITHMS_CIPHER,
    ALGORITHMS_MAC,
    ALGORITHMS_HOST_KEY,   /* signatures of the server */
    ALGORITHMS_PUBLIC_KEY, /* signatures of users */
    NR_ALGORITHMS_KINDS
};

/* For rows of the table of settings: one name. DT_OK, or DT_ERR_INVAL. */
int algorithms_check_kex(const char *name, struct error *err);
int algorithms_check_cipher(const char *name, struct error *err);
int algorithms_check_mac(const char *name, struct error *err);
int algorithms_check_host_key(const char *name, struct error *err);
int algorithms_check_public_key(const char *name, struct error *err);

/* The names that this server can do as libssh wants them, separated by commas
 * and with a NUL behind; those that only the Go program knows are left out
 * and appended to `dropped`. DT_OK, DT_ERR_INVAL (none is left), or
 * DT_ERR_NOMEM. */
int algorithms_join(const struct strv *names, struct buf *out,
                    struct strv *dropped, struct error *err);

/* What stands for an empty list of PublicKeyAlgorithms. */
const char *algorithms_public_keys(bool with_certificates);

#endif
