/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel keeps a session or worker process from doing, whatever code
 * runs in it: Landlock for files, ports and signals, seccomp for system calls.
 *
 * Both hold for the calling thread and the threads and children it makes
 * later, for good; so they are put on before a process starts threads.
 */
#ifndef CORE_CONFINE_H
#define CORE_CONFINE_H

#include "buf.h"
#include "error.h"

/* Who is confined. */
enum confine_role {
    CONFINE_SESSION, /* opens no file and starts no process at all */
    CONFINE_WORKER   /* reads files; the rest only with a right */
};

/* Rights that a plugin may ask for are the DT_NEEDS_… flags of its
 * descriptor; these are all of them. */
#define CONFINE_RIGHTS (DT_NEEDS_WRITE | DT_NEEDS_EXEC | DT_NEEDS_NETWORK)

/* The flag of a right by its name in the configuration; 0: no such right. */
uint32_t confine_right(const char *name);
/* Appends the names of `rights`, separated by `separator`. DT_OK or
 * DT_ERR_NOMEM. */
int confine_right_names(uint32_t rights, const char *separator,
                        struct buf *out);

/* Confines the calling process, which has one thread and has no_new_privs
 * set. `mode` is Server.Sandbox: with "off" nothing is done; with "auto" what
 * the kernel or this build lacks is left out; with "require" that is an
 * error. Sources: landlock(7), seccomp(2). DT_OK, DT_ERR_IO, DT_ERR_NOMEM. */
int confine(enum confine_role role, uint32_t rights, const char *mode,
            struct error *err);

/* DT_OK when nothing is missing for "require", else DT_ERR_INVAL and what. */
int confine_check(const char *mode, struct error *err);
/* Appends one line without newline that says what is in force in workers that
 * have `rights`. DT_OK or DT_ERR_NOMEM. */
int confine_describe(const char *mode, uint32_t rights, struct buf *out);

/* ---- the two mechanisms; confine() calls them ---- */

/* The kernel's Landlock version; 0: none. */
int confine_landlock_version(void);
int confine_landlock(enum confine_role role, uint32_t rights,
                     struct error *err);
/* Whether build and kernel have system call filters. */
bool confine_has_seccomp(void);
int confine_seccomp(enum confine_role role, uint32_t rights, struct error *err);

#endif
