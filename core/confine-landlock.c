/* SPDX-License-Identifier: Apache-2.0
 *
 * Landlock: which files, ports and processes are out of reach, landlock(7).
 *
 * The kernel's numbers stand here because Debian 12's headers know version 2
 * only, while its users run newer kernels.
 */
#include "confine.h"

#include "cleanup.h"
#include "dtail/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FS_EXECUTE (1u << 0)
#define FS_READ_FILE (1u << 2)
#define FS_READ_DIR (1u << 3)
#define FS_ALL_1 ((1u << 13) - 1) /* version 1: up to making symlinks */
#define FS_REFER (1u << 13)       /* 2 */
#define FS_TRUNCATE (1u << 14)    /* 3 */
#define FS_IOCTL_DEV (1u << 15)   /* 5 */
#define NET_ALL 3u                /* 4: bind and connect TCP */
#define SCOPE_ALL 3u              /* 6: abstract sockets, signals */

#define FS_READING (FS_READ_FILE | FS_READ_DIR)

#define CREATE_VERSION 1u /* landlock_create_ruleset: tell the version */
#define RULE_PATH_BENEATH 1

struct ruleset_attr {
    uint64_t handled_fs;
    uint64_t handled_net;
    uint64_t scoped;
};

struct path_beneath_attr {
    uint64_t allowed;
    int32_t parent_fd;
} __attribute__((packed));

int
confine_landlock_version(void)
{
    long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);

    return version > 0 ? (int)version : 0;
}

/* What the kernel of this version is told to judge; everything judged is
 * refused but for what a rule allows. */
static struct ruleset_attr
choose(int version, enum confine_role role, uint32_t rights)
{
    struct ruleset_attr a = {.handled_fs = FS_ALL_1};

    a.handled_fs |= version >= 2 ? FS_REFER : 0;
    a.handled_fs |= version >= 3 ? FS_TRUNCATE : 0;
    a.handled_fs |= version >= 5 ? FS_IOCTL_DEV : 0;
    a.handled_net = version >= 4 ? NET_ALL : 0;
    a.scoped = version >= 6 ? SCOPE_ALL : 0;
    if (role == CONFINE_WORKER) {
        if (rights & DT_NEEDS_WRITE) {
            a.handled_fs &= FS_READING | FS_EXECUTE;
        }
        if (rights & DT_NEEDS_EXEC) {
            a.handled_fs &= ~(uint64_t)FS_EXECUTE;
        }
        if (rights & DT_NEEDS_NETWORK) {
            a.handled_net = 0;
        }
    }
    return a;
}

/* Reading below /, as far as the user's own rights go. */
static int
allow_reading(int ruleset, struct error *err)
{
    CLEANUP_FD int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const struct path_beneath_attr rule = {.allowed = FS_READING,
                                           .parent_fd = root};

    if (root < 0 || syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH,
                            &rule, 0) != 0) {
        return error_errno(err, errno, "Landlock: reading below /");
    }
    return DT_OK;
}

int
confine_landlock(enum confine_role role, uint32_t rights, struct error *err)
{
    const struct ruleset_attr a =
        choose(confine_landlock_version(), role, rights);
    CLEANUP_FD int ruleset =
        (int)syscall(SYS_landlock_create_ruleset, &a, sizeof(a), 0);

    if (ruleset < 0) {
        return error_errno(err, errno, "Landlock: making the rules");
    }
    if (role == CONFINE_WORKER && allow_reading(ruleset, err) != DT_OK) {
        return err->status;
    }
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) {
        return error_errno(err, errno, "Landlock: taking the rules on");
    }
    return DT_OK;
}
