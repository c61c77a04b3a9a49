/* SPDX-License-Identifier: Apache-2.0
 *
 * Headers of CSV sources: what `csv` and `rfc4180` share.
 */
#ifndef MAPR_LOGFORMAT_CSV_H
#define MAPR_LOGFORMAT_CSV_H

#include "logformat.h"

struct csv_column {
    uint32_t index; /* of the cell */
    uint32_t slot;
};

struct csv_source {
    uint32_t id;
    bool has_header;
    bool has_begun;       /* it was fed here from its start … */
    uint64_t next_offset; /* … without a gap up to here; 0: nothing yet */
    bool has_head;        /* the header is the host's: its line is at … */
    uint64_t head_offset;
    uint32_t nr_headings;
    struct csv_column *columns; /* the needed ones */
    uint32_t nr;
    /* rfc4180: a record that goes on in the next block. */
    struct text open;
    bool in_quotes;
    /* Following: the file before a rotation, of which late lines may come. */
    struct csv_source *late;
};

struct csv_sources {
    struct csv_source **v;
    size_t nr, cap;
};

/* The state of the file that a block is of, made if it is new. A source that
 * begins, or begins anew (FIRST; following: a rotated or rewritten file), has
 * no header yet. NULL: out of memory. */
struct csv_source *csv_source_of(struct csv_sources *s, struct logformat *f,
                                 const struct dt_block *b);
/* Forgets a source that is exhausted. */
void csv_source_end(struct csv_sources *s, uint32_t id);
void csv_sources_fini(struct csv_sources *s);

/* Heading number `index`. DT_OK or DT_ERR_NOMEM. */
int csv_set_heading(struct logformat *f, struct csv_source *s, uint32_t index,
                    struct str name);
struct str csv_without_bom(struct str line);
/* The first line of the source, for a block that does not begin it. DT_OK (p
 * is NULL when the header is still to come), or DT_ERR_LIMIT: the host does
 * not know it, as it is longer than 64 KiB. */
int csv_head(struct logformat *f, struct csv_source *s,
             const struct dt_block *b, struct str *head);

#endif
