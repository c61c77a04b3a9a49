/* SPDX-License-Identifier: Apache-2.0
 *
 * A host being looked up in ssh_config files, and the values of its lines.
 */
#ifndef CLIENTS_SSHCONFIG_LOOKUP_H
#define CLIENTS_SSHCONFIG_LOOKUP_H

#include "buf.h"
#include "sshconfig-lines.h"

/* A host being looked up. */
struct sshconfig_lookup {
    const struct sshconfig *config;
    const char *written; /* what the user calls it … */
    const char *name;    /* … in lower case */
    const char *user;    /* of the command line, "": none */
    uint16_t port;       /* the same, 0: none */
    uint16_t default_port;
    const struct sc_line *first[SC_NR];   /* the lines that count */
    bool active[SSHCONFIG_MAX_DEPTH + 2]; /* by depth of files */
    unsigned depth;
    bool is_final; /* second turn */
    struct sshconfig_host *out;
    struct error *err;
};

/* DT_ERR_INVAL and DT_ERR_NOMEM, with their texts in l->err. */
int sshconfig_bad(struct sshconfig_lookup *l, const struct sc_line *line,
                  const char *what);
int sshconfig_no_memory(struct sshconfig_lookup *l);

/* The first value of the line that counts; NULL: there is none. */
const char *sshconfig_arg(const struct sshconfig_lookup *l, enum sc_key key);
/* What is asked for on the command line, else in the files, else the default.
 */
const char *sshconfig_remote_user(const struct sshconfig_lookup *l);
unsigned sshconfig_remote_port(const struct sshconfig_lookup *l);

/* Appends a value with its tokens filled in, and a NUL behind it that does not
 * count. DT_OK, DT_ERR_INVAL (a token that does not exist), DT_ERR_NOMEM. */
int sshconfig_expand(struct sshconfig_lookup *l, const struct sc_line *line,
                     const char *text, struct buf *out);
/* The same for the name of a file, which may have "~/" and "${NAME}" as
 * well; added to `out` unless it is there. An unset NAME is DT_ERR_INVAL. */
int sshconfig_expand_path(struct sshconfig_lookup *l,
                          const struct sc_line *line, const char *text,
                          struct strv *out);

#endif
