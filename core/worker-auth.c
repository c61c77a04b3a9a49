/* SPDX-License-Identifier: Apache-2.0
 *
 * AUTHKEY in the worker. The texts are those of the Go server, which clients
 * of both protocols read.
 */
#include "worker-auth.h"

#include "base64.h"
#include "cleanup.h"
#include "request.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

/* Waits while the listener lags. */
static int
send_key(int broker_fd, const char *key, size_t len)
{
    CLEANUP_FREE struct broker_msg *msg = calloc(1, sizeof(*msg));
    struct pollfd p = {.fd = broker_fd, .events = POLLOUT};
    int rc;

    if (!msg) {
        return DT_ERR_NOMEM;
    }
    msg->type = BROKER_ADD_KEY;
    memcpy(msg->key, key, len);
    msg->key_len = (uint32_t)len;
    while ((rc = broker_send(broker_fd, msg, -1)) == DT_AGAIN) {
        if (poll(&p, 1, -1) < 0 && errno != EINTR) {
            return DT_ERR_IO;
        }
    }
    return rc;
}

static int
hand_over(int broker_fd, const char *key, struct error *err)
{
    size_t len = strlen(key), blob_len;
    CLEANUP_FREE char *blob = NULL;

    if (len == 0) {
        return error_set(err, DT_ERR_INVAL, "missing public key");
    }
    if (len > BROKER_MAX_KEY) {
        return error_set(err, DT_ERR_INVAL, "invalid public key");
    }
    blob = malloc(base64_decoded_max(len) + 1);
    if (!blob) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    if (!base64_decode(blob, &blob_len, key, len)) {
        return error_set(err, DT_ERR_INVAL, "invalid base64");
    }
    return send_key(broker_fd, key, len) == DT_OK
               ? DT_OK
               : error_set(err, DT_ERR_IO, "internal key store unavailable");
}

static void
answer(struct worker_auth *a, int status, const char *reason)
{
    char text[BROKER_MAX_TEXT];
    struct wire_frame f = {.type = WIRE_S_AUTHKEY, .data = text};

    if (status == DT_OK) {
        strcpy(text, "AUTHKEY OK");
    } else {
        snprintf(text, sizeof(text), "AUTHKEY ERR %.400s", reason);
    }
    f.len = strlen(text);
    outq_post(a->out, &f);
}

void
worker_auth_add_key(struct worker_auth *a, const char *key)
{
    struct error why = ERROR_INIT;

    if (hand_over(a->broker_fd, key, &why) == DT_OK) {
        a->nr_pending++;
    } else {
        answer(a, why.status, why.text);
    }
}

int
worker_auth_request(struct worker_auth *a, const void *json, size_t len,
                    struct error *err)
{
    char *key;
    int rc = authkey_parse(json, len, &key, err);

    if (rc == DT_OK) {
        worker_auth_add_key(a, key);
        free(key);
    }
    return rc;
}

void
worker_auth_answered(struct worker_auth *a, const struct broker_msg *msg)
{
    if (a->nr_pending > 0) {
        a->nr_pending--;
        answer(a, msg->status, msg->text);
    }
}
