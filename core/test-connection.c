/* SPDX-License-Identifier: Apache-2.0
 *
 * The listener's table of requests: what a session may ask before and after
 * the log-in, what a worker may ask, and that anything else ends it.
 *
 * The session is a process that only waits; the test speaks for it. It is
 * reaped before the next test, so a kill that is missing would hang here.
 */
#include "cleanup.h"
#include "clock.h"
#include "connection.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define KEY \
    "AAAAC3NzaC1lZDI1NTE5AAAAIKMnixVTeULgqCC76jpKJGLaq9e26OanTQRJTOrvCX8P"

/* another */
#define KEY2 \
    "AAAAC3NzaC1lZDI1NTE5AAAAIMb0F+TqsuuvqQzsXsVVO/zVeunbFye1ITH+5hqA37ms"

struct fixture {
    struct config *config;
    struct connection_shared shared;
    struct connection *c;
    int session; /* the children's ends */
    int worker;
};

static pid_t
start_waiting(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        for (;;) {
            pause();
        }
    }
    return pid;
}

static int
setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct error err = ERROR_INIT;
    int pair[2];

    if (!f || config_parse("{}", 2, "test", &f->config, &err) != DT_OK) {
        return -1;
    }
    f->shared.config = f->config;
    f->shared.self = getpid();
    slots_init(&f->shared.slots);
    slots_set_limits(&f->shared.slots, 1, 1);
    auth_cache_init(&f->shared.cache);
    f->c = calloc(1, sizeof(*f->c));
    if (!f->c || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair)) {
        return -1;
    }
    f->c->shared = &f->shared;
    f->c->session_fd = pair[0];
    f->session = pair[1];
    f->c->lookup_fd = f->c->worker_fd = f->worker = -1;
    f->c->worker_kill_ms = CLOCK_NEVER;
    f->c->began_ms = clock_now_ms();
    slots_holder_init(&f->c->slots);
    strcpy(f->c->peer, "192.0.2.7:1");
    f->c->session_pid = start_waiting();
    *state = f;
    return f->c->session_pid > 0 ? 0 : -1;
}

static int
teardown(void **state)
{
    struct fixture *f = *state;
    struct connection *c = f->c;

    for (int i = 0; i < 2; i++) {
        pid_t pid = i ? c->worker_pid : c->session_pid;

        if (pid > 0) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
        }
    }
    close(f->session);
    if (f->worker >= 0) {
        close(f->worker);
    }
    connection_free(c);
    auth_cache_fini(&f->shared.cache);
    config_free(f->config);
    free(f);
    return 0;
}

