/* SPDX-License-Identifier: Apache-2.0
 *
 * An empty root folder for processes that need no file: where a server that
 * was started as root puts its session processes.
 *
 * The folder is deleted right after it was made, so that nothing can ever be
 * made in it, by anybody.
 */
#ifndef CORE_EMPTYROOT_H
#define CORE_EMPTYROOT_H

#include "error.h"

/* Makes one. The descriptor, to be closed by the caller, or an error. */
int emptyroot_open(struct error *err);
/* Root only: it becomes the root folder of this process; closes `fd`. */
int emptyroot_enter(int fd, struct error *err);

#endif
