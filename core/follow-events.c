/* SPDX-License-Identifier: Apache-2.0
 *
 * One inotify instance for all files and folders of a follow.
 */
#include "follow-events.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/vfs.h>

#define FILE_EVENTS \
    (IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE_SELF | IN_DELETE_SELF)
#define DIR_EVENTS                                                     \
    (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | \
     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
#define EVENT_BUFFER (16u * 1024u)
#define READS_PER_CALL 32

/* "max_user_instances is 128": the value as the kernel tells it. */
static void
describe_limit(const char *name, char *why, size_t cap)
{
    char path[80], value[32] = "?";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/sys/fs/inotify/%s", name);
    file = fopen(path, "re");
    if (file) {
        if (!fgets(value, sizeof(value), file)) {
            value[0] = '\0';
        }
        value[strcspn(value, "\n")] = '\0';
        fclose(file);
    }
    snprintf(why, cap, "limit fs.inotify.%s=%s reached", name, value);
}

void
follow_events_init(struct follow_events *e, bool no_events, char *why,
                   size_t cap)
{
    *e = (struct follow_events){.fd = -1};
    why[0] = '\0';
    if (no_events) {
        return;
    }
    e->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (e->fd < 0) {
        int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

        if (fd < 0 && errno == EMFILE) { /* EMFILE has two meanings */
            snprintf(why, cap, "too many open files");
        } else {
            describe_limit("max_user_instances", why, cap);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
}

void
follow_events_fini(struct follow_events *e)
{
    if (e->fd >= 0) {
        close(STEAL_FD(e->fd));
    }
}

/* ---- files ---- */

static struct follow_file **
bucket(struct follow_events *e, int wd)
{
    return &e->files[(unsigned)wd % FOLLOW_EVENTS_BUCKETS];
}

/* File systems whose files are changed by other machines, or by the kernel
 * without telling. */
static bool
has_no_events(int fd)
{
    static const unsigned long types[] = {
        0x6969,     /* NFS */
        0xff534d42, /* CIFS */
        0xfe534d42, /* SMB2 */
        0x517b,     /* SMB */
        0x65735546, /* FUSE */
        0x01021997, /* 9P */
        0x5346414f, /* AFS */
        0x00c36400, /* Ceph */
        0x0bd00bd0, /* Lustre */
        0x47504653, /* GPFS */
        0x7461636f, /* OCFS2 */
        0x9fa0,     /* proc */
        0x62656572, /* sysfs */
    };
    struct statfs fs;

    if (fstatfs(fd, &fs) < 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (((unsigned long)fs.f_type & 0xffffffffu) == types[i]) {
            return true;
        }
    }
    return false;
}

int
follow_events_add(struct follow_events *e, struct follow_file *f, char *why,
                  size_t cap)
{
    char path[32];
    bool was_full = e->is_full;

    f->is_polled = true;
    if (e->fd < 0 || has_no_events(f->fd)) {
        return DT_OK;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
    f->wd = inotify_add_watch(e->fd, path, FILE_EVENTS);
    if (f->wd < 0) {
        if (errno != ENOSPC && errno != ENOMEM) {
            return DT_OK;
        }
        e->is_full = true;
        describe_limit("max_user_watches", why, cap);
        return was_full ? DT_OK : DT_ERR_LIMIT;
    }
    f->is_polled = false;
    f->next_in_bucket = *bucket(e, f->wd);
    *bucket(e, f->wd) = f;
    return DT_OK;
}

void
follow_events_remove(struct follow_events *e, struct follow_file *f)
{
    struct follow_file **at;
    bool is_shared = false;

    if (f->wd < 0) {
        return;
    }
    for (at = bucket(e, f->wd); *at;) {
        if (*at == f) {
            *at = f->next_in_bucket;
        } else {
            is_shared |= (*at)->wd == f->wd;
            at = &(*at)->next_in_bucket;
        }
    }
    if (!is_shared) { /* another path may lead to the same file */
        inotify_rm_watch(e->fd, f->wd);
    }
    f->wd = -1;
}

/* ---- folders ---- */

void
follow_dir_refresh(struct follow_events *e, struct follow_dir *d)
{
    int wd = e->fd < 0 ? -1 : inotify_add_watch(e->fd, d->path, DIR_EVENTS);
    bool is_shared = false;

    for (struct follow_dir *o = e->dirs; o; o = o->next) {
        is_shared |= o != d && o->wd == d->wd;
    }
    if (d->wd >= 0 && d->wd != wd && !is_shared) {
        inotify_rm_watch(e->fd, d->wd);
    }
    d->wd = wd;
}

struct follow_dir *
follow_dir_ref(struct follow_events *e, const char *path)
{
    struct follow_dir *d = e->dirs;

    while (d && strcmp(d->path, path) != 0) {
        d = d->next;
    }
    if (!d) {
        d = calloc(1, sizeof(*d));
        if (!d || !(d->path = strdup(path))) {
            free(d);
            return NULL;
        }
        d->wd = -1;
        d->next = e->dirs;
        e->dirs = d;
        follow_dir_refresh(e, d);
    }
    d->refs++;
    return d;
}

void
follow_dir_unref(struct follow_events *e, struct follow_dir *d)
{
    struct follow_dir **at = &e->dirs;

    if (!d || --d->refs > 0) {
        return;
    }
    while (*at != d) {
        at = &(*at)->next;
    }
    *at = d->next;
    if (d->wd >= 0) {
        bool is_shared = false;

        for (struct follow_dir *o = e->dirs; o; o = o->next) {
            is_shared |= o->wd == d->wd;
        }
        if (!is_shared) {
            inotify_rm_watch(e->fd, d->wd);
        }
    }
    free(d->path);
    free(d);
}

/* ---- events ---- */

static void
take_one(struct follow_events *e, const struct inotify_event *event,
         follow_hit_fn hit, void *ctx)
{
    struct follow_file **at;

    if (event->mask & IN_Q_OVERFLOW) {
        hit(ctx, NULL, NULL, NULL);
        return;
    }
    for (at = bucket(e, event->wd); *at;) {
        struct follow_file *f = *at;

        if (f->wd != event->wd) {
            at = &f->next_in_bucket;
            continue;
        }
        if (event->mask & IN_IGNORED) { /* the watch is gone */
            *at = f->next_in_bucket;
            f->wd = -1;
            f->is_polled = true;
        } else {
            at = &f->next_in_bucket;
        }
        hit(ctx, f, NULL, NULL);
    }
    for (struct follow_dir *d = e->dirs; d; d = d->next) {
        if (d->wd == event->wd) {
            if (event->mask & IN_IGNORED) {
                d->wd = -1;
            }
            hit(ctx, NULL, d, event->len ? event->name : NULL);
        }
    }
}

bool
follow_events_take(struct follow_events *e, follow_hit_fn hit, void *ctx)
{
    _Alignas(struct inotify_event) char buffer[EVENT_BUFFER];
    bool has_any = false;
    ssize_t n;

    if (e->fd < 0) {
        return false;
    }
    for (int i = 0; i < READS_PER_CALL; i++) {
        const char *p = buffer;

        n = read(e->fd, buffer, sizeof(buffer));
        if (n <= 0) {
            break;
        }
        has_any = true;
        while (p < buffer + n) {
            const struct inotify_event *event = (const void *)p;

            take_one(e, event, hit, ctx);
            p += sizeof(*event) + event->len;
        }
    }
    return has_any;
}
