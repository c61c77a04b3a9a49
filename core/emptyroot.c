/* SPDX-License-Identifier: Apache-2.0
 *
 * An empty root folder.
 */
#include "emptyroot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int
emptyroot_open(struct error *err)
{
    static const char *const places[] = {"/run", "/tmp"};
    int fd = -1, e = ENOENT;

    for (size_t i = 0; fd < 0 && i < sizeof(places) / sizeof(*places); i++) {
        char path[64];

        snprintf(path, sizeof(path), "%s/dserver-empty.XXXXXX", places[i]);
        if (mkdtemp(path)) {
            fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
            e = errno;
            rmdir(path);
        } else {
            e = errno;
        }
    }
    return fd >= 0 ? fd
                   : error_errno(err, e, "no empty folder in /run or /tmp");
}

int
emptyroot_enter(int fd, struct error *err)
{
    int st = DT_OK;

    if (fchdir(fd) != 0 || chroot(".") != 0 || chdir("/") != 0) {
        st = error_errno(err, errno, "empty root folder");
    }
    close(fd);
    return st;
}
