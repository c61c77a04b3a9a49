/* SPDX-License-Identifier: Apache-2.0
 *
 * The one inotify instance of a process, shared by all queries that follow:
 * the kernel allows a user 128 of them, not one a query.
 *
 * Whoever is awake takes the events for all: each member has a queue of its
 * own, and is woken when something was put into it. A member that does not
 * take for long loses events and is told so.
 *
 * Threads: the hub any; a member one at a time.
 */
#ifndef CORE_WATCH_H
#define CORE_WATCH_H

#include <dtail/plugin.h>

#include <sys/inotify.h>

struct watch;
struct watch_member;

/* Opens nothing yet. NULL: out of memory. */
struct watch *watch_new(void);
/* All members must have left. */
void watch_free(struct watch *w);

/* A new member; the first one opens inotify. NULL: errno says why not. */
struct watch_member *watch_join(struct watch *w);
void watch_leave(struct watch_member *m);
/* Has `epoll_fd` say when watch_take has something. 0 or -1 (errno). */
int watch_poll(struct watch_member *m, int epoll_fd);

/* Watches a path; the number goes to watch_remove, once for each add. -1:
 * errno says why not. The same file has the same number. */
int watch_add(struct watch_member *m, const char *path, uint32_t mask);
void watch_remove(struct watch_member *m, int wd);

/* Calls `take` for each event, also for those of other members' files; NULL:
 * some were lost. It may add and remove. True if there was something. */
typedef void (*watch_take_fn)(void *ctx, const struct inotify_event *event);
bool watch_take(struct watch_member *m, watch_take_fn take, void *ctx);

#endif