/* As after a log-in, with a worker. */
static void
log_in(struct fixture *f)
{
    struct connection *c = f->c;
    int pair[2];

    assert_int_equal(
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    c->is_authenticated = true;
    strcpy(c->user, "alice");
    c->origin = strdup(KEY);
    c->worker_fd = pair[0];
    f->worker = pair[1];
    c->worker_pid = start_waiting();
    c->crash = mmap(NULL, sizeof(*c->crash), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(c->crash != MAP_FAILED);
}

static void
ask(int from, struct connection *c, int at, const struct broker_msg *msg)
{
    assert_int_equal(broker_send(from, msg, -1), DT_OK);
    connection_event(c, at);
}

/* The session was killed; reaps it. */
static void
expect_killed(struct fixture *f)
{
    int status;
    pid_t pid = f->c->session_pid;

    assert_true(f->c->is_killed);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(connection_reaped(f->c, pid, status));
    assert_int_equal(f->c->session_pid, 0);
}

static struct broker_msg
lookup(const char *user, const char *key)
{
    struct broker_msg msg = {.type = BROKER_LOOKUP_KEY};

    strncpy(msg.user, user, BROKER_MAX_USER);
    msg.key_len = (uint32_t)strlen(key);
    memcpy(msg.key, key, strlen(key));
    return msg;
}

static void
test_log_in_without_look_up(void **state)
{
    struct fixture *f = *state;
    const struct broker_msg msg = {.type = BROKER_START_WORKER,
                                   .user = "alice"};

    ask(f->session, f->c, f->c->session_fd, &msg);
    assert_false(f->c->is_authenticated);
    expect_killed(f);
}

static void
test_log_in_as_another(void **state)
{
    struct fixture *f = *state;
    const struct broker_msg msg = {.type = BROKER_START_WORKER, .user = "bob"};

    strcpy(f->c->user, "alice"); /* whom a look-up has allowed */
    f->c->origin = strdup(KEY);
    ask(f->session, f->c, f->c->session_fd, &msg);
    assert_false(f->c->is_authenticated);
    expect_killed(f);
}

static void
test_second_log_in(void **state)
{
    struct fixture *f = *state;
    const struct broker_msg msg = {.type = BROKER_START_WORKER,
                                   .user = "alice"};

    log_in(f);
    ask(f->session, f->c, f->c->session_fd, &msg);
    expect_killed(f);
}

static void
test_look_up_after_log_in(void **state)
{
    struct fixture *f = *state;
    const struct broker_msg msg = lookup("alice", KEY);

    log_in(f);
    ask(f->session, f->c, f->c->session_fd, &msg);
    assert_int_equal(f->c->lookup_pid, 0);
    expect_killed(f);
}

static void
test_malformed_look_ups(void **state)
{
    struct fixture *f = *state;
    const struct broker_msg msgs[] = {
        lookup("../alice", KEY),
        lookup("", KEY),
        lookup("alice", "AAAAB3NzaC1kc3MAAACBAA=="), /* DSA */
        lookup("alice", "no key"),
        lookup("alice", ""),
    };

    for (size_t i = 0; i < sizeof(msgs) / sizeof(*msgs); i++) {
        f->c->is_killed = false;
        ask(f->session, f->c, f->c->session_fd, &msgs[i]);
        assert_int_equal(f->c->lookup_pid, 0);
        assert_true(f->c->is_killed);
    }
    expect_killed(f);
}

static void
test_session_asks_what_workers_may(void **state)
{
    struct fixture *f = *state;
    const struct broker_msg msg = {.type = BROKER_TAKE_SLOT, .id = 1};

    ask(f->session, f->c, f->c->session_fd, &msg);
    assert_int_equal(f->shared.slots.used[SLOTS_CAT], 0);
    expect_killed(f);
}

static void
test_session_floods_the_log(void **state)
{
    struct fixture *f = *state;
    const struct broker_msg msg = {.type = BROKER_LOG, .status = LOG_INFO};

    for (int i = 0; i < 64; i++) {
        ask(f->session, f->c, f->c->session_fd, &msg);
        assert_false(f->c->is_killed);
    }
    ask(f->session, f->c, f->c->session_fd, &msg);
    expect_killed(f);
}

static void
test_no_log_in_in_time(void **state)
{
    struct fixture *f = *state;
    int64_t end = connection_next_ms(f->c);

    assert_true(end > f->c->began_ms + f->config->server.login_grace_ms);
    connection_check_time(f->c, end - 1);
    assert_false(f->c->is_killed);
    connection_check_time(f->c, end);
    expect_killed(f);
    assert_true(connection_next_ms(f->c) == CLOCK_NEVER);
    assert_true(connection_is_over(f->c));
}

static void
test_slots_of_a_worker(void **state)
{
    struct fixture *f = *state;
    struct broker_msg msg = {.type = BROKER_TAKE_SLOT, .id = 1};
    int fd, status;

    log_in(f);
    ask(f->worker, f->c, f->c->worker_fd, &msg);
    msg.id = 2;
    ask(f->worker, f->c, f->c->worker_fd, &msg);
    connection_flush(f->c);
    assert_int_equal(broker_recv(f->worker, &msg, &fd), DT_OK);
    assert_int_equal(msg.type, BROKER_SLOT);
    assert_int_equal(msg.id, 1);
    assert_int_equal(broker_recv(f->worker, &msg, &fd), DT_AGAIN);
    msg = (struct broker_msg){.type = BROKER_GIVE_SLOT, .id = 0};
    ask(f->worker, f->c, f->c->worker_fd, &msg);
    connection_flush(f->c);
    assert_int_equal(broker_recv(f->worker, &msg, &fd), DT_OK);
    assert_int_equal(msg.id, 2);
    /* it dies: the slot is free, the session is told */
    kill(f->c->worker_pid, SIGKILL);
    pid_t pid = f->c->worker_pid;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(connection_reaped(f->c, pid, status));
    assert_int_equal(f->shared.slots.used[SLOTS_CAT], 0);
    assert_int_equal(broker_recv(f->session, &msg, &fd), DT_OK);
    assert_int_equal(msg.type, BROKER_WORKER_ENDED);
    assert_int_equal(msg.status, 70);
    assert_non_null(strstr(msg.text, "died of SIGKILL"));
}

/* The end of a query that has not begun. */
static void
test_worker_ends_what_it_has_not_begun(void **state)
{
    struct fixture *f = *state;
    const struct broker_msg msg = {.type = BROKER_QUERY_END,
                                   .id = 5,
                                   .key_len = sizeof(struct audit_counts)};
    pid_t pid;
    int status;

    log_in(f);
    ask(f->worker, f->c, f->c->worker_fd, &msg);
    pid = f->c->worker_pid;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_true(connection_reaped(f->c, pid, status));
    assert_int_equal(f->shared.totals.nr_running, 0);
}

static void
test_worker_gives_what_it_has_not(void **state)
{
    struct fixture *f = *state;
    const struct broker_msg msg = {.type = BROKER_GIVE_SLOT, .id = 5};
    pid_t pid;
    int status;

    log_in(f);
    ask(f->worker, f->c, f->c->worker_fd, &msg);
    pid = f->c->worker_pid;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_true(connection_reaped(f->c, pid, status));
}

static void
test_crash_is_named(void **state)
{
    struct fixture *f = *state;
    struct broker_msg msg;
    pid_t pid;
    int fd, status;

    log_in(f);
    memset(f->c->crash, 'x', sizeof(*f->c->crash)); /* not terminated */
    strcpy(f->c->crash->plugin, "grep");
    f->c->crash->signal = SIGSEGV;
    pid = f->c->worker_pid;
    kill(pid, SIGKILL); /* SIGSEGV would go to cmocka's handler, forked too */
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(connection_reaped(f->c, pid, W_EXITCODE(0, SIGSEGV)));
    assert_int_equal(broker_recv(f->session, &msg, &fd), DT_OK);
    assert_string_equal(msg.text, "dserver: plugin grep died of SIGSEGV in "
                                  "xxxxxxxxxxxxxxx");
    assert_int_equal(msg.status, 70);
}

/* Asks for a key to be remembered; the answer's status. */
static int
add_key(struct fixture *f, const char *key)
{
    struct broker_msg msg = lookup("mallory", key);
    int fd;

    msg.type = BROKER_ADD_KEY;
    ask(f->worker, f->c, f->c->worker_fd, &msg);
    assert_int_equal(broker_recv(f->worker, &msg, &fd), DT_OK);
    assert_int_equal(msg.type, BROKER_KEY_ADDED);
    assert_true((msg.status == DT_OK) == (msg.text[0] == '\0'));
    return msg.status;
}

static void
test_worker_registers_a_key(void **state)
{
    struct fixture *f = *state;
    const struct auth_cache_limits limits = {100, 5};

    log_in(f);
    assert_int_equal(add_key(f, KEY2), DT_OK);
    /* for the session's user, whatever name the message carries */
    assert_string_equal(
        auth_cache_find(&f->shared.cache, &limits, "alice", KEY2, time(NULL)),
        KEY);
    assert_null(auth_cache_find(&f->shared.cache, &limits, "mallory", KEY2,
                                time(NULL)));
    assert_int_equal(f->shared.cache.nr, 1);
    /* one that is listed needs no place */
    assert_int_equal(add_key(f, KEY), DT_OK);
    assert_int_equal(f->shared.cache.nr, 1);
    assert_int_equal(add_key(f, "AAAA"), DT_ERR_INVAL);
    assert_int_equal(add_key(f, ""), DT_ERR_INVAL);
}

static void
test_worker_registers_too_many(void **state)
{
    struct fixture *f = *state;

    log_in(f);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(add_key(f, KEY2), DT_OK);
    }
    assert_int_equal(add_key(f, KEY2), DT_ERR_LIMIT);
    assert_int_equal(f->shared.cache.nr, 1);
}

static void
test_special_users_register_nothing(void **state)
{
    struct fixture *f = *state;

    log_in(f);
    for (int role = AUTH_ROLE_HEALTH; role <= AUTH_ROLE_CONTINUOUS; role++) {
        f->c->role = (enum auth_role)role;
        assert_int_equal(add_key(f, KEY2), DT_ERR_ACCES);
    }
    f->c->role = AUTH_ROLE_USER;
    f->config->server.auth_key_enabled = false;
    assert_int_equal(add_key(f, KEY2), DT_ERR_ACCES);
    assert_int_equal(f->shared.cache.nr, 0);
}

/* Keys of users with a password, and passwords of the others, are refused
 * without a look-up. */
static void
test_wrong_method(void **state)
{
    struct fixture *f = *state;
    struct broker_msg msg = lookup("DTAIL-HEALTH", KEY);
    int fd;

    ask(f->session, f->c, f->c->session_fd, &msg);
    assert_int_equal(broker_recv(f->session, &msg, &fd), DT_OK);
    assert_int_equal(msg.status, DT_ERR_ACCES);
    msg = lookup("alice", "secret");
    msg.type = BROKER_LOOKUP_PASSWORD;
    ask(f->session, f->c, f->c->session_fd, &msg);
    assert_int_equal(broker_recv(f->session, &msg, &fd), DT_OK);
    assert_int_equal(msg.status, DT_ERR_ACCES);
    assert_int_equal(f->c->lookup_pid, 0);
    assert_false(f->c->is_allowed);
    assert_false(f->c->is_killed);
}

static void
test_worker_outlives_its_session(void **state)
{
    struct fixture *f = *state;
    pid_t pid;
    int status;

    log_in(f);
    kill(f->c->session_pid, SIGKILL);
    pid = f->c->session_pid;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(connection_reaped(f->c, pid, status));
    assert_false(connection_is_over(f->c));
    assert_true(connection_next_ms(f->c) != CLOCK_NEVER);
    connection_check_time(f->c, connection_next_ms(f->c));
    pid = f->c->worker_pid;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(connection_reaped(f->c, pid, status));
    assert_true(connection_is_over(f->c));
}

#define WITH_FIXTURE(test) \
    cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_log_in_without_look_up),
        WITH_FIXTURE(test_log_in_as_another),
        WITH_FIXTURE(test_second_log_in),
        WITH_FIXTURE(test_look_up_after_log_in),
        WITH_FIXTURE(test_malformed_look_ups),
        WITH_FIXTURE(test_session_asks_what_workers_may),
        WITH_FIXTURE(test_session_floods_the_log),
        WITH_FIXTURE(test_no_log_in_in_time),
        WITH_FIXTURE(test_slots_of_a_worker),
        WITH_FIXTURE(test_worker_gives_what_it_has_not),
        WITH_FIXTURE(test_worker_ends_what_it_has_not_begun),
        WITH_FIXTURE(test_crash_is_named),
        WITH_FIXTURE(test_worker_registers_a_key),
        WITH_FIXTURE(test_worker_registers_too_many),
        WITH_FIXTURE(test_special_users_register_nothing),
        WITH_FIXTURE(test_wrong_method),
        WITH_FIXTURE(test_worker_outlives_its_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
