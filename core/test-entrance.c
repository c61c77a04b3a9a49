/* SPDX-License-Identifier: Apache-2.0
 *
 * Who at the entrance gets a session, and when. Time is a number here.
 */
#include "entrance.h"

#include "admission.h"
#include "clock.h"
#include "socket.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MAX_CLIENTS 32

struct fixture {
    struct config *config;
    struct connection_shared *shared;
    struct entrance entrance;
    struct connection conns[8];
    struct connection *list[8];
    size_t nr_conns;
    int listen_fd, port;
    int clients[MAX_CLIENTS];
    size_t nr_clients;
};

static int
setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct error err = ERROR_INIT;
    static const char json[] = "{\"Server\": {\"MaxStartups\": 4}}";

    if (!f || !(f->shared = calloc(1, sizeof(*f->shared))) ||
        config_parse(json, sizeof(json) - 1, "test", &f->config, &err) !=
            DT_OK) {
        return -1;
    }
    f->shared->config = f->config;
    penalty_init(&f->shared->penalty);
    f->listen_fd = socket_listen("127.0.0.1", 0, &f->port, &err);
    for (size_t i = 0; i < 8; i++) {
        f->list[i] = &f->conns[i];
    }
    *state = f;
    return f->listen_fd >= 0 ? entrance_init(&f->entrance, f->shared) : -1;
}

static int
teardown(void **state)
{
    struct fixture *f = *state;

    entrance_fini(&f->entrance);
    for (size_t i = 0; i < f->nr_clients; i++) {
        if (f->clients[i] >= 0) {
            close(f->clients[i]);
        }
    }
    close(f->listen_fd);
    config_free(f->config);
    free(f->shared);
    free(f);
    return 0;
}

/* A client from 127.0.0.`host` that says something; its number. It is accepted
 * at `now`. */
static size_t
come_from(struct fixture *f, uint32_t host, const char *says, int64_t now)
{
    struct sockaddr_in own = {.sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(0x7f000000 + host)};
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)f->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    size_t before = f->entrance.guests.nr;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0 && f->nr_clients < MAX_CLIENTS);
    assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(fd, says, strlen(says), 0), (ssize_t)strlen(says));
    while (f->entrance.guests.nr == before) {
        struct pollfd p = {.fd = f->listen_fd, .events = POLLIN};

        assert_int_equal(poll(&p, 1, 10000), 1);
        entrance_accept(&f->entrance, f->listen_fd, now);
    }
    f->clients[f->nr_clients] = fd;
    return f->nr_clients++;
}

static size_t
come(struct fixture *f, const char *says, int64_t now)
{
    return come_from(f, 1, says, now);
}

/* Waits until the guest has something to say and lets it be looked at. */
static void
look(struct fixture *f, int64_t now)
{
    struct pollfd p = {.fd = entrance_fd(&f->entrance), .events = POLLIN};

    assert_int_equal(poll(&p, 1, 10000), 1);
    entrance_events(&f->entrance, now);
}

/* Which client is let in; -1: none. */
static int
next(struct fixture *f, int64_t now)
{
    struct sockaddr_storage from, name;
    socklen_t len = sizeof(name);
    int fd = entrance_next(&f->entrance, f->list, f->nr_conns, now, &from);

    if (fd < 0) {
        return -1;
    }
    close(fd);
    for (size_t i = 0; i < f->nr_clients; i++) {
        if (f->clients[i] >= 0 &&
            getsockname(f->clients[i], (struct sockaddr *)&name, &len) == 0 &&
            memcmp(&name, &from, sizeof(struct sockaddr_in)) == 0) {
            return (int)i;
        }
    }
    return -2;
}

static bool
is_closed(struct fixture *f, size_t client)
{
    struct pollfd p = {.fd = f->clients[client], .events = POLLIN};
    char byte;

    return poll(&p, 1, 10000) == 1 && recv(p.fd, &byte, 1, 0) <= 0;
}

static void
test_ready_one_is_let_in(void **state)
{
    struct fixture *f = *state;

    come(f, "SSH-2.0-x\r\n", 0);
    assert_int_equal(next(f, 0), -1); /* nobody has looked yet */
    look(f, 0);
    assert_int_equal(entrance_next_ms(&f->entrance, f->list, 0, 5), 5);
    assert_int_equal(next(f, 0), 0);
    assert_int_equal(next(f, 0), -1);
    assert_int_equal(entrance_next_ms(&f->entrance, f->list, 0, 5),
                     CLOCK_NEVER);
}

static void
test_silent_one_waits(void **state)
{
    struct fixture *f = *state;

    come(f, "", 1000);
    assert_int_equal(entrance_next_ms(&f->entrance, f->list, 0, 1000),
                     1000 + ENTRANCE_SILENT_MS);
    assert_int_equal(next(f, 1000 + ENTRANCE_SILENT_MS - 1), -1);
    assert_int_equal(next(f, 1000 + ENTRANCE_SILENT_MS), 0);
    /* one who has begun to say it is treated alike */
    come(f, "SS", 2000);
    look(f, 2000);
    assert_int_equal(next(f, 2000), -1);
    assert_int_equal(next(f, 2000 + ENTRANCE_SILENT_MS), 1);
}

static void
test_silent_ones_get_half(void **state)
{
    struct fixture *f = *state;

    f->nr_conns = 2; /* of 4 */
    for (size_t i = 0; i < f->nr_conns; i++) {
        f->conns[i].session_pid = 1;
    }
    come(f, "", 0);
    assert_int_equal(next(f, 5000), -1);
    come(f, "SSH-", 0);
    look(f, 0);
    assert_int_equal(next(f, 5000), 1);
    /* after the time for a log-in nobody waits any more */
    entrance_events(&f->entrance, f->config->server.login_grace_ms);
    assert_true(is_closed(f, 0));
}

