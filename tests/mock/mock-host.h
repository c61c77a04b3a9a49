/* SPDX-License-Identifier: Apache-2.0
 *
 * A query of the mock host, for mock.c and mock-host.c.
 */
#ifndef TESTS_MOCK_HOST_H
#define TESTS_MOCK_HOST_H

#include "mock.h"

/* The query as the plugin sees it; its address is what the plugin gets. */
struct mock_query {
    struct dt_query query;
    const struct mock_options *options;
    const struct mock_source *sources;
    size_t nr_sources;
    struct mock_result *out;
    enum dt_role role;
    bool is_starting; /* inside start of map */
    bool is_cancelled;
    bool is_over; /* END was written: nothing may be emitted any more */
    size_t nr_emits;
};

extern const struct dt_host mock_host;

#endif
