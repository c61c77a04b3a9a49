/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources that fail to log in wait: each failure adds to the time that an
 * address owes, and once that is much, its connections are refused until it
 * has run down. The idea is sshd's PerSourcePenalties.
 *
 * An IPv6 source is its /64. The table has a fixed size: when it is full,
 * whoever owes least is forgotten. The listener's thread.
 */
#ifndef CORE_PENALTY_H
#define CORE_PENALTY_H

#include "buf.h"

#include <stdint.h>

#define PENALTY_SETS 1024u
#define PENALTY_WAYS 4u
/* Connections are refused once so many failures are owed. */
#define PENALTY_FREE 3

/* This machine itself, in the list of those that are exempt. */
#define PENALTY_LOOPBACK "loopback"

/* What happened, in units of Server.FailurePenaltyMs / 5. */
enum penalty_kind {
    PENALTY_NO_LOGIN = 1,  /* gone before it tried any key */
    PENALTY_FAILURE = 5,   /* it tried, and none was good */
    PENALTY_TOO_SLOW = 10, /* it did not log in in time */
    PENALTY_ABUSE = 90     /* it made its session break the rules */
};

struct penalty_entry {
    uint8_t source[9]; /* kind and up to 64 bits of the address */
    bool is_blocked;
    int64_t until_ms; /* when nothing is owed any more; 0: free */
};

struct penalty {
    uint64_t seed;
    struct penalty_entry sets[PENALTY_SETS][PENALTY_WAYS];
};

/* From the configuration. */
struct penalty_limits {
    int unit_ms;               /* of a failure; 0: no penalties */
    int max_ms;                /* what a source can owe */
    const struct strv *exempt; /* addresses, address/bits, "loopback" */
};

void penalty_init(struct penalty *p);
/* Adds what a connection has earned. The time in ms for which connections are
 * refused from now on, when this is the one that was too much; else 0. */
int64_t penalty_add(struct penalty *p, const struct penalty_limits *limits,
                    const char *address, enum penalty_kind kind,
                    int64_t now_ms);
/* Whether connections from there are refused. */
bool penalty_is_blocked(struct penalty *p, const struct penalty_limits *limits,
                        const char *address, int64_t now_ms);

#endif
