/* SPDX-License-Identifier: Apache-2.0
 *
 * Following, one trouble a test: lagging readers, resuming, real events and
 * none, and limits.
 */
#include "cleanup.h"
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>
/* needs cmocka */
#include "test-follow-reader.h"

#define WAIT_MS 10000 /* limit of a wait, never what is waited for */

/* ---- lagging ---- */

static void
test_held_up_to_a_limit(void **state)
{
    struct follow_args args = args_of();
    struct buf text = {0};
    struct reader r;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        buf_printf(&text, "%07d\n", i);
    }
    put("log", "");
    args.max_held_bytes = 20000;
    begin(&r, "log", args);
    read_all(&r);
    for (int i = 1; i <= 4; i++) { /* 8000 bytes each, nobody reads */
        char name[32];

        tempdir_write("log", text.data, text.len);
        snprintf(name, sizeof(name), "old%d", i);
        assert_int_equal(rename("log", name), 0);
        put("log", "");
        look(&r);
    }
    put("log", "last\n");
    while (step(&r)) {
    }
    read_all(&r);
    assert_int_equal(r.lines.len, 2 * text.len + 5);
    assert_memory_equal(r.lines.data, text.data, text.len);
    assert_memory_equal(r.lines.data + text.len, text.data, text.len);
    assert_memory_equal(r.lines.data + 2 * text.len, "last\n", 5);
    r.notes.data[r.notes.len] = '\0';
    assert_int_equal(strncmp(r.notes.data, "8000 bytes in log given up", 26),
                     0);
    assert_non_null(strstr(r.notes.data + 26, "\n8000 bytes in log given up"));
    end(&r);
    buf_fini(&text);
}

/* A file that was opened once is read to its end, whatever became of its
 * name, although nothing was read when it was rotated. */
static void
test_nothing_is_lost_while_lagging(void **state)
{
    struct reader r;
    struct buf want = {0};

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    look(&r);
    for (int i = 0; i < 20; i++) {
        char text[32], name[32];

        snprintf(text, sizeof(text), "line %d\n", i);
        snprintf(name, sizeof(name), "elsewhere%d", i);
        put("log", text);
        buf_puts(&want, text);
        assert_int_equal(rename("log", name), 0);
        put("log", "");
        look(&r);
        unlink(name);
    }
    put("log", "end\n");
    buf_append(&want, "end\n", 5);
    read_all(&r);
    expect_lines(&r, want.data);
    expect_note(&r, "");
    end(&r);
    buf_fini(&want);
}

/* ---- resuming ---- */

/* Follows until "1\n" was read and stops there. */
static struct follow_resume
stop_behind_one(char *fingerprint)
{
    struct reader r;
    struct follow_resume at;

    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    put("log", "1\n");
    read_all(&r);
    expect_lines(&r, "1\n");
    at = r.at;
    at.path = "log";
    strcpy(fingerprint, r.fingerprint);
    at.fingerprint = fingerprint;
    end(&r);
    wait_for_clock();
    return at;
}

static void
expect_resumed(const struct follow_resume *at, const char *lines,
               const char *note)
{
    struct follow_args args = args_of();
    struct reader r;

    args.resume = at;
    args.nr_resume = 1;
    begin(&r, "log", args);
    read_all(&r);
    expect_lines(&r, lines);
    expect_note(&r, note);
    end(&r);
}

static void
test_resumed(void **state)
{
    char fingerprint[FOLLOW_FINGERPRINT_MAX];
    struct follow_resume at = stop_behind_one(fingerprint);

    (void)state;
    assert_true(fingerprint[0]);
    assert_int_equal(at.offset, 2);
    put("log", "2\n");
    expect_resumed(&at, "2\n", "");
}

static void
test_resumed_after_rotations(void **state)
{
    char fingerprint[FOLLOW_FINGERPRINT_MAX];
    struct follow_resume at;

    (void)state;
    put("log.7", "archive\n");
    wait_for_clock();
    at = stop_behind_one(fingerprint);
    put("log", "2\n");
    for (int i = 3; i < 6; i++) {
        char text[32];

        rename("log.2", "log.3");
        rename("log.1", "log.2");
        assert_int_equal(rename("log", "log.1"), 0);
        snprintf(text, sizeof(text), "%d\n", i);
        put("log", text);
        wait_for_clock();
    }
    expect_resumed(&at, "2\n3\n4\n5\n", "");
}

