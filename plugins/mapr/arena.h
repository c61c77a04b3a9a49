/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is given out piece by piece and freed as a whole.
 *
 * One owner, one thread. Pieces never move. The chunks can be walked in the
 * order in which the pieces were made.
 */
#ifndef MAPR_ARENA_H
#define MAPR_ARENA_H

#include <stddef.h>
#include <stdint.h>

#define ARENA_UNIT 8u                 /* alignment of every piece, in bytes */
#define ARENA_CHUNK ((size_t)1 << 20) /* bytes of an ordinary chunk */

struct arena_chunk {
    char *data;
    size_t used; /* bytes, a multiple of ARENA_UNIT */
    size_t cap;
};

/* Caller's memory; all zero is empty. */
struct arena {
    struct arena_chunk *chunks;
    size_t nr;      /* chunks in use; the last one is filled */
    size_t nr_kept; /* further chunks behind them, empty, kept for reuse */
    size_t nr_cap;
    size_t bytes; /* of all chunks: what the budget counts */
};

/* `size` zeroed bytes, aligned to ARENA_UNIT. NULL: out of memory. */
void *arena_alloc(struct arena *a, size_t size);
/* About how many bytes the arena would grow to give out `size` more. */
size_t arena_growth(const struct arena *a, size_t size);
/* A copy with `slack` zero bytes behind it. NULL: out of memory. */
char *arena_copy(struct arena *a, const void *data, size_t len, size_t slack);
/* Forgets all pieces; keeps ordinary chunks, at most `keep` bytes of them. */
void arena_reset(struct arena *a, size_t keep);
/* Frees the memory of one chunk that is not needed any more. */
void arena_drop_chunk(struct arena *a, size_t index);
void arena_fini(struct arena *a);

/* The number of a piece: 32 bits that arena_at turns into its address. Works
 * for up to 32 GiB; ARENA_NO_REF when it does not fit. Only for the piece
 * made last. */
#define ARENA_NO_REF UINT32_MAX
uint32_t arena_ref(const struct arena *a, const void *piece);

static inline void *
arena_at(const struct arena *a, uint32_t ref)
{
    return a->chunks[ref >> 17].data + (size_t)(ref & 0x1ffffu) * ARENA_UNIT;
}

#endif
