/* SPDX-License-Identifier: Apache-2.0
 *
 * What the main thread of a client waits for.
 */
#include "loop.h"

#include "clock.h"
#include "meter.h"
#include "statusline.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define AGAIN_MS                                                              \
    500               /* timeout(1) sends its signal twice: the second within \
                         that time is the same one */
#define TWICE_MS 3000 /* within which a second SIGINT ends the program */

struct loop {
    struct loop_args args;
    int signal_fd;
    int64_t interrupt_until; /* a second SIGINT before that ends */
    bool is_held;            /* output, so that statistics can be read */
    int64_t deadline;
    int64_t ended_ms; /* a signal has ended it; 0: none */
};

static void
fill_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGQUIT);
    sigaddset(set, SIGCONT);  /* the shell has written meanwhile */
    sigaddset(set, SIGWINCH); /* the terminal has another width */
}

int
loop_block_signals(struct error *err)
{
    sigset_t set;
    int rc;

    fill_signals(&set);
    rc = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (rc != 0) {
        return error_errno(err, rc, "signals");
    }
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR) {
        return error_errno(err, errno, "signals");
    }
    return DT_OK;
}

int
loop_new(const struct loop_args *args, struct loop **out, struct error *err)
{
    struct loop *l = calloc(1, sizeof(*l));
    sigset_t set;

    if (!l) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    l->args = *args;
    fill_signals(&set);
    l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (l->signal_fd < 0) {
        int saved = errno;

        free(l);
        return error_errno(err, saved, "signals");
    }
    l->deadline = args->client->deadline_ms > 0
                      ? clock_now_ms() + args->client->deadline_ms
                      : CLOCK_NEVER;
    *out = l;
    return DT_OK;
}

void
loop_free(struct loop *l)
{
    if (l) {
        close(l->signal_fd);
        free(l);
    }
}

/* Threads of this process: a folder each, besides "." and "..". */
static unsigned long
count_threads(void)
{
    struct stat st;

    return stat("/proc/self/task", &st) == 0 && st.st_nlink > 2
               ? (unsigned long)st.st_nlink - 2
               : 1;
}

/* The fields of the Go client, in its names (spec clients 11). */
static void
print_stats(struct loop *l)
{
    struct buf text = {0};

    if (buf_puts(&text, " Hint: Hit Ctrl+C again to exit\n"
                        " Connection stats: ") == DT_OK) {
        l->args.stats(l->args.ctx, &text);
        if (buf_printf(&text, "|goroutines=%lu|cgocalls=0|cpu=%ld\n",
                       count_threads(),
                       sysconf(_SC_NPROCESSORS_ONLN)) == DT_OK) {
            log_touch(l->args.client->diag.log);
            (void)!write(STDERR_FILENO, text.data, text.len);
        }
    }
    buf_fini(&text);
}

static void
release(struct loop *l)
{
    if (l->is_held) {
        output_release(l->args.output);
        l->is_held = false;
    }
}

/* True when the program is to end; *end says why. */
static bool
take_signals(struct loop *l, enum loop_end *end)
{
    struct signalfd_siginfo info;

    while (read(l->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (l->ended_ms && clock_now_ms() < l->ended_ms + AGAIN_MS) {
            continue;
        }
        if (info.ssi_signo == SIGCONT) {
            log_touch(l->args.client->diag.log);
            continue;
        }
        if (info.ssi_signo == SIGWINCH) {
            statusline_clear(l->args.status); /* screen.c asks for the size */
            continue;
        }
        if (info.ssi_signo != SIGINT) {
            l->ended_ms = clock_now_ms();
            *end = LOOP_TERMINATED;
            return true;
        }
        if (clock_now_ms() < l->interrupt_until) {
            l->ended_ms = clock_now_ms();
            *end = LOOP_INTERRUPTED;
            return true;
        }
        l->interrupt_until = clock_now_ms() + TWICE_MS;
        /* On a terminal the data would push the statistics away. */
        if (output_is_terminal(l->args.output) && !l->is_held) {
            output_hold(l->args.output);
            l->is_held = true;
        }
        print_stats(l);
    }
    return false;
}

static int64_t
next_deadline(const struct loop *l, int64_t limit)
{
    int64_t next = limit < l->deadline ? limit : l->deadline;

    if (l->args.next_ms) {
        next = clock_earlier(next, l->args.next_ms(l->args.ctx));
    }
    next = clock_earlier(next, meter_next_ms(l->args.meter));
    return l->is_held && l->interrupt_until < next ? l->interrupt_until : next;
}

static void
show_progress(struct loop *l, int64_t now)
{
    struct buf text = {0};

    if (meter_text(l->args.meter, now, statusline_width(l->args.status),
                   &text) == DT_OK) {
        statusline_show(l->args.status, text.data, text.len);
    }
    buf_fini(&text);
}

/* What time has brought; true: the end. */
static bool
take_time(struct loop *l, int64_t limit, enum loop_end *end)
{
    int64_t now = clock_now_ms();

    if (now >= l->deadline || now >= limit) {
        *end = LOOP_DEADLINE;
        return true;
    }
    if (now >= l->interrupt_until) {
        release(l);
    }
    show_progress(l, now);
    return false;
}

enum loop_end
loop_run(struct loop *l, int64_t limit_ms)
{
    const struct loop_args *a = &l->args;
    int64_t limit = limit_ms > 0 ? clock_now_ms() + limit_ms : CLOCK_NEVER;
    enum loop_end end = LOOP_DONE;
    uint64_t count;

    if (limit_ms > 0) {
        l->deadline = CLOCK_NEVER; /* it has done what it was for */
    }
    while (!a->on_event(a->ctx)) {
        struct pollfd p[4] = {
            {.fd = l->signal_fd, .events = POLLIN},
            {.fd = a->event_fd, .events = POLLIN},
            {.fd = output_watch_fd(a->output)}, /* errors only */
            {.fd = a->extra_fd ? a->extra_fd(a->ctx) : -1, .events = POLLIN},
        };

        poll(p, 4, clock_poll_ms(next_deadline(l, limit)));
        if (p[0].revents && take_signals(l, &end)) {
            break;
        }
        if (p[1].revents) {
            (void)!read(a->event_fd, &count, sizeof(count));
        }
        if (p[2].revents & (POLLERR | POLLHUP)) {
            end = LOOP_READER_GONE;
            break;
        }
        if (p[3].revents && a->on_extra(a->ctx)) {
            end = LOOP_QUIT;
            break;
        }
        if (take_time(l, limit, &end)) {
            break;
        }
    }
    release(l);
    statusline_clear(l->args.status);
    return end;
}
