/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells and headers of CSV that is written.
 */
#ifndef MAPR_CSVTEXT_H
#define MAPR_CSVTEXT_H

#include "language.h"

/* Appends a cell; `quoted`: in quotes if it needs them (RFC 4180). */
void csvtext_cell(struct text *out, struct str s, bool quoted);
/* Appends the header line. Names that only this version knows, and which hold
 * commas, are quoted in any case. */
void csvtext_header(const struct language_query *q, bool quoted,
                    struct text *out);

#endif
