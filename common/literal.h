/* SPDX-License-Identifier: Apache-2.0
 *
 * Searching a literal in a block: any bytes, NUL included, each one exact or,
 * for ASCII letters, in both cases.
 *
 * Two bytes of the needle are compared at their distance, 128 places at once;
 * what passes is compared whole. Which two is chosen by looking at the data,
 * since in a log the rare letters of a language are often not rare.
 *
 * Threads: any; a literal and a pair are const. Nothing is allocated.
 */
#ifndef COMMON_LITERAL_H
#define COMMON_LITERAL_H

#include "bytes.h"

/* What is searched. Borrowed pointers. */
struct literal {
    const unsigned char *bytes;
    /* NULL, or 0x20 where `bytes` has a lower-case ASCII letter that stands
     * for both cases, else 0. */
    const unsigned char *mask;
    size_t len; /* at least 1 */
};

/* The two places of the needle that are looked for. */
struct literal_pair {
    size_t first, second;
};

/* How much of the data literal_choose looks at, in bytes. */
#define LITERAL_SAMPLE (64u * 1024u)

/* Chooses by the data (at most the first LITERAL_SAMPLE bytes, some 60
 * microseconds); with data NULL by what log lines usually look like. */
void literal_choose(const struct literal *l, const char *data, size_t len,
                    struct literal_pair *out);

/* The first place in [p, end) where the literal stands, or NULL. BYTES_SLACK
 * bytes behind `end` must be readable. */
const char *literal_find(const struct literal *l,
                         const struct literal_pair *pair,
                         enum bytes_level level, const char *p,
                         const char *end);

#endif
