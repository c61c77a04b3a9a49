/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults on demand, preloaded into server and clients (fault-functions.sh):
 *     FAULT_EIO=FILE:FROM[-TO]  reads of these bytes of FILE fail with EIO
 *     FAULT_SPLIT=SEED          reads and writes of files, pipes and stream
 *                               sockets take any smaller number of bytes, and
 *                               calls that may be interrupted are, at random
 *     FAULT_CLOCK=SECONDS       each look at the wall clock is that far from
 *                               the last one, once ahead and once behind
 *     FAULT_ALLOC=FILE          the Nth allocation of programs and plugins
 *                               fails, N being the number in FILE (0: none),
 *                               as it is at that time; libraries have their
 *                               own tests
 *     FAULT_PROCESS=NAME        only in processes of that name (ps), counted
 *                               from where they got it
 *     FAULT_HIT=FILE            a byte is appended for each fault; to know that
 *                               there was one
 *
 * Threads: any. Only what the programs call is here: read, write, pread,
 * preadv, recv, send, recvmsg, sendmsg, poll; no file is mapped.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct {
    char eio_path[PATH_MAX];
    size_t eio_len;
    off_t eio_from, eio_to;
    bool is_split, is_jumping;
    uint64_t seed;
    long jump;
    volatile char *alloc; /* the file, shared; or NULL. A fault is noted at 64:
                             children close descriptors that they do not know */
    const char *process;
    int hit_fd;
} fault = {.hit_fd = -1};

static _Atomic uint64_t nr_calls;
static _Atomic long nr_allocs;
static __thread bool was_interrupted;

