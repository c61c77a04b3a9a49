/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the delimiters of a block stand: the first pass of all formats that
 * split lines at one byte, 64 bytes at a time.
 */
#ifndef MAPR_DELIMITERS_H
#define MAPR_DELIMITERS_H

#include <stddef.h>
#include <stdint.h>

struct delimiters {
    uint32_t *at;    /* offsets of delimiters and newlines, in order */
    uint32_t *lines; /* indices into `at`: the newlines */
    size_t nr, nr_lines;
    size_t cap; /* entries of each array */
};

typedef void delimiters_fn(const char *data, size_t len, char delimiter,
                           struct delimiters *out);

/* The fastest variant of this processor. */
delimiters_fn *delimiters_choose(void);
/* All variants that this processor can run, for tests; NULL ends the list. */
delimiters_fn *delimiters_variant(size_t index);

/* Room for a block of `len` bytes; gives memory back that only one huge block
 * needed. DT_OK or DT_ERR_NOMEM. */
int delimiters_reserve(struct delimiters *d, size_t len);
void delimiters_fini(struct delimiters *d);

#endif
