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
    CONFINE_WORKER,  /* reads files; the rest only with a right */
    CONFINE_ROLES    /* how many there are */
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

/* What is put on sessions and workers, worked out once for all of them. */
struct confine;

/* `mode` is Server.Sandbox: with "off" nothing will be done; with "auto" what
 * the kernel or this build lacks is left out; with "require" that is an error.
 * `rights`: those that plugins were granted. DT_OK, DT_ERR_INVAL, DT_ERR_IO,
 * DT_ERR_NOMEM. */
int confine_new(const char *mode, uint32_t rights, struct confine **out,
                struct error *err);
void confine_free(struct confine *c);

/* Confines the calling process, which has one thread and has no_new_privs
 * set; NULL: does nothing. Sources: landlock(7), seccomp(2). DT_OK,
 * DT_ERR_IO. */
int confine(const struct confine *c, enum confine_role role, struct error *err);

/* Appends one line without newline that says what is in force in workers.
 * DT_OK or DT_ERR_NOMEM. */
int confine_describe(const struct confine *c, struct buf *out);

/* ---- the two mechanisms; confine.c calls them ---- */

/* The kernel's Landlock version; 0: none. */
int confine_landlock_version(void);
int confine_landlock(enum confine_role role, uint32_t rights,
                     struct error *err);
/* Whether build and kernel have system call filters. */
bool confine_has_seccomp(void);
/* Appends the filter program of a role to an empty buffer: making it takes
 * some milliseconds, loading it does not. */
int confine_seccomp_make(enum confine_role role, uint32_t rights,
                         struct buf *program, struct error *err);
int confine_seccomp_load(const struct buf *program, struct error *err);

#endif
