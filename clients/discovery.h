/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the items of a server list come from: --servers itself, a file, DNS,
 * or a program (spec clients 7).
 *
 * Threads: the caller's; programs and name servers are waited for, with limits.
 */
#ifndef CLIENTS_DISCOVERY_H
#define CLIENTS_DISCOVERY_H

#include "buf.h"
#include "error.h"

#define DISCOVERY_MAX_TEXT (16u << 20) /* bytes of a file, or of an output */
#define DISCOVERY_EXEC_MS 30000        /* what a program may take */

/* Takes one item, not NUL-terminated and gone after the call: HOST, HOST:PORT
 * and so on, perhaps with ranges, never empty. Anything but DT_OK ends it. */
typedef int discovery_take_fn(void *ctx, const char *item, size_t len,
                              struct error *err);

/* A --servers of the form /PATTERN/, which filters what was found. */
bool discovery_is_filter(const char *list);

/* Hands each item to `take`. `discovery`: "", NAME or NAME:OPTIONS; `list`:
 * --servers. Without a method a file is read when there is one of the list's
 * name ("-": standard input), else the list is split at its commas.
 * DT_ERR_INVAL (no such method, or nothing for it to go by), DT_ERR_NOENT and
 * DT_ERR_IO (file, program or name server; err names it), DT_ERR_LIMIT,
 * DT_ERR_CANCELLED (a signal to end came), or what `take` returned. */
int discovery_run(const char *discovery, const char *list,
                  discovery_take_fn *take, void *ctx, struct error *err);

/* Hands on the items of a text: one a line, empty lines and lines that begin
 * with "#" left out. `what` names the text in errors. */
int discovery_lines(const char *what, const struct buf *text,
                    discovery_take_fn *take, void *ctx, struct error *err);

/* ---- the methods that take more than a few lines ---- */

/* Appends what a shell command prints. At most DISCOVERY_MAX_TEXT bytes within
 * DISCOVERY_EXEC_MS, and its status has to be 0; else it is killed together
 * with what it started (its process group). It has no standard input. */
int discovery_exec(const char *command, struct buf *out, struct error *err);

/* True when a text is meant to be JSON and not a list of lines, of which
 * "[::1]:2222" may be one. */
bool discovery_is_json(const struct buf *text);
/* An inventory: [ITEM, …], {"hosts": [ITEM, …]}, or an object of such objects
 * by group ({"web": {"hosts": […]}, …}, the members of Ansible's inventories).
 * An item is "HOST" or {"host": "HOST", "port": PORT}. */
int discovery_inventory(const char *what, const struct buf *text,
                        discovery_take_fn *take, void *ctx, struct error *err);

/* The targets of DNS SRV records, as HOST:PORT. */
int discovery_srv(const char *name, discovery_take_fn *take, void *ctx,
                  struct error *err);
/* The same from a DNS message. */
int discovery_srv_answer(const char *name, const unsigned char *message,
                         size_t len, discovery_take_fn *take, void *ctx,
                         struct error *err);

#endif
