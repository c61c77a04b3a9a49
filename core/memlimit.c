/* SPDX-License-Identifier: Apache-2.0
 *
 * A limit of the memory that a process can take.
 */
#include "memlimit.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

/* Pages of private writable memory, as RLIMIT_DATA counts them: the sixth
 * number of the file (proc(5)). 0: unknown. */
static unsigned long
data_pages(void)
{
    CLEANUP_FD int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    unsigned long data = 0;
    char text[128];
    ssize_t n;

    if (fd < 0 || (n = read(fd, text, sizeof(text) - 1)) <= 0) {
        return 0;
    }
    text[n] = '\0';
    return sscanf(text, "%*u %*u %*u %*u %*u %lu", &data) == 1 ? data : 0;
}

int
memlimit_set(size_t more, struct error *err)
{
    unsigned long pages = HAS_SANITIZER ? 0 : data_pages();
    long page = sysconf(_SC_PAGESIZE);
    struct rlimit limit;

    if (pages == 0 || page <= 0) {
        return DT_OK;
    }
    limit.rlim_cur = limit.rlim_max = (rlim_t)pages * (rlim_t)page + more;
    if (setrlimit(RLIMIT_DATA, &limit) != 0) {
        return error_errno(err, errno, "cannot limit the memory");
    }
    return DT_OK;
}
