/* SPDX-License-Identifier: Apache-2.0
 *
 * The key that a client registers with servers for its next log-ins (AUTHKEY,
 * spec clients 9.3): after one expensive authentication (a token behind the
 * agent) a cheap local key does for a while.
 */
#ifndef CLIENTS_AUTHKEY_H
#define CLIENTS_AUTHKEY_H

#include "buf.h"
#include "error.h"
#include "log.h"

/* Appends the base64 of the public key that belongs to the private key file
 * `key_path`: the second word of the first line of key_path.pub that is
 * neither empty nor a comment. False: there is none that can be used, and *why
 * (static text) says so; registering is a convenience, so that is no error. */
bool authkey_read(const char *key_path, struct buf *out, const char **why);

/* For integration tests (spec server 4): makes the key pair when the private
 * key is missing, RSA of 4096 bits. DT_OK, or an error that names the file. */
int authkey_make(const char *key_path, struct log *log, struct error *err);

#endif
