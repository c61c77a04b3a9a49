/* SPDX-License-Identifier: Apache-2.0
 *
 * What inotify says of the files and folders of a follow.
 */
#include "follow-events.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/vfs.h>

#define FILE_EVENTS \
    (IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE_SELF | IN_DELETE_SELF)
#define DIR_EVENTS                                                     \
    (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | \
     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

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
follow_events_init(struct follow_events *e, struct watch *shared,
                   bool no_events, char *why, size_t cap)
{
    *e = (struct follow_events){0};
    why[0] = '\0';
    if (no_events) {
        return;
    }
    if (!shared) {
        shared = e->own = watch_new();
    }
    e->watch = shared ? watch_join(shared) : NULL;
    if (!e->watch) {
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
    watch_leave(STEAL_PTR(e->watch));
    watch_free(STEAL_PTR(e->own));
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
    if (!e->watch || has_no_events(f->fd)) {
        return DT_OK;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
    f->wd = watch_add(e->watch, path, FILE_EVENTS);
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

    if (f->wd < 0) {
        return;
    }
    at = bucket(e, f->wd);
    while (*at != f) {
        at = &(*at)->next_in_bucket;
    }
    *at = f->next_in_bucket;
    watch_remove(e->watch, f->wd);
    f->wd = -1;
}

/* ---- folders ---- */

void
follow_dir_refresh(struct follow_events *e, struct follow_dir *d)
{
    int wd = e->watch ? watch_add(e->watch, d->path, DIR_EVENTS) : -1;

    if (d->wd >= 0) { /* the same, as a rule */
        watch_remove(e->watch, d->wd);
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
        watch_remove(e->watch, d->wd);
    }
    free(d->path);
    free(d);
}

/* ---- events ---- */

struct taking {
    struct follow_events *events;
    follow_hit_fn hit;
    void *ctx;
};

static void
take_one(void *arg, const struct inotify_event *event)
{
    const struct taking *t = arg;
    struct follow_events *e = t->events;
    struct follow_file **at;

    if (!event || (event->mask & IN_Q_OVERFLOW)) {
        t->hit(t->ctx, NULL, NULL, NULL);
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
        t->hit(t->ctx, f, NULL, NULL);
    }
    for (struct follow_dir *d = e->dirs; d; d = d->next) {
        if (d->wd == event->wd) {
            if (event->mask & IN_IGNORED) {
                d->wd = -1;
            }
            t->hit(t->ctx, NULL, d, event->len ? event->name : NULL);
        }
    }
}

bool
follow_events_take(struct follow_events *e, follow_hit_fn hit, void *ctx)
{
    struct taking t = {e, hit, ctx};

    return e->watch && watch_take(e->watch, take_one, &t);
}
