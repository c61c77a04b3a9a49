/* SPDX-License-Identifier: Apache-2.0
 *
 * The names that \p{…} accepts: those of Go and RE2, and nothing that only
 * PCRE2 knows.
 */
#ifndef COMMON_PATTERN_NAMES_H
#define COMMON_PATTERN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A general category: L, Lu, Nd, … (not Cn, which Go lacks). */
bool pattern_is_category(const char *name, size_t len);
/* A script: Greek, Han, Old_Italic, … Case matters. */
bool pattern_is_script(const char *name, size_t len);

#endif
