/* SPDX-License-Identifier: Apache-2.0
 *
 * Mode bits and POSIX ACLs, judged on behalf of an account whose rights the
 * process does not have (spec server 8.3).
 *
 * The account is const once made; any thread.
 */
#ifndef CORE_PERMISSION_MODE_H
#define CORE_PERMISSION_MODE_H

#include "error.h"

#include <sys/stat.h>
#include <sys/types.h>

struct permission_account;

/* Looks up user and groups once (with a directory service that can be slow).
 * DT_OK, DT_ERR_NOENT (no such account), DT_ERR_IO, DT_ERR_NOMEM. */
int permission_account_new(const char *user, struct permission_account **out,
                           struct error *err);
/* The same from numbers; groups are copied. */
int permission_account_from_ids(uid_t uid, const gid_t *groups, size_t nr,
                                struct permission_account **out,
                                struct error *err);
void permission_account_free(struct permission_account *a);

/* Whether the account may read the file of the descriptor, as the kernel
 * decides it: the first class that fits - owner, named user, groups, others -
 * and no other. The uid 0 is an account like others. DT_OK, DT_ERR_ACCES. */
int permission_mode_check(const struct permission_account *a, int fd,
                          const char *path, struct error *err);

/* The same for searching the folders that an absolute path without symbolic
 * links leads through. Whoever can move these can read the file anyway, so
 * they need not be those through which it was opened. */
int permission_mode_check_folders(const struct permission_account *a,
                                  const char *path, struct error *err);

#endif
