/* SPDX-License-Identifier: Apache-2.0
 *
 * Log-ins with certificates of the authorities in Server.TrustedUserCAKeys.
 */
#ifndef CORE_AUTH_CA_H
#define CORE_AUTH_CA_H

#include "auth-keys.h"
#include "auth.h"

/* Opens the file of the authorities, with the rights of the server, and checks
 * it as files of keys are. The descriptor, or an error: none is set, too. */
int auth_ca_open(const struct config *config, struct error *err);

/* Decides about a certificate; `fd` is the file of the authorities. DT_OK: it
 * is good for the request's user, now and from there; *note says which it is.
 * Else an error that says why not. */
int auth_ca_decide(int fd, const struct auth_request *request,
                   struct error *note);

#endif
