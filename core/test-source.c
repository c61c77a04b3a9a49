/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources: which files an argument means, opening, plain reading, and what is
 * refused.
 */
#include "cleanup.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cmocka.h>
/* needs cmocka */
#include "test-tempdir.h"

static const struct source_open_args remote_args;
static const struct source_open_args serverless_args = {.is_serverless = true};

static struct source_target
literal(const char *path)
{
    return (struct source_target){
        .path = (char *)path, .name = (char *)path, .is_literal = true};
}

static struct source *
open_ok(const char *path, const struct source_open_args *args)
{
    struct source_target t = literal(path);
    struct error err = ERROR_INIT;
    struct source *s = NULL;

    if (source_open(&t, args, &s, &err) != DT_OK) {
        print_error("%s\n", err.text);
    }
    assert_non_null(s);
    return s;
}

/* Reads all, `step` bytes a call; returns the final status. */
static int
read_all(struct source *s, size_t step, struct buf *out, struct error *err)
{
    char bytes[4096];
    ssize_t n;

    assert_true(step <= sizeof(bytes));
    while ((n = source_read(s, bytes, step, -1, err)) > 0) {
        assert_true((size_t)n <= step);
        assert_int_equal(buf_append(out, bytes, (size_t)n), DT_OK);
    }
    return (int)n;
}

static void
expect_content(struct source *s, const void *want, size_t len)
{
    struct error err = ERROR_INIT;
    struct buf got = {0};

    assert_int_equal(read_all(s, 7, &got, &err), 0);
    assert_int_equal(got.len, len);
    if (len) {
        assert_memory_equal(got.data, want, len);
    }
    buf_fini(&got);
}

static void
expect_refused(const char *path, const struct source_open_args *args,
               int status, const char *text)
{
    struct source_target t = literal(path);
    struct error err = ERROR_INIT;
    struct source *s = NULL;

    assert_int_equal(source_open(&t, args, &s, &err), status);
    assert_null(s);
    if (!strstr(err.text, text)) {
        print_error("\"%s\" in \"%s\"\n", text, err.text);
    }
    assert_non_null(strstr(err.text, text));
    assert_non_null(strstr(err.text, path));
}

/* ---- targets ---- */

static void
expect_names(const char *pattern, const char *want)
{
    struct source_targets t;
    struct error err = ERROR_INIT;
    struct buf text = {0};

    assert_int_equal(source_expand(pattern, true, 100, &t, &err), DT_OK);
    for (size_t i = 0; i < t.nr; i++) {
        assert_int_equal(buf_printf(&text, "%s=%s%s%s ", t.v[i].path,
                                    t.v[i].name, t.v[i].is_literal ? "!" : "",
                                    t.v[i].is_stdin ? "<" : ""),
                         DT_OK);
    }
    assert_int_equal(buf_append(&text, "", 1), DT_OK);
    assert_string_equal(text.data, want);
    buf_fini(&text);
    source_targets_fini(&t);
}

static void
test_expand(void **state)
{
    struct source_targets t;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(mkdir("h1", 0700) | mkdir("h2", 0700), 0);
    assert_int_equal(mkdir("h1/logs", 0700) | mkdir("h2/logs", 0700), 0);
    tempdir_write("h1/logs/a.log", "", 0);
    tempdir_write("h2/logs/b.log", "", 0);
    expect_names("*/logs/*.log",
                 "h1/logs/a.log=h1/a.log h2/logs/b.log=h2/b.log ");
    expect_names("h?/logs/b.log", "h2/logs/b.log=b.log ");
    expect_names("./h1/../h2//logs/b.log", "h2/logs/b.log=b.log! ");
    expect_names("missing", "");
    expect_names("-", "-=-!< ");
    expect_names("", "-=-!< ");
    expect_names("journal:x.service", "journal:x.service=journal:x.service! ");
    assert_int_equal(source_expand("*/logs/*", false, 1, &t, &err), DT_OK);
    assert_int_equal(t.nr, 1);
    assert_int_equal(t.matched, 2);
    source_targets_fini(&t);
    assert_int_equal(source_expand("", false, 1, &t, &err), DT_ERR_INVAL);
    assert_int_equal(source_expand("[", false, 1, &t, &err), DT_ERR_INVAL);
    assert_int_equal(t.nr, 0);
    assert_int_equal(source_expand("-", false, 1, &t, &err), DT_OK);
    assert_int_equal(t.nr, 0); /* a file of that name, not standard input */
}

/* ---- plain files ---- */

