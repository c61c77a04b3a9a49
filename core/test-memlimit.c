/* SPDX-License-Identifier: Apache-2.0
 *
 * The limit of a process's memory holds, and lets through what is below it.
 */
#include "memlimit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MIB (1u << 20)

static bool
can_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        return false;
    }
    munmap(p, bytes);
    return true;
}

static void
test_limit(void **state)
{
    int status;
    pid_t pid;

    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* nothing is limited then */
#endif
    if (getenv("DTAIL_TEST_WRAPPER")) {
        skip(); /* valgrind has its own idea of memory */
    }
    pid = fork();
    if (pid == 0) {
        struct error err = ERROR_INIT;
        int bad = memlimit_set(8 * MIB, &err) != DT_OK;

        bad |= can_map(4 * MIB) ? 0 : 2;
        bad |= can_map(16 * MIB) ? 4 : 0;
        _exit(bad);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(can_map(64 * MIB)); /* it was the child's limit */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limit)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
