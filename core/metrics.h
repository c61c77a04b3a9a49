/* SPDX-License-Identifier: Apache-2.0
 *
 * The server's numbers for Prometheus: its text format, version 0.0.4, over
 * as much of HTTP/1.0 as that takes. dserver(8) lists the names.
 *
 * No library: the listener may be root, which parses nothing that comes from
 * elsewhere. It compares the first bytes of a request with the one that it
 * knows, looks for the empty line at its end, and hangs up after the answer.
 */
#ifndef CORE_METRICS_H
#define CORE_METRICS_H

#include "buf.h"
#include "sight.h"

/* As endpoint_answer_fn. */
int metrics_answer(const char *request, size_t len, bool is_full,
                   const struct sight_view *v, const struct sight *s,
                   struct buf *out);
/* Appends the numbers. DT_OK or DT_ERR_NOMEM. */
int metrics_format(const struct sight_view *v, const struct sight *s,
                   struct buf *out);

#endif