static void
test_plain(void **state)
{
    static const char text[] = "one\ntwo\0with NUL\nlast without newline";
    struct error err = ERROR_INIT;
    char bytes[64];
    struct source *s;

    (void)state;
    tempdir_write("plain", text, sizeof(text) - 1);
    s = open_ok("plain", &remote_args);
    assert_true(source_is_random(s));
    assert_int_equal(source_size(s), sizeof(text) - 1);
    assert_int_equal(source_raw_size(s), sizeof(text) - 1);
    assert_string_equal(source_path(s), "plain");
    assert_int_equal(source_pread(s, bytes, sizeof(bytes), 4, &err),
                     sizeof(text) - 5);
    assert_memory_equal(bytes, text + 4, sizeof(text) - 5);
    assert_int_equal(source_pread(s, bytes, 8, sizeof(text) - 1, &err), 0);
    assert_int_equal(source_pread(s, bytes, 8, 1u << 30, &err), 0);
    assert_int_equal(source_pread(s, bytes, 8, UINT64_MAX, &err), DT_ERR_INVAL);
    assert_int_equal(source_raw_offset(s), sizeof(text) - 5);
    assert_int_equal(source_pread(s, bytes, 8, 0, &err), 8);
    assert_int_equal(source_raw_offset(s), sizeof(text) - 1);
    source_close(s);
    s = open_ok("plain", &remote_args);
    expect_content(s, text, sizeof(text) - 1);
    assert_int_equal(source_raw_offset(s), sizeof(text) - 1);
    source_close(s);
}

static void
test_empty(void **state)
{
    struct source *s;

    (void)state;
    tempdir_write("empty.gz", "", 0);
    s = open_ok("empty.gz", &remote_args);
    assert_false(source_is_random(s));
    assert_int_equal(source_size(s), 0);
    expect_content(s, "", 0);
    source_close(s);
}

static void
test_procfs(void **state)
{
    struct error err = ERROR_INIT;
    struct buf got = {0};
    struct source *s = open_ok("/proc/self/status", &remote_args);

    (void)state;
    assert_false(source_is_random(s));
    assert_int_equal(read_all(s, 100, &got, &err), 0);
    assert_true(got.len > 100);
    assert_memory_equal(got.data, "Name:\t", 6);
    buf_fini(&got);
    source_close(s);
}

static void
test_sysfs_size(void **state)
{
    struct error err = ERROR_INIT;
    struct buf got = {0};
    struct source *s;

    (void)state;
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) < 0) {
        skip(); /* a file that claims 4096 bytes and has fewer */
    }
    s = open_ok("/sys/kernel/mm/transparent_hugepage/enabled", &remote_args);
    assert_int_equal(read_all(s, 4096, &got, &err), 0);
    assert_true(got.len > 0 && got.len < 4096);
    buf_fini(&got);
    source_close(s);
}

static void
test_bom(void **state)
{
    char bytes[16];
    struct error err = ERROR_INIT;
    struct source *s;

    (void)state;
    tempdir_write("bom", "\xef\xbb\xbfhead,er\n\xef\xbb\xbfx\n", 16);
    s = open_ok("bom", &remote_args);
    assert_int_equal(source_size(s), 13);
    assert_int_equal(source_pread(s, bytes, 4, 0, &err), 4);
    assert_memory_equal(bytes, "head", 4);
    expect_content(s, "head,er\n\xef\xbb\xbfx\n", 13);
    source_close(s);
    s = open_ok("bom", &(struct source_open_args){.verbatim = true});
    assert_int_equal(source_size(s), 16);
    expect_content(s, "\xef\xbb\xbfhead,er\n\xef\xbb\xbfx\n", 16);
    source_close(s);
    for (size_t len = 1; len <= 3; len++) {
        tempdir_write("cut", "\xef\xbb\xbf", len);
        s = open_ok("cut", &remote_args);
        expect_content(s, "\xef\xbb", len < 3 ? len : 0);
        source_close(s);
    }
}

static void
test_shrinks(void **state)
{
    struct error err = ERROR_INIT;
    struct buf got = {0};
    char bytes[8];
    struct source *s;

    (void)state;
    tempdir_write("shrinking", "0123456789", 10);
    s = open_ok("shrinking", &remote_args);
    assert_int_equal(source_read(s, bytes, 2, -1, &err), 2);
    assert_int_equal(truncate("shrinking", 7), 0);
    assert_int_equal(read_all(s, 3, &got, &err), DT_ERR_NOENT);
    assert_int_equal(got.len, 5);
    assert_memory_equal(got.data, "23456", 5);
    assert_string_equal(err.text,
                        "shrinking shrank while it was read: 3 bytes missing");
    err = (struct error)ERROR_INIT; /* and it stays so */
    assert_int_equal(source_read(s, bytes, 2, -1, &err), DT_ERR_NOENT);
    assert_non_null(strstr(err.text, "3 bytes missing"));
    assert_int_equal(source_pread(s, bytes, 8, 4, &err), 3);
    assert_int_equal(source_pread(s, bytes, 8, 7, &err), DT_ERR_NOENT);
    assert_int_equal(source_pread(s, bytes, 8, 10, &err), 0);
    buf_fini(&got);
    source_close(s);
}

static void
test_vanishes_and_grows(void **state)
{
    struct error err = ERROR_INIT;
    struct buf got = {0};
    char bytes[8];
    struct source *s;

    (void)state;
    tempdir_write("vanishing", "0123456789", 10);
    s = open_ok("vanishing", &remote_args);
    assert_int_equal(source_read(s, bytes, 2, -1, &err), 2);
    tempdir_append("vanishing", "grown", 5);
    assert_int_equal(source_size(s), 15);
    assert_int_equal(unlink("vanishing"), 0);
    assert_int_equal(read_all(s, 3, &got, &err), 0);
    assert_int_equal(got.len, 13);
    assert_memory_equal(got.data, "23456789grown", 13);
    buf_fini(&got);
    source_close(s);
}

