/* SPDX-License-Identifier: Apache-2.0
 *
 * Following, one trouble a test: where it begins, rotation, truncation, holes,
 * links and folders.
 */
#include "cleanup.h"
#include "permission.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
/* needs cmocka */
#include "test-follow-reader.h"

/* ---- where it begins ---- */

static void
test_begins_at_end(void **state)
{
    struct reader r;

    (void)state;
    put("log", "old\nhalf");
    begin(&r, "log", args_of());
    read_all(&r);
    expect_lines(&r, "");
    assert_int_equal(r.nr_sources, 1); /* told before the first line */
    assert_int_equal(r.at.offset, 8);
    put("log", " a line\nnew\n\nhel");
    read_all(&r);
    expect_lines(&r, " a line\nnew\n\n");
    put("log", "d\n");
    read_all(&r);
    expect_lines(&r, "held\n");
    assert_int_equal(r.at.offset, 26);
    expect_note(&r, "");
    end(&r);
}

static void
test_begins_lines_before(void **state)
{
    static const char *const want[] = {
        "", "half", "3\nhalf", "2\n3\nhalf", "1\n2\n3\nhalf", "1\n2\n3\nhalf"};
    struct buf big = {0};
    struct reader r;

    (void)state;
    put("log", "1\n2\n3\nhalf");
    for (uint64_t n = 1; n < 6; n++) {
        struct follow_args args = args_of();
        char line[32];

        args.last_lines = n;
        begin(&r, "log", args);
        put("log", "\n");
        read_all(&r);
        snprintf(line, sizeof(line), "%s\n", want[n]);
        expect_lines(&r, line);
        end(&r);
        assert_int_equal(truncate("log", 10), 0);
    }
    for (int i = 0; i < 30000; i++) { /* over several chunks */
        buf_printf(&big, "line %d\n", i);
    }
    tempdir_write("log", big.data, big.len);
    struct follow_args args = args_of();

    args.last_lines = 20000;
    begin(&r, "log", args);
    read_all(&r);
    assert_memory_equal(r.lines.data, "line 10000\n", 11);
    assert_int_equal(r.at.offset, big.len);
    end(&r);
    buf_fini(&big);
}

static void
test_new_file_from_its_start(void **state)
{
    struct reader r;

    (void)state;
    begin(&r, "*.log", args_of());
    read_all(&r);
    expect_note(&r, "Unable to read file(s), check server logs|*.log|no file "
                    "of this host matches yet");
    put("a.log", "\xef\xbb\xbf"
                 "first\nsecond\n"); /* the mark is no text */
    read_all(&r);
    expect_lines(&r, "first\nsecond\n");
    put("b.log", "other\n");
    read_all(&r);
    expect_lines(&r, "other\n");
    expect_note(&r, ""); /* once a change of state */
    assert_int_equal(follow_nr_sources(r.f), 2);
    end(&r);
}

static void
test_long_lines(void **state)
{
    char text[MAX_LINE * 2 + 2];
    struct reader r;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    memset(text, 'x', sizeof(text));
    tempdir_append("log", text, MAX_LINE); /* may still end in a newline */
    read_all(&r);
    expect_lines(&r, "");
    tempdir_append("log", text, 5);
    read_all(&r);
    assert_int_equal(r.lines.len, MAX_LINE + 1);
    assert_int_equal(r.lines.data[MAX_LINE], '~');
    r.lines.len = 0;
    put("log", "\n");
    read_all(&r);
    expect_lines(&r, "xxxxx\n");
    end(&r);
}

/* ---- rotation ---- */

static void
test_rotated(void **state)
{
    struct reader r;

    (void)state;
    put("log", "before\n");
    begin(&r, "log", args_of());
    read_all(&r);
    put("log", "1\n");
    assert_int_equal(rename("log", "log.1"), 0);
    put("log.1", "2\n"); /* the writer has not noticed */
    put("log", "");
    read_all(&r);
    expect_lines(&r, "1\n2\n");
    put("log.1", "3\n");
    read_all(&r);
    expect_lines(&r, "3\n");
    assert_int_equal(r.generation, 0);
    put("log.1", "4\n5 torn");
    put("log", "6\n");
    read_all(&r);
    expect_lines(&r, "4\n5 torn~6\n");
    assert_int_equal(r.generation, 1);
    put("log.1", " late\n"); /* another writer */
    put("log", "7\n");
    read_all(&r);
    expect_lines(&r, "7\n late\n");
    assert_int_equal(r.generation, 0);
    expect_note(&r, "");
    end(&r);
}

