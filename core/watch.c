/* SPDX-License-Identifier: Apache-2.0
 *
 * The one inotify instance of a process.
 */
#include "watch.h"

#include "buf.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BUCKETS 256u
#define READ_BYTES (16u * 1024u)
#define READS_PER_TAKE 32
/* What waits for a member that does not take; more is lost. */
#define QUEUE_BYTES (256u * 1024u)

/* How often a number was given out. */
struct watch_ref {
    int wd;
    unsigned refs;
    struct watch_ref *next;
};

struct watch {
    pthread_mutex_t lock;
    int fd; /* -1: nobody has joined yet */
    struct watch_member *members;
    struct watch_ref *refs[BUCKETS];
};

struct watch_member {
    struct watch *watch;
    int wake_fd;
    bool is_lost;     /* events */
    struct buf queue; /* of struct inotify_event, as read */
    struct watch_member *next;
};

struct watch *
watch_new(void)
{
    struct watch *w = calloc(1, sizeof(*w));

    if (w) {
        w->fd = -1;
        pthread_mutex_init(&w->lock, NULL);
    }
    return w;
}

void
watch_free(struct watch *w)
{
    if (!w) {
        return;
    }
    if (w->fd >= 0) {
        close(w->fd);
    }
    for (size_t i = 0; i < BUCKETS; i++) {
        while (w->refs[i]) {
            struct watch_ref *next = w->refs[i]->next;

            free(w->refs[i]);
            w->refs[i] = next;
        }
    }
    pthread_mutex_destroy(&w->lock);
    free(w);
}

struct watch_member *
watch_join(struct watch *w)
{
    struct watch_member *m = calloc(1, sizeof(*m));
    int saved;

    if (!m) {
        errno = ENOMEM;
        return NULL;
    }
    m->watch = w;
    m->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_mutex_lock(&w->lock);
    if (m->wake_fd >= 0 && w->fd < 0) {
        w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    }
    saved = errno;
    if (m->wake_fd >= 0 && w->fd >= 0) {
        m->next = w->members;
        w->members = m;
        pthread_mutex_unlock(&w->lock);
        return m;
    }
    pthread_mutex_unlock(&w->lock);
    if (m->wake_fd >= 0) {
        close(m->wake_fd);
    }
    free(m);
    errno = saved;
    return NULL;
}

void
watch_leave(struct watch_member *m)
{
    struct watch_member **at;

    if (!m) {
        return;
    }
    pthread_mutex_lock(&m->watch->lock);
    at = &m->watch->members;
    while (*at != m) {
        at = &(*at)->next;
    }
    *at = m->next;
    pthread_mutex_unlock(&m->watch->lock);
    close(m->wake_fd);
    buf_fini(&m->queue);
    free(m);
}

int
watch_poll(struct watch_member *m, int epoll_fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, m->wake_fd, &event) < 0) {
        return -1;
    }
    return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, m->watch->fd, &event);
}

/* ---- what is watched ---- */

static struct watch_ref **
find_ref(struct watch *w, int wd)
{
    struct watch_ref **at = &w->refs[(unsigned)wd % BUCKETS];

    while (*at && (*at)->wd != wd) {
        at = &(*at)->next;
    }
    return at;
}

static void
drop_ref(struct watch_ref **at)
{
    struct watch_ref *ref = *at;

    *at = ref->next;
    free(ref);
}

int
watch_add(struct watch_member *m, const char *path, uint32_t mask)
{
    struct watch *w = m->watch;
    struct watch_ref **at;
    int wd, saved;

    pthread_mutex_lock(&w->lock);
    wd = inotify_add_watch(w->fd, path, mask);
    saved = errno;
    if (wd >= 0) {
        at = find_ref(w, wd);
        if (!*at) {
            *at = calloc(1, sizeof(**at));
            if (*at) {
                (*at)->wd = wd;
            } else {
                inotify_rm_watch(w->fd, wd);
                wd = -1;
                saved = ENOMEM;
            }
        }
        if (wd >= 0) {
            (*at)->refs++;
        }
    }
    pthread_mutex_unlock(&w->lock);
    errno = saved;
    return wd;
}

void
watch_remove(struct watch_member *m, int wd)
{
    struct watch *w = m->watch;
    struct watch_ref **at;

    pthread_mutex_lock(&w->lock);
    at = find_ref(w, wd);
    if (*at && --(*at)->refs == 0) { /* none: the kernel has removed it */
        drop_ref(at);
        inotify_rm_watch(w->fd, wd);
    }
    pthread_mutex_unlock(&w->lock);
}

/* ---- events ---- */

static void
wake_member(const struct watch_member *m)
{
    eventfd_write(m->wake_fd, 1);
}

/* Puts what was read into each member's queue. */
static void
hand_out_locked(struct watch *w, const struct watch_member *by,
                const char *data, size_t len)
{
    for (struct watch_member *m = w->members; m; m = m->next) {
        if (m->is_lost || m->queue.len + len > QUEUE_BYTES ||
            buf_append(&m->queue, data, len) != DT_OK) {
            m->is_lost = true;
        }
        if (m != by) {
            wake_member(m);
        }
    }
}

/* The numbers of what the kernel does not watch any more may go. */
static void
forget_ignored_locked(struct watch *w, const char *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        const struct inotify_event *event = (const void *)(data + at);
        struct watch_ref **ref = find_ref(w, event->wd);

        if ((event->mask & IN_IGNORED) && *ref) {
            drop_ref(ref);
        }
        at += sizeof(*event) + event->len;
    }
}

static void
read_events_locked(struct watch *w, const struct watch_member *by)
{
    _Alignas(struct inotify_event) char buffer[READ_BYTES];

    for (int i = 0; i < READS_PER_TAKE; i++) {
        ssize_t n = read(w->fd, buffer, sizeof(buffer));

        if (n <= 0) {
            break;
        }
        forget_ignored_locked(w, buffer, (size_t)n);
        hand_out_locked(w, by, buffer, (size_t)n);
    }
}

bool
watch_take(struct watch_member *m, watch_take_fn take, void *ctx)
{
    struct buf events;
    eventfd_t ignored;
    bool is_lost, has_any;

    eventfd_read(m->wake_fd, &ignored);
    pthread_mutex_lock(&m->watch->lock);
    read_events_locked(m->watch, m);
    is_lost = m->is_lost;
    m->is_lost = false;
    events = m->queue;
    m->queue = (struct buf){0};
    pthread_mutex_unlock(&m->watch->lock);
    for (size_t at = 0; at < events.len;) {
        const struct inotify_event *event = (const void *)(events.data + at);

        take(ctx, event);
        at += sizeof(*event) + event->len;
    }
    if (is_lost) {
        take(ctx, NULL);
    }
    has_any = is_lost || events.len > 0;
    buf_fini(&events);
    return has_any;
}
