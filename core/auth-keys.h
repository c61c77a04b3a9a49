/* SPDX-License-Identifier: Apache-2.0
 *
 * authorized_keys: finding, checking and reading the file of a user.
 *
 * The format is OpenSSH's; auth-options.h says which options are honoured.
 */
#ifndef CORE_AUTH_KEYS_H
#define CORE_AUTH_KEYS_H

#include "auth-options.h"
#include "error.h"

#include <sys/types.h>

#define AUTH_KEYS_MAX_FILE (1u << 20)  /* bytes */
#define AUTH_KEYS_MAX_LINE (32u << 10) /* bytes */
#define AUTH_KEYS_MAX_KEY (12u << 10)  /* bytes of the key itself */

/* True for base64 of a public key of a type that may log in: no certificates,
 * no DSA. */
bool auth_keys_type_ok(const char *key);

/* True for base64 of a certificate of a type that may log in. */
bool auth_keys_is_cert(const char *key);

/* Searches the text of a file. DT_OK: a line allows the key, and *line is its
 * number. DT_ERR_NOENT: the key is not there. DT_ERR_ACCES: it is there, but
 * its options do not allow it; `err` says why. */
int auth_keys_search(const char *text, size_t len, const char *key,
                     const struct auth_peer *peer, unsigned *line,
                     struct error *err);

/* Who may own a key file and its folder, beside root. */
struct auth_keys_owners {
    uid_t user;
    uid_t service;
};

/* Opens `name` in `folder` for reading, checked: a regular file, no symbolic
 * link, it and its folder owned by root, the user or the service and writable
 * by their owner only. With `above` the folder that `folder` lies in is
 * checked as well. The descriptor, or DT_ERR_NOENT when file or folder does
 * not exist, DT_ERR_ACCES or another error with the reason. */
int auth_keys_open(const char *folder, const char *name,
                   const struct auth_keys_owners *owners, const char *above,
                   struct error *err);

/* Reads an open key file whole; *text is the caller's to free. */
int auth_keys_read(int fd, char **text, size_t *len, struct error *err);

#endif
