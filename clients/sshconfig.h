/* SPDX-License-Identifier: Apache-2.0
 *
 * What the user's and the system's ssh_config say of a host (ssh_config(5)).
 *
 * A reader of our own, since libssh's goes through the files once for each
 * session, tells neither IdentitiesOnly nor a time limit, and passes over what
 * it does not know, RevokedHostKeys among that. This one parses once for all
 * hosts, and what it cannot honour but must not leave out is an error that
 * names file and line.
 *
 * Threads: any; const once loaded.
 */
#ifndef CLIENTS_SSHCONFIG_H
#define CLIENTS_SSHCONFIG_H

#include "buf.h"
#include "error.h"

#define SSHCONFIG_MAX_FILE (1u << 20) /* bytes */
#define SSHCONFIG_MAX_LINES 200000u   /* of all files */
#define SSHCONFIG_MAX_DEPTH 16u       /* files within files */

struct sshconfig;

struct sshconfig_args {
    const char *path; /* "": the usual two files, as far as they exist */
    const char *home; /* "": none */
    const char *user; /* at this machine */
    const char *host; /* name of this machine */
};

/* Reads the files and what they include. DT_ERR_NOENT (a named file),
 * DT_ERR_IO, DT_ERR_ACCES (others may write the user's file), DT_ERR_INVAL
 * (names file and line), DT_ERR_LIMIT, DT_ERR_NOMEM. The arguments are
 * borrowed. */
int sshconfig_load(const struct sshconfig_args *args, struct sshconfig **out,
                   struct error *err);
void sshconfig_free(struct sshconfig *s);

enum sshconfig_strict { /* StrictHostKeyChecking */
                        SSHCONFIG_ASK = 0,
                        SSHCONFIG_REFUSE, /* yes */
                        SSHCONFIG_ACCEPT  /* no, accept-new: unknown keys, never
                                             changed ones */
};

/* Of one host. All strings are owned; NULL and empty lists: nothing is said. */
struct sshconfig_host {
    char *host_name; /* never NULL */
    char *user;
    char *key_alias;      /* the name to look up in known_hosts */
    char *proxy;          /* shell command, also that of a ProxyJump */
    char *identity_agent; /* a socket; "": no agent */
    struct strv identities, certificates; /* files */
    struct strv known_hosts;              /* files; the first is written to */
    struct strv global_known_hosts;
    bool identities_only;
    enum sshconfig_strict strict;
    uint16_t port; /* 0: nothing is said */
    int connect_ms;
    int family; /* AF_… */
};

/* What is said of the host that the user calls `name`. `user`, `port`: what the
 * command line says, "" and 0: nothing; then *out->port is a default that the
 * files may override. DT_ERR_INVAL names file and line. */
int sshconfig_lookup(const struct sshconfig *s, const char *name,
                     const char *user, uint16_t port, uint16_t default_port,
                     struct sshconfig_host *out, struct error *err);
void sshconfig_host_fini(struct sshconfig_host *h);

#endif
