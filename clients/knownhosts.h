/* SPDX-License-Identifier: Apache-2.0
 *
 * Known host keys: our own reader of known_hosts files (sshd(8), "SSH_KNOWN_
 * HOSTS FILE FORMAT"), parsed once for all servers of a client.
 *
 * libssh's reader goes through the files twice for each session and needs
 * 0.2 s of CPU with 10,000 hashed lines. This one keeps the SHA-1 states
 * behind each line's salt, so that a hashed line costs two SHA-1 blocks a
 * question, and finds plain names by a hash. SHA-1 comes from libcrypto, which
 * libssh stands on anyway; libssh has no public HMAC.
 *
 * Threads: one at a time (in a client: the pool's).
 */
#ifndef CLIENTS_KNOWNHOSTS_H
#define CLIENTS_KNOWNHOSTS_H

#include "buf.h"
#include "error.h"

#define KNOWNHOSTS_MAX_FILE (64u << 20) /* bytes */

struct knownhosts;

enum knownhosts_verdict {
    KNOWNHOSTS_OK = 0,  /* this key is known for this host */
    KNOWNHOSTS_UNKNOWN, /* nothing is known of the host */
    KNOWNHOSTS_CHANGED, /* only other keys are known: an error, always */
    KNOWNHOSTS_REVOKED  /* marked @revoked: an error, always */
};

/* The line that decided; with KNOWNHOSTS_UNKNOWN a @cert-authority line that is
 * for the host, which does not help: libssh has no certificates of hosts.
 * Strings live as long as the table. */
struct knownhosts_where {
    const char *file; /* NULL: no line did */
    size_t line;
    const char *type; /* key type of that line */
};

/* A key to be remembered. */
struct knownhosts_entry {
    const char *host;
    uint16_t port;
    const char *type;   /* "ssh-ed25519" */
    const char *base64; /* of the key */
};

/* Reads the files that exist. Lines that cannot be read as known_hosts lines
 * are skipped, as ssh does. DT_OK, DT_ERR_NOMEM, DT_ERR_LIMIT, DT_ERR_IO (a
 * file that exists cannot be read). */
int knownhosts_load(const struct strv *paths, struct knownhosts **out,
                    struct error *err);
void knownhosts_free(struct knownhosts *k);

/* What is known of HOST:PORT with this key. A key that is known for the host
 * name without a port is good as well, as in ssh. `where` gets the line. */
enum knownhosts_verdict knownhosts_check(struct knownhosts *k, const char *host,
                                         uint16_t port, const char *type,
                                         const char *base64,
                                         struct knownhosts_where *where);

/* Appends the host key algorithms to ask for, comma-separated, those whose
 * keys are known for the host in front: a host known by its RSA key must not
 * look changed because it has an ed25519 key as well. With very many hosts and
 * hashed lines the latter are left out unless `thorough`; who then meets
 * KNOWNHOSTS_CHANGED by another type asks again, thoroughly. */
int knownhosts_algorithms(struct knownhosts *k, const char *host, uint16_t port,
                          bool thorough, struct buf *out);

/* Appends the line for an entry, with its newline. `hashed`: the name is
 * written as |1|salt|hash. */
int knownhosts_format(const struct knownhosts_entry *entry, bool hashed,
                      struct buf *out);

/* Adds entries to the table and to `path` (created with mode 0600, its folder
 * with 0700): one write of whole lines at the end of the file, under flock.
 * Names are hashed when the file has hashed lines already. */
int knownhosts_add(struct knownhosts *k, const char *path,
                   const struct knownhosts_entry *entries, size_t nr,
                   struct error *err);

#endif
