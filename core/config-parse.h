/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings from JSON text.
 */
#ifndef CORE_CONFIG_PARSE_H
#define CORE_CONFIG_PARSE_H

#include "config.h"

/* Reads `json` into *c, which holds the defaults. Errors and warnings begin
 * with "name:line:column: key: ". DT_OK, DT_ERR_INVAL or DT_ERR_NOMEM; after
 * an error *c holds what was read so far and can only be freed. */
int config_parse_into(struct config *c, const char *json, size_t len,
                      const char *name, struct error *err);

#endif
