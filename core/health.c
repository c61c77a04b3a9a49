/* SPDX-License-Identifier: Apache-2.0
 *
 * What a health check asks for.
 */
#include "health.h"

int
health_check(const struct plugins *plugins, struct error *err)
{
    size_t nr = plugins_count(plugins);

    for (size_t i = 0; i < nr; i++) {
        if (!plugin_refused(plugins_at(plugins, i))) {
            return DT_OK;
        }
    }
    return nr ? error_set(err, DT_ERR_NOENT,
                          "each of the %zu plugins is refused", nr)
              : error_set(err, DT_ERR_NOENT, "there are no plugins");
}
