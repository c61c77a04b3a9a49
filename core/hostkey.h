/* SPDX-License-Identifier: Apache-2.0
 *
 * The server's host keys: made at the first start, read at each.
 */
#ifndef CORE_HOSTKEY_H
#define CORE_HOSTKEY_H

#include "error.h"
#include "log.h"

#include <libssh/libssh.h>

/* Makes sure that a usable private key stands in `path`: a missing one is
 * generated as `type` (SSH_KEYTYPE_RSA with `bits`, or SSH_KEYTYPE_ED25519),
 * with mode 0600 and, if need be, its folder with mode 0700. *found gets the
 * type of the key that stands there. Modes that let others read or write an
 * existing file and RSA keys in OpenSSH's own format (signing is three times
 * slower) are logged as warnings. Before the first fork: the umask is changed
 * for a moment. DT_OK, or an error that names the file. */
int hostkey_ensure(const char *path, enum ssh_keytypes_e type, int bits,
                   struct log *log, enum ssh_keytypes_e *found,
                   struct error *err);

#endif
