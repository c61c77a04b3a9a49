/* SPDX-License-Identifier: Apache-2.0
 *
 * Broker messages: what is sent arrives, with its descriptor; anything
 * malformed is refused and leaks no descriptor.
 */
#include "broker.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dtail/plugin.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int
setup(void **state)
{
    int *pair = malloc(2 * sizeof(int));

    if (!pair ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) != 0) {
        free(pair);
        return -1;
    }
    *state = pair;
    return 0;
}

static int
teardown(void **state)
{
    int *pair = *state;

    close(pair[0]);
    close(pair[1]);
    free(pair);
    return 0;
}

static int
count_fds(void)
{
    int nr = 0;

    for (int fd = 0; fd < 256; fd++) {
        nr += fcntl(fd, F_GETFD) >= 0;
    }
    return nr;
}

static void
test_round_trip(void **state)
{
    const int *pair = *state;
    struct broker_msg msg = {.type = BROKER_LOOKUP_KEY,
                             .status = -3,
                             .id = 7,
                             .flags = 1,
                             .value = -(1ll << 40),
                             .user = "alice",
                             .text = "why",
                             .key_len = BROKER_MAX_KEY};
    struct broker_msg got;
    int fd = 77;

    memset(msg.key, 'k', sizeof(msg.key));
    assert_int_equal(broker_recv(pair[1], &got, &fd), DT_AGAIN);
    assert_int_equal(broker_send(pair[0], &msg, -1), DT_OK);
    assert_int_equal(broker_recv(pair[1], &got, &fd), DT_OK);
    assert_int_equal(fd, -1);
    assert_int_equal(got.type, BROKER_LOOKUP_KEY);
    assert_int_equal(got.status, -3);
    assert_int_equal(got.id, 7);
    assert_int_equal(got.flags, 1);
    assert_true(got.value == msg.value);
    assert_string_equal(got.user, "alice");
    assert_string_equal(got.text, "why");
    assert_int_equal(got.key_len, BROKER_MAX_KEY);
    assert_memory_equal(got.key, msg.key, sizeof(msg.key));
}

static void
test_descriptor_travels(void **state)
{
    const int *pair = *state;
    struct broker_msg msg = {.type = BROKER_WORKER_STARTED};
    int pipe_fds[2], fd = -1;
    char byte = 0;

    assert_int_equal(pipe(pipe_fds), 0);
    assert_int_equal(broker_send(pair[0], &msg, pipe_fds[1]), DT_OK);
    close(pipe_fds[1]);
    assert_int_equal(broker_recv(pair[1], &msg, &fd), DT_OK);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(write(fd, "x", 1), 1);
    assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
    assert_int_equal(byte, 'x');
    close(fd);
    close(pipe_fds[0]);
}

static void
test_end_and_full(void **state)
{
    int *pair = *state;
    struct broker_msg msg = {.type = BROKER_SLOT};
    int fd, sent = 0, st;

    while ((st = broker_send(pair[0], &msg, -1)) == DT_OK) {
        sent++;
    }
    assert_int_equal(st, DT_AGAIN);
    for (int i = 0; i < sent; i++) {
        assert_int_equal(broker_recv(pair[1], &msg, &fd), DT_OK);
    }
    close(pair[0]);
    assert_int_equal(broker_recv(pair[1], &msg, &fd), DT_ERR_IO);
    assert_int_equal(broker_send(pair[1], &msg, -1), DT_ERR_IO);
    pair[0] = dup(pair[1]);
}

/* Sends raw bytes and expects a refusal that keeps no descriptor. */
static void
expect_refused(const int *pair, const void *data, size_t len)
{
    struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(3 * sizeof(int))];
    } control = {0};
    struct msghdr hdr = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&hdr);
    const int fds[3] = {0, 1, 2};
    struct broker_msg got;
    int fd = -1, before = count_fds();

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(fds));
    memcpy(CMSG_DATA(c), fds, sizeof(fds));
    assert_int_equal(sendmsg(pair[0], &hdr, 0), len);
    assert_int_equal(broker_recv(pair[1], &got, &fd), DT_ERR_PROTO);
    assert_int_equal(fd, -1);
    assert_int_equal(count_fds(), before);
}

static void
test_malformed(void **state)
{
    const int *pair = *state;
    const size_t fixed = offsetof(struct broker_msg, key);
    struct broker_msg *msg = calloc(1, sizeof(*msg) + 16);

    assert_non_null(msg);
    expect_refused(pair, msg, 1);
    expect_refused(pair, msg, fixed - 1);
    msg->key_len = 5; /* says five, brings four */
    expect_refused(pair, msg, fixed + 4);
    msg->key_len = BROKER_MAX_KEY + 1;
    expect_refused(pair, msg, fixed + 10);
    expect_refused(pair, msg, sizeof(*msg) + 16);
    assert_int_equal(broker_send(pair[0], msg, -1), DT_ERR_PROTO);
    msg->key_len = 0;
    memset(msg->user, 'u', sizeof(msg->user));
    expect_refused(pair, msg, fixed);
    memset(msg->user, 0, sizeof(msg->user));
    memset(msg->text, 't', sizeof(msg->text));
    expect_refused(pair, msg, fixed);
    free(msg);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_descriptor_travels, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_end_and_full, setup, teardown),
        cmocka_unit_test_setup_teardown(test_malformed, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
