/* SPDX-License-Identifier: Apache-2.0
 *
 * What `dserver --status` shows: the document that the listener gives out over
 * its local socket, and the same as text for people. The document is JSON;
 * dserver(8) lists its members. Each list is bounded, and what was left out is
 * counted.
 */
#ifndef CORE_STATUS_H
#define CORE_STATUS_H

#include "buf.h"
#include "sight.h"

/* What an asker sends. */
#define STATUS_REQUEST "status\n"
#define STATUS_MAX_SESSIONS 500u
#define STATUS_MAX_QUERIES 1000u
#define STATUS_MAX_BYTES (8u << 20) /* of an answer that an asker takes */

/* Appends the document and a newline. DT_OK or DT_ERR_NOMEM. */
int status_format(const struct sight *s, const struct sight_view *v,
                  struct buf *out);
/* Appends a document as text for people. DT_OK, DT_ERR_NOMEM, or DT_ERR_PROTO
 * if it is none. */
int status_text(const char *json, size_t len, struct buf *out);

/* Asks the server behind the socket `path`, waiting at most `wait_ms`, and
 * appends its document. An error names the socket. Only a server of root or
 * of the caller's user is believed. */
int status_ask(const char *path, int wait_ms, struct buf *out,
               struct error *err);

#endif
