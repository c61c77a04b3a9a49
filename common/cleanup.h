/* SPDX-License-Identifier: Apache-2.0
 *
 * Scope attributes: locals that free themselves.
 */
#ifndef COMMON_CLEANUP_H
#define COMMON_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void
cleanup_free(void *p)
{
    free(*(void **)p);
}

static inline void
cleanup_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
}

static inline void
cleanup_file(FILE **file)
{
    if (*file) {
        fclose(*file);
    }
}

#define CLEANUP_FREE __attribute__((cleanup(cleanup_free)))
#define CLEANUP_FD __attribute__((cleanup(cleanup_fd)))
#define CLEANUP_FILE __attribute__((cleanup(cleanup_file)))
#define UNUSED __attribute__((unused))

/* Hands a pointer or descriptor out of its cleanup scope. */
#define STEAL_PTR(p)                   \
    __extension__({                    \
        __typeof__(p) steal_tmp = (p); \
        (p) = NULL;                    \
        steal_tmp;                     \
    })
#define STEAL_FD(fd)          \
    __extension__({           \
        int steal_tmp = (fd); \
        (fd) = -1;            \
        steal_tmp;            \
    })

#endif
