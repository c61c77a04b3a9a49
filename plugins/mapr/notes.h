/* SPDX-License-Identifier: Apache-2.0
 *
 * What the user is told beside the result: lines and values that could not be
 * read, by reason; fields that were nowhere, with near names; groups beyond
 * the budget (trouble cases 30, 31, 34).
 */
#ifndef MAPR_NOTES_H
#define MAPR_NOTES_H

#include "partial.h"

void notes_tell(struct dt_query *host, const struct plan *p,
                const struct partial_sink *s);

#endif
