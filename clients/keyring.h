/* SPDX-License-Identifier: Apache-2.0
 *
 * Private key files: each is read, and its passphrase asked for, once, however
 * many hosts it is for.
 *
 * Threads: the main thread loads; the keys are const and shared then.
 */
#ifndef CLIENTS_KEYRING_H
#define CLIENTS_KEYRING_H

#include "buf.h"
#include "error.h"

#include <libssh/libssh.h>

#define KEYRING_MAX_TRIES 3 /* of a passphrase */

struct keyring;

struct keyring_args {
    const char *passphrase; /* of all encrypted files, and then nobody is
                               asked; NULL: none */
    const char *tty;        /* where to ask */
};

struct keyring *keyring_new(const struct keyring_args *args);
void keyring_free(struct keyring *k);

/* The private key of a file, which stays the keyring's. With `may_ask` the
 * passphrase is asked for when there is need. DT_OK; DT_ERR_NOENT (there is no
 * such file); DT_ERR_ACCES (it cannot be used: `why`, static, says why; asking
 * may help); DT_ERR_CANCELLED; DT_ERR_NOMEM. */
int keyring_get(struct keyring *k, const char *path, bool may_ask, ssh_key *out,
                const char **why);

/* The public key in base64 that belongs to a private key file, whether that
 * can be used or not, or of a file with only that: a new string, NULL when
 * there is none. */
char *keyring_public(const char *path);

#endif
