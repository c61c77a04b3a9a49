/* SPDX-License-Identifier: Apache-2.0
 *
 * Authentication inside the session process.
 */
#include "login.h"
#include "auth-keys.h"
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

static bool
look_up(struct login *l, const char *user, const char *key)
{
    struct broker_msg msg;
    size_t len = strlen(key);

    if (len > BROKER_MAX_KEY) {
        log_info(l->log, "refused|public key of %zu bytes", len);
        return false;
    }
    memset(&msg, 0, sizeof(msg));
    msg.type = BROKER_LOOKUP_KEY;
    strncpy(msg.user, user, BROKER_MAX_USER);
    memcpy(msg.key, key, len);
    msg.key_len = (uint32_t)len;
    if (broker_send(l->broker_fd, &msg, -1) != DT_OK) {
        l->is_lost = true;
        return false;
    }
    return wait_for_answer(l);
}

/* Asks for the worker; how the user came in goes to the log. */
static void
succeed(struct login *l, const char *user, ssh_key key)
{
    struct broker_msg msg;
    unsigned char *hash = NULL;
    char *print = NULL;
    size_t hash_len;
    const char *banner = ssh_get_clientbanner(l->ssh);

    if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash,
                               &hash_len) == 0) {
        print =
            ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, hash_len);
    }
    memset(&msg, 0, sizeof(msg));
    msg.type = BROKER_START_WORKER;
    strncpy(msg.user, user, BROKER_MAX_USER);
    snprintf(msg.text, sizeof(msg.text), "%s|%s|%.*s",
             ssh_key_type_to_char(ssh_key_type(key)), print ? print : "?",
             MAX_BANNER, banner ? banner : "?");
    ssh_clean_pubkey_hash(&hash);
    ssh_string_free_char(print);
    if (broker_send(l->broker_fd, &msg, -1) != DT_OK) {
        l->is_lost = true;
        return;
    }
    strcpy(l->user, msg.user);
    l->is_done = true;
}

static bool
is_allowed(struct login *l, const char *user, ssh_key key)
{
    struct error err = ERROR_INIT;
    char *text = NULL;
    bool ok;

    if (auth_check_user(user, &err) != DT_OK) {
        log_info(l->log, "refused|%s", err.text);
        return false;
    }
    if (ssh_pki_export_pubkey_base64(key, &text) != SSH_OK) {
        return false;
    }
    ok = auth_keys_type_ok(text) && look_up(l, user, text);
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
