/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores the host keys that the user accepted.
 */
#include "newkeys.h"

#include "diag.h"

#include <stdlib.h>

/* Stores the keys of the question's hosts that go into the same file as those
 * of host `first`. */
static void
store_in_file(const struct pool_host *hosts, size_t nr_hosts, size_t first,
              struct knownhosts_entry *entries, const struct diag *diag)
{
    const struct route *to = hosts[first].route;
    struct error err = ERROR_INIT;
    size_t nr = 0;

    for (size_t i = 0; i < nr_hosts; i++) {
        const struct route *r = hosts[i].route;

        if (r->hosts == to->hosts && i < first) {
            return; /* done already */
        }
        if (r->hosts == to->hosts) {
            entries[nr++] = (struct knownhosts_entry){
                r->key_name, r->port, hosts[i].type, hosts[i].base64};
        }
    }
    if (knownhosts_add(to->hosts, to->hosts_path, entries, nr, &err) != DT_OK) {
        log_warn(diag->log, "%s", err.text);
    } else {
        log_info(diag->log, "Added hosts to known hosts file|%s",
                 to->hosts_path);
    }
}

void
newkeys_store(const struct pool_host *hosts, size_t nr, const struct diag *diag)
{
    struct knownhosts_entry *entries = calloc(nr, sizeof(*entries));

    if (!entries) {
        log_warn(diag->log, "host keys: out of memory");
        return;
    }
    for (size_t i = 0; i < nr; i++) {
        store_in_file(hosts, nr, i, entries, diag);
    }
    free(entries);
}
