/* SPDX-License-Identifier: Apache-2.0
 *
 * struct source_desc as a JSON object: the SOURCE payload, and an element of
 * a QUERY's `resume`.
 */
#ifndef CORE_REQUEST_SOURCE_H
#define CORE_REQUEST_SOURCE_H

#include "request.h"

#include <jansson.h>

/* *out is all zero before; err names the member. */
int source_desc_from_json(const json_t *object, struct source_desc *out,
                          struct error *err);
/* A new reference; NULL: out of memory. */
json_t *source_desc_to_json(const struct source_desc *d);

#endif
