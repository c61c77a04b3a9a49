/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of those who stand at the entrance (entrance.h): who they are, in
 * which order, and which of them has something to say.
 *
 * The listener forks while thousands stand there. So the table is memory that
 * children do not get, nobody in it is ever moved, and each operation costs
 * the same for one and for thousands; the kernel keeps the list of those who
 * are listened to. A source is what an address is hashed to: guests of one
 * share its turns. The listener's thread.
 */
#ifndef CORE_GUESTS_H
#define CORE_GUESTS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUESTS_SOURCES 1024u
#define GUESTS_NONE UINT32_MAX

enum guest_state { GUEST_SILENT, GUEST_BEGUN, GUEST_READY };
#define GUEST_NR_STATES 3

/* Links are places in the table, GUESTS_NONE at the ends. */
struct guest_list {
    uint32_t first, last;
};

struct guest {
    int fd;
    enum guest_state state;
    uint32_t source;
    uint32_t prev, next;   /* of the same state, the oldest first */
    uint32_t older, newer; /* of the same source, when ready */
    int64_t since_ms;
    struct sockaddr_in6 from; /* or one of IPv4 */
};

struct guests {
    struct guest *v; /* not in children */
    size_t max, nr;
    uint32_t unused; /* a chain through `next` */
    uint64_t seed, nr_turns;
    struct guest_list states[GUEST_NR_STATES];
    struct guests_source {
        struct guest_list ready;
        uint64_t last_turn; /* 0: never had one */
    } * sources;            /* GUESTS_SOURCES, not in children either */
    size_t nr_ready;
    int epoll_fd; /* readable: a silent guest says something */
};

/* DT_OK, or DT_ERR_NOMEM. */
int guests_init(struct guests *g, size_t max);
/* Closes whoever is still there. */
void guests_fini(struct guests *g);

/* Takes over the descriptor of one who has said nothing. There must be room
 * (nr < max). False, and it is the caller's: the kernel has none. */
bool guests_add(struct guests *g, int fd, const struct sockaddr_storage *from,
                int64_t now_ms);
/* He has said more. */
void guests_move(struct guests *g, uint32_t i, enum guest_state state);
/* Takes him out; the descriptor is the caller's. */
int guests_take(struct guests *g, uint32_t i);

/* Places of silent guests with something to say, `max` at most; how many. */
size_t guests_events(struct guests *g, uint32_t *places, size_t max);
/* Of those who are ready: the newest one of the source that had no turn for
 * the longest time. GUESTS_NONE: nobody. */
uint32_t guests_next(const struct guests *g);
/* The source has had a turn. */
void guests_had_turn(struct guests *g, uint32_t source);

#endif
