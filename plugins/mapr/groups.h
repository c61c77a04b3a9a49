/* SPDX-License-Identifier: Apache-2.0
 *
 * The groups of a query and what is accumulated in each.
 *
 * Open addressing over 8-byte entries; a group is one record in an arena: a
 * head, accumulators sized by the query, a byte of flags for each, the key.
 * One owner, one thread. Records never move.
 */
#ifndef MAPR_GROUPS_H
#define MAPR_GROUPS_H

#include "arena.h"
#include "distinct.h"
#include "sketch.h"
#include "sums.h"
#include "text.h"

/* Longer keys and texts are cut, so that a group fits into one partial. */
#define GROUPS_MAX_KEY ((size_t)1 << 20)
#define GROUPS_MAX_TEXT ((size_t)1 << 20)

/* Where in the input a value stood: what "last" and "first" go by. Blocks of
 * one sequence are of one source, so the offset there decides between them.
 * Host is a number in the owner's list of hosts; they are compared by name. */
#define GROUPS_OFFSET_BITS 44 /* 16 TiB */
#define GROUPS_HOST_BITS 20
struct groups_place {
    uint64_t sequence;                    /* of the block */
    uint64_t offset : GROUPS_OFFSET_BITS; /* of the row in its source */
    uint64_t host : GROUPS_HOST_BITS;
};

enum groups_kind {
    ACC_COUNT = 0, /* uint64_t */
    ACC_SUM,       /* struct sums */
    ACC_MIN,       /* struct groups_extreme */
    ACC_MAX,
    ACC_TEXT,     /* struct groups_text */
    ACC_DISTINCT, /* struct distinct */
    ACC_SKETCH    /* struct sketch */
};

/* A NaN that comes first stays, a later one is ignored (spec mapreduce
 * 11.2): hence the place of the first value, and a flag that it was NaN.
 * `value` is the extreme of all others; NaN: there is none. */
struct groups_extreme {
    double value;
    struct groups_place first;
};

#define GROUPS_PENDING 0x80000000u /* in cap: p points into the block */

struct groups_text {
    struct groups_place at;
    const char *p;
    uint32_t n;
    uint32_t cap; /* bytes of the own buffer */
};

struct groups_acc {
    enum groups_kind kind;
    uint32_t offset; /* of the accumulator in group.data */
};

/* Flags of an accumulator; those of sums.h beside them. */
#define GROUPS_SEEN 0x01u      /* it holds a value */
#define GROUPS_FIRST_NAN 0x20u /* of an extreme */

struct groups_layout {
    struct groups_acc *accs;
    uint32_t nr;
    uint32_t size; /* bytes of all accumulators; the flags stand behind */
};

struct group {
    uint32_t tag; /* of the hash */
    uint32_t key_len;
    uint64_t samples;
    unsigned char data[];
};

struct groups_entry {
    uint32_t tag;
    uint32_t ref; /* of the record; ARENA_NO_REF: free */
};

struct groups {
    const struct groups_layout *layout;
    struct arena records; /* groups only, back to back */
    struct arena blobs;   /* texts, sketches, wide sums */
    struct groups_entry *entries;
    size_t cap; /* of entries, a power of two */
    size_t nr;
    size_t budget;       /* bytes */
    struct group *other; /* "(other)": what came when the budget was used up */
    uint64_t other_rows;
    uint64_t seed;
};

/* `layout` must outlive the groups. DT_OK or DT_ERR_NOMEM. */
int groups_init(struct groups *g, const struct groups_layout *layout,
                size_t budget);
void groups_fini(struct groups *g);
/* Forgets all groups; keeps memory for about as many. */
void groups_reset(struct groups *g);

/* The group of a key (cut at GROUPS_MAX_KEY), made if it is new. Beyond the
 * budget: the group "(other)". NULL: out of memory. */
struct group *groups_take(struct groups *g, const char *key, size_t len);
/* The group "(other)", made if need be. NULL: out of memory. */
struct group *groups_take_other(struct groups *g);

/* Bytes in use. */
size_t groups_bytes(const struct groups *g);

/* Walks over all groups but "(other)": start with all zero. */
struct groups_walk {
    size_t chunk, at;
};
struct group *groups_next(const struct groups *g, struct groups_walk *w);

static inline uint8_t *
groups_flags(const struct groups_layout *l, struct group *group)
{
    return group->data + l->size;
}

static inline struct str
groups_key(const struct groups_layout *l, const struct group *group)
{
    struct str key = {(const char *)group->data + l->size + l->nr,
                      group->key_len};

    return key;
}

static inline void *
groups_acc(const struct groups_layout *l, struct group *group, uint32_t i)
{
    return group->data + l->accs[i].offset;
}

/* Bytes of an accumulator. */
uint32_t groups_acc_size(enum groups_kind kind);
/* Copies a text that points elsewhere into the group's own buffer, which is
 * at `own` with the room that t->cap says. False: out of memory. */
bool groups_own_text(struct groups *g, struct groups_text *t, char *own);
/* Takes a value into a minimum or maximum. -0 is less than 0 here, so that
 * order does not matter. */
static inline void
groups_take_extreme(struct groups_extreme *e, bool is_max, double v)
{
    bool better = is_max ? v > e->value : v < e->value;

    if (v == 0 && e->value == 0) {
        better = is_max ? !__builtin_signbit(v) : __builtin_signbit(v);
    }
    if (better || e->value != e->value) {
        e->value = v;
    }
}

#endif
