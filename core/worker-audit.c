/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker's side of the audit.
 */
#include "worker-audit.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(AUDIT_LIVE_ROWS == 64, "a bit each in worker_audit.rows");

/* Waits while the listener lags: no line may be missing. That the listener is
 * gone is told by its socket. */
static void
send_msg(int broker_fd, const struct broker_msg *msg)
{
    struct pollfd p = {.fd = broker_fd, .events = POLLOUT};

    while (broker_send(broker_fd, msg, -1) == DT_AGAIN) {
        if (poll(&p, 1, -1) < 0 && errno != EINTR) {
            return;
        }
    }
}

int
worker_audit_row(struct worker_audit *a, struct query_live **live)
{
    *live = NULL;
    for (int i = 0; a->live && i < (int)AUDIT_LIVE_ROWS; i++) {
        if (!(a->rows & (UINT64_C(1) << i))) {
            a->rows |= UINT64_C(1) << i;
            *live = &a->live[i];
            **live = (struct query_live){0};
            return i;
        }
    }
    return AUDIT_NO_ROW;
}

void
worker_audit_drop_row(struct worker_audit *a, int row)
{
    if (row != AUDIT_NO_ROW) {
        a->rows &= ~(UINT64_C(1) << row);
    }
}

/* The names as they were asked for, escaped, between commas. */
static size_t
list_files(char *out, size_t cap, const struct strv *files)
{
    size_t at = 0;

    for (size_t i = 0; i < files->nr; i++) {
        size_t len = strlen(files->v[i]);

        if (i > 0 && at + 2 < cap) {
            out[at++] = ',';
        }
        at += audit_escape(out + at, cap - at, files->v[i], len);
    }
    return at;
}

void
worker_audit_begin(struct worker_audit *a, const struct query_spec *spec,
                   bool turbo, int row)
{
    struct broker_msg *msg = &a->msg;

    *msg = (struct broker_msg){
        .type = BROKER_QUERY_BEGIN,
        .id = spec->id,
        .status = row,
        .flags = (spec->follow ? 1u : 0) | (turbo ? 2u : 0),
        .value = (int64_t)spec->files.nr,
    };
    snprintf(msg->user, sizeof(msg->user), "%.*s", (int)BROKER_MAX_USER,
             spec->plugin ? spec->plugin : "");
    msg->key_len =
        (uint32_t)list_files(msg->key, AUDIT_MAX_FILES, &spec->files);
    send_msg(a->broker_fd, msg);
}

void
worker_audit_end(struct worker_audit *a, uint32_t id, int row,
                 const struct query_end *end, const struct query_live *sent)
{
    const struct audit_counts c = {.bytes_read = end->bytes_read,
                                   .bytes_sent = atomic_load(&sent->bytes_sent),
                                   .lines_sent = atomic_load(&sent->lines_sent),
                                   .sources = end->sources,
                                   .failed = end->failed};
    struct broker_msg *msg = &a->msg;

    worker_audit_drop_row(a, row);
    *msg = (struct broker_msg){.type = BROKER_QUERY_END,
                               .id = id,
                               .status = end->status,
                               .key_len = sizeof(c)};
    snprintf(msg->text, sizeof(msg->text), "%.*s", 250,
             end->message ? end->message : "");
    memcpy(msg->key, &c, sizeof(c));
    send_msg(a->broker_fd, msg);
}

void
worker_audit_refused(struct worker_audit *a, const struct query_spec *spec,
                     int status, const char *why)
{
    const struct query_end end = {.status = status,
                                  .message = (char *)(uintptr_t)why};
    const struct query_live nothing = {0};

    worker_audit_begin(a, spec, false, AUDIT_NO_ROW);
    worker_audit_end(a, spec->id, AUDIT_NO_ROW, &end, &nothing);
}
