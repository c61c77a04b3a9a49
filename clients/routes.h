/* SPDX-License-Identifier: Apache-2.0
 *
 * How each server is reached: its address, user, keys, known hosts, as the
 * flags and ssh_config say. What many servers have in common is made once.
 *
 * Threads: made by the main thread; the pool's thread uses it then.
 */
#ifndef CLIENTS_ROUTES_H
#define CLIENTS_ROUTES_H

#include "client.h"
#include "clientauth.h"
#include "knownhosts.h"
#include "servers.h"
#include "sshconfig.h"

struct route {
    const char *host; /* name or address to connect to */
    uint16_t port;
    const char *key_name; /* under which its key is known */
    const char *user;
    const char *proxy; /* shell command; NULL: TCP */
    int family;        /* AF_… */
    int connect_ms;
    enum sshconfig_strict strict;
    struct clientauth *auth;
    struct knownhosts *hosts;
    const char *hosts_path; /* where accepted keys are written */
};

struct routes;

/* DT_OK, or an error of ssh_config, keys or known hosts. May ask for
 * passphrases on the terminal. Both arguments are borrowed. */
int routes_new(const struct client *c, const struct servers *servers,
               struct routes **out, struct error *err);
void routes_free(struct routes *r);
/* By server, in the order of the list. */
const struct route *routes_get(const struct routes *r, size_t server);

#endif
