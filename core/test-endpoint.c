/* SPDX-License-Identifier: Apache-2.0
 *
 * A socket for askers: requests in pieces, too long and none at all, slow
 * readers, time, and the file of the socket.
 */
#include "clock.h"
#include "endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "test-tempdir.h"

#define BIG (8u << 20) /* more than any socket holds */

/* "ask" and a newline is a request, "big" one with a big answer. */
static int
answer(void *ctx, const char *request, size_t len, bool is_full,
       struct buf *out)
{
    int *nr = ctx;

    ++*nr;
    if (!memchr(request, '\n', len)) {
        return is_full ? DT_ERR_LIMIT : DT_AGAIN;
    }
    if (strncmp(request, "big", 3) == 0) {
        if (buf_reserve(out, BIG) != DT_OK) {
            return DT_ERR_NOMEM;
        }
        memset(out->data, 'x', BIG);
        out->len = BIG;
        return DT_OK;
    }
    return strncmp(request, "ask", 3) == 0 ? buf_puts(out, "answer")
                                           : DT_ERR_PROTO;
}

/* One turn of the loop at that time. */
static void
turn_at(struct endpoint *e, int64_t now)
{
    struct pollfd p[ENDPOINT_MAX_POLL];
    size_t n = endpoint_poll(e, p);
    int nr = 0;

    assert_true(poll(p, n, 0) >= 0);
    endpoint_events(e, p, n, answer, &nr, now);
    endpoint_check_time(e, now);
}

static void
turns(struct endpoint *e, int nr)
{
    for (int i = 0; i < nr; i++) {
        turn_at(e, 1000);
    }
}

static int
ask(const char *path)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    strcpy(sa.sun_path, path);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    return fd;
}

static void
say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void
hear(int fd, const char *want)
{
    char got[64] = "";
    ssize_t n = recv(fd, got, sizeof(got) - 1, 0);

    assert_int_equal(n, strlen(want));
    assert_string_equal(got, want);
}

static void
hears_nothing_yet(int fd)
{
    char c;

    assert_int_equal(recv(fd, &c, 1, 0), -1);
    assert_int_equal(errno, EAGAIN);
}

static void
open_here(struct endpoint *e)
{
    struct error err = ERROR_INIT;

    endpoint_init(e);
    if (endpoint_open_unix(e, "socket", false, &err) != DT_OK) {
        fail_msg("%s", err.text);
    }
}

static void
test_pieces(void **state)
{
    struct endpoint e;
    int fd;

    (void)state;
    open_here(&e);
    assert_true(endpoint_next_ms(&e) == CLOCK_NEVER);
    fd = ask("socket");
    say(fd, "as");
    turns(&e, 3);
    hears_nothing_yet(fd);
    assert_int_equal(endpoint_next_ms(&e), 1000 + ENDPOINT_TIME_MS);
    say(fd, "k\nand more that nobody wants");
    turns(&e, 3);
    hear(fd, "answer");
    hear(fd, "");
    close(fd);
    turns(&e, 2);
    assert_int_equal(e.nr, 0);
    endpoint_close(&e);
}

static void
test_half_closed(void **state)
{
    struct endpoint e;
    int good, bad;

    (void)state;
    open_here(&e);
    good = ask("socket");
    bad = ask("socket");
    say(good, "ask\n");
    say(bad, "ask");
    shutdown(good, SHUT_WR);
    shutdown(bad, SHUT_WR);
    turns(&e, 6);
    hear(good, "answer");
    hear(good, "");
    hear(bad, "");
    assert_int_equal(e.nr, 0);
    close(good);
    close(bad);
    endpoint_close(&e);
}

static void
test_bad(void **state)
{
    char big[ENDPOINT_MAX_REQUEST + 1];
    struct endpoint e;
    char c;
    int fd;

    (void)state;
    open_here(&e);
    fd = ask("socket");
    say(fd, "what?\n");
    turns(&e, 3);
    hear(fd, "");
    close(fd);
    fd = ask("socket");
    memset(big, 'a', sizeof(big));
    assert_int_equal(send(fd, big, sizeof(big), 0), sizeof(big));
    turns(&e, 4);
    assert_int_equal(e.nr, 0);
    assert_true(recv(fd, &c, 1, 0) <= 0); /* the end, or a reset */
    close(fd);
    endpoint_close(&e);
}

