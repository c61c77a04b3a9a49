/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells which plugin a process dies of.
 *
 * Threads: what runs is noted in thread-local storage, so the handler, which
 * runs in the thread that crashed, finds it without a lock. What the handler
 * needs is static, because a handler gets no argument: it is written once,
 * by plugin_catch_crashes, before any plugin runs.
 */
#include "plugin-crash.h"
#include "cleanup.h"
#include "plugin.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define NR_SIGNALS (sizeof(crash_signals) / sizeof(crash_signals[0]))

static struct {
    struct plugin_crash *shared;
    int fd;
    int exit_status;
    struct sigaction before[NR_SIGNALS];
    pthread_key_t stack_key; /* frees a thread's signal stack */
    atomic_bool is_on;
    atomic_int crashed_tid; /* 0: none yet */
} catcher;

static _Thread_local struct {
    const char *volatile plugin; /* NULL: no hook runs */
    const char *volatile hook;
    bool has_stack;
} running;

/* ---- the signal stack of a thread ---- */

static void
free_stack(void *memory)
{
    const stack_t off = {.ss_flags = SS_DISABLE};

    sigaltstack(&off, NULL);
    free(memory);
}

/* Without one an overflow still kills the process, only without a message:
 * so a failure here is no error. */
static void
give_stack(void)
{
    long least = sysconf(_SC_MINSIGSTKSZ);
    stack_t now, ours = {.ss_size = 16384 + (least > 0 ? (size_t)least : 8192)};

    running.has_stack = true;
    /* a sanitizer's own one stays */
    if (sigaltstack(NULL, &now) < 0 || !(now.ss_flags & SS_DISABLE)) {
        return;
    }
    ours.ss_sp = malloc(ours.ss_size);
    if (!ours.ss_sp) {
        return;
    }
    if (sigaltstack(&ours, NULL) < 0) {
        free(ours.ss_sp);
    } else if (pthread_setspecific(catcher.stack_key, ours.ss_sp) != 0) {
        free_stack(ours.ss_sp);
    }
}

struct plugin_mark
plugin_enter(const char *plugin, const char *hook)
{
    struct plugin_mark before = {running.plugin, running.hook};

    if (!running.has_stack && atomic_load(&catcher.is_on)) {
        give_stack();
    }
    running.hook = hook;
    running.plugin = plugin;
    return before;
}

void
plugin_leave(struct plugin_mark before)
{
    running.plugin = before.plugin;
    running.hook = before.hook;
}

/* ---- the handler: async-signal-safe calls only ---- */

static const char *
signal_name(int signal)
{
    switch (signal) {
    case SIGSEGV:
        return "SIGSEGV";
    case SIGBUS:
        return "SIGBUS";
    case SIGFPE:
        return "SIGFPE";
    case SIGILL:
        return "SIGILL";
    case SIGABRT:
        return "SIGABRT";
    default:
        return "a signal";
    }
}

/* Appends to a text of `cap` bytes at `len`; returns the new length, without
 * the NUL, which always fits. */
static size_t
append(char *to, size_t cap, size_t len, const char *text)
{
    while (*text && len + 1 < cap) {
        to[len++] = *text++;
    }
    to[len] = '\0';
    return len;
}

static void
tell(int signal)
{
    const char *plugin = running.plugin;
    const char *hook = plugin ? running.hook : "";
    char text[192];
    size_t len = 0;

    if (catcher.shared) {
        struct plugin_crash *c = catcher.shared;

        append(c->plugin, sizeof(c->plugin), 0, plugin ? plugin : "");
        append(c->hook, sizeof(c->hook), 0, hook);
        __atomic_store_n(&c->signal, signal, __ATOMIC_RELEASE);
    }
    if (catcher.fd < 0) {
        return;
    }
    if (plugin) {
        len = append(text, sizeof(text), len, "plugin ");
        len = append(text, sizeof(text), len, plugin);
        len = append(text, sizeof(text), len, " crashed in ");
        len = append(text, sizeof(text), len, hook);
    } else {
        len = append(text, sizeof(text), len, "crashed outside of the plugins");
    }
    len = append(text, sizeof(text), len, ": ");
    len = append(text, sizeof(text), len, signal_name(signal));
    len = append(text, sizeof(text), len, "\n");
    while (write(catcher.fd, text, len) < 0 && errno == EINTR) {
    }
}

static void
on_crash(int signal)
{
    int tid = (int)syscall(SYS_gettid), first = 0;

    if (atomic_compare_exchange_strong(&catcher.crashed_tid, &first, tid)) {
        tell(signal);
        if (catcher.exit_status > 0 && running.plugin) {
            _exit(catcher.exit_status);
        }
    } else if (first != tid) {
        /* another thread is telling its crash and ends the process */
        for (;;) {
            pause();
        }
    }
    for (size_t i = 0; i < NR_SIGNALS; i++) {
        if (crash_signals[i] == signal) {
            sigaction(signal, &catcher.before[i], NULL);
        }
    }
    /* blocked while the handler runs, so it comes where the fault was */
    raise(signal);
}

void
plugin_catch_crashes(struct plugin_crash *shared, int fd, int exit_status)
{
    struct sigaction act = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};

    sigemptyset(&act.sa_mask);
    catcher.shared = shared;
    catcher.fd = fd;
    catcher.exit_status = exit_status;
    if (pthread_key_create(&catcher.stack_key, free_stack) != 0) {
        return; /* the process still dies of its signal, only untold */
    }
    for (size_t i = 0; i < NR_SIGNALS; i++) {
        sigaction(crash_signals[i], &act, &catcher.before[i]);
    }
    atomic_store(&catcher.is_on, true);
}
