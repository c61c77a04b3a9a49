/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources that fail to log in wait.
 */
#include "penalty.h"

#include "auth-address.h"

#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

#define UNITS_A_FAILURE PENALTY_FAILURE

void
penalty_init(struct penalty *p)
{
    memset(p, 0, sizeof(*p));
    /* Peers choose their addresses: where these go must not be known. */
    if (getrandom(&p->seed, sizeof(p->seed), GRND_NONBLOCK) !=
        (ssize_t)sizeof(p->seed)) {
        p->seed = (uint64_t)time(NULL);
    }
}

static bool
is_loopback(const char *address)
{
    return auth_address_in_net("127.0.0.0/8", address) > 0 ||
           auth_address_in_net("::1", address) > 0;
}

static bool
is_exempt(const struct penalty_limits *limits, const char *address)
{
    for (size_t i = 0; i < limits->exempt->nr; i++) {
        const char *net = limits->exempt->v[i];

        if (auth_address_in_net(net, address) > 0 ||
            (strcmp(net, PENALTY_LOOPBACK) == 0 && is_loopback(address))) {
            return true;
        }
    }
    return false;
}

/* What stands for the source; false: no address. */
static bool
name_source(const char *address, uint8_t source[9])
{
    struct auth_address a;

    if (!auth_address_parse(address, &a)) {
        return false;
    }
    memset(source, 0, 9);
    source[0] = a.family == AF_INET6 ? 6 : 4;
    memcpy(source + 1, a.bytes, a.family == AF_INET6 ? 8 : 4);
    return true;
}

/* FNV-1a over seed and source, with a last mix. */
static size_t
set_of(const struct penalty *p, const uint8_t source[9])
{
    uint64_t h = p->seed ^ UINT64_C(14695981039346656037);

    for (size_t i = 0; i < 9; i++) {
        h = (h ^ source[i]) * UINT64_C(1099511628211);
    }
    h ^= h >> 32;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 40) % PENALTY_SETS;
}

/* The entry of a source; with `make` a new one when there is none. */
static struct penalty_entry *
find(struct penalty *p, const uint8_t source[9], int64_t now_ms, bool make)
{
    struct penalty_entry *set = p->sets[set_of(p, source)], *least = &set[0];

    for (size_t i = 0; i < PENALTY_WAYS; i++) {
        if (set[i].until_ms > now_ms &&
            memcmp(set[i].source, source, sizeof(set[i].source)) == 0) {
            return &set[i];
        }
        if (set[i].until_ms < least->until_ms) {
            least = &set[i];
        }
    }
    if (!make) {
        return NULL;
    }
    *least = (struct penalty_entry){.until_ms = now_ms};
    memcpy(least->source, source, sizeof(least->source));
    return least;
}

/* The source of a peer whose failures count; false: they do not. */
static bool
is_counted(const struct penalty_limits *limits, const char *address,
           uint8_t source[9])
{
    return limits->unit_ms != 0 && !is_exempt(limits, address) &&
           name_source(address, source);
}

int64_t
penalty_add(struct penalty *p, const struct penalty_limits *limits,
            const char *address, enum penalty_kind kind, int64_t now_ms)
{
    struct penalty_entry *e;
    uint8_t source[9];
    int64_t owed;

    if (!is_counted(limits, address, source)) {
        return 0;
    }
    e = find(p, source, now_ms, true);
    owed = e->until_ms - now_ms +
           (int64_t)limits->unit_ms * (int64_t)kind / UNITS_A_FAILURE;
    owed = owed > limits->max_ms ? limits->max_ms : owed;
    e->until_ms = now_ms + owed;
    if (e->is_blocked || owed < (int64_t)limits->unit_ms * PENALTY_FREE) {
        return 0;
    }
    e->is_blocked = true;
    return owed;
}

bool
penalty_is_blocked(struct penalty *p, const struct penalty_limits *limits,
                   const char *address, int64_t now_ms)
{
    const struct penalty_entry *e;
    uint8_t source[9];

    if (!is_counted(limits, address, source)) {
        return false;
    }
    e = find(p, source, now_ms, false);
    return e && e->is_blocked;
}
