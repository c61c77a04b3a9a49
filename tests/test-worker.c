/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker over a socketpair: each query ends by itself, or in bounded time
 * when cancelled, and a broken request ends the session with its reason.
 */
#include "broker.h"
#include "config.h"
#include "request.h"
#include "wire.h"
#include "worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT_MS 20000 /* a wait that takes this long has failed */

struct fixture {
    struct config *config;
    struct plugins *plugins;
    struct worker_args args;
    pthread_t thread;
    int session; /* our end */
    int broker;  /* our end */
    struct buf in;
    struct query_end end;
    struct buf notes;
    uint64_t bytes; /* of lines */
    unsigned nr_ends;
    uint32_t updated;  /* what the last UPDATED named … */
    uint32_t last_end; /* … and the last END */
    int result;
};

static void *
worker_main(void *arg)
{
    struct fixture *f = arg;

    f->result = worker_run(&f->args);
    return NULL;
}

static void send_frame(struct fixture *f, uint8_t type, const void *data,
                       size_t len);

/* With the client's HELLO under way. */
static void
start(struct fixture *f, const char *config)
{
    static const char hello[] = "{\"protocol\": 1, \"version\": \"test\"}";
    struct error err = ERROR_INIT;
    int session[2], broker[2];

    memset(f, 0, sizeof(*f));
    assert_int_equal(
        config_parse(config, strlen(config), "test", &f->config, &err), DT_OK);
    if (plugins_open(TEST_PLUGIN_DIR, f->config, &f->plugins, &err) != DT_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(socketpair(AF_UNIX,
                                SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                                session),
                     0);
    assert_int_equal(socketpair(AF_UNIX,
                                SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
                                0, broker),
                     0);
    f->session = session[0];
    f->broker = broker[0];
    f->args = (struct worker_args){.config = f->config,
                                   .plugins = f->plugins,
                                   .user = "test",
                                   .peer = "127.0.0.1:1",
                                   .host = "testhost",
                                   .session_fd = session[1],
                                   .broker_fd = broker[1]};
    assert_int_equal(pthread_create(&f->thread, NULL, worker_main, f), 0);
    send_frame(f, WIRE_C_HELLO, hello, sizeof(hello) - 1);
}

static void
send_frame(struct fixture *f, uint8_t type, const void *data, size_t len)
{
    uint8_t head[WIRE_MAX_FIXED];
    const struct wire_frame frame = {.type = type, .data = data, .len = len};
    size_t head_len = wire_encode(head, &frame);

    assert_int_equal(write(f->session, head, head_len), (ssize_t)head_len);
    assert_int_equal(write(f->session, data, len), (ssize_t)len);
}

static void
send_request(struct fixture *f, uint8_t type, uint32_t id, const char *plugin,
             const char *file, bool is_last)
{
    struct query_spec spec = {.id = id,
                              .plugin = (char *)(uintptr_t)plugin,
                              .plain = true,
                              .last = is_last};
    struct buf json = {0};

    assert_int_equal(strv_add(&spec.files, file), DT_OK);
    assert_int_equal(query_spec_format(&spec, &json), DT_OK);
    send_frame(f, type, json.data, json.len);
    buf_fini(&json);
    spec.plugin = NULL;
    query_spec_fini(&spec);
}

static void
send_query(struct fixture *f, uint32_t id, const char *plugin, const char *file,
           bool is_last)
{
    send_request(f, WIRE_C_QUERY, id, plugin, file, is_last);
}

/* The listener's part: every slot is granted at once. */
static void
answer_broker(struct fixture *f)
{
    static struct broker_msg msg;
    int fd;

    while (broker_recv(f->broker, &msg, &fd) == DT_OK) {
        if (msg.type == BROKER_TAKE_SLOT) {
            msg.type = BROKER_SLOT;
            assert_int_equal(broker_send(f->broker, &msg, -1), DT_OK);
        }
    }
}

static void
take_frame(struct fixture *f, const struct wire_frame *frame)
{
    struct error err = ERROR_INIT;

    switch (frame->type) {
    case WIRE_S_LINES:
        f->bytes += frame->len;
        break;
    case WIRE_S_NOTE:
        assert_int_equal(buf_append(&f->notes, frame->data, frame->len), DT_OK);
        assert_int_equal(buf_puts(&f->notes, "\n"), DT_OK);
        break;
    case WIRE_S_END:
        query_end_fini(&f->end);
        assert_int_equal(
            query_end_parse(frame->data, frame->len, &f->end, &err), DT_OK);
        f->nr_ends++;
        f->last_end = frame->query;
        break;
    case WIRE_S_UPDATED:
        f->updated = frame->query;
        break;
    default:
        break;
    }
}

/* Reads on; false at the end of the stream. */
static bool
pump(struct fixture *f)
{
    struct pollfd p[2] = {{.fd = f->session, .events = POLLIN},
                          {.fd = f->broker, .events = POLLIN}};
    struct wire_frame frame;
    size_t used;
    ssize_t n;

    assert_true(poll(p, 2, LIMIT_MS) > 0);
    if (p[1].revents) {
        answer_broker(f);
    }
    if (!p[0].revents) {
        return true;
    }
    assert_int_equal(buf_reserve(&f->in, 1u << 20), DT_OK);
    n = read(f->session, f->in.data + f->in.len, 1u << 20);
    if (n <= 0) {
        assert_int_equal(f->in.len, 0); /* whole frames only */
        return false;
    }
    f->in.len += (size_t)n;
    while (wire_decode(f->in.data, f->in.len, WIRE_MAX_FRAME, &frame, &used) ==
           DT_OK) {
        take_frame(f, &frame);
        buf_consume(&f->in, used);
    }
    return true;
}

static void
finish(struct fixture *f)
{
    assert_int_equal(pthread_join(f->thread, NULL), 0);
    close(f->session);
    close(f->broker);
    buf_fini(&f->in);
    buf_fini(&f->notes);
    query_end_fini(&f->end);
    plugins_free(f->plugins);
    config_free(f->config);
}

static void
expect_note(struct fixture *f, const char *text)
{
    assert_int_equal(buf_append(&f->notes, "", 1), DT_OK);
    if (!strstr(f->notes.data, text)) {
        fail_msg("no note says \"%s\": %s", text, f->notes.data);
    }
}

static char *
big_file(size_t bytes)
{
    char name[] = "/tmp/test-worker-XXXXXX";
    int fd = mkstemp(name);
    char block[4096];

    assert_true(fd >= 0);
    memset(block, 'x', sizeof(block));
    for (size_t i = 63; i < sizeof(block); i += 64) {
        block[i] = '\n';
    }
    for (size_t done = 0; done < bytes; done += sizeof(block)) {
        assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
    }
    close(fd);
    return strdup(name);
}

static const char *const variants[] = {
    "{}", "{\"Server\":{\"TurboBoostDisable\":true}}"};

static void
test_one_shot_ends_by_itself(void **state)
{
    char *file = big_file(8u << 20);

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;

        start(&f, variants[i]);
        send_query(&f, 1, "pcat", file, true);
        while (pump(&f)) {
        }
        assert_int_equal(f.nr_ends, 1);
        assert_int_equal(f.end.status, DT_OK);
        assert_true(f.bytes == 8u << 20);
        assert_int_equal(f.end.turbo, i == 0);
        finish(&f);
        assert_int_equal(f.result, 0);
    }
    unlink(file);
    free(file);
}