__attribute__((constructor)) static void
init(void)
{
    const char *eio = getenv("FAULT_EIO"), *split = getenv("FAULT_SPLIT");
    const char *jump = getenv("FAULT_CLOCK"), *alloc = getenv("FAULT_ALLOC");
    const char *hit = getenv("FAULT_HIT"), *colon;
    char *end;

    if (eio && (colon = strrchr(eio, ':')) &&
        (size_t)(colon - eio) < sizeof(fault.eio_path)) {
        fault.eio_len = (size_t)(colon - eio);
        memcpy(fault.eio_path, eio, fault.eio_len);
        fault.eio_from = strtoll(colon + 1, &end, 10);
        fault.eio_to = *end == '-' ? strtoll(end + 1, NULL, 10) : INT64_MAX;
    }
    if (split) {
        fault.seed = strtoull(split, NULL, 10) * 0x9e3779b97f4a7c15u;
        fault.is_split = true;
    }
    if (jump) {
        fault.jump = strtol(jump, NULL, 10);
        fault.is_jumping = true;
    }
    if (alloc) {
        int fd = open(alloc, O_RDWR | O_CLOEXEC);
        void *page =
            mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

        fault.alloc = page != MAP_FAILED ? page : NULL;
        fault.process = getenv("FAULT_PROCESS");
        close(fd);
    }
    if (hit) { /* high, where nobody closes it by number */
        int fd = open(hit, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

        fault.hit_fd = fcntl(fd, F_DUPFD_CLOEXEC, 900);
        close(fd);
    }
}

/* Straight to the kernel: the shim's own write would be split. */
static void
note_hit(void)
{
    int saved = errno;

    if (fault.hit_fd >= 0) {
        syscall(SYS_write, fault.hit_fd, "x", 1);
    }
    errno = saved;
}

static uint64_t
dice(void)
{
    uint64_t x = fault.seed + (uint64_t)getpid() +
                 atomic_fetch_add(&nr_calls, 1) * 0xbf58476d1ce4e5b9u;

    x ^= x >> 30;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* ---- shorter, interrupted ---- */

/* Libraries are not under test: libssh ends a session at EINTR, which the
 * programs keep from it (signals are blocked), and now and then stands still in
 * a handshake that comes byte by byte; libseccomp writes its filter to a memory
 * file in one call. */
static bool
is_of_library(const void *caller)
{
    Dl_info info;

    return dladdr(caller, &info) && info.dli_fname &&
           (strstr(info.dli_fname, "/libssh") ||
            strstr(info.dli_fname, "/libseccomp"));
}

/* A call that waits may be interrupted; never twice in a row. */
static bool
is_interrupted(int fd, const void *caller)
{
    if (!fault.is_split || was_interrupted || dice() % 8 != 0 ||
        (fd >= 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK)) ||
        is_of_library(caller)) {
        was_interrupted = false;
        return false;
    }
    was_interrupted = true;
    note_hit();
    errno = EINTR;
    return true;
}

/* Files, pipes and streams may be cut anywhere; packets and the small objects
 * of the kernel may not. */
static bool
is_divisible(int fd, bool is_write)
{
    int type = 0;
    socklen_t len = sizeof(type);
    struct stat st;

    if (!fault.is_split || fstat(fd, &st) != 0) {
        return false;
    }
    if (S_ISSOCK(st.st_mode)) {
        return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
               type == SOCK_STREAM;
    }
    /* a file takes all bytes, unless the disk is full */
    return (S_ISREG(st.st_mode) && !is_write) || S_ISFIFO(st.st_mode);
}

static size_t
shorter(int fd, size_t len, bool is_write, const void *caller)
{
    uint64_t x;

    if (len < 2 || !is_divisible(fd, is_write) || is_of_library(caller)) {
        return len;
    }
    x = dice();
    switch (x & 7) {
    case 0:
        note_hit();
        return 1;
    case 1:
    case 2:
        note_hit();
        return 1 + (size_t)(x >> 8) % len;
    default:
        return len;
    }
}

/* A message's parts, cut to the first that are `len` bytes together. */
static int
cut_parts(const struct iovec *from, int nr, struct iovec *to, size_t len)
{
    int n = 0;

    for (; n < nr && len > 0; n++) {
        to[n] = from[n];
        if (to[n].iov_len > len) {
            to[n].iov_len = len;
        }
        len -= to[n].iov_len;
    }
    return n > 0 ? n : 1;
}

static size_t
sum_parts(const struct iovec *v, int nr)
{
    size_t sum = 0;

    for (int i = 0; i < nr; i++) {
        sum += v[i].iov_len;
    }
    return sum;
}

/* ---- bytes that cannot be read ---- */

/* How much of `len` bytes at `at` can be read. -1 with EIO: not one. */
static ssize_t
readable(int fd, size_t len, off_t at)
{
    char link[40], path[PATH_MAX];
    ssize_t n;

    if (!fault.eio_len || len == 0 || at >= fault.eio_to ||
        at + (off_t)len <= fault.eio_from) {
        return (ssize_t)len;
    }
    memcpy(link, "/proc/self/fd/", 14);
    {
        char digits[12];
        int nr = 0, i = 14;
        unsigned v = (unsigned)fd;

        do {
            digits[nr++] = (char)('0' + v % 10);
            v /= 10;
        } while (v);
        while (nr) {
            link[i++] = digits[--nr];
        }
        link[i] = 0;
    }
    n = readlink(link, path, sizeof(path));
    if (n != (ssize_t)fault.eio_len ||
        memcmp(path, fault.eio_path, fault.eio_len) != 0) {
        return (ssize_t)len;
    }
    if (at < fault.eio_from) {
        return (ssize_t)(fault.eio_from - at);
    }
    note_hit();
    errno = EIO;
    return -1;
}

/* ---- the calls ---- */

#define CALLER __builtin_return_address(0)
#define REAL(name) ((__typeof__(&name))real(#name))

/* A function's next definition. dlsym may allocate, so it is asked once. */
static void *
real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

ssize_t
read(int fd, void *data, size_t len)
{
    off_t at = fault.eio_len ? lseek(fd, 0, SEEK_CUR) : -1;
    ssize_t n = at >= 0 ? readable(fd, len, at) : (ssize_t)len;

    if (n < 0 || is_interrupted(fd, CALLER)) {
        return -1;
    }
    return syscall(SYS_read, fd, data, shorter(fd, (size_t)n, false, CALLER));
}

ssize_t
pread(int fd, void *data, size_t len, off_t at)
{
    ssize_t n = readable(fd, len, at);

    if (n < 0 || is_interrupted(fd, CALLER)) {
        return -1;
    }
    return syscall(SYS_pread64, fd, data, shorter(fd, (size_t)n, false, CALLER),
                   at);
}

ssize_t
preadv(int fd, const struct iovec *v, int nr, off_t at)
{
    struct iovec cut[16];
    size_t sum = sum_parts(v, nr);
    ssize_t n = readable(fd, sum, at);
    size_t len;

    if (n < 0 || is_interrupted(fd, CALLER)) {
        return -1;
    }
    len = shorter(fd, (size_t)n, false, CALLER);
    if (len < sum && nr <= 16) {
        nr = cut_parts(v, nr, cut, len);
        v = cut;
    }
    return syscall(SYS_preadv, fd, v, nr, at, 0);
}

ssize_t
write(int fd, const void *data, size_t len)
{
    return is_interrupted(fd, CALLER)
               ? -1
               : syscall(SYS_write, fd, data, shorter(fd, len, true, CALLER));
}

ssize_t
recv(int fd, void *data, size_t len, int flags)
{
    return is_interrupted(fd, CALLER)
               ? -1
               : syscall(SYS_recvfrom, fd, data,
                         shorter(fd, len, false, CALLER), flags, NULL, NULL);
}

ssize_t
send(int fd, const void *data, size_t len, int flags)
{
    return is_interrupted(fd, CALLER)
               ? -1
               : syscall(SYS_sendto, fd, data, shorter(fd, len, true, CALLER),
                         flags, NULL, 0);
}

ssize_t
recvmsg(int fd, struct msghdr *m, int flags)
{
    return is_interrupted(fd, CALLER) ? -1 : syscall(SYS_recvmsg, fd, m, flags);
}

ssize_t
sendmsg(int fd, const struct msghdr *m, int flags)
{
    struct iovec cut[64];
    struct msghdr part = *m;
    size_t sum = sum_parts(m->msg_iov, (int)m->msg_iovlen), len;

    if (is_interrupted(fd, CALLER)) {
        return -1;
    }
    len = shorter(fd, sum, true, CALLER);
    if (len < sum && m->msg_iovlen <= 64 && m->msg_controllen == 0) {
        part.msg_iovlen =
            (size_t)cut_parts(m->msg_iov, (int)m->msg_iovlen, cut, len);
        part.msg_iov = cut;
    }
    return syscall(SYS_sendmsg, fd, &part, flags);
}

int
poll(struct pollfd *p, nfds_t nr, int timeout)
{
    static __typeof__(&poll) next;

    if (!next) {
        next = REAL(poll);
    }
    return timeout != 0 && is_interrupted(-1, CALLER) ? -1
                                                      : next(p, nr, timeout);
}

/* ---- the wall clock ---- */

static long
jump(void)
{
    if (!fault.is_jumping) {
        return 0;
    }
    return atomic_fetch_add(&nr_calls, 1) % 2 ? fault.jump : -fault.jump;
}

int
clock_gettime(clockid_t clock, struct timespec *out)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, out);

    if (rc == 0 && fault.is_jumping &&
        (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        out->tv_sec += jump();
        note_hit();
    }
    return rc;
}

