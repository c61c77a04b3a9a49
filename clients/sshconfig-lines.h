/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of ssh_config files, as sshconfig.c reads them and
 * sshconfig-lookup.c understands them.
 */
#ifndef CLIENTS_SSHCONFIG_LINES_H
#define CLIENTS_SSHCONFIG_LINES_H

#include "sshconfig.h"

enum sc_key {
    SC_IGNORED = 0, /* what does not concern us, and is not kept */
    SC_PUSH,        /* a file begins … */
    SC_POP,         /* … and ends */
    SC_HOST,
    SC_MATCH,
    SC_INCLUDE,
    SC_REFUSED, /* must not be left out, and cannot be honoured */
    /* Of these each first line counts. */
    SC_ADDRESS_FAMILY,
    SC_CONNECT_TIMEOUT,
    SC_GLOBAL_KNOWN_HOSTS,
    SC_HOST_KEY_ALIAS,
    SC_HOST_NAME,
    SC_IDENTITIES_ONLY,
    SC_IDENTITY_AGENT,
    SC_PORT,
    SC_PROXY, /* the command or the jump, whichever comes first */
    SC_STRICT,
    SC_USER,
    SC_USER_KNOWN_HOSTS,
    /* Of these all. */
    SC_CERTIFICATE,
    SC_IDENTITY,
    SC_NR
};

struct sc_line {
    enum sc_key key;
    bool is_jump;     /* SC_PROXY */
    bool is_user;     /* of the user's file: where "~" may stand */
    const char *word; /* the keyword, for messages; static */
    const char *file; /* of the sshconfig */
    unsigned nr;
    struct strv args; /* SC_HOST: one, the list with commas */
};

struct sshconfig {
    struct sshconfig_args args;
    struct strv files; /* names; lines point to them */
    struct sc_line *lines;
    size_t nr, cap;
    bool has_final; /* some "Match final" wants a second turn */
};

#endif
