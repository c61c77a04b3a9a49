/* SPDX-License-Identifier: Apache-2.0
 *
 * What a child of the listener gives up before it does anything.
 */
#include "sandbox.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_KEEP 16

static int
compare_fds(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

void
sandbox_keep_fds(const int *keep, size_t nr)
{
    int sorted[MAX_KEEP];
    unsigned from = 3;
    size_t n = 0;

    for (size_t i = 0; i < nr && n < MAX_KEEP; i++) {
        if (keep[i] >= 3) {
            sorted[n++] = keep[i];
        }
    }
    qsort(sorted, n, sizeof(*sorted), compare_fds);
    for (size_t i = 0; i < n; i++) {
        unsigned fd = (unsigned)sorted[i];

        if (fd > from) {
            close_range(from, fd - 1, 0);
        }
        from = fd + 1;
    }
    close_range(from, ~0u, 0);
}

void
sandbox_enter(pid_t parent, const char *name)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    sigset_t none;

    for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++) {
        signal(ignored[i], SIG_IGN);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_NAME, name, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) { /* gone before the prctl */
        raise(SIGKILL);
    }
}

int
sandbox_become(uid_t uid, gid_t gid, const char *user, struct error *err)
{
    uid_t r, e, s;
    gid_t rg, eg, sg;

    if ((user ? initgroups(user, gid) : setgroups(0, NULL)) != 0 ||
        setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) {
        return error_errno(err, errno, "cannot become uid %u", (unsigned)uid);
    }
    if (getresuid(&r, &e, &s) != 0 || getresgid(&rg, &eg, &sg) != 0 ||
        r != uid || e != uid || s != uid || rg != gid || eg != gid ||
        sg != gid || (uid != 0 && setuid(0) == 0)) {
        return error_set(err, DT_ERR_INTERNAL,
                         "uid %u was taken, but there is a way back",
                         (unsigned)uid);
    }
    /* The change of identity has cleared it. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
        return error_errno(err, errno, "PR_SET_PDEATHSIG");
    }
    return DT_OK;
}

int
sandbox_harden(struct error *err)
{
    const struct rlimit none = {0, 0};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
        setrlimit(RLIMIT_CORE, &none) != 0) {
        return error_errno(err, errno, "cannot give up rights");
    }
    return DT_OK;
}