static void
test_several_queries_in_one_session(void **state)
{
    char *file = big_file(1u << 20);
    struct fixture f;

    (void)state;
    start(&f, "{}");
    send_query(&f, 1, "pcat", file, false);
    send_query(&f, 2, "pcat", file, false);
    send_query(&f, 3, "nosuch", file, false);
    while (f.nr_ends < 3) {
        assert_true(pump(&f));
    }
    assert_true(f.bytes == 2u << 20);
    send_query(&f, 1, "pcat", file, true); /* the number is free again */
    while (pump(&f)) {
    }
    assert_int_equal(f.nr_ends, 4);
    assert_true(f.bytes == 3u << 20);
    finish(&f);
    unlink(file);
    free(file);
}

/* Nothing is read until the output is blocked; then the query is cancelled. */
static void
test_cancel_while_blocked(void **state)
{
    char *file = big_file(32u << 20);

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        struct pollfd p;
        struct buf json = {0};

        start(&f, variants[i]);
        send_query(&f, 1, "pcat", file, false);
        while (f.bytes == 0) {
            assert_true(pump(&f));
        }
        assert_int_equal(cancel_format(1, false, &json), DT_OK);
        send_frame(&f, WIRE_C_CANCEL, json.data, json.len);
        buf_fini(&json);
        send_frame(&f, WIRE_C_BYE, "", 0);
        p = (struct pollfd){.fd = f.session, .events = POLLIN};
        assert_int_equal(poll(&p, 1, LIMIT_MS), 1);
        while (pump(&f)) {
        }
        assert_int_equal(f.nr_ends, 1);
        assert_int_equal(f.end.status, DT_ERR_CANCELLED);
        assert_true(f.bytes < 32u << 20);
        finish(&f);
        assert_int_equal(f.result, 0);
    }
    unlink(file);
    free(file);
}

