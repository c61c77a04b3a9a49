/* SPDX-License-Identifier: Apache-2.0
 *
 * What worker and client say first.
 */
#ifndef CORE_WORKER_HELLO_H
#define CORE_WORKER_HELLO_H

#include "outq.h"
#include "wire.h"
#include "worker.h"

/* Posts the HELLO. DT_OK or an error. */
int worker_hello(const struct worker_args *a, struct outq *out);

/* Whether the client's HELLO is one that is understood here. DT_OK,
 * DT_ERR_ABI (another protocol), or what hello_parse says. */
int worker_check_hello(const struct wire_frame *f, struct error *err);

/* Where a client is in what it may send. Starts as {0}. */
struct worker_order {
    bool is_greeted; /* HELLO has come */
    bool is_over;    /* BYE has come, or a query that implied it */
};

/* Whether a frame may come now: HELLO first and once, no query behind BYE.
 * Frames of unknown types may always. DT_OK or DT_ERR_PROTO. */
int worker_check_order(struct worker_order *o, const struct wire_frame *f,
                       struct error *err);

#endif
