/* SPDX-License-Identifier: Apache-2.0
 *
 * File name patterns in the dialect of Go's filepath.Glob (spec reading 2.1).
 *
 * Own matcher, since glob(3) and fnmatch(3) differ in what users can see:
 * there `*` leaves dot files out, `!` negates beside `^`, `[[:alpha:]]` and
 * collation depend on the locale, an unclosed `[` is a literal instead of an
 * error, and a bare `[a-]` is accepted.
 *
 * Thread-safe; nothing is kept between calls. (Not glob.h: the folder is in
 * the include path, and that is the name of a system header.)
 */
#ifndef CORE_FILEGLOB_H
#define CORE_FILEGLOB_H

#include "buf.h"
#include "error.h"

#define FILEGLOB_MAX_PATTERN 4096u      /* bytes */
#define FILEGLOB_MAX_ENTRIES (1u << 20) /* directory entries looked at */

/* Cleans lexically, as Go's filepath.Clean: `//`, `/./`, `a/../`, a trailing
 * `/`; "" gives ".". A new string, NULL when out of memory. */
char *fileglob_clean(const char *path);

/* True when the text has a character that is special in a pattern. */
bool fileglob_has_meta(const char *pattern);

/* Matches one path component with one component of a pattern, the whole of
 * it. DT_OK: matches; DT_STOP: does not; DT_ERR_INVAL: malformed pattern. */
int fileglob_match(const char *pattern, const char *name);

/* Appends to `out` what matches a cleaned pattern, in byte order within each
 * directory, at most `max` names; *matched counts all. A pattern without
 * special characters matches if the name exists (a dangling link does).
 * Directories that cannot be read are skipped. DT_OK, also when nothing
 * matched; DT_ERR_INVAL: malformed or too long; DT_ERR_LIMIT: more than
 * FILEGLOB_MAX_ENTRIES directory entries; DT_ERR_NOMEM. */
int fileglob_expand(const char *pattern, size_t max, struct strv *out,
                    size_t *matched, struct error *err);

#endif
