/* SPDX-License-Identifier: Apache-2.0
 *
 * A temporary folder around a unit test: made and entered before it, left and
 * removed after it.
 */
#ifndef CORE_TEST_TEMPDIR_H
#define CORE_TEST_TEMPDIR_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int
tempdir_remove_entry(const char *path, const struct stat *st, int type,
                     struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* Set-up: *state is the folder's path. */
static inline int
tempdir_enter(void **state)
{
    char *path = strdup("/tmp/dtail-test-XXXXXX");

    *state = path;
    return path && mkdtemp(path) && chdir(path) == 0 ? 0 : -1;
}

static inline int
tempdir_leave(void **state)
{
    int status = chdir("/") |
                 nftw(*state, tempdir_remove_entry, 8, FTW_DEPTH | FTW_PHYS);

    free(*state);
    return status;
}

static inline void
tempdir_put(const char *path, int flags, const void *data, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, len), len);
    close(fd);
}

static inline void
tempdir_write(const char *path, const void *data, size_t len)
{
    tempdir_put(path, O_TRUNC, data, len);
}

static inline void
tempdir_append(const char *path, const void *data, size_t len)
{
    tempdir_put(path, O_APPEND, data, len);
}

static inline struct timespec
file_time(void)
{
    int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    struct stat st;

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    close(fd);
    return st.st_mtim;
}

/* What is made from now on is younger than all that is there, by the clock
 * that files are stamped with: the one of clock_gettime may lag behind it. */
static inline void
wait_for_clock(void)
{
    struct timespec first = file_time(), now;

    do {
        now = file_time();
    } while (now.tv_nsec == first.tv_nsec && now.tv_sec == first.tv_sec);
}

#endif
