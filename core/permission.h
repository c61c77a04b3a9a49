/* SPDX-License-Identifier: Apache-2.0
 *
 * Who may read what: the rules of the configuration, decided on the path that
 * was really opened; and, where the process cannot take on the user's own
 * rights, mode bits and ACLs on the user's behalf (spec server 8).
 */
#ifndef CORE_PERMISSION_H
#define CORE_PERMISSION_H

#include "buf.h"
#include "error.h"

struct permission;

/* Compiles the rules for one user. `rules`: "[readfiles:][!]regex" each.
 * `check_mode`: also check mode bits and ACL for `user`, who must then have
 * an account. DT_OK, DT_ERR_INVAL (err names the rule), DT_ERR_NOENT (no such
 * account). The result is const and may be shared by threads. */
int permission_new(const char *user, const struct strv *rules, bool check_mode,
                   struct permission **out, struct error *err);
void permission_free(struct permission *p);

/* Decides on an opened descriptor whose resolved path is `path` (absolute).
 * `fd` may be an O_PATH descriptor; -1: rules only, for a "journal:UNIT".
 * DT_OK or DT_ERR_ACCES; the text is for the log. */
int permission_check(const struct permission *p, int fd, const char *path,
                     struct error *err);

#endif
