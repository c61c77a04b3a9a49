/* SPDX-License-Identifier: Apache-2.0
 *
 * What a health check asks for: the command of a health session's only query,
 * and its answer.
 */
#ifndef CORE_HEALTH_H
#define CORE_HEALTH_H

#include "plugin.h"

#define HEALTH_COMMAND "health"

/* Whether there is anything that users could do here. DT_OK, or DT_ERR_NOENT
 * with the reason. */
int health_check(const struct plugins *plugins, struct error *err);

#endif
