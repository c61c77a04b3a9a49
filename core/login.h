/* SPDX-License-Identifier: Apache-2.0
 *
 * Authentication inside the session process: libssh verifies signatures, the
 * listener says whether a key may log in. One process, one thread.
 */
#ifndef CORE_LOGIN_H
#define CORE_LOGIN_H

#include "broker.h"
#include "log.h"

#include <libssh/libssh.h>
#include <libssh/server.h>

/* Keys that may be refused before the connection is ended. */
#define LOGIN_MAX_REFUSED 6
/* Questions for the methods before they are counted like refused keys. */
#define LOGIN_MAX_NONE 10

struct login {
    ssh_session ssh;
    int broker_fd;
    struct log *log;
    int64_t deadline_ms; /* clock_now_ms: a look-up waits no longer */
    /* Broker messages of other kinds that arrive during a look-up. */
    void (*other)(void *ctx, const struct broker_msg *msg, int fd);
    void *ctx;
    char user[BROKER_MAX_USER + 1]; /* once is_done */
    bool is_done;                   /* authenticated, the worker is asked for */
    bool is_lost;                   /* the listener is gone */
    int nr_refused;
    int nr_none;
};

/* For libssh's callback: a public key, as a question (SSH_PUBLICKEY_STATE_NONE)
 * or with a signature that was right (_VALID). Returns SSH_AUTH_…. */
int login_pubkey(struct login *l, const char *user, ssh_key key, char state);

/* For libssh's callback: a password, which only the health check and jobs
 * have. Returns SSH_AUTH_…. */
int login_password(struct login *l, const char *user, const char *password);
/* The method "none" was asked for, which tells what there is. */
void login_none(struct login *l);
/* The methods that a user may try, for ssh_set_auth_methods. */
int login_methods(const char *user);

#endif
