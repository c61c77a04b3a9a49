/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a server did what it was asked, and who did not.
 */
#ifndef CLIENTS_JUDGE_H
#define CLIENTS_JUDGE_H

#include "link.h"
#include "reduce.h"

struct judge {
    const struct diag *diag;
    const char *name; /* of the server, as the user wrote it */
    const struct link_result *link;
    const struct reduce_summary *summary;
    const struct error *err; /* of its frames */
    bool is_complete;        /* all its queries have ended */
    bool is_inside;          /* the bytes ended inside a frame */
    bool is_strict;
};

/* Says what went wrong with a server whose session is over; true: nothing. */
bool judge_server(const struct judge *j);

/* A result without some servers: how many of them it is of, and the names of
 * the first that are missing. */
void judge_say_missing(const struct diag *diag, const char *const *names,
                       const bool *is_good, size_t nr);

#endif
