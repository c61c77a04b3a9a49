/* SPDX-License-Identifier: Apache-2.0
 *
 * Members of JSON objects with the checks that requests need: each reader
 * names the member and what is allowed. Writers collect their failures.
 *
 * Bytes that are not UTF-8, or hold a NUL, travel as {"base64": "…"}.
 */
#ifndef CORE_JSONVAL_H
#define CORE_JSONVAL_H

#include "buf.h"
#include "error.h"

#include <jansson.h>

/* Parses an object of a request. *out is a new reference; the caller frees it
 * with json_decref. DT_OK, DT_ERR_PROTO (err says where) or DT_ERR_NOMEM. */
int jsonval_parse(const void *text, size_t len, json_t **out,
                  struct error *err);
/* Appends an object as text; consumes the reference. `failed`: what the
 * writers below collected. DT_OK or DT_ERR_NOMEM. */
int jsonval_format(json_t *object, int failed, struct buf *out);

/* Readers: an absent or null member leaves *out as it is. DT_OK, or
 * DT_ERR_PROTO, DT_ERR_LIMIT or DT_ERR_NOMEM with err set. */
int jsonval_bool(const json_t *object, const char *name, bool *out,
                 struct error *err);
int jsonval_int(const json_t *object, const char *name, int64_t min,
                int64_t max, int64_t *out, struct error *err);
/* Bytes: a new string with a NUL behind it, at most `max` bytes. `len` NULL:
 * no NUL may be inside. What *out held before is freed. */
int jsonval_bytes(const json_t *object, const char *name, size_t max,
                  char **out, size_t *len, struct error *err);
/* The same for a value; `what` names it in messages. */
int jsonval_bytes_of(const json_t *value, const char *what, size_t max,
                     char **out, size_t *len, struct error *err);
/* The member as an array of at most `max` elements; NULL: absent. */
int jsonval_array(const json_t *object, const char *name, size_t max,
                  json_t **out, struct error *err);

/* Writers: 0, or something else when memory ran out. */
int jsonval_put(json_t *object, const char *name, json_t *value);
json_t *jsonval_from_bytes(const char *data, size_t len);

#endif
