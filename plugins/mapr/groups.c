/* SPDX-License-Identifier: Apache-2.0
 *
 * The groups of a query and what is accumulated in each.
 */
#include "groups.h"

#include "hash.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define FIRST_CAP 256u

static size_t
record_size(const struct groups_layout *l, size_t key_len)
{
    size_t size = sizeof(struct group) + l->size + l->nr + key_len;

    return (size + ARENA_UNIT - 1) / ARENA_UNIT * ARENA_UNIT;
}

uint32_t
groups_acc_size(enum groups_kind kind)
{
    switch (kind) {
    case ACC_COUNT:
        return sizeof(uint64_t);
    case ACC_SUM:
        return sizeof(struct sums);
    case ACC_MIN:
    case ACC_MAX:
        return sizeof(struct groups_extreme);
    case ACC_TEXT:
        return sizeof(struct groups_text);
    case ACC_DISTINCT:
        return sizeof(struct distinct);
    case ACC_SKETCH:
    default:
        return sizeof(struct sketch);
    }
}

static struct groups_entry *
new_entries(size_t cap)
{
    struct groups_entry *e = malloc(cap * sizeof(*e));

    if (e) {
        memset(e, 0xff, cap * sizeof(*e)); /* ARENA_NO_REF: free */
    }
    return e;
}

/* Keys come from outside: who knows the seed could make them collide. */
static uint64_t
make_seed(const void *p)
{
    uint64_t seed;
    struct timespec now;

    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) ==
        (ssize_t)sizeof(seed)) {
        return seed;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^ (uintptr_t)p;
}

int
groups_init(struct groups *g, const struct groups_layout *layout, size_t budget)
{
    memset(g, 0, sizeof(*g));
    g->layout = layout;
    g->budget = budget;
    g->cap = FIRST_CAP;
    g->entries = new_entries(g->cap);
    g->seed = make_seed(g);
    return g->entries ? DT_OK : DT_ERR_NOMEM;
}

void
groups_fini(struct groups *g)
{
    arena_fini(&g->records);
    arena_fini(&g->blobs);
    free(g->entries);
    free(g->other);
    memset(g, 0, sizeof(*g));
}

void
groups_reset(struct groups *g)
{
    arena_reset(&g->records, g->records.bytes);
    arena_reset(&g->blobs, g->blobs.bytes);
    if (g->entries) {
        memset(g->entries, 0xff, g->cap * sizeof(*g->entries));
    }
    g->nr = 0;
    free(g->other);
    g->other = NULL;
    g->other_rows = 0;
}

size_t
groups_bytes(const struct groups *g)
{
    return g->records.bytes + g->blobs.bytes + g->cap * sizeof(*g->entries);
}

static bool
grow(struct groups *g)
{
    size_t cap = g->cap * 2;
    struct groups_entry *entries = new_entries(cap);

    if (!entries) {
        return false;
    }
    for (size_t i = 0; i < g->cap; i++) {
        size_t at = g->entries[i].tag & (cap - 1);

        if (g->entries[i].ref == ARENA_NO_REF) {
            continue;
        }
        while (entries[at].ref != ARENA_NO_REF) {
            at = (at + 1) & (cap - 1);
        }
        entries[at] = g->entries[i];
    }
    free(g->entries);
    g->entries = entries;
    g->cap = cap;
    return true;
}

struct group *
groups_take_other(struct groups *g)
{
    if (!g->other) {
        g->other = calloc(1, record_size(g->layout, 0));
    }
    return g->other;
}

static struct group *
add_group(struct groups *g, uint32_t tag, const char *key, size_t len)
{
    size_t size = record_size(g->layout, len);
    struct group *group;
    uint32_t ref;
    size_t at;

    if (g->nr > 0 &&
        groups_bytes(g) + arena_growth(&g->records, size) > g->budget) {
        g->other_rows++;
        return groups_take_other(g);
    }
    if (4 * (g->nr + 1) > 3 * g->cap && !grow(g)) {
        return NULL;
    }
    group = arena_alloc(&g->records, size);
    if (!group) {
        return NULL;
    }
    ref = arena_ref(&g->records, group);
    if (ref == ARENA_NO_REF) {
        return NULL;
    }
    group->tag = tag;
    group->key_len = (uint32_t)len;
    if (len) {
        memcpy(group->data + g->layout->size + g->layout->nr, key, len);
    }
    at = tag & (g->cap - 1);
    while (g->entries[at].ref != ARENA_NO_REF) {
        at = (at + 1) & (g->cap - 1);
    }
    g->entries[at].tag = tag;
    g->entries[at].ref = ref;
    g->nr++;
    return group;
}

/* memcmp is a call; most keys are short. */
static inline bool
same_key(const unsigned char *a, const char *b, size_t n)
{
    uint64_t x = 0, y = 0, u = 0, v = 0;

    if (n >= 8 && n <= 16) {
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        memcpy(&u, a + n - 8, 8);
        memcpy(&v, b + n - 8, 8);
    } else if (n >= 4 && n < 8) {
        memcpy(&x, a, 4);
        memcpy(&y, b, 4);
        memcpy(&u, a + n - 4, 4);
        memcpy(&v, b + n - 4, 4);
    } else {
        return n == 0 || memcmp(a, b, n) == 0;
    }
    return x == y && u == v;
}

struct group *
groups_take(struct groups *g, const char *key, size_t len)
{
    const struct groups_layout *l = g->layout;
    uint32_t tag;
    size_t at;

    if (len > GROUPS_MAX_KEY) {
        len = GROUPS_MAX_KEY;
    }
    tag = (uint32_t)XXH3_64bits_withSeed(key, len, g->seed);
    at = tag & (g->cap - 1);
    while (g->entries[at].ref != ARENA_NO_REF) {
        if (g->entries[at].tag == tag) {
            struct group *group = arena_at(&g->records, g->entries[at].ref);

            if (group->key_len == len &&
                same_key(group->data + l->size + l->nr, key, len)) {
                return group;
            }
        }
        at = (at + 1) & (g->cap - 1);
    }
    return add_group(g, tag, key, len);
}

struct group *
groups_next(const struct groups *g, struct groups_walk *w)
{
    const struct arena *a = &g->records;

    while (w->chunk < a->nr) {
        const struct arena_chunk *c = &a->chunks[w->chunk];

        if (c->data && w->at < c->used) {
            struct group *group = (struct group *)(void *)(c->data + w->at);

            w->at += record_size(g->layout, group->key_len);
            return group;
        }
        w->chunk++;
        w->at = 0;
    }
    return NULL;
}

bool
groups_own_text(struct groups *g, struct groups_text *t, char *own)
{
    uint32_t cap = t->cap & ~GROUPS_PENDING;

    if (t->n > GROUPS_MAX_TEXT) {
        t->n = GROUPS_MAX_TEXT;
    }
    if (t->n > cap) {
        cap = cap ? cap : 16;
        while (cap < t->n) {
            cap *= 2;
        }
        own = arena_alloc(&g->blobs, cap);
        if (!own) {
            t->n = 0;
            t->cap = 0;
            return false;
        }
    }
    if (t->n) {
        memmove(own, t->p, t->n);
    }
    t->p = own;
    t->cap = cap;
    return true;
}
