/* SPDX-License-Identifier: Apache-2.0
 *
 * AUTHKEY in the worker: a public key goes to the listener, which decides
 * whether it is remembered for the session's user; its answer goes to the
 * client. The worker's own thread.
 */
#ifndef CORE_WORKER_AUTH_H
#define CORE_WORKER_AUTH_H

#include "broker.h"
#include "error.h"
#include "outq.h"

struct worker_auth {
    int broker_fd; /* borrowed */
    struct outq *out;
    unsigned nr_pending; /* keys that the listener has not answered yet */
};

/* An AUTHKEY request. DT_OK, also when the key is not taken, which its answer
 * tells; else the request is malformed. */
int worker_auth_request(struct worker_auth *a, const void *json, size_t len,
                        struct error *err);
/* The same for the key alone (the base64 of a public key). */
void worker_auth_add_key(struct worker_auth *a, const char *key);

/* BROKER_KEY_ADDED. */
void worker_auth_answered(struct worker_auth *a, const struct broker_msg *msg);

#endif
