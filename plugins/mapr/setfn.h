/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the `set` clause.
 */
#ifndef MAPR_SETFN_H
#define MAPR_SETFN_H

#include "arena.h"
#include "text.h"

/* Lower-case hex MD5 (RFC 1321) of the bytes, 32 characters. */
void setfn_md5(struct str s, char hex[32]);
/* Every ASCII digit replaced by a dot; `out` has room for s.n bytes. */
void setfn_maskdigits(struct str s, char *out);

#define SETFN_BUCKET_MAX 64u /* bytes of a bucket's name at most */
/* The beginning of the bucket of `width` (seconds, or units of a plain
 * number) that a time or number lies in, written as it was: YYYYMMDD-HHMMSS,
 * MMDD-HHMMSS, ISO 8601 with blank or T, whole or decimal number. The fraction
 * of a second is dropped, a zone is kept as text. Returns the length; 0: the
 * text is none of these. */
size_t setfn_bucket(struct str s, int64_t width, char out[SETFN_BUCKET_MAX]);

#endif