/* ---- what is refused ---- */

static void
test_refused(void **state)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
    CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    expect_refused("missing", &remote_args, DT_ERR_NOENT, "No such file");
    expect_refused("dangling", &remote_args, DT_ERR_NOENT, "No such file");
    expect_refused("loop", &remote_args, DT_ERR_IO, "symbolic links");
    expect_refused("folder", &remote_args, DT_ERR_INVAL, "is a directory");
    expect_refused("fifo", &remote_args, DT_ERR_INVAL, "is a fifo");
    expect_refused("socket", &remote_args, DT_ERR_INVAL, "is a socket");
    expect_refused("/dev/null", &remote_args, DT_ERR_INVAL, "is a device");
    expect_refused("folder", &serverless_args, DT_ERR_INVAL, "is a directory");
    expect_refused("/dev/null", &serverless_args, DT_ERR_INVAL, "is a device");
    expect_refused("journal:-x", &remote_args, DT_ERR_INVAL, "journal");
}

/* ---- inputs that make us wait ---- */

struct feeder {
    const char *path;
    const char *text;
};

static void *
feed_fifo(void *arg)
{
    const struct feeder *f = arg;
    int fd = open(f->path, O_WRONLY | O_CLOEXEC); /* waits for the reader */

    for (const char *p = f->text; fd >= 0 && *p; p++) {
        if (write(fd, p, 1) != 1) {
            break;
        }
    }
    close(fd);
    return NULL;
}

static void
test_fifo(void **state)
{
    const struct feeder f = {"fifo", "\xef\xbb\xbfthrough a fifo"};
    pthread_t thread;
    struct source *s;

    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    s = open_ok("fifo", &serverless_args); /* does not wait for a writer */
    assert_false(source_is_random(s));
    assert_int_equal(pthread_create(&thread, NULL, feed_fifo, (void *)&f), 0);
    expect_content(s, "through a fifo", 14);
    assert_int_equal(pthread_join(thread, NULL), 0);
    source_close(s);
}

static void
test_cancel(void **state)
{
    CLEANUP_FD int cancel_fd = eventfd(0, EFD_CLOEXEC);
    struct error err = ERROR_INIT;
    char bytes[8];
    struct source *s;
    int fd;

    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    s = open_ok("fifo", &serverless_args);
    fd = open("fifo", O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, "\x1f\x8b", 2), 2); /* not decided yet */
    assert_int_equal(eventfd_write(cancel_fd, 1), 0);
    assert_int_equal(source_read(s, bytes, 8, cancel_fd, &err),
                     DT_ERR_CANCELLED);
    assert_int_equal(write(fd, "!x", 2), 2); /* and goes on after it */
    close(fd);
    expect_content(s, "\x1f\x8b!x", 4);
    source_close(s);
}

static void
test_descriptor_path(void **state)
{
    struct source *s;
    char path[32];
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(write(fds[1], "substituted\n", 12), 12);
    close(fds[1]);
    snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
    s = open_ok(path, &serverless_args);
    close(fds[0]);
    expect_content(s, "substituted\n", 12);
    source_close(s);
}

static void
test_stdin(void **state)
{
    struct source_target t = literal("-");
    struct error err = ERROR_INIT;
    struct source *s = NULL;
    int saved = dup(STDIN_FILENO);
    int fds[2], fd;

    (void)state;
    t.is_stdin = true;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(write(fds[1], "\x1f\x8b\x08 piped", 9), 9);
    close(fds[1]);
    assert_int_equal(source_open(&t, &serverless_args, &s, &err), DT_OK);
    expect_content(s, "\x1f\x8b\x08 piped", 9); /* nothing is decompressed */
    source_close(s);
    close(fds[0]);

    tempdir_write("redirected", "0123456789", 10);
    fd = open("redirected", O_RDONLY | O_CLOEXEC);
    assert_int_equal(lseek(fd, 4, SEEK_SET), 4);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
    assert_int_equal(source_open(&t, &serverless_args, &s, &err), DT_OK);
    assert_true(source_is_random(s));
    assert_int_equal(source_size(s), 6);
    expect_content(s, "456789", 6);
    source_close(s);
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
}

#define IN_TEMPDIR(f) \
    cmocka_unit_test_setup_teardown(f, tempdir_enter, tempdir_leave)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMPDIR(test_expand),
        IN_TEMPDIR(test_plain),
        IN_TEMPDIR(test_empty),
        cmocka_unit_test(test_procfs),
        cmocka_unit_test(test_sysfs_size),
        IN_TEMPDIR(test_bom),
        IN_TEMPDIR(test_shrinks),
        IN_TEMPDIR(test_vanishes_and_grows),
        IN_TEMPDIR(test_refused),
        IN_TEMPDIR(test_fifo),
        IN_TEMPDIR(test_cancel),
        cmocka_unit_test(test_descriptor_path),
        IN_TEMPDIR(test_stdin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