/* The path stands for nothing when the session begins, as between two steps
 * of a rotation. */
static void
test_resumed_amid_a_rotation(void **state)
{
    char fingerprint[FOLLOW_FINGERPRINT_MAX];
    struct follow_resume at = stop_behind_one(fingerprint);
    struct follow_args args = args_of();
    struct reader r;

    (void)state;
    assert_int_equal(rename("log", "log.2"), 0);
    put("log.1", "2\n");
    wait_for_clock();
    args.resume = &at;
    args.nr_resume = 1;
    begin(&r, "log", args);
    read_all(&r);
    expect_lines(&r, "");
    put("log", "3\n");
    read_all(&r);
    expect_lines(&r, "2\n3\n");
    end(&r);
}

static void
test_resumed_after_truncation(void **state)
{
    char fingerprint[FOLLOW_FINGERPRINT_MAX];
    struct follow_resume at = stop_behind_one(fingerprint);

    (void)state;
    tempdir_write("log", "3\n4\n", 4);
    expect_resumed(&at, "3\n4\n",
                   "log was truncated meanwhile: what it had behind byte 2 is "
                   "lost; how many bytes cannot be told, as no copy is left\n");
    tempdir_write("log.1", "1\n2\n", 4); /* but there is a copy */
    expect_resumed(&at, "2\n3\n4\n", "");
}

static void
test_resumed_when_gone(void **state)
{
    char fingerprint[FOLLOW_FINGERPRINT_MAX];
    struct follow_resume at = stop_behind_one(fingerprint);

    (void)state;
    put("log", "2\n");
    assert_int_equal(rename("log", "elsewhere"), 0);
    put("log", "3\n");
    expect_resumed(&at, "3\n",
                   "log was replaced meanwhile: what it had behind byte 2 is "
                   "lost; how many bytes cannot be told, as no copy is left\n");
}

/* ---- events ---- */

static void
wait_for(struct reader *r)
{
    struct pollfd p = {.fd = follow_fd(r->f), .events = POLLIN};

    assert_int_equal(poll(&p, 1, WAIT_MS), 1);
}

static void
wait_for_lines(struct reader *r, const char *want)
{
    while (r->lines.len < strlen(want)) {
        if (!step(r)) {
            wait_for(r);
        }
    }
    expect_lines(r, want);
}

static void
follow_by_itself(bool no_events)
{
    struct follow_args args = args_of();
    struct reader r;

    args.no_events = no_events;
    put("log", "");
    begin(&r, "log", args);
    while (step(&r)) {
    }
    put("log", "1\n");
    wait_for_lines(&r, "1\n");
    assert_int_equal(rename("log", "log.1"), 0);
    put("log", "2\n");
    wait_for_lines(&r, "2\n");
    assert_int_equal(truncate("log", 0), 0);
    put("log", "3 and more\n");
    wait_for_lines(&r, "3 and more\n");
    assert_int_equal(unlink("log"), 0);
    put("log", "4\n");
    wait_for_lines(&r, "4\n");
    end(&r);
    unlink("log");
    unlink("log.1");
}

static void
test_events(void **state)
{
    (void)state;
    follow_by_itself(false);
}

static void
test_polling(void **state)
{
    (void)state;
    follow_by_itself(true);
}

