/* SPDX-License-Identifier: Apache-2.0
 *
 * What a worker says first: itself and its plugins.
 */
#ifndef CORE_WORKER_HELLO_H
#define CORE_WORKER_HELLO_H

#include "outq.h"
#include "worker.h"

/* Posts the HELLO. DT_OK or an error. */
int worker_hello(const struct worker_args *a, struct outq *out);

#endif
