/* SPDX-License-Identifier: Apache-2.0
 *
 * The states of a query: which step may follow which.
 */
#include "coordinator.h"

#define BIT(s) (1u << (s))
#define ENDS (BIT(QUERY_CANCELLED) | BIT(QUERY_FAILED))

static const unsigned steps[QUERY_NR_STATES] = {
    [QUERY_NEW] = BIT(QUERY_RUNNING) | ENDS,
    [QUERY_RUNNING] = BIT(QUERY_FINISHING) | ENDS,
    [QUERY_FINISHING] = BIT(QUERY_DRAINING) | ENDS,
    [QUERY_DRAINING] = BIT(QUERY_DONE) | ENDS,
    [QUERY_CANCELLED] = BIT(QUERY_DONE),
    [QUERY_FAILED] = BIT(QUERY_DONE),
    [QUERY_DONE] = 0,
};

bool
query_state_may(enum query_state from, enum query_state to)
{
    if ((unsigned)from >= QUERY_NR_STATES || (unsigned)to >= QUERY_NR_STATES) {
        return false;
    }
    return (steps[from] & BIT(to)) != 0;
}

const char *
query_state_name(enum query_state s)
{
    static const char *const names[QUERY_NR_STATES] = {
        [QUERY_NEW] = "NEW",
        [QUERY_RUNNING] = "RUNNING",
        [QUERY_FINISHING] = "FINISHING",
        [QUERY_DRAINING] = "DRAINING",
        [QUERY_DONE] = "DONE",
        [QUERY_CANCELLED] = "CANCELLED",
        [QUERY_FAILED] = "FAILED",
    };

    return (unsigned)s < QUERY_NR_STATES ? names[s] : "?";
}
