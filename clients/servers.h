/* SPDX-License-Identifier: Apache-2.0
 *
 * The server list of a client: "web1,web[02-20]:2223,[::1]:2222", or a file of
 * such items, or "-" for standard input (spec clients 7).
 *
 * Threads: none of its own; the list is const once it was read.
 */
#ifndef CLIENTS_SERVERS_H
#define CLIENTS_SERVERS_H

#include "error.h"

#define SERVERS_MAX 100000u   /* items in a list */
#define SERVERS_MAX_HOST 255u /* bytes of a host name */

struct server {
    char *text; /* as the user wrote it: how messages name it */
    char *host; /* without brackets */
    uint16_t port;
    bool has_port; /* of its own, not the default */
};

struct servers {
    struct server *v;
    size_t nr;
};

void servers_fini(struct servers *s);

/* True when the arguments ask for the serverless mode. */
bool servers_is_serverless(const char *discovery, const char *list);

/* Reads the list into *out (all zero before), duplicates removed, in the order
 * of their first mention. `discovery` and `list` are those of discovery_run;
 * names with ranges become many (hostrange.h), and a list of the form
 * /PATTERN/ keeps those that match it, as they are written, with their port.
 * DT_ERR_INVAL and DT_ERR_LIMIT name the item and what is allowed; others as
 * discovery_run. */
int servers_parse(const char *discovery, const char *list,
                  uint16_t default_port, struct servers *out,
                  struct error *err);

/* Mixes the order, which spreads the load of many clients that share a list. */
void servers_shuffle(struct servers *s);

#endif
