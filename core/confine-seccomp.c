/* SPDX-License-Identifier: Apache-2.0
 *
 * seccomp: which system calls fail with EPERM, seccomp(2).
 *
 * A list of what is refused, not of what is allowed: a plugin may use any
 * library, and what the libraries of the next distribution call for harmless
 * things is not known here. Memory stays executable on request: PCRE2's JIT
 * needs that.
 */
#include "confine.h"

#include "dtail/plugin.h"

#ifdef HAVE_SECCOMP

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Ways to other processes, to the kernel's settings, and round this filter
 * (io_uring does by itself what its ring says): refused to everybody. */
static const int never[] = {
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(kcmp),
    SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(pidfd_send_signal),
    SCMP_SYS(kill),
    SCMP_SYS(tkill),
    SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(rt_tgsigqueueinfo),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(bpf),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(acct),
    SCMP_SYS(quotactl),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(move_mount),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount),
    SCMP_SYS(fspick),
    SCMP_SYS(open_tree),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(syslog),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(personality),
    SCMP_SYS(vhangup),
};

static const int executing[] = {
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
};

static const int networking[] = {
    SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind),
    SCMP_SYS(listen), SCMP_SYS(accept),  SCMP_SYS(accept4),
};

/* What changes files by name, or their attributes by descriptor; opening for
 * writing is told by its flags, see refuse_opening. */
static const int writing[] = {
    SCMP_SYS(creat),        SCMP_SYS(mkdir),        SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir),        SCMP_SYS(unlink),       SCMP_SYS(unlinkat),
    SCMP_SYS(rename),       SCMP_SYS(renameat),     SCMP_SYS(renameat2),
    SCMP_SYS(link),         SCMP_SYS(linkat),       SCMP_SYS(symlink),
    SCMP_SYS(symlinkat),    SCMP_SYS(mknod),        SCMP_SYS(mknodat),
    SCMP_SYS(truncate),     SCMP_SYS(chmod),        SCMP_SYS(fchmod),
    SCMP_SYS(fchmodat),     SCMP_SYS(chown),        SCMP_SYS(fchown),
    SCMP_SYS(fchownat),     SCMP_SYS(lchown),       SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr),    SCMP_SYS(fsetxattr),    SCMP_SYS(removexattr),
    SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr), SCMP_SYS(utime),
    SCMP_SYS(utimes),       SCMP_SYS(futimesat),    SCMP_SYS(utimensat),
};

static const int opening[] = {
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(openat2),
};

#define NR(list) (sizeof(list) / sizeof(*(list)))

bool
confine_has_seccomp(void)
{
    return prctl(PR_GET_SECCOMP) >= 0;
}

/* 0 or a negative errno, as libseccomp has it. */
static int
refuse(scmp_filter_ctx filter, const int *calls, size_t nr)
{
    int e = 0;

    for (size_t i = 0; e == 0 && i < nr; i++) {
        e = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
    }
    return e;
}

/* Refuses open and openat where flags & mask == value. openat2 keeps its flags
 * out of a filter's sight: there Landlock alone stands. */
static int
refuse_opening(scmp_filter_ctx filter, unsigned mask, unsigned value)
{
    int e = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(open), 1,
                             SCMP_A1(SCMP_CMP_MASKED_EQ, mask, value));

    return e ? e
             : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(openat),
                                1, SCMP_A2(SCMP_CMP_MASKED_EQ, mask, value));
}

static int
refuse_writing(scmp_filter_ctx filter)
{
    static const unsigned flags[] = {O_CREAT, O_TRUNC};
    int e = refuse(filter, writing, NR(writing));

    for (size_t i = 0; e == 0 && i < NR(flags); i++) {
        e = refuse_opening(filter, flags[i], flags[i]);
    }
    for (unsigned how = O_WRONLY; e == 0 && how <= O_ACCMODE; how++) {
        e = refuse_opening(filter, O_ACCMODE, how);
    }
    return e;
}

