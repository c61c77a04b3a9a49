/* SPDX-License-Identifier: Apache-2.0
 *
 * Standard descriptors that the caller of a program closed.
 */
#include "stdfds.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int
stdfds_fill(int flags, struct error *err)
{
    int fd;

    do {
        fd = open("/dev/null", flags);
        if (fd < 0) {
            return error_errno(err, errno, "/dev/null");
        }
    } while (fd <= STDERR_FILENO);
    close(fd);
    return DT_OK;
}
