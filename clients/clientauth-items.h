/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys a client offers, as clientauth-load.c finds them and clientauth.c
 * tries them.
 */
#ifndef CLIENTS_CLIENTAUTH_ITEMS_H
#define CLIENTS_CLIENTAUTH_ITEMS_H

#include "agentfilter.h"
#include "clientauth.h"

struct clientauth_item {
    ssh_key key;   /* NULL: the agent */
    bool is_owned; /* by the list, not by the keyring */
    char *name;    /* for messages */
};

struct clientauth {
    const char *password; /* NULL: keys */
    struct clientauth_item *items;
    size_t nr;
    size_t preferred; /* the last that a server took: it comes first */
    struct agentfilter *filter; /* NULL: the agent itself */
    const char *agent;          /* its socket; NULL: none */
    struct strv only;           /* what the filter lets through */
    struct buf notes;           /* why files were left out */
};

#endif
