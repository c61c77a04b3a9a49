/* SPDX-License-Identifier: Apache-2.0
 *
 * Printer and output: bytes as promised in every mode, and no wait that cannot
 * be given up.
 */
#include "printer.h"

#include "buf.h"
#include "cleanup.h"
#include "outq.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cmocka.h>

/* A printer into a file, and what arrived there. */
struct trial {
    int fd;
    struct output *out;
    struct printer *p;
    struct printer_source *s[2];
};

static void
trial_begin(struct trial *t, struct printer_args args, const char *name)
{
    struct error err = ERROR_INIT;
    char path[] = "/tmp/test-printer-XXXXXX";

    t->fd = mkstemp(path);
    assert_true(t->fd >= 0);
    unlink(path);
    assert_int_equal(output_new(t->fd, false, &t->out, &err), DT_OK);
    assert_int_equal(printer_new(t->out, &args, &t->p, &err), DT_OK);
    t->s[0] = printer_source_new(0, "web1", name);
    t->s[1] = printer_source_new(1, "web2", name);
    assert_non_null(t->s[0]);
}

static void
trial_end(struct trial *t, struct buf *got)
{
    ssize_t n;

    assert_int_equal(printer_flush(t->p, NULL), DT_OK);
    lseek(t->fd, 0, SEEK_SET);
    do {
        assert_int_equal(buf_reserve(got, 65536), DT_OK);
        n = read(t->fd, got->data + got->len, 65536);
        assert_true(n >= 0);
        got->len += (size_t)n;
    } while (n);
    assert_int_equal(output_bytes(t->out), got->len);
    printer_source_free(t->s[0]);
    printer_source_free(t->s[1]);
    printer_free(t->p);
    output_free(t->out);
    close(t->fd);
}

static void
put(struct trial *t, int source, const char *text, uint64_t first)
{
    assert_int_equal(
        printer_lines(t->p, t->s[source], text, strlen(text), first, NULL),
        DT_OK);
}

static void
expect(struct trial *t, const char *want)
{
    struct buf got = {0};

    trial_end(t, &got);
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.data, want, got.len);
    buf_fini(&got);
}

static void
test_headed(void **state)
{
    struct trial t;

    (void)state;
    trial_begin(&t, (struct printer_args){0}, "a.log");
    put(&t, 0, "one\n\ntwo|x\n", 8);
    put(&t, 1, "cut", 18446744073709551614u);
    put(&t, 0, "end", PRINTER_CONTINUE);
    put(&t, 0, "", 7);
    put(&t, 1, "big\n", 99999);
    put(&t, 1, "bigger\r\n", PRINTER_CONTINUE);
    expect(&t, "REMOTE|web1|100|8|a.log|one\n"
               "REMOTE|web1|100|9|a.log|\n"
               "REMOTE|web1|100|10|a.log|two|x\n"
               "REMOTE|web2|100|18446744073709551614|a.log|cut\n"
               "REMOTE|web1|100|11|a.log|end\n"
               "REMOTE|web2|100|99999|a.log|big\n"
               "REMOTE|web2|100|100000|a.log|bigger\r\n");
}

/* Numbers with gaps of all sizes, up and down, over every count of digits. */
static void
test_numbers(void **state)
{
    static const uint64_t gaps[] = {1, 2, 9, 10, 11, 89, 900, 998, 999, 1000};
    struct buf want = {0};
    uint64_t number = 1;
    struct trial t;

    (void)state;
    trial_begin(&t, (struct printer_args){0}, "f");
    for (unsigned i = 0; i < 4000; i++) {
        put(&t, 0, "x\n", number);
        assert_int_equal(buf_printf(&want, "REMOTE|web1|100|%llu|f|x\n",
                                    (unsigned long long)number),
                         DT_OK);
        number += gaps[i * 7 % 10] + (i % 50 == 49 ? number : 0);
        if (i % 101 == 100) {
            number = number % 1000 + 1;
        }
    }
    assert_int_equal(buf_append(&want, "", 1), DT_OK);
    expect(&t, want.data);
    buf_fini(&want);
}

