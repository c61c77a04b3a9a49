/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening: what was checked is what is read, while somebody swaps links,
 * folders and names as fast as they can.
 */
#include "cleanup.h"
#include "permission.h"
#include "source-open.h"
#include "source.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>
/* needs cmocka */
#include "test-tempdir.h"

#define RACE_ROUNDS 20000
#define RACE_ROUNDS_MAX 200000

static struct permission *
permission_of(const char *folder, const char *allowed, const char *denied)
{
    struct permission *p = NULL;
    struct error err = ERROR_INIT;
    struct strv rules = {0};
    char rule[256];

    snprintf(rule, sizeof(rule), "^%s/%s", folder, allowed);
    assert_int_equal(strv_add(&rules, rule), DT_OK);
    if (denied) {
        snprintf(rule, sizeof(rule), "!%s", denied);
        assert_int_equal(strv_add(&rules, rule), DT_OK);
    }
    assert_int_equal(permission_new("u", &rules, false, &p, &err), DT_OK);
    strv_fini(&rules);
    return p;
}

/* Runs `swap` in a thread until told to stop. */
struct attacker {
    void (*swap)(unsigned round);
    atomic_bool stop;
    pthread_t thread;
};

static void *
attack(void *arg)
{
    struct attacker *a = arg;

    for (unsigned round = 0; !atomic_load(&a->stop); round++) {
        a->swap(round);
        if ((round & 3) == 3) { /* leave the allowed file for a moment */
            sched_yield();
        }
    }
    return NULL;
}

/* Opens "victim" again and again; whenever it opens, the bytes are "public".
 * Goes on until both outcomes were seen often enough. */
static void
race(void (*swap)(unsigned), const struct permission *p)
{
    struct attacker a = {.swap = swap};
    size_t nr_opened = 0, nr_refused = 0;

    assert_int_equal(pthread_create(&a.thread, NULL, attack, &a), 0);
    for (int i = 0; i < RACE_ROUNDS_MAX &&
                    (i < RACE_ROUNDS || nr_opened < 10 || nr_refused < 10);
         i++) {
        struct source_target t = {.path = (char *)"victim",
                                  .name = (char *)"victim",
                                  .is_literal = true};
        const struct source_open_args args = {.permission = p};
        struct error err = ERROR_INIT;
        struct source *s = NULL;
        char bytes[16] = "";
        ssize_t n = 0;

        if (source_open(&t, &args, &s, &err) != DT_OK) {
            nr_refused++;
            continue;
        }
        nr_opened++;
        for (size_t len = 0; len < 6; len += (size_t)n) {
            n = source_read(s, bytes + len, 6 - len, -1, &err);
            if (n <= 0) {
                break;
            }
        }
        if (memcmp(bytes, "public", 6) != 0) {
            print_error("got \"%s\" %s\n", bytes, err.text);
            atomic_store(&a.stop, true);
        }
        source_close(s);
        if (atomic_load(&a.stop)) {
            break;
        }
    }
    bool is_caught = atomic_exchange(&a.stop, true);

    assert_int_equal(pthread_join(a.thread, NULL), 0);
    assert_false(is_caught);
    assert_true(nr_opened >= 10);
    assert_true(nr_refused >= 10);
}

static void
swap_link(unsigned round)
{
    if (symlink(round & 1 ? "allowed/file" : "secret/file", "new") == 0) {
        rename("new", "victim");
    }
}

static void
test_swapped_link(void **state)
{
    struct permission *p = permission_of(*state, "allowed/", NULL);

    assert_int_equal(mkdir("allowed", 0700) | mkdir("secret", 0700), 0);
    tempdir_write("allowed/file", "public", 6);
    tempdir_write("secret/file", "SECRET", 6);
    race(swap_link, p);
    permission_free(p);
}

/* The file stays behind "victim", but a fifo, a folder and nothing take its
 * place in turn. */
