/* SPDX-License-Identifier: Apache-2.0
 *
 * How far the work has come: bytes of bytes over all servers, rate, time left,
 * servers done and failed. Numbers in, one line of text out; time is an
 * argument.
 *
 * Threads: any. All functions take NULL for "nobody wants to know".
 */
#ifndef CLIENTS_METER_H
#define CLIENTS_METER_H

#include "buf.h"

#define METER_AFTER_MS 1000 /* shorter work shows nothing */
#define METER_EVERY_MS 250

struct meter;

/* `is_local`: there are no servers to speak of. NULL: no memory. */
struct meter *meter_new(size_t nr_servers, size_t nr_queries, bool is_local,
                        int64_t start_ms);
void meter_free(struct meter *m);

/* Where a query (from 0) at a server is. known 0: it does not say. */
void meter_bytes(struct meter *m, size_t server, size_t query, uint64_t done,
                 uint64_t known);
/* A query at a server has read all it will. */
void meter_query_over(struct meter *m, size_t server, size_t query,
                      uint64_t done);
/* A server is of no more interest. */
void meter_server_over(struct meter *m, size_t server, bool is_good);

/* When there is something new to show; CLOCK_NEVER for NULL. */
int64_t meter_next_ms(const struct meter *m);
/* Appends the line, of at most `width` columns; what does not fit is left out
 * from the end. DT_OK, DT_AGAIN: it is not time yet, or DT_ERR_NOMEM. Main
 * thread. */
int meter_text(struct meter *m, int64_t now_ms, size_t width, struct buf *out);

#endif
