/* SPDX-License-Identifier: Apache-2.0
 *
 * Interim results of a query in turbo while lanes wait for input.
 */
#include "reporter.h"

#include "clock.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct reporter {
    struct lane_shared *sh;
    struct lane *const *lanes;
    int nr;
    int stop_fd; /* readable: leave */
    pthread_t thread;
};

static int
report(struct reporter *r)
{
    int rc = DT_OK;

    for (int i = 0; i < r->nr && rc == DT_OK; i++) {
        rc = lane_report_idle(r->lanes[i]);
    }
    rc = rc == DT_OK ? lane_report_combined(r->sh, true) : rc;
    return rc == DT_OK ? outq_flush(r->sh->env->out, r->sh->cancel) : rc;
}

static void *
reporter_main(void *arg)
{
    struct reporter *r = arg;
    int64_t interval_ms = r->sh->spec->interval_ms;
    int64_t next = clock_now_ms() + interval_ms;

    while (!cancel_is_set(r->sh->cancel)) {
        struct pollfd p[2] = {
            {.fd = r->stop_fd, .events = POLLIN},
            {.fd = r->sh->cancel->fd, .events = POLLIN},
        };
        int rc;

        poll(p, 2, clock_poll_ms(next));
        if (p[0].revents || p[1].revents) {
            break;
        }
        if (clock_now_ms() < next) {
            continue;
        }
        next = clock_now_ms() + interval_ms;
        rc = report(r);
        if (rc != DT_OK) {
            lane_fail(r->sh, rc, dt_strerror(rc));
            break;
        }
    }
    return NULL;
}

int
reporter_new(struct lane_shared *sh, struct lane *const *lanes, int nr,
             struct reporter **out)
{
    struct reporter *r;

    *out = NULL;
    if (sh->spec->interval_ms <= 0) {
        return DT_OK;
    }
    r = calloc(1, sizeof(*r));
    if (!r) {
        return DT_ERR_NOMEM;
    }
    *r = (struct reporter){.sh = sh, .lanes = lanes, .nr = nr};
    r->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r->stop_fd < 0 ||
        pthread_create(&r->thread, NULL, reporter_main, r) != 0) {
        if (r->stop_fd >= 0) {
            close(r->stop_fd);
        }
        free(r);
        return DT_ERR_LIMIT;
    }
    *out = r;
    return DT_OK;
}

void
reporter_free(struct reporter *r)
{
    uint64_t one = 1;

    if (!r) {
        return;
    }
    (void)!write(r->stop_fd, &one, sizeof(one));
    pthread_join(r->thread, NULL);
    close(r->stop_fd);
    free(r);
}