static void
test_rotated_twice_unseen(void **state)
{
    struct reader r;

    (void)state;
    put("app.log", "");
    begin(&r, "app.log", args_of());
    read_all(&r);
    put("app.log", "1\n");
    wait_for_clock();
    for (int i = 2; i < 5; i++) {
        char text[16], name[48];

        snprintf(name, sizeof(name), "app-2026-11-%02d.log", i);
        assert_int_equal(rename("app.log", name), 0);
        snprintf(text, sizeof(text), "%d\n", i);
        put("app.log", text);
        wait_for_clock();
    }
    put("app.log.gz", "\x1f\x8b\x08 not meant\n");
    put("app.log.orig", "not meant\n");
    put("apple-1.log", "not meant\n");
    read_all(&r);
    expect_lines(&r, "1\n2\n3\n4\n");
    expect_note(&r, "");
    end(&r);
}

/* A glob that matches rotated files too gives nothing twice. */
static void
test_glob_of_rotated(void **state)
{
    static const int64_t late[] = {-1, 0};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct follow_args args = args_of();
        struct reader r;

        args.late_ms = late[i];
        put("log", "");
        begin(&r, "log*", args);
        read_all(&r);
        for (int n = 0; n < 5; n++) {
            put("log", "a\n");
            rename("log.2", "log.3");
            rename("log.1", "log.2");
            rename("log", "log.1");
            put("log", "b\n");
            read_all(&r);
            expect_lines(&r, "a\nb\n");
        }
        put("log.1", "late\n");
        read_all(&r);
        expect_lines(&r, "late\n");
        expect_note(&r, "");
        end(&r);
        unlink("log");
        unlink("log.1");
        unlink("log.2");
        unlink("log.3");
    }
}

static void
test_recreated(void **state)
{
    struct reader r;

    (void)state;
    assert_int_equal(mkdir("d", 0700), 0);
    put("d/log", "");
    begin(&r, "d/log", args_of());
    read_all(&r);
    put("d/log", "1\n");
    assert_int_equal(unlink("d/log"), 0);
    read_all(&r);
    expect_lines(&r, "1\n");
    put("d/log", "2\n");
    read_all(&r);
    expect_lines(&r, "2\n");
    put("d/log", "3\n");
    assert_int_equal(rename("d", "e") | mkdir("d", 0700), 0);
    put("d/log", "4\n");
    read_all(&r);
    expect_lines(&r, "3\n4\n");
    put("d/log", "5\n");
    read_all(&r);
    expect_lines(&r, "5\n");
    end(&r);
}

static void
test_link_switched(void **state)
{
    struct reader r;

    (void)state;
    put("a", "old\n");
    assert_int_equal(symlink("a", "log"), 0);
    begin(&r, "log", args_of());
    read_all(&r);
    put("a", "1\n");
    put("b", "2\n");
    assert_int_equal(symlink("b", "new") | rename("new", "log"), 0);
    read_all(&r);
    expect_lines(&r, "1\n2\n");
    end(&r);
}

static void
test_replaced_by_what_is_no_log(void **state)
{
    struct reader r;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    put("log", "1\n");
    assert_int_equal(unlink("log") | mkfifo("log", 0600), 0);
    read_all(&r); /* and does not hang */
    expect_lines(&r, "1\n");
    expect_note(&r, "Unable to read file(s), check server logs|log|log: is a "
                    "fifo; only regular files are read\n");
    read_all(&r);
    expect_note(&r, "");
    assert_int_equal(unlink("log") | mkdir("log", 0700), 0);
    read_all(&r);
    assert_int_equal(rmdir("log"), 0);
    put("log", "\x1f\x8b\x08 compressed\n");
    read_all(&r);
    expect_lines(&r, "");
    expect_note(&r, "");
    assert_int_equal(unlink("log"), 0);
    put("log", "1b\n");
    read_all(&r);
    expect_lines(&r, "1b\n");
    assert_int_equal(unlink("log"), 0);
    put("log", "\x1f\x8b\x08 compressed\n");
    read_all(&r);
    put("log", "more\n");
    read_all(&r);
    expect_lines(&r, "");
    expect_note(&r, "log: compressed files cannot be followed; dcat and dgrep "
                    "read them\n");
    assert_int_equal(unlink("log"), 0);
    put("log", ""); /* UTF-16 only when it has text */
    read_all(&r);
    put("log", "\xff\xfe"
               "a");
    read_all(&r);
    put("log", "bc\n");
    read_all(&r);
    expect_lines(&r, "");
    expect_note(&r, "log: UTF-16 files cannot be followed; dcat and dgrep read "
                    "them\n");
    assert_int_equal(unlink("log"), 0);
    put("log", "2\n");
    read_all(&r);
    expect_lines(&r, "2\n");
    end(&r);
}

