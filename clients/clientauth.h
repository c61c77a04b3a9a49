/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys a client offers, read once and shared by all sessions: the key file
 * that was named, the agent's, the usual ones in ~/.ssh (spec clients 9.1).
 *
 * Threads: the pool's, once loaded.
 */
#ifndef CLIENTS_CLIENTAUTH_H
#define CLIENTS_CLIENTAUTH_H

#include "keyring.h"

/* `clientauth`: the server's side of authentication is core/auth.h. */
struct clientauth;

struct clientauth_args {
    const char *password; /* used alone, without any key; NULL: none */
    const char *key_path; /* named by the user, "": none */
    bool key_is_wanted;   /* that it cannot be used is an error */
    const char *home;     /* "": no usual files */
    bool is_test_mode;    /* ./id_rsa before the usual files */
    const char *agent;    /* SSH_AUTH_SOCK; NULL or "": no agent */
    int64_t agent_index;  /* the only key of the agent to offer; < 0: all */
    /* of ssh_config */
    const struct strv *identities;   /* files in place of the usual ones */
    const struct strv *certificates; /* besides KEY-cert.pub */
    bool identities_only;            /* of the agent only these */
};

/* The password is borrowed, keys stay the keyring's. A passphrase is asked for
 * when the user named an encrypted file whose key the agent does not have, or
 * when there is no other key. Other files that cannot be used are left out;
 * who is refused reads why. DT_OK, DT_ERR_NOENT (no key at all), DT_ERR_INVAL
 * (the wanted one cannot be used), DT_ERR_CANCELLED, DT_ERR_NOMEM. */
int clientauth_load(const struct clientauth_args *args, struct keyring *keyring,
                    struct clientauth **out, struct error *err);
void clientauth_free(struct clientauth *a);

/* To be called for each new session: which agent it asks. */
void clientauth_prepare(const struct clientauth *a, ssh_session session);

/* Where a session is in the list; all zero at the start. */
struct clientauth_place {
    size_t first; /* the key to begin with */
    size_t next;  /* how many were tried */
    bool asked_methods;
};
/* Goes on with authentication, without waiting. SSH_AUTH_SUCCESS, _AGAIN (call
 * again when the socket has something), _DENIED (no key is left; err says which
 * were tried), _ERROR (the session is broken). */
int clientauth_step(struct clientauth *a, struct clientauth_place *place,
                    ssh_session session, const char *user, struct error *err);

#endif
