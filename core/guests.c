/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of those who stand at the entrance.
 */
#include "guests.h"
#include "dtail/plugin.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define NO_ONE ((struct guest_list){GUESTS_NONE, GUESTS_NONE})

/* ---- memory ---- */

static void *
map_for_us(size_t len)
{
    void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        return NULL;
    }
    madvise(p, len, MADV_DONTFORK); /* else it is only slower */
    return p;
}

int
guests_init(struct guests *g, size_t max)
{
    *g = (struct guests){.max = max, .epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
    g->v = map_for_us(max * sizeof(*g->v));
    g->sources = map_for_us(GUESTS_SOURCES * sizeof(*g->sources));
    /* Peers choose their addresses: with whom one shares is not known. */
    if (getrandom(&g->seed, sizeof(g->seed), GRND_NONBLOCK) !=
        (ssize_t)sizeof(g->seed)) {
        g->seed = (uint64_t)time(NULL);
    }
    for (size_t s = 0; s < GUEST_NR_STATES; s++) {
        g->states[s] = NO_ONE;
    }
    for (size_t i = 0; g->sources && i < GUESTS_SOURCES; i++) {
        g->sources[i].ready = NO_ONE;
    }
    g->unused = GUESTS_NONE;
    for (size_t i = max; g->v && i-- > 0;) {
        g->v[i].next = g->unused;
        g->unused = (uint32_t)i;
    }
    return g->v && g->sources && g->epoll_fd >= 0 ? DT_OK : DT_ERR_NOMEM;
}

void
guests_fini(struct guests *g)
{
    for (size_t s = 0; g->v && g->sources && s < GUEST_NR_STATES; s++) {
        while (g->states[s].first != GUESTS_NONE) {
            close(guests_take(g, g->states[s].first));
        }
    }
    if (g->v) {
        munmap(g->v, g->max * sizeof(*g->v));
    }
    if (g->sources) {
        munmap(g->sources, GUESTS_SOURCES * sizeof(*g->sources));
    }
    if (g->epoll_fd >= 0) {
        close(g->epoll_fd);
    }
    *g = (struct guests){.epoll_fd = -1};
}

/* ---- lists ---- */

/* By the time they came: who was slow to speak keeps his place. */
static void
link_state(struct guests *g, uint32_t i)
{
    struct guest *v = g->v, *one = &v[i];
    struct guest_list *list = &g->states[one->state];
    uint32_t prev = list->last;

    while (prev != GUESTS_NONE && v[prev].since_ms > one->since_ms) {
        prev = v[prev].prev;
    }
    one->prev = prev;
    one->next = prev == GUESTS_NONE ? list->first : v[prev].next;
    *(prev == GUESTS_NONE ? &list->first : &v[prev].next) = i;
    *(one->next == GUESTS_NONE ? &list->last : &v[one->next].prev) = i;
}

static void
unlink_state(struct guests *g, uint32_t i)
{
    struct guest *v = g->v;
    const struct guest *one = &v[i];
    struct guest_list *list = &g->states[one->state];

    *(one->prev == GUESTS_NONE ? &list->first : &v[one->prev].next) = one->next;
    *(one->next == GUESTS_NONE ? &list->last : &v[one->next].prev) = one->prev;
}

/* By the time they were ready. */
static void
link_source(struct guests *g, uint32_t i)
{
    struct guest *one = &g->v[i];
    struct guest_list *list = &g->sources[one->source].ready;

    one->older = list->last;
    one->newer = GUESTS_NONE;
    *(list->last == GUESTS_NONE ? &list->first : &g->v[list->last].newer) = i;
    list->last = i;
    g->nr_ready++;
}

static void
unlink_source(struct guests *g, uint32_t i)
{
    struct guest *v = g->v;
    const struct guest *one = &v[i];
    struct guest_list *list = &g->sources[one->source].ready;

    *(one->older == GUESTS_NONE ? &list->first : &v[one->older].newer) =
        one->newer;
    *(one->newer == GUESTS_NONE ? &list->last : &v[one->newer].older) =
        one->older;
    g->nr_ready--;
}

/* FNV-1a with a last mix; of IPv6 the /64, as penalties count. */
static uint32_t
source_of(const struct guests *g, const struct sockaddr_in6 *from)
{
    const struct sockaddr_in *four = (const void *)from;
    bool is_six = from->sin6_family == AF_INET6;
    bool is_mapped = is_six && IN6_IS_ADDR_V4MAPPED(&from->sin6_addr);
    const uint8_t *bytes = is_mapped ? from->sin6_addr.s6_addr + 12
                           : is_six  ? from->sin6_addr.s6_addr
                                     : (const uint8_t *)&four->sin_addr;
    uint64_t h = g->seed ^ UINT64_C(14695981039346656037);

    for (size_t i = 0; i < (is_six && !is_mapped ? 8 : 4); i++) {
        h = (h ^ bytes[i]) * UINT64_C(1099511628211);
    }
    h ^= h >> 32;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 40) % GUESTS_SOURCES;
}

/* ---- guests ---- */

bool
guests_add(struct guests *g, int fd, const struct sockaddr_storage *from,
           int64_t now_ms)
{
    uint32_t i = g->unused;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    struct guest *one = &g->v[i];

    if (epoll_ctl(g->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        return false;
    }
    g->unused = one->next;
    *one = (struct guest){.fd = fd, .state = GUEST_SILENT, .since_ms = now_ms};
    memcpy(&one->from, from, sizeof(one->from));
    one->source = source_of(g, &one->from);
    link_state(g, i);
    g->nr++;
    return true;
}

static void
leave_state(struct guests *g, uint32_t i)
{
    struct guest *one = &g->v[i];

    unlink_state(g, i);
    if (one->state == GUEST_READY) {
        unlink_source(g, i);
    } else if (one->state == GUEST_SILENT) {
        /* closing would not do: a child may still have a copy of it */
        epoll_ctl(g->epoll_fd, EPOLL_CTL_DEL, one->fd, NULL);
    }
}

void
guests_move(struct guests *g, uint32_t i, enum guest_state state)
{
    leave_state(g, i);
    g->v[i].state = state;
    link_state(g, i);
    if (state == GUEST_READY) {
        link_source(g, i);
    }
}

int
guests_take(struct guests *g, uint32_t i)
{
    int fd = g->v[i].fd;

    leave_state(g, i);
    g->v[i].next = g->unused;
    g->unused = i;
    g->nr--;
    return fd;
}

size_t
guests_events(struct guests *g, uint32_t *places, size_t max)
{
    struct epoll_event events[64];
    int want = max < 64 ? (int)max : 64;
    int n = epoll_wait(g->epoll_fd, events, want, 0);

    for (int i = 0; i < n; i++) {
        places[i] = events[i].data.u32;
    }
    return n > 0 ? (size_t)n : 0;
}

uint32_t
guests_next(const struct guests *g)
{
    const struct guests_source *best = NULL;

    for (size_t i = 0; g->nr_ready > 0 && i < GUESTS_SOURCES; i++) {
        const struct guests_source *s = &g->sources[i];

        if (s->ready.last != GUESTS_NONE &&
            (!best || s->last_turn < best->last_turn ||
             (s->last_turn == best->last_turn &&
              g->v[s->ready.last].since_ms >
                  g->v[best->ready.last].since_ms))) {
            best = s;
        }
    }
    return best ? best->ready.last : GUESTS_NONE;
}

void
guests_had_turn(struct guests *g, uint32_t source)
{
    g->sources[source].last_turn = ++g->nr_turns;
}