/* Another query takes the place of one whose output is blocked, unless it
 * cannot start. */
static void
test_update(void **state)
{
    char *file = big_file(32u << 20), *small = big_file(1u << 20);

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;

        start(&f, variants[i]);
        send_query(&f, 1, "pcat", file, false);
        while (f.bytes == 0) {
            assert_true(pump(&f));
        }
        send_request(&f, WIRE_C_UPDATE, 2, "nosuch", small, false);
        while (f.nr_ends == 0) {
            assert_true(pump(&f));
        }
        assert_int_equal(f.last_end, 2);
        assert_int_equal(f.end.status, DT_ERR_NOENT);
        assert_int_equal(f.updated, 0);
        send_request(&f, WIRE_C_UPDATE, 3, "pcat", small, false);
        while (f.nr_ends < 3) {
            assert_true(pump(&f));
        }
        assert_int_equal(f.updated, 3);
        send_frame(&f, WIRE_C_BYE, "", 0);
        while (pump(&f)) {
        }
        assert_int_equal(f.nr_ends, 3);
        finish(&f);
        assert_int_equal(f.result, 0);
    }
    unlink(file);
    free(file);
    unlink(small);
    free(small);
}

static void
test_client_vanishes(void **state)
{
    char *file = big_file(32u << 20);

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;

        start(&f, variants[i]);
        send_query(&f, 1, "pcat", file, true);
        while (f.bytes == 0) {
            assert_true(pump(&f));
        }
        close(f.session);
        f.session = -1;
        finish(&f); /* the worker's thread ends */
        assert_int_equal(f.result, 0);
    }
    unlink(file);
    free(file);
}

static void
test_server_stops(void **state)
{
    static struct broker_msg msg;
    char *file = big_file(32u << 20);
    struct fixture f;

    (void)state;
    start(&f, "{}");
    send_query(&f, 1, "pcat", file, true);
    while (f.bytes == 0) {
        assert_true(pump(&f));
    }
    msg.type = BROKER_DRAIN;
    msg.value = 0; /* no grace */
    assert_int_equal(broker_send(f.broker, &msg, -1), DT_OK);
    while (pump(&f)) {
    }
    assert_int_equal(f.nr_ends, 1);
    if (f.end.status != DT_OK) { /* it may have been quicker */
        assert_int_equal(f.end.status, DT_ERR_CANCELLED);
        assert_non_null(strstr(f.end.message, "shutting down"));
    }
    finish(&f);
    unlink(file);
    free(file);
}

static void
expect_refused(const void *bytes, size_t len, const char *text)
{
    struct fixture f;

    start(&f, "{}");
    assert_int_equal(write(f.session, bytes, len), (ssize_t)len);
    shutdown(f.session, SHUT_WR);
    while (pump(&f)) {
    }
    expect_note(&f, text);
    finish(&f);
    assert_int_equal(f.result, 0);
}

static void
test_broken_requests(void **state)
{
    (void)state;
    expect_refused("\xff\xff\xff\xff\x02", 5, "longer than");
    expect_refused("\0\0\0\0\x02", 5, "too short");
    expect_refused("\0\0\0\x05\x02{{{{", 9, "bad QUERY request");
    expect_refused("\0\0\0\x09\x02", 5, "in the middle of a frame");
    expect_refused("\0\0\0\x03\x04[]", 7, "bad CANCEL request");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_shot_ends_by_itself),
        cmocka_unit_test(test_several_queries_in_one_session),
        cmocka_unit_test(test_cancel_while_blocked),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_client_vanishes),
        cmocka_unit_test(test_server_stops),
        cmocka_unit_test(test_broken_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
