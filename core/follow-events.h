/* SPDX-License-Identifier: Apache-2.0
 *
 * What inotify says of the files and folders of a follow: a hint where to
 * look, never the only one. The instance is the process's (watch.h).
 *
 * One thread at a time.
 */
#ifndef CORE_FOLLOW_EVENTS_H
#define CORE_FOLLOW_EVENTS_H

#include "follow-file.h"
#include "watch.h"

#define FOLLOW_EVENTS_BUCKETS 256u

/* A folder in which paths may come and go; shared. */
struct follow_dir {
    char *path;
    int wd; /* -1: not watched */
    unsigned refs;
    struct follow_dir *next;
};

struct follow_events {
    struct watch *own;          /* where nobody shares one */
    struct watch_member *watch; /* NULL: no events, everything is polled */
    struct follow_file *files[FOLLOW_EVENTS_BUCKETS]; /* by wd */
    struct follow_dir *dirs;
    bool is_full; /* a limit was hit */
};

/* `shared` NULL: one of its own. Never fails: without inotify `watch` is NULL
 * and `why` (a buffer) says which limit was hit; "" if none. */
void follow_events_init(struct follow_events *e, struct watch *shared,
                        bool no_events, char *why, size_t cap);
void follow_events_fini(struct follow_events *e);

/* Watches the very file that is open, or sets is_polled. DT_LIMIT: `why` says
 * which limit was hit just now for the first time; else DT_OK. */
int follow_events_add(struct follow_events *e, struct follow_file *f, char *why,
                      size_t cap);
void follow_events_remove(struct follow_events *e, struct follow_file *f);

/* The folder of that path, watched if it exists. NULL: out of memory. */
struct follow_dir *follow_dir_ref(struct follow_events *e, const char *path);
void follow_dir_unref(struct follow_events *e, struct follow_dir *d);
/* Watches what has this path now; another folder may. */
void follow_dir_refresh(struct follow_events *e, struct follow_dir *d);

/* Takes what the kernel has to say; `hit` is called for each file or folder
 * (the other is NULL; `name`: in the folder, NULL: the folder itself), and
 * with both NULL when events were lost. True if there was something. */
typedef void (*follow_hit_fn)(void *ctx, struct follow_file *f,
                              struct follow_dir *d, const char *name);
bool follow_events_take(struct follow_events *e, follow_hit_fn hit, void *ctx);

#endif
