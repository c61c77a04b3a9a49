/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugins of a table for people and for programs (--list-plugins).
 */
#ifndef CORE_PLUGIN_LIST_H
#define CORE_PLUGIN_LIST_H

#include "plugin.h"

/* Append to `out`; DT_OK or DT_ERR_NOMEM. */
int plugin_list_text(const struct plugins *ps, struct buf *out);
int plugin_list_json(const struct plugins *ps, struct buf *out);

#endif