static void
test_permission_is_checked_again(void **state)
{
    struct permission *p = NULL;
    struct follow_args args = args_of();
    struct error err = ERROR_INIT;
    char *rule = NULL;
    struct reader r;

    assert_true(asprintf(&rule, "^%s/allowed", (char *)*state) > 0);
    assert_int_equal(permission_new("u", &(struct strv){.v = &rule, .nr = 1},
                                    false, &p, &err),
                     DT_OK);
    free(rule);
    args.permission = p;
    put("allowed", "");
    put("secret", "secret\n");
    assert_int_equal(symlink("allowed", "log"), 0);
    begin(&r, "log", args);
    read_all(&r);
    put("allowed", "1\n");
    assert_int_equal(symlink("secret", "new") | rename("new", "log"), 0);
    put("secret", "secret\n");
    read_all(&r);
    expect_lines(&r, "1\n");
    expect_note(&r, "Unable to read file(s), check server logs|log|permission "
                    "denied, for a reason that the server's log has\n");
    put("allowed2", "2\n");
    assert_int_equal(symlink("allowed2", "new") | rename("new", "log"), 0);
    read_all(&r);
    expect_lines(&r, "2\n");
    expect_note(&r, "");
    end(&r);
    permission_free(p);
}

/* ---- truncation ---- */

static void
test_truncated(void **state)
{
    struct reader r;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    put("log", "1\n2 torn");
    read_all(&r);
    assert_int_equal(truncate("log", 0), 0);
    read_all(&r);
    expect_lines(&r, "1\n2 torn~");
    expect_note(&r, "log was truncated: what was written just before may be "
                    "lost\n");
    put("log", "3\n");
    look(&r); /* its size is known now */
    assert_int_equal(truncate("log", 0), 0);
    put("log", "4\n");
    read_all(&r);
    expect_lines(&r, "4\n");
    expect_note(&r, "log was truncated: at least 2 bytes that were not read "
                    "yet are lost\n");
    /* larger than before when somebody looks */
    tempdir_write("log", "5 is longer\n6\n", 14);
    read_all(&r);
    expect_lines(&r, "5 is longer\n6\n");
    expect_note(&r, "log was truncated");
    /* cut behind the position: nothing that was read comes again */
    put("log", "7\n8\n");
    while (r.lines.len < 4) {
        read_all(&r);
    }
    expect_lines(&r, "7\n8\n");
    put("log", "gone\n");
    look(&r);
    assert_int_equal(truncate("log", 18), 0);
    put("log", "9\n");
    read_all(&r);
    expect_lines(&r, "9\n");
    expect_note(&r, "");
    end(&r);
}

/* What a lagging reader had not read comes from the copy. */
static void
test_copied_and_truncated(void **state)
{
    struct reader r;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    put("log", "1\n");
    read_all(&r);
    put("log", "2\n3 half");
    look(&r);
    tempdir_write("log.1", "1\n2\n3 half", 10);
    tempdir_write("log", "4\n", 2);
    read_all(&r);
    expect_lines(&r, "2\n3 half~4\n");
    expect_note(&r, "");
    assert_int_equal(rename("log.1", "log.2"), 0);
    tempdir_write("log.1", "4\n", 2);
    tempdir_write("log", "5\n", 2);
    read_all(&r);
    expect_lines(&r, "5\n");
    end(&r);
}

/* ---- NUL bytes ---- */

static void
test_hole(void **state)
{
    struct reader r;
    int fd;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    fd = open("log", O_WRONLY | O_CLOEXEC); /* does not append */
    assert_int_equal(write(fd, "1\n", 2), 2);
    read_all(&r);
    expect_lines(&r, "1\n");
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, "2\n3\0\n", 5, 5ll << 30), 5);
    read_all(&r);
    /* a single NUL is text */
    assert_int_equal(r.lines.len, 5);
    assert_memory_equal(r.lines.data, "2\n3\0\n", 5);
    r.lines.len = 0;
    expect_note(&r, "log: 5368709120 NUL bytes at byte 0 passed over\n");
    close(fd);
    end(&r);
}

/* Space that is allocated in advance is not a hole: it will be filled. */
static void
test_allocated_in_advance(void **state)
{
    struct reader r;
    int fd;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    fd = open("log", O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, 100000), 0);
    read_all(&r);
    assert_int_equal(pwrite(fd, "1\n2", 3, 0), 3);
    read_all(&r);
    expect_lines(&r, "1\n");
    assert_int_equal(pwrite(fd, "2\n3\n", 4, 2), 4);
    read_all(&r);
    expect_lines(&r, "2\n3\n");
    expect_note(&r, "");
    close(fd);
    end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMPDIR(test_begins_at_end),
        IN_TEMPDIR(test_begins_lines_before),
        IN_TEMPDIR(test_new_file_from_its_start),
        IN_TEMPDIR(test_long_lines),
        IN_TEMPDIR(test_rotated),
        IN_TEMPDIR(test_rotated_twice_unseen),
        IN_TEMPDIR(test_glob_of_rotated),
        IN_TEMPDIR(test_recreated),
        IN_TEMPDIR(test_link_switched),
        IN_TEMPDIR(test_replaced_by_what_is_no_log),
        IN_TEMPDIR(test_permission_is_checked_again),
        IN_TEMPDIR(test_truncated),
        IN_TEMPDIR(test_copied_and_truncated),
        IN_TEMPDIR(test_hole),
        IN_TEMPDIR(test_allocated_in_advance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
