/* SPDX-License-Identifier: Apache-2.0
 *
 * The states of a query and its end, with one writer. tests/model proves the
 * same machine; tests compare the two tables.
 */
#ifndef CORE_COORDINATOR_H
#define CORE_COORDINATOR_H

#include <stdbool.h>

enum query_state {
    QUERY_NEW = 0,
    QUERY_RUNNING,
    QUERY_FINISHING,
    QUERY_DRAINING,
    QUERY_DONE,
    QUERY_CANCELLED,
    QUERY_FAILED,
    QUERY_NR_STATES
};

/* True when the step is one of the machine's. Forward only: NEW → RUNNING →
 * FINISHING → DRAINING → DONE; CANCELLED and FAILED from each of the first
 * four, and DONE from both of them, once nothing of the query runs. */
bool query_state_may(enum query_state from, enum query_state to);
const char *query_state_name(enum query_state s);

#endif
