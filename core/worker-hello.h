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

#endif