static void
test_others_are_turned_away(void **state)
{
    static const char *const words[] = {"GET / HTTP/1.0\r\n", "S", "SSX-2.0",
                                        "\x16\x03\x01", "ssh-2.0"};
    struct fixture *f = *state;
    size_t c;

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        c = come(f, words[i], 0);
        look(f, 0);
        assert_int_equal(f->entrance.guests.nr, i == 1 ? 1 : 0);
        if (i == 1) { /* may still become SSH- */
            assert_int_equal(next(f, ENTRANCE_SILENT_MS), (int)c);
        } else {
            assert_true(is_closed(f, c));
        }
    }
    c = come(f, "", 0);
    close(f->clients[c]);
    f->clients[c] = -1;
    look(f, 0);
    assert_int_equal(f->entrance.guests.nr, 0);
}

static void
test_newest_first(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 5; i++) {
        come(f, "SSH-2.0-x", 10 * i);
        look(f, 10 * i);
    }
    assert_int_equal(next(f, 50), 4);
    assert_int_equal(next(f, 50), 3);
    /* the oldest has waited for long: in turn */
    assert_int_equal(next(f, ENTRANCE_LONG_MS), 0);
    assert_int_equal(next(f, ENTRANCE_LONG_MS + 10), 2);
    assert_int_equal(next(f, ENTRANCE_LONG_MS + 10), 1);
}

/* One who comes alone stands behind none of those who come by the dozen. */
static void
test_sources_in_turn(void **state)
{
    struct fixture *f = *state;

    f->entrance.guests.seed = 1; /* these two must not be taken for one */
    for (int i = 0; i < 5; i++) {
        come_from(f, 2, "SSH-2.0-x", 10 * i);
        look(f, 10 * i);
    }
    assert_int_equal(next(f, 50), 4);
    come_from(f, 3, "SSH-2.0-x", 60);
    look(f, 60);
    for (int i = 6; i < 9; i++) {
        come_from(f, 2, "SSH-2.0-x", 10 * i + 10);
        look(f, 10 * i + 10);
    }
    assert_int_equal(next(f, 100), 5);
    assert_int_equal(next(f, 100), 8);
    come_from(f, 3, "SSH-2.0-x", ENTRANCE_LONG_MS);
    look(f, ENTRANCE_LONG_MS);
    /* in turn with the oldest of all */
    assert_int_equal(next(f, ENTRANCE_LONG_MS), 9);
    assert_int_equal(next(f, ENTRANCE_LONG_MS), 0);
    /* any order of going leaves the lists whole */
    for (int i = 0; i < 5; i++) {
        assert_true(next(f, ENTRANCE_LONG_MS) > 0);
    }
    assert_int_equal(next(f, ENTRANCE_LONG_MS), -1);
    assert_int_equal(f->entrance.guests.nr_ready, 0);
}

static void
test_full(void **state)
{
    struct fixture *f = *state;
    int64_t at;

    for (f->nr_conns = 0; f->nr_conns < 4; f->nr_conns++) {
        struct connection *c = &f->conns[f->nr_conns];

        c->session_pid = 1;
        c->began_ms = 1000;
        strcpy(c->address, "192.0.2.1");
    }
    come(f, "SSH-2.0-x", 1000);
    look(f, 1000);
    assert_int_equal(next(f, 1000), -1);
    at = entrance_next_ms(&f->entrance, f->list, f->nr_conns, 1000);
    assert_int_equal(at, 1000 + ADMISSION_SILENT_MS);
    f->conns[2].place = &f->shared->nr_users; /* has logged in: room */
    assert_int_equal(next(f, 1000), 0);
}

/* Whoever is refused for failed log-ins does not even stand here. */
static void
test_blocked_source(void **state)
{
    static char *words[] = {(char *)"192.0.2.0/24"};
    struct fixture *f = *state;
    struct strv kept = f->config->server.failure_penalty_exempt;
    struct penalty_limits limits;
    size_t c;

    f->config->server.failure_penalty_exempt = (struct strv){words, 1, 0};
    limits = connection_penalty_limits(f->config);
    come(f, "", 0); /* so that come() sees the next one by its close */
    assert_true(penalty_add(&f->shared->penalty, &limits, "127.0.0.1",
                            PENALTY_ABUSE, 0) > 0);
    c = f->nr_clients;
    f->clients[c] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    f->nr_clients++;
    assert_int_equal(connect(f->clients[c],
                             (struct sockaddr *)&(struct sockaddr_in){
                                 .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)f->port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
                             sizeof(struct sockaddr_in)),
                     0);
    entrance_accept(&f->entrance, f->listen_fd, 1);
    assert_true(is_closed(f, c));
    assert_int_equal(f->entrance.guests.nr, 1);
    f->config->server.failure_penalty_exempt = kept;
}

int
main(void)
{
#define WITH_FIXTURE(test) \
    cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_ready_one_is_let_in),
        WITH_FIXTURE(test_silent_one_waits),
        WITH_FIXTURE(test_silent_ones_get_half),
        WITH_FIXTURE(test_others_are_turned_away),
        WITH_FIXTURE(test_newest_first),
        WITH_FIXTURE(test_sources_in_turn),
        WITH_FIXTURE(test_full),
        WITH_FIXTURE(test_blocked_source),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
