/* SPDX-License-Identifier: Apache-2.0
 *
 * Results as text: the terminal table (spec mapreduce 14), CSV, JSON.
 */
#ifndef MAPR_RENDER_H
#define MAPR_RENDER_H

#include "result.h"

#define RENDER_TERMINAL_ROWS 10u /* without a limit clause */

struct render_options {
    bool color;
    bool warn;       /* the line about hidden rows */
    struct str host; /* named in it */
};

/* Appends query text, table and an empty line; nothing without groups. */
void render_table(const struct result *r, const struct render_options *o,
                  struct text *out);
/* Appends header and all rows that `limit` allows. Plain: as DTail 4 writes
 * outfiles, nothing is quoted, but for a name with commas that only this
 * version knows. Quoted: RFC 4180, lines end in LF. */
void render_csv_header(const struct result *r, bool quoted, struct text *out);
void render_csv_rows(const struct result *r, bool quoted, size_t from,
                     size_t to, struct text *out);
/* Appends an array of objects, or an object a line. */
void render_json(const struct result *r, bool lines, struct text *out);

#endif