static void
test_time(void **state)
{
    struct endpoint e;
    int silent, deaf;

    (void)state;
    open_here(&e);
    silent = ask("socket");
    turn_at(&e, 1000);
    deaf = ask("socket");
    say(deaf, "big\n");
    turn_at(&e, 1500);
    turn_at(&e, 1500);
    turn_at(&e, 1500);
    assert_int_equal(e.nr, 2);
    turn_at(&e, 1000 + ENDPOINT_TIME_MS - 1);
    assert_int_equal(e.nr, 2);
    turn_at(&e, 1000 + ENDPOINT_TIME_MS);
    assert_int_equal(e.nr, 1);
    hear(silent, "");
    assert_int_equal(endpoint_next_ms(&e), 1500 + ENDPOINT_TIME_MS);
    turn_at(&e, 1500 + ENDPOINT_TIME_MS);
    assert_int_equal(e.nr, 0);
    close(silent);
    close(deaf);
    endpoint_close(&e);
}

static void
test_big_answer(void **state)
{
    static char got[65536];
    struct endpoint e;
    size_t all = 0;
    int fd;

    (void)state;
    open_here(&e);
    fd = ask("socket");
    say(fd, "big\n");
    for (ssize_t n = 1; n != 0;) {
        turns(&e, 1);
        n = recv(fd, got, sizeof(got), 0);
        all += n > 0 ? (size_t)n : 0;
    }
    assert_int_equal(all, BIG);
    close(fd);
    endpoint_close(&e);
}

static void
test_many(void **state)
{
    int fds[ENDPOINT_MAX_CLIENTS + 2];
    struct endpoint e;
    size_t last = ENDPOINT_MAX_CLIENTS + 1;

    (void)state;
    open_here(&e);
    for (size_t i = 0; i <= last; i++) {
        fds[i] = ask("socket");
    }
    say(fds[last], "ask\n");
    turns(&e, 20);
    assert_int_equal(e.nr, ENDPOINT_MAX_CLIENTS);
    hears_nothing_yet(fds[last]);
    close(fds[3]); /* from the middle */
    close(fds[0]);
    turns(&e, 6);
    hear(fds[last], "answer");
    for (size_t i = 1; i <= last; i++) {
        if (i != 3) {
            close(fds[i]);
        }
    }
    turns(&e, 4);
    assert_int_equal(e.nr, 0);
    endpoint_close(&e);
}

static void
test_file(void **state)
{
    char name[ENDPOINT_MAX_PATH + 2];
    struct error err = ERROR_INIT;
    struct endpoint e, other;
    struct stat st;

    (void)state;
    open_here(&e);
    assert_int_equal(stat("socket", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    /* one that is in use stays, and its owner keeps it */
    endpoint_init(&other);
    assert_int_equal(endpoint_open_unix(&other, "socket", false, &err),
                     DT_ERR_LIMIT);
    assert_non_null(strstr(err.text, "another server uses it"));
    endpoint_close(&other);
    assert_int_equal(stat("socket", &st), 0);
    /* what has taken its name is not removed */
    assert_int_equal(rename("socket", "moved"), 0);
    tempdir_write("socket", "x", 1);
    endpoint_close(&e);
    assert_int_equal(stat("socket", &st), 0);
    err = (struct error)ERROR_INIT;
    assert_int_equal(endpoint_open_unix(&e, "socket", false, &err),
                     DT_ERR_INVAL);
    assert_non_null(strstr(err.text, "something else of that name"));
    /* one that nobody answers is replaced */
    endpoint_close(&e);
    assert_int_equal(endpoint_open_unix(&e, "moved", true, &err), DT_OK);
    assert_int_equal(stat("moved", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0660);
    endpoint_close(&e);
    assert_int_equal(stat("moved", &st), -1);
    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(endpoint_open_unix(&e, name, false, &err), DT_ERR_INVAL);
    assert_int_equal(endpoint_open_unix(&e, "no/such", false, &err),
                     DT_ERR_NOENT);
    endpoint_close(&e);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tempdir_enter, tempdir_leave)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_pieces), TEST(test_half_closed), TEST(test_bad),
        TEST(test_time),   TEST(test_big_answer),  TEST(test_many),
        TEST(test_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