static unsigned
count_instances(void)
{
    unsigned nr = 0;

    for (int fd = 0; fd < 100; fd++) {
        char path[40], target[40];
        ssize_t n;

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        n = readlink(path, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = '\0';
        nr += !strcmp(target, "anon_inode:inotify");
    }
    return nr;
}

/* Two follows of the same files share an instance and its watches: one that
 * leaves takes nothing from the other, and one that does not look for long
 * misses nothing. */
static void
test_shared_watch(void **state)
{
    struct follow_args args = args_of();
    struct reader a, b;

    (void)state;
    args.watch = watch_new();
    assert_non_null(args.watch);
    put("log", "");
    begin(&a, "log", args);
    begin(&b, "log", args);
    assert_int_equal(count_instances(), 1);
    while (step(&a) || step(&b)) {
    }
    put("log", "1\n");
    wait_for_lines(&a, "1\n");
    assert_int_equal(rename("log", "log.1"), 0);
    put("log", "2\n");
    wait_for_lines(&a, "2\n");
    end(&a);
    put("log", "3\n");
    wait_for_lines(&b, "1\n2\n3\n");
    end(&b);
    watch_free(args.watch);
    unlink("log");
    unlink("log.1");
}

/* In a user namespace with room for no watch: polled, and told once. */
static int
without_watches(const char *limit, const char *name)
{
    struct reader r;
    int fd;

    if (unshare(CLONE_NEWUSER) < 0 ||
        (fd = open(limit, O_WRONLY | O_CLOEXEC)) < 0 ||
        write(fd, "0\n", 2) != 2) {
        return 77;
    }
    close(fd);
    begin(&r, "log*", args_of());
    while (step(&r)) {
    }
    expect_note(&r, name);
    put("log1", "1\n");
    wait_for_lines(&r, "1\n");
    put("log2", "2\n");
    wait_for_lines(&r, "2\n");
    expect_note(&r, "");
    end(&r);
    return 0;
}

static void
expect_polled(const char *limit, const char *name)
{
    int status = -1;
    pid_t child;

    put("log1", "");
    put("log2", "");
    child = fork();
    if (child == 0) {
        _exit(without_watches(limit, name));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        skip();
    }
    assert_int_equal(status, 0);
}

static void
test_no_watches_left(void **state)
{
    (void)state;
    expect_polled("/proc/sys/user/max_inotify_watches",
                  "limit fs.inotify.max_user_watches");
}

static void
test_no_instances_left(void **state)
{
    (void)state;
    expect_polled("/proc/sys/user/max_inotify_instances",
                  "limit fs.inotify.max_user_instances");
}

/* ---- limits ---- */

/* Without a free descriptor, what waits for late lines makes room. */
static void
test_no_descriptors_left(void **state)
{
    struct rlimit saved, low;
    struct reader r;
    int used[32];
    size_t nr = 0;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    put("log", "1\n");
    assert_int_equal(rename("log", "log.1"), 0);
    put("log", "2\n");
    read_all(&r);
    expect_lines(&r, "1\n2\n");
    put("log", "3\n");
    assert_int_equal(rename("log", "log.2"), 0);
    put("log", "4\n");
    do { /* all but the last */
        assert_true(nr < 32);
        used[nr] = dup(STDERR_FILENO);
    } while (used[nr++] < 20);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &saved), 0);
    low = saved;
    low.rlim_cur = (rlim_t)used[--nr] + 1;
    close(used[nr]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    read_all(&r);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &saved), 0);
    while (nr > 0) {
        close(used[--nr]);
    }
    expect_lines(&r, "3\n4\n");
    expect_note(&r, "");
    end(&r);
}

static void
test_limits(void **state)
{
    struct follow_args args = args_of();
    struct error err = ERROR_INIT;
    struct follow_event ev;
    struct follow *f = NULL;
    struct reader r;
    char *bad = (char *)"[";

    (void)state;
    args.patterns = &(struct strv){.v = &bad, .nr = 1};
    assert_int_equal(follow_new(&args, &f, &err), DT_ERR_INVAL);
    args.patterns = &(struct strv){0};
    assert_int_equal(follow_new(&args, &f, &err), DT_ERR_INVAL);
    assert_null(f);
    follow_free(NULL);
    args.max_targets = 2;
    put("a", "");
    put("b", "");
    put("c", "");
    begin(&r, "*", args);
    read_all(&r);
    assert_int_equal(follow_nr_sources(r.f), 2);
    expect_note(&r, "Glob expansion exceeded server limit, only first targets "
                    "served|limit|2|matched|3\n");
    read_all(&r);
    expect_note(&r, "");
    assert_int_equal(follow_next(r.f, r.buffer, MAX_LINE, &ev, &err),
                     DT_ERR_INVAL);
    end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMPDIR(test_held_up_to_a_limit),
        IN_TEMPDIR(test_nothing_is_lost_while_lagging),
        IN_TEMPDIR(test_resumed),
        IN_TEMPDIR(test_resumed_after_rotations),
        IN_TEMPDIR(test_resumed_amid_a_rotation),
        IN_TEMPDIR(test_resumed_after_truncation),
        IN_TEMPDIR(test_resumed_when_gone),
        IN_TEMPDIR(test_events),
        IN_TEMPDIR(test_shared_watch),
        IN_TEMPDIR(test_polling),
        IN_TEMPDIR(test_no_watches_left),
        IN_TEMPDIR(test_no_instances_left),
        IN_TEMPDIR(test_no_descriptors_left),
        IN_TEMPDIR(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
