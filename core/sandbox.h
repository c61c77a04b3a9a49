/* SPDX-License-Identifier: Apache-2.0
 *
 * What a child of the listener gives up before it does anything: descriptors,
 * signals, identity, and the ways back to more rights.
 */
#ifndef CORE_SANDBOX_H
#define CORE_SANDBOX_H

#include "error.h"

#include <sys/types.h>

/* Closes all descriptors from 3 on but the `nr` in `keep` (-1 is skipped;
 * at most 16). A sibling's copy of a socket would keep its end from being
 * seen. */
void sandbox_keep_fds(const int *keep, size_t nr);

/* Right after fork, before anything else of the child: an empty signal mask;
 * SIGINT, SIGTERM and SIGHUP ignored (the terminal and service managers send
 * them to all processes at once; children learn of the end from the
 * listener); dies with its parent `parent`; `name` (at most 15 bytes) is
 * shown by ps. */
void sandbox_enter(pid_t parent, const char *name);

/* Root only: takes the identity for good and verifies that there is no way
 * back. `user`: with this account's groups; NULL: with none. */
int sandbox_become(uid_t uid, gid_t gid, const char *user, struct error *err);

/* No rights by executing anything, no reading of the memory by others of the
 * same uid, no core file. */
int sandbox_harden(struct error *err);

#endif
