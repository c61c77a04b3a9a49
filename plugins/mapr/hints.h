/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of fields that stand on lines, and which of them a misspelt name may
 * have meant (trouble case 30).
 */
#ifndef MAPR_HINTS_H
#define MAPR_HINTS_H

#include "text.h"

#define HINTS_MAX_NAMES 128u
#define HINTS_MAX_NAME 64u /* bytes; longer names are not kept */

/* Caller's memory; all zero is empty. */
struct hints {
    struct {
        char p[HINTS_MAX_NAME];
        uint32_t n;
    } names[HINTS_MAX_NAMES];
    uint32_t nr;
};

/* Remembers a name, if there is room and it is new. */
void hints_add(struct hints *h, struct str name);
/* Appends up to three names that are near to `name`, as "a, b". False: there
 * are none, nothing was appended. */
bool hints_near(const struct hints *h, struct str name, struct text *out);

#endif
