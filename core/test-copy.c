/* SPDX-License-Identifier: Apache-2.0
 *
 * memcpy as the program and its libraries have it: right for all lengths, and
 * where glibc's is slow, the program's own also for libraries.
 */
#include <dlfcn.h>
#include <features.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LONGEST 70000
#define SPARE 64 /* bytes on both sides that must stay */

/* Called through a pointer, so that the compiler puts nothing in its place. */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

static void
check_length(const char *from, char *to, size_t len)
{
    char *at = to + SPARE + len % 13;

    memset(to, 0x55, len + 3 * SPARE);
    assert_ptr_equal(copy(at, from + len % 7, len), at);
    assert_memory_equal(at, from + len % 7, len);
    for (size_t i = 1; i <= SPARE; i++) {
        assert_int_equal(at[-(ptrdiff_t)i], 0x55);
        assert_int_equal(at[len + i - 1], 0x55);
    }
}

static void
test_lengths(void **state)
{
    char *from = malloc(LONGEST + SPARE), *to = malloc(LONGEST + 4 * SPARE);
    uint32_t seed = 1;

    (void)state;
    assert_non_null(from);
    assert_non_null(to);
    for (size_t i = 0; i < LONGEST + SPARE; i++) {
        seed = seed * 1664525u + 1013904223u;
        from[i] = (char)(seed >> 24);
    }
    for (size_t len = 0; len < 10000; len++) {
        check_length(from, to, len);
    }
    check_length(from, to, 32768);
    check_length(from, to, 65536);
    check_length(from, to, LONGEST);
    free(from);
    free(to);
}

/* What a library's call of memcpy comes to. */
static void
test_libraries(void **state)
{
    void *found = dlsym(RTLD_DEFAULT, "memcpy");
    Dl_info where, here;

    (void)state;
    assert_non_null(found);
    assert_int_not_equal(dladdr(found, &where), 0);
    assert_int_not_equal(dladdr((void *)(uintptr_t)test_lengths, &here), 0);
#if defined(__x86_64__) && !__GLIBC_PREREQ(2, 40) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_string_equal(where.dli_fname, here.dli_fname);
#else
    assert_string_not_equal(where.dli_fname, here.dli_fname);
#endif
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_libraries),
    };

    return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}