time_t
time(time_t *out)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (out) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}

/* ---- memory ---- */

/* glibc's own names: the shim replaces the others. */
void *__libc_malloc(size_t len);
void *__libc_calloc(size_t nr, size_t len);
void *__libc_realloc(void *p, size_t len);

static bool
is_named(void)
{
    char name[17] = "";

    if (!fault.process || atomic_load(&nr_allocs) > 0) {
        return true;
    }
    prctl(PR_GET_NAME, name, 0, 0, 0);
    return strcmp(name, fault.process) == 0;
}

/* The program itself, a plugin, or jansson on their behalf. */
static bool
is_ours(const void *caller)
{
    Dl_info info;
    const char *name;

    if (!dladdr(caller, &info) || !info.dli_fname) {
        return false;
    }
    name = strrchr(info.dli_fname, '/');
    name = name ? name + 1 : info.dli_fname;
    return strncmp(name, "lib", 3) != 0 || strstr(name, "jansson");
}

static bool
fails(const void *caller)
{
    long at = 0;

    if (!fault.alloc || !is_named() || !is_ours(caller)) {
        return false;
    }
    for (const volatile char *p = fault.alloc; *p >= '0' && *p <= '9'; p++) {
        at = at * 10 + (*p - '0');
    }
    if (atomic_fetch_add(&nr_allocs, 1) + 1 != at) {
        return false;
    }
    fault.alloc[64] = 'x';
    errno = ENOMEM;
    return true;
}

void *
malloc(size_t len)
{
    return fails(CALLER) ? NULL : __libc_malloc(len);
}

void *
calloc(size_t nr, size_t len)
{
    return fails(CALLER) ? NULL : __libc_calloc(nr, len);
}

void *
realloc(void *p, size_t len)
{
    return fails(CALLER) ? NULL : __libc_realloc(p, len);
}

void *
reallocarray(void *p, size_t nr, size_t len)
{
    size_t sum;

    if (__builtin_mul_overflow(nr, len, &sum) || fails(CALLER)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(p, sum);
}

char *
strdup(const char *text)
{
    size_t len = strlen(text) + 1;
    char *copy = fails(CALLER) ? NULL : __libc_malloc(len);

    return copy ? memcpy(copy, text, len) : NULL;
}
