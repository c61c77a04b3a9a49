/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines as JSON objects, one a line (--output ndjson), without any loss.
 */
#ifndef CLIENTS_NDJSON_H
#define CLIENTS_NDJSON_H

#include "buf.h"

/* Appends "name":"value"; a value that is not UTF-8, which JSON cannot hold,
 * as "name_base64":"…". Control characters are escaped, those that JSON would
 * allow (DEL, C1) as well, since they reach terminals. `name` is ASCII that
 * needs no escape. DT_OK or DT_ERR_NOMEM. Thread-safe. */
int ndjson_member(struct buf *out, const char *name, const char *value,
                  size_t len);

#endif
