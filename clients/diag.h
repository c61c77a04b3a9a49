/* SPDX-License-Identifier: Apache-2.0
 *
 * What a client tells beside the data: CLIENT|host|LEVEL|text through its log,
 * SERVER|host|LEVEL|text for what concerns one server. Never on standard
 * output.
 *
 * Thread-safe.
 */
#ifndef CLIENTS_DIAG_H
#define CLIENTS_DIAG_H

#include "log.h"

struct diag {
    struct log *log; /* of the client itself */
    int fd;          /* for what servers say: standard error, -1: nowhere */
};

/* The words of a server, or an error on its behalf. Several lines of text
 * become several lines; control bytes are shown. One write a call. */
void diag_server(const struct diag *d, enum log_level level, const char *host,
                 const char *format, ...) DT_PRINTF(4, 5);

#endif
