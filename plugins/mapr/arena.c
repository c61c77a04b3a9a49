/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is given out piece by piece and freed as a whole.
 */
#include "arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool
more_chunks(struct arena *a)
{
    size_t cap = a->nr_cap ? 2 * a->nr_cap : 16;
    struct arena_chunk *chunks = realloc(a->chunks, cap * sizeof(*chunks));

    if (!chunks) {
        return false;
    }
    a->chunks = chunks;
    a->nr_cap = cap;
    return true;
}

/* The first chunks of an arena are small, so that small queries stay small;
 * the memory of a kept chunk was zeroed when it was kept. */
static bool
next_chunk(struct arena *a, size_t size)
{
    size_t cap = a->nr < 6 ? ARENA_CHUNK >> (6 - a->nr) : ARENA_CHUNK;
    struct arena_chunk *c;

    if (a->nr_kept && a->chunks[a->nr].cap >= size) {
        a->nr++;
        a->nr_kept--;
        return true;
    }
    while (a->nr_kept) { /* too small for this piece: rare */
        arena_drop_chunk(a, a->nr + --a->nr_kept);
    }
    if (cap < size) {
        cap = size;
    }
    if (a->nr == a->nr_cap && !more_chunks(a)) {
        return false;
    }
    c = &a->chunks[a->nr];
    c->data = calloc(1, cap);
    if (!c->data) {
        return false;
    }
    c->used = 0;
    c->cap = cap;
    a->bytes += cap;
    a->nr++;
    return true;
}

size_t
arena_growth(const struct arena *a, size_t size)
{
    const struct arena_chunk *c = a->nr ? &a->chunks[a->nr - 1] : NULL;

    if ((c && size <= c->cap - c->used) || a->nr_kept) {
        return 0;
    }
    return size > ARENA_CHUNK ? size
           : a->nr < 6        ? ARENA_CHUNK >> (6 - a->nr)
                              : ARENA_CHUNK;
}

void *
arena_alloc(struct arena *a, size_t size)
{
    struct arena_chunk *c = a->nr ? &a->chunks[a->nr - 1] : NULL;
    char *piece;

    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    size = (size + ARENA_UNIT - 1) / ARENA_UNIT * ARENA_UNIT;
    if (!c || size > c->cap - c->used) {
        if (!next_chunk(a, size)) {
            return NULL;
        }
        c = &a->chunks[a->nr - 1];
    }
    piece = c->data + c->used;
    c->used += size;
    return piece;
}

char *
arena_copy(struct arena *a, const void *data, size_t len, size_t slack)
{
    char *piece = arena_alloc(a, len + slack + (len + slack == 0));

    if (piece && len) {
        memcpy(piece, data, len);
    }
    return piece;
}

void
arena_drop_chunk(struct arena *a, size_t index)
{
    struct arena_chunk *c = &a->chunks[index];

    a->bytes -= c->cap;
    free(c->data);
    memset(c, 0, sizeof(*c));
}

void
arena_reset(struct arena *a, size_t keep)
{
    size_t total = a->nr + a->nr_kept, bytes = 0, nr = 0;

    for (size_t i = 0; i < total; i++) {
        struct arena_chunk c = a->chunks[i];

        if (!c.data) {
            continue;
        }
        if (c.cap > ARENA_CHUNK || bytes + c.cap > keep) {
            arena_drop_chunk(a, i);
            continue;
        }
        memset(c.data, 0, c.used);
        c.used = 0;
        bytes += c.cap;
        a->chunks[i].data = NULL;
        a->chunks[nr++] = c;
    }
    a->nr = 0;
    a->nr_kept = nr;
}

void
arena_fini(struct arena *a)
{
    for (size_t i = 0; i < a->nr + a->nr_kept; i++) {
        free(a->chunks[i].data);
    }
    free(a->chunks);
    memset(a, 0, sizeof(*a));
}

uint32_t
arena_ref(const struct arena *a, const void *piece)
{
    size_t chunk = a->nr - 1;
    size_t at = (size_t)((const char *)piece - a->chunks[chunk].data);

    if (chunk >= (1u << 15) || at / ARENA_UNIT >= (1u << 17) ||
        ((chunk << 17) | (at / ARENA_UNIT)) >= ARENA_NO_REF) {
        return ARENA_NO_REF;
    }
    return (uint32_t)(chunk << 17 | at / ARENA_UNIT);
}
