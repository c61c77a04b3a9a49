/* SPDX-License-Identifier: Apache-2.0
 *
 * What connections need: the request, keys, known hosts, descriptors.
 *
 * Threads: the main thread, before the others run.
 */
#ifndef CLIENTS_SETUP_H
#define CLIENTS_SETUP_H

#include "client.h"
#include "clientauth.h"
#include "knownhosts.h"
#include "sshconfig.h"

/* HELLO and the client's queries (or other versions of them), all at once:
 * waiting for the server's HELLO would cost a round trip. DT_OK, DT_ERR_LIMIT,
 * DT_ERR_NOMEM. */
/* UPDATE: this query runs in place of the others. */
int setup_update(const struct query_spec *spec, struct buf *out,
                 struct error *err);
/* What asks a server that runs the queries for the result so far. */
int setup_finish(const struct client *c, struct buf *out, struct error *err);
int setup_request(const struct client *c, const struct query_spec *queries,
                  struct buf *out, struct error *err);
/* Reads the known_hosts files; *path is where new keys are written, a new
 * string (also after an error). `said`: what ssh_config says of the hosts, all
 * zero for nothing. */
int setup_hosts(const struct client *c, const struct sshconfig_host *said,
                struct knownhosts **hosts, char **path, struct error *err);
/* Loads the keys; the file that is offered first comes from the flag, the
 * environment or the configuration. */
int setup_keys(const struct client *c, const struct sshconfig_host *said,
               struct keyring *keyring, struct clientauth **auth,
               struct error *err);
/* Raises the limit of open files as far as it goes; returns what it is. */
size_t setup_raise_open_files(void);
/* Raises the limit of descriptors; how many connections fit. */
size_t setup_max_open(const struct client *c, size_t nr_servers);

#endif
