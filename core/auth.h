/* SPDX-License-Identifier: Apache-2.0
 *
 * Who may log in: user names, accounts, and the decision about one key.
 *
 * The decision is made in a short-lived child of the listener (key files are
 * other people's input, and the account database may be on the network), with
 * the user's rights where the server has been started as root.
 */
#ifndef CORE_AUTH_H
#define CORE_AUTH_H

#include "broker.h"
#include "config.h"
#include "error.h"

#include <sys/types.h>

/* Refuses names that are empty, longer than BROKER_MAX_USER bytes, or hold
 * '/', "..", control bytes: they become parts of file names and log lines. */
int auth_check_user(const char *user, struct error *err);

/* An account of this machine; all zero is valid. */
struct auth_account {
    char *name;
    char *home;
    uid_t uid;
    gid_t gid;
};

/* Looks the account up; may wait for the network (NSS), so never in the
 * listener's own loop. DT_ERR_NOENT: there is none. Root is refused with
 * DT_ERR_ACCES when `as_root`, as its worker would keep all rights. */
int auth_account_get(const char *user, bool as_root, struct auth_account *out,
                     struct error *err);
void auth_account_fini(struct auth_account *a);

/* One question: may the owner of `key` log in as `user` from `address`? */
struct auth_request {
    const struct config *config;
    const char *user;
    const char *key;     /* base64 of the public key */
    const char *address; /* of the peer, numeric, without port */
    bool as_root;        /* the process is root and can take the user's
                            rights: it has them for good afterwards */
};

/* DT_OK: yes, and *note says which file it is from. Else an error that says
 * why not, for the log, never for the peer. */
int auth_decide(const struct auth_request *request, struct error *note);

#endif
