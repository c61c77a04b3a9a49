/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a file by a user's path so that the check and the reading concern
 * the same file, whatever is renamed or re-linked meanwhile.
 *
 * Thread-safe. Needs /proc.
 */
#ifndef CORE_SOURCE_OPEN_H
#define CORE_SOURCE_OPEN_H

#include "error.h"

#include <sys/stat.h>

struct permission;

/* Resolves `path` once, to a descriptor without rights (O_PATH: nothing of a
 * device or fifo is touched), checks type and permission on it, and opens the
 * very same file for reading. Only regular files, and fifos with `allow_fifo`
 * (opened without waiting for a writer); a pipe without a name, as from
 * /dev/fd/N, is the process's own and not checked against the rules.
 * `permission` NULL: no rules beyond the kernel's. `st` gets the state of the
 * opened file. Returns the descriptor, or a negative status: DT_ERR_NOENT,
 * DT_ERR_ACCES, DT_ERR_INVAL (not a file that is read), DT_ERR_IO. The text
 * may tell whether a forbidden path exists: it is for the log. */
int source_open_checked(const char *path, const struct permission *permission,
                        bool allow_fifo, struct stat *st, struct error *err);
/* What users are told when it refuses with DT_ERR_ACCES: nothing of files
 * outside their rights. Static. */
const char *source_denied(const struct permission *permission);

/* DT_ERR_IO when `st` is the regular file that this process's standard output
 * goes to: reading it would never end, as each line that is read makes it
 * longer. For programs whose output is what they read. */
int source_open_refuse_output(const char *path, const struct stat *st,
                              struct error *err);

/* The size in bytes of a regular file that the user may read; 0 for all else.
 * Opens nothing. `is_endless`: it is a fifo, which has no size. */
uint64_t source_measure(const char *path, const struct permission *permission,
                        bool *is_endless);

#endif
