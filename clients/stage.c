/* SPDX-License-Identifier: Apache-2.0
 *
 * Intervals and the end of the reduce stages.
 */
#include "stage.h"

#include "clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct stage {
    struct reduce *reduce;
    _Atomic int64_t interval_ms;
    int event_fd; /* of the main thread */
    int wake_fd;  /* of this one */
    pthread_t thread;
    atomic_bool must_finish;
    atomic_bool must_leave;
    atomic_bool is_over;
    int status;
};

static void
wake(int fd)
{
    uint64_t one = 1;

    (void)!write(fd, &one, sizeof(one));
}

static void
be_over(struct stage *s, int status)
{
    s->status = status;
    atomic_store(&s->is_over, true);
    wake(s->event_fd);
}

static void *
stage_thread(void *arg)
{
    struct stage *s = arg;
    int64_t interval = atomic_load(&s->interval_ms);
    int64_t next = interval ? clock_now_ms() + interval / 2 : CLOCK_NEVER;

    for (;;) {
        struct pollfd p = {.fd = s->wake_fd, .events = POLLIN};
        uint64_t count;

        if (poll(&p, 1, clock_poll_ms(next)) > 0) {
            (void)!read(s->wake_fd, &count, sizeof(count));
        }
        if (atomic_load(&s->must_leave)) {
            return NULL;
        }
        if (atomic_load(&s->must_finish)) {
            be_over(s, reduce_finish(s->reduce));
            return NULL;
        }
        if (atomic_load(&s->interval_ms) != interval) {
            interval = atomic_load(&s->interval_ms);
            next = interval ? clock_now_ms() + interval / 2 : CLOCK_NEVER;
        }
        if (clock_now_ms() >= next) {
            next = clock_now_ms() + interval;
            if (reduce_interval(s->reduce) == REDUCE_OVER) {
                be_over(s, DT_ERR_CANCELLED);
                return NULL;
            }
        }
    }
}

int
stage_new(struct reduce *r, int64_t interval_ms, int event_fd,
          struct stage **out, struct error *err)
{
    struct stage *s = calloc(1, sizeof(*s));
    int rc;

    if (!s) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    s->reduce = r;
    s->interval_ms = interval_ms;
    s->event_fd = event_fd;
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rc = s->wake_fd < 0 ? errno
                        : pthread_create(&s->thread, NULL, stage_thread, s);
    if (rc != 0) {
        if (s->wake_fd >= 0) {
            close(s->wake_fd);
        }
        free(s);
        return error_errno(err, rc, "reduce");
    }
    *out = s;
    return DT_OK;
}

void
stage_free(struct stage *s)
{
    if (!s) {
        return;
    }
    atomic_store(&s->must_leave, true);
    wake(s->wake_fd);
    pthread_join(s->thread, NULL);
    close(s->wake_fd);
    free(s);
}

void
stage_set_interval(struct stage *s, int64_t interval_ms)
{
    atomic_store(&s->interval_ms, interval_ms);
    wake(s->wake_fd);
}

void
stage_finish(struct stage *s)
{
    if (!atomic_exchange(&s->must_finish, true)) {
        wake(s->wake_fd);
    }
}

bool
stage_is_over(const struct stage *s)
{
    return atomic_load(&s->is_over);
}

int
stage_status(const struct stage *s)
{
    return s->status;
}