static void
swap_kind(unsigned round)
{
    switch (round & 3) {
    case 0:
        rename("victim", "aside");
        mkfifo("victim", 0600);
        break;
    case 1:
        unlink("victim");
        mkdir("victim", 0700);
        break;
    case 2:
        rmdir("victim");
        break;
    default:
        rename("aside", "victim");
    }
}

static void
test_swapped_kind(void **state)
{
    struct permission *p = permission_of(*state, "", NULL);

    tempdir_write("victim", "public", 6);
    race(swap_kind, p);
    permission_free(p);
}

/* A forbidden name does not become an allowed one because " (deleted)" is put
 * behind it: file and name go and come while they are opened. */
static void
swap_deleted(unsigned round)
{
    if (round & 1) {
        unlink("x.secret");
        if (symlink("x.public", "new") == 0) {
            rename("new", "victim");
        }
    } else {
        tempdir_write("x.secret", "SECRET", 6);
        if (symlink("x.secret", "new") == 0) {
            rename("new", "victim");
        }
    }
}

static void
test_deleted_name(void **state)
{
    struct permission *p = permission_of(*state, "", "\\.secret$");

    tempdir_write("x.public", "public", 6);
    race(swap_deleted, p);
    permission_free(p);
}

/* A hard link keeps the file alive when the name is gone. */
static void
swap_linked(unsigned round)
{
    switch (round & 3) {
    case 0:
        if (link("kept.secret", "x.secret") == 0 &&
            symlink("x.secret", "new") == 0) {
            rename("new", "victim");
        }
        break;
    case 1:
        unlink("x.secret");
        break;
    case 2:
        if (symlink("x.public", "new") == 0) {
            rename("new", "victim");
        }
        break;
    default:
        break;
    }
}

static void
test_deleted_link(void **state)
{
    struct permission *p = permission_of(*state, "", "\\.secret$");

    tempdir_write("x.public", "public", 6);
    tempdir_write("kept.secret", "SECRET", 6);
    race(swap_linked, p);
    permission_free(p);
}

static void
test_checked_by_real_path(void **state)
{
    struct permission *p = permission_of(*state, "allowed/", NULL);
    struct error err = ERROR_INIT;
    struct stat st;
    int fd;

    assert_int_equal(mkdir("allowed", 0700) | mkdir("secret", 0700), 0);
    tempdir_write("allowed/file", "public", 6);
    tempdir_write("secret/file", "SECRET", 6);
    assert_int_equal(symlink("../secret/file", "allowed/link"), 0);
    assert_int_equal(symlink("allowed", "alias"), 0);
    assert_int_equal(source_open_checked("allowed/link", p, false, &st, &err),
                     DT_ERR_ACCES);
    assert_non_null(strstr(err.text, "secret/file"));
    assert_int_equal(
        source_open_checked("allowed/../secret/file", p, false, &st, &err),
        DT_ERR_ACCES);
    fd = source_open_checked("alias/file", p, false, &st, &err);
    assert_true(fd >= 0);
    assert_int_equal(st.st_size, 6);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    permission_free(p);
}

/* Rules do not forbid a pipe that the process holds, only files. */
static void
test_pipe_has_no_path(void **state)
{
    struct permission *p = permission_of(*state, "allowed/", NULL);
    struct error err = ERROR_INIT;
    struct stat st;
    char path[32];
    int fds[2], fd;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
    assert_int_equal(source_open_checked(path, p, false, &st, &err),
                     DT_ERR_INVAL);
    fd = source_open_checked(path, p, true, &st, &err);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(source_open_checked("fifo", p, true, &st, &err),
                     DT_ERR_ACCES);
    close(fds[0]);
    close(fds[1]);
    permission_free(p);
}

#define IN_TEMPDIR(f) \
    cmocka_unit_test_setup_teardown(f, tempdir_enter, tempdir_leave)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMPDIR(test_checked_by_real_path),
        IN_TEMPDIR(test_pipe_has_no_path),
        IN_TEMPDIR(test_swapped_link),
        IN_TEMPDIR(test_swapped_kind),
        IN_TEMPDIR(test_deleted_name),
        IN_TEMPDIR(test_deleted_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
