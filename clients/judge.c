/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a server did what it was asked, and who did not.
 */
#include "judge.h"

#define MAX_NAMED 20u

bool
judge_server(const struct judge *j)
{
    const struct diag *diag = j->diag;

    if (j->link->words_len) {
        diag_server(diag, LOG_ERROR, j->name, "%s", j->link->words);
    }
    if (j->err->status != DT_OK) {
        log_error(diag->log, "%s|%s", j->name, j->err->text);
        return false;
    }
    if (!j->is_complete && j->link->err.status != DT_OK) {
        log_error(diag->log, "%s|%s%s", j->name,
                  j->summary->has_hello ? "broken off: " : "",
                  j->link->err.text);
    } else if (!j->is_complete && j->link->exit_status > 0) {
        log_error(diag->log,
                  "%s|the session ended with status %d before the query did",
                  j->name, j->link->exit_status);
    } else if (!j->is_complete) {
        log_error(diag->log, "%s|the session ended before the query did%s",
                  j->name, j->is_inside ? ", in the middle of a frame" : "");
    }
    return j->is_complete && j->summary->status == DT_OK &&
           j->summary->broken == 0 && !(j->is_strict && j->summary->failed);
}

void
judge_say_missing(const struct diag *diag, const char *const *names,
                  const bool *is_good, size_t nr)
{
    struct buf list = {0};
    size_t missing = 0;
    int rc = DT_OK;

    for (size_t i = 0; i < nr; i++) {
        if (!is_good[i] && missing++ < MAX_NAMED && rc == DT_OK) {
            rc = buf_printf(&list, "%s%s", missing > 1 ? ", " : "", names[i]);
        }
    }
    if (missing > MAX_NAMED && rc == DT_OK) {
        rc = buf_printf(&list, " and %zu more", missing - MAX_NAMED);
    }
    if (missing) {
        log_warn(diag->log,
                 "the result is of %zu of %zu servers; missing or incomplete: "
                 "%.*s",
                 nr - missing, nr, rc == DT_OK ? (int)list.len : 0,
                 list.data ? list.data : "");
    }
    buf_fini(&list);
}
