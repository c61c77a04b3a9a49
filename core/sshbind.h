/* SPDX-License-Identifier: Apache-2.0
 *
 * What every SSH session of the server begins with: libssh's options and the
 * host keys, set up once in the listener before its first fork.
 *
 * The listener never accepts through it: no network byte reaches libssh there.
 */
#ifndef CORE_SSHBIND_H
#define CORE_SSHBIND_H

#include "config.h"
#include "error.h"
#include "log.h"

#include <libssh/libssh.h>
#include <libssh/server.h>

/* Makes missing host keys, reads them and sets the algorithms. DT_OK, or an
 * error that names the file or the setting. Free with ssh_bind_free. */
int sshbind_new(const struct config *config, struct log *log, ssh_bind *out,
                struct error *err);

/* One handshake with oneself: proves keys and algorithms before the first
 * client does, and lets all children share what OpenSSL sets up lazily. */
int sshbind_warm_up(ssh_bind bind, struct error *err);

#endif