/* Counts that are all 0 are as if nothing was printed. */
static void
test_counts(void **state)
{
    static const char *const texts[] = {"a:0:0\n", "a:x:0\nb:y:0\n",
                                        "a:x:0\nb:y:10\nc:z:0\n"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (int counts = 0; counts < 2; counts++) {
            struct trial t;

            trial_begin(&t, (struct printer_args){.counts = counts}, "f");
            assert_int_equal(
                printer_text(t.p, texts[i], strlen(texts[i]), NULL), DT_OK);
            assert_int_equal(printer_has_printed(t.p), !counts || i == 2);
            expect(&t, texts[i]);
        }
    }
}

static void
test_names_are_escaped(void **state)
{
    struct trial t;

    (void)state;
    trial_begin(&t, (struct printer_args){0}, "a\n\x1b[2Jb");
    put(&t, 0, "\x1b[0m\n", 1);
    expect(&t, "REMOTE|web1|100|1|a\\x0a\\x1b[2Jb|\x1b[0m\n");
}

static void
test_plain_is_verbatim(void **state)
{
    struct trial t;

    (void)state;
    trial_begin(&t, (struct printer_args){.plain = true}, "f");
    put(&t, 0, "a\nb", 0);
    put(&t, 0, "c", 0);      /* a cut line goes on */
    put(&t, 1, "x\n\ny", 0); /* another server: lines never meet */
    put(&t, 1, "z\n", 0);
    put(&t, 0, "end", 0);
    expect(&t, "a\nbc\nx\n\nyz\nend");
}

static void
test_plain_line_end(void **state)
{
    struct trial t;

    (void)state;
    trial_begin(&t, (struct printer_args){.plain = true, .line_end = true},
                "f");
    put(&t, 0, "a\nb", 0);
    put(&t, 1, "c\n", 0);
    expect(&t, "a\nb\nc\n");
}

static void
test_escaped(void **state)
{
    struct trial t;
    static const char in[] = "\tok \xe2\x82\xac\x1b]0;x\x07\r\n"
                             "\r\x7f\xc2\x9b\x9b\xff\xe2\x82\n"
                             "\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80";

    (void)state;
    trial_begin(&t, (struct printer_args){.plain = true, .escape = true}, "f");
    put(&t, 0, in, 0);
    expect(&t, "\tok \xe2\x82\xac\\x1b]0;x\\x07\r\n"
               "\\x0d\\x7f\\xc2\\x9b\\x9b\\xff\\xe2\\x82\n"
               "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xc0\\x80");
}

/* Random lines in random pieces against a plain formatter; exact-size blocks,
 * so that a read past the end shows under valgrind and ASan. */
static void
test_random(void **state)
{
    struct buf want = {0}, got = {0};
    struct trial t;
    uint64_t number = 95;

    (void)state;
    srandom(7);
    trial_begin(&t, (struct printer_args){0}, "dir/some-longer-name.log");
    for (int i = 0; i < 400; i++) {
        struct buf in = {0};
        int lines = (int)(random() % 9);
        uint64_t first = number;

        for (int l = 0; l < lines; l++) {
            size_t len = (size_t)(random() % (i % 50 == 49 ? 400000 : 150));

            buf_printf(&want, "REMOTE|web1|100|%llu|%s|",
                       (unsigned long long)number++,
                       "dir/some-longer-name.log");
            for (size_t c = 0; c < len; c++) {
                char byte = (char)('a' + random() % 26);

                buf_append(&in, &byte, 1);
                buf_append(&want, &byte, 1);
            }
            buf_puts(&want, "\n");
            if (l + 1 < lines || random() % 4) {
                buf_puts(&in, "\n");
            } else if (len == 0) {
                /* nothing at all is no line */
                want.len -= 1;
                while (want.len && want.data[want.len - 1] != '\n') {
                    want.len--;
                }
                number--;
            }
        }
        CLEANUP_FREE char *exact = malloc(in.len + !in.len);
        if (in.len) {
            memcpy(exact, in.data, in.len);
        }
        assert_int_equal(
            printer_lines(t.p, t.s[0], exact, in.len,
                          i == 0 || i % 2 ? first : PRINTER_CONTINUE, NULL),
            DT_OK);
        buf_fini(&in);
    }
    trial_end(&t, &got);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.data, want.data, want.len);
    buf_fini(&want);
    buf_fini(&got);
}

