/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's own memcpy, for the libraries in it: libc's, in short pieces.
 *
 * glibc up to 2.39 copies more than about 2 KB with `rep movsb`, which on AMD
 * processors since Zen 3 runs at 4 GB/s when source and target lie badly to
 * each other (glibc bug 30994), a quarter of what short copies reach. Packets
 * of 32 KB that libssh copies three times lie badly: 40 % of the CPU time of
 * a client that receives a big file, 30 % of the server's session process.
 * glibc's own cure is an environment variable that is read before main().
 *
 * The linker exports this symbol, since libraries of the program refer to it,
 * and they find it before libc's. Not with sanitizers, which have their own.
 */
#include <features.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define COPY_IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COPY_IS_SANITIZED 1
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(COPY_IS_SANITIZED)
#if !__GLIBC_PREREQ(2, 40)

#define PIECE 2048u /* below the smallest limit at which glibc changes over */

/* libc's memcpy under its other name (the room is not looked at: SIZE_MAX); by
 * an alias, since the compiler would make it memcpy again. */
void *libc_copy(void *to, const void *from, size_t len,
                size_t room) __asm__("__memcpy_chk");

void *memcpy(void *restrict to, const void *restrict from, size_t len)
    __attribute__((visibility("default")));

void *
memcpy(void *restrict to, const void *restrict from, size_t len)
{
    char *at = to;
    const char *next = from;

    if (len <= PIECE) {
        return libc_copy(to, from, len, SIZE_MAX);
    }
    for (; len > PIECE; len -= PIECE) {
        libc_copy(at, next, PIECE, SIZE_MAX);
        at += PIECE;
        next += PIECE;
    }
    libc_copy(at, next, len, SIZE_MAX);
    return to;
}

#endif
#endif
