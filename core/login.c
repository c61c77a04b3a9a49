/* SPDX-License-Identifier: Apache-2.0
 *
 * Authentication inside the session process.
 */
#include "login.h"
#include "auth-keys.h"
#include "auth-special.h"
#include "auth.h"
#include "clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define MAX_BANNER 100 /* bytes of the client's banner in the log */

/* Waits for the answer to a look-up. This connection has nothing else to do
 * meanwhile: one connection is one process. */
static bool
wait_for_answer(struct login *l)
{
    struct broker_msg msg;
    int fd;

    for (;;) {
        struct pollfd p = {.fd = l->broker_fd, .events = POLLIN};
        int n = poll(&p, 1, clock_poll_ms(l->deadline_ms));
        int st;

        if (n == 0) {
            return false;
        }
        if (n < 0 && errno != EINTR) {
            l->is_lost = true;
            return false;
        }
        st = broker_recv(l->broker_fd, &msg, &fd);
        if (st == DT_AGAIN) {
            continue;
        }
        if (st != DT_OK) {
            l->is_lost = true;
            return false;
        }
        if (msg.type == BROKER_KEY_ANSWER) {
            return msg.status == DT_OK;
        }
        l->other(l->ctx, &msg, fd);
    }
}

/* Asks the listener; `what` is a key or a password. */
static bool
look_up(struct login *l, enum broker_type type, const char *user,
        const char *what, size_t len)
{
    struct broker_msg msg;
    bool ok;

    memset(&msg, 0, sizeof(msg));
    msg.type = type;
    strncpy(msg.user, user, BROKER_MAX_USER);
    memcpy(msg.key, what, len);
    msg.key_len = (uint32_t)len;
    ok = broker_send(l->broker_fd, &msg, -1) == DT_OK;
    explicit_bzero(msg.key, len);
    if (!ok) {
        l->is_lost = true;
        return false;
    }
    return wait_for_answer(l);
}

/* Asks for the worker; how the user came in goes to the log. */
static void
ask_worker(struct login *l, const char *user, const char *how)
{
    const char *banner = ssh_get_clientbanner(l->ssh);
    struct broker_msg msg;

    memset(&msg, 0, sizeof(msg));
    msg.type = BROKER_START_WORKER;
    strncpy(msg.user, user, BROKER_MAX_USER);
    snprintf(msg.text, sizeof(msg.text), "%s|%.*s", how, MAX_BANNER,
             banner ? banner : "?");
    if (broker_send(l->broker_fd, &msg, -1) != DT_OK) {
        l->is_lost = true;
        return;
    }
    strcpy(l->user, msg.user);
    l->is_done = true;
}

static void
succeed(struct login *l, const char *user, ssh_key key)
{
    unsigned char *hash = NULL;
    char *print = NULL;
    char how[256];
    size_t hash_len;

    if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash,
                               &hash_len) == 0) {
        print =
            ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, hash_len);
    }
    snprintf(how, sizeof(how), "%s|%s", ssh_key_type_to_char(ssh_key_type(key)),
             print ? print : "?");
    ssh_clean_pubkey_hash(&hash);
    ssh_string_free_char(print);
    ask_worker(l, user, how);
}

static bool
is_sane_user(struct login *l, const char *user)
{
    struct error err = ERROR_INIT;

    if (auth_check_user(user, &err) != DT_OK) {
        log_info(l->log, "refused|%s", err.text);
        return false;
    }
    return true;
}

static bool
is_allowed(struct login *l, const char *user, ssh_key key)
{
    char *text = NULL;
    size_t len;
    bool ok = false;

    if (!is_sane_user(l, user)) {
        return false;
    }
    if (ssh_pki_export_pubkey_base64(key, &text) != SSH_OK) {
        return false;
    }
    len = strlen(text);
    if (len > BROKER_MAX_KEY) {
        log_info(l->log, "refused|public key of %zu bytes", len);
    } else {
        ok = (auth_keys_type_ok(text) || auth_keys_is_cert(text)) &&
             look_up(l, BROKER_LOOKUP_KEY, user, text, len);
    }
    ssh_string_free_char(text);
    return ok;
}

int
login_pubkey(struct login *l, const char *user, ssh_key key, char state)
{
    if (l->is_done || l->is_lost || l->nr_refused >= LOGIN_MAX_REFUSED) {
        return SSH_AUTH_DENIED;
    }
    if ((state != SSH_PUBLICKEY_STATE_NONE &&
         state != SSH_PUBLICKEY_STATE_VALID) ||
        !is_allowed(l, user, key)) {
        l->nr_refused++;
        return SSH_AUTH_DENIED;
    }
    /* Without a signature it was only the question whether the key would do;
     * each request may carry another user name, so the one that counts is the
     * one that came with the signature. */
    if (state == SSH_PUBLICKEY_STATE_VALID) {
        succeed(l, user, key);
        return l->is_done ? SSH_AUTH_SUCCESS : SSH_AUTH_DENIED;
    }
    return SSH_AUTH_SUCCESS;
}

int
login_password(struct login *l, const char *user, const char *password)
{
    size_t len = strlen(password);

    if (l->is_done || l->is_lost || l->nr_refused >= LOGIN_MAX_REFUSED) {
        return SSH_AUTH_DENIED;
    }
    if (!is_sane_user(l, user) || len > AUTH_SPECIAL_MAX_PASSWORD ||
        !look_up(l, BROKER_LOOKUP_PASSWORD, user, password, len)) {
        l->nr_refused++;
        return SSH_AUTH_DENIED;
    }
    ask_worker(l, user, "password");
    return l->is_done ? SSH_AUTH_SUCCESS : SSH_AUTH_DENIED;
}

int
login_methods(const char *user)
{
    return auth_special_role(user) == AUTH_ROLE_USER ? SSH_AUTH_METHOD_PUBLICKEY
                                                     : SSH_AUTH_METHOD_PASSWORD;
}

void
login_none(struct login *l)
{
    l->nr_refused += ++l->nr_none > LOGIN_MAX_NONE;
}