struct writer {
    struct output *out;
    struct cancel *cancel;
    int rc;
};

static void *
write_much(void *arg)
{
    struct writer *w = arg;
    static char data[1 << 20];

    do {
        w->rc = output_write(w->out, data, sizeof(data), w->cancel);
    } while (w->rc == DT_OK);
    return NULL;
}

/* Nobody reads: the writer waits, and ends when it is told to. */
static void
end_of_wait(int fd, bool by_cancel)
{
    struct error err = ERROR_INIT;
    struct cancel cancel = {.fd = -1};
    struct writer w = {.cancel = by_cancel ? &cancel : NULL};
    int pipe_fds[2];
    pthread_t thread;

    assert_int_equal(pipe(pipe_fds), 0);
    cancel.fd = pipe_fds[0];
    assert_int_equal(output_new(fd, false, &w.out, &err), DT_OK);
    assert_true(output_watch_fd(w.out) >= 0);
    assert_int_equal(pthread_create(&thread, NULL, write_much, &w), 0);
    if (by_cancel) {
        assert_int_equal(write(pipe_fds[1], "x", 1), 1);
    } else {
        output_stop(w.out);
    }
    pthread_join(thread, NULL);
    assert_int_equal(w.rc, DT_ERR_CANCELLED);
    output_free(w.out);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

static void
test_waits_end(void **state)
{
    int fds[2];

    (void)state;
    for (int by_cancel = 0; by_cancel < 2; by_cancel++) {
        assert_int_equal(pipe(fds), 0);
        end_of_wait(fds[1], by_cancel);
        assert_int_equal(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
        close(fds[0]);
        close(fds[1]);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
        end_of_wait(fds[1], by_cancel);
        close(fds[0]);
        close(fds[1]);
    }
}

static void *
write_one(void *arg)
{
    struct writer *w = arg;

    w->rc = output_write(w->out, "x", 1, NULL);
    if (w->rc == DT_OK) {
        w->rc = output_flush(w->out, NULL);
    }
    return NULL;
}

static void
test_hold(void **state)
{
    struct error err = ERROR_INIT;
    struct writer w = {0};
    pthread_t thread;
    int fds[2];
    char byte;

    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
    assert_int_equal(output_new(fds[1], true, &w.out, &err), DT_OK);
    output_hold(w.out);
    assert_int_equal(pthread_create(&thread, NULL, write_one, &w), 0);
    assert_int_equal(read(fds[0], &byte, 1), -1);
    output_release(w.out);
    pthread_join(thread, NULL);
    assert_int_equal(w.rc, DT_OK);
    assert_int_equal(read(fds[0], &byte, 1), 1);
    output_free(w.out);
    close(fds[0]);
    close(fds[1]);
}

static void
test_reader_leaves(void **state)
{
    struct error err = ERROR_INIT;
    struct output *out;
    int fds[2];

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(output_new(fds[1], false, &out, &err), DT_OK);
    close(fds[0]);
    assert_int_equal(output_write(out, "x", 1, NULL), DT_OK);
    assert_int_equal(output_flush(out, NULL), DT_ERR_IO);
    assert_int_equal(output_error(out), EPIPE);
    assert_int_equal(output_write(out, "y", 1, NULL), DT_OK);
    assert_int_equal(output_flush(out, NULL), DT_ERR_IO);
    output_free(out);
    close(fds[1]);

    CLEANUP_FD int full = open("/dev/full", O_WRONLY);
    assert_int_equal(output_new(full, false, &out, &err), DT_OK);
    assert_int_equal(output_write(out, "x", 1, NULL), DT_OK);
    assert_int_equal(output_flush(out, NULL), DT_ERR_IO);
    assert_int_equal(output_error(out), ENOSPC);
    output_free(out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headed),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_names_are_escaped),
        cmocka_unit_test(test_plain_is_verbatim),
        cmocka_unit_test(test_plain_line_end),
        cmocka_unit_test(test_escaped),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_waits_end),
        cmocka_unit_test(test_hold),
        cmocka_unit_test(test_reader_leaves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