/* Threads yes, processes no. clone3 keeps its flags in memory, where a filter
 * cannot look; without it the C library uses clone. */
static int
refuse_processes(scmp_filter_ctx filter)
{
    int e = refuse(filter, executing, NR(executing));

    if (e == 0) {
        e = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3),
                             0);
    }
    return e ? e
             : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone),
                                1,
                                SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
}

/* What the role may not do, but for refuse_signals. */
static int
add_rules(scmp_filter_ctx filter, enum confine_role role, uint32_t rights)
{
    int e = refuse(filter, never, NR(never));

    rights = role == CONFINE_WORKER ? rights : 0;
    if (e == 0 && !(rights & DT_NEEDS_EXEC)) {
        e = refuse_processes(filter);
    }
    if (e == 0 && !(rights & DT_NEEDS_NETWORK)) {
        e = refuse(filter, networking, NR(networking));
    }
    if (e == 0 && !(rights & DT_NEEDS_WRITE)) {
        e = refuse_writing(filter);
    }
    if (e == 0 && role == CONFINE_SESSION) {
        e = refuse(filter, opening, NR(opening));
    }
    return e;
}

/* The first `len` bytes of a file. Returns 0 or a negative errno. */
static int
read_file(int fd, char *data, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = pread(fd, data + done, len - done, (off_t)done);

        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            return n == 0 ? -EIO : -errno;
        }
    }
    return 0;
}

/* The program as bytes; libseccomp gives it to a file only. */
static int
export_program(scmp_filter_ctx filter, struct buf *program, struct error *err)
{
    CLEANUP_FD int fd = memfd_create("seccomp", MFD_CLOEXEC);
    int e = fd < 0 ? -errno : seccomp_export_bpf(filter, fd);
    off_t len = e == 0 ? lseek(fd, 0, SEEK_END) : 0;

    if (e == 0 && buf_reserve(program, (size_t)len) != DT_OK) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    e = e == 0 ? read_file(fd, program->data, (size_t)len) : e;
    program->len = e == 0 ? (size_t)len : 0;
    return e == 0 ? DT_OK : error_errno(err, -e, "seccomp: making the filter");
}

int
confine_seccomp_make(enum confine_role role, uint32_t rights,
                     struct buf *program, struct error *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int e, st;

    if (!filter) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    /* a search tree instead of a list */
    seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    e = add_rules(filter, role, rights);
    st = e == 0 ? export_program(filter, program, err)
                : error_errno(err, -e, "seccomp: making the filter");
    seccomp_release(filter);
    return st;
}

/* A signal by number and thread reaches the own threads only, so that abort
 * and the report of a crash work: a filter of its own, as every process has its
 * own number. */
static int
refuse_signals(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int e =
        filter
            ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill),
                               1, SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)getpid()))
            : -ENOMEM;

    if (e == 0) {
        e = seccomp_load(filter);
    }
    seccomp_release(filter);
    return e;
}

int
confine_seccomp_load(const struct buf *program, struct error *err)
{
    const struct sock_fprog p = {
        .len = (unsigned short)(program->len / sizeof(struct sock_filter)),
        .filter = (struct sock_filter *)(void *)program->data};
    int e = refuse_signals();

    if (e == 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) != 0) {
        e = -errno;
    }
    return e == 0 ? DT_OK : error_errno(err, -e, "seccomp");
}

#else

bool
confine_has_seccomp(void)
{
    return false;
}

int
confine_seccomp_make(enum confine_role role, uint32_t rights,
                     struct buf *program, struct error *err)
{
    (void)role;
    (void)rights;
    (void)program;
    return error_set(err, DT_ERR_INTERNAL, "built without libseccomp");
}

int
confine_seccomp_load(const struct buf *program, struct error *err)
{
    (void)program;
    return error_set(err, DT_ERR_INTERNAL, "built without libseccomp");
}

#endif
