/* SPDX-License-Identifier: Apache-2.0
 *
 * Crashes: a process that dies in a plugin says in which hook of which one and
 * of what signal, also in another thread and when the stack is used up.
 */
#include "cleanup.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "test-trouble.h"

struct test_query {
    struct dt_query query;
    const char *what;
    const char *hook;
    bool is_nested; /* the first emit runs another instance, then crashes */
};

static void *run_query(void *query);

static int
emit_lines(struct dt_query *q, const struct dt_lines *lines UNUSED)
{
    struct test_query inner = *(struct test_query *)q;

    if (inner.is_nested) {
        inner.is_nested = false;
        run_query(&inner);
        raise(SIGSEGV);
    }
    return DT_OK;
}

static void
error(struct dt_query *q UNUSED, int status UNUSED, const char *text UNUSED)
{
}

static const char *
arg(struct dt_query *q, const char *name, size_t index UNUSED,
    size_t *len UNUSED)
{
    const struct test_query *t = (const struct test_query *)q;

    if (!t->what) {
        return NULL;
    }
    return strcmp(name, "do") == 0     ? t->what
           : strcmp(name, "hook") == 0 ? t->hook
                                       : NULL;
}

static bool
cancelled(struct dt_query *q UNUSED)
{
    return false;
}

static enum dt_role
role(struct dt_query *q UNUSED)
{
    return DT_ROLE_MAP;
}

static const struct dt_host host = {
    .size = sizeof(host),
    .emit_lines = emit_lines,
    .error = error,
    .arg = arg,
    .cancelled = cancelled,
    .role = role,
};

/* A query from start to close. */
static void *
run_query(void *query)
{
    const struct dt_block block = {.size = sizeof(block),
                                   .flags = DT_BLOCK_LINE,
                                   .data = "line\n",
                                   .len = 5,
                                   .nr_lines = 1};
    struct test_query *t = query;
    struct instance *i;

    if (instance_start(trouble, DT_ROLE_MAP, &t->query, &i) == DT_OK) {
        instance_feed(i, &block);
        instance_finish(i);
        instance_drain(i, DT_DRAIN_FINAL);
        instance_close(i);
    }
    return NULL;
}

struct outcome {
    int status; /* of waitpid */
    char text[256];
    struct plugin_crash crash;
};

/* Runs a query in a process of its own, which tells its crash. */
static void
run_child(const char *what, const char *hook, bool in_thread, int exit_status,
          struct outcome *out)
{
    struct plugin_crash *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int fds[2];
    size_t len = 0;
    ssize_t got;
    pid_t pid;

    assert_true(shared != MAP_FAILED);
    assert_int_equal(pipe(fds), 0);
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct test_query t = {{&host}, what, hook, !what};
        const struct rlimit no_core = {0, 0};
        pthread_t thread;

        setrlimit(RLIMIT_CORE, &no_core);
        /* cmocka has handlers of its own, which would take it for a test */
        for (int s = 1; s < 32; s++) {
            signal(s, SIG_DFL);
        }
        close(fds[0]);
        plugin_catch_crashes(shared, fds[1], exit_status);
        if (what && strcmp(what, "outside") == 0) {
            raise(SIGSEGV);
        }
        if (in_thread && pthread_create(&thread, NULL, run_query, &t) == 0) {
            pthread_join(thread, NULL);
        } else {
            run_query(&t);
        }
        _exit(0);
    }
    close(fds[1]);
    memset(out, 0, sizeof(*out));
    while (len < sizeof(out->text) - 1 &&
           (got = read(fds[0], out->text + len, sizeof(out->text) - 1 - len)) >
               0) {
        len += (size_t)got;
    }
    close(fds[0]);
    assert_int_equal(waitpid(pid, &out->status, 0), pid);
    out->crash = *shared;
    munmap(shared, sizeof(*shared));
}

static const struct {
    const char *what;
    int signal;
    const char *name;
} crashes[] = {
    {"crash", SIGSEGV, "SIGSEGV"},
    {"abort", SIGABRT, "SIGABRT"},
    {"overflow", SIGSEGV, "SIGSEGV"},
    {"division", SIGFPE, "SIGFPE"},
};

static void
assert_told(const struct outcome *o, size_t c, const char *hook)
{
    char expected[128];

    snprintf(expected, sizeof(expected), "plugin trouble crashed in %s: %s\n",
             hook, crashes[c].name);
    assert_string_equal(o->text, expected);
    assert_string_equal(o->crash.plugin, "trouble");
    assert_string_equal(o->crash.hook, hook);
    assert_int_equal(o->crash.signal, crashes[c].signal);
}

static void
test_each_hook(void **state)
{
    static const char *const hooks[] = {"start", "feed", "finish", "drain",
                                        "close"};

    (void)state;
    for (size_t h = 0; h < sizeof(hooks) / sizeof(hooks[0]); h++) {
        for (size_t c = 0; c < sizeof(crashes) / sizeof(crashes[0]); c++) {
            for (int in_thread = 0; in_thread < 2; in_thread++) {
                struct outcome o;

                run_child(crashes[c].what, hooks[h], in_thread, 0, &o);
                assert_true(WIFSIGNALED(o.status));
                assert_int_equal(WTERMSIG(o.status), crashes[c].signal);
                assert_told(&o, c, hooks[h]);
            }
        }
    }
}

/* Not the ones with a bad access, which valgrind gives a status of its own. */
static void
test_exit_status(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(crashes) / sizeof(crashes[0]); c++) {
        struct outcome o;

        if (crashes[c].signal == SIGSEGV) {
            continue;
        }

        run_child(crashes[c].what, "feed", false, 3, &o);
        assert_true(WIFEXITED(o.status));
        assert_int_equal(WEXITSTATUS(o.status), 3);
        assert_told(&o, c, "feed");
    }
}

/* A hook that called, through the host, another instance's hooks: what runs
 * is the outer one again. what: NULL. */
static void
test_nested(void **state)
{
    struct outcome o;

    (void)state;
    run_child(NULL, NULL, true, 0, &o);
    assert_true(WIFSIGNALED(o.status));
    assert_told(&o, 0, "feed");
}

/* A fault of the program itself is told, and keeps its signal. */
static void
test_outside(void **state)
{
    struct outcome o;

    (void)state;
    run_child("outside", "", false, 3, &o);
    assert_true(WIFSIGNALED(o.status));
    assert_int_equal(WTERMSIG(o.status), SIGSEGV);
    assert_string_equal(o.text, "crashed outside of the plugins: SIGSEGV\n");
    assert_string_equal(o.crash.plugin, "");
    assert_int_equal(o.crash.signal, SIGSEGV);
}

static void
test_no_crash(void **state)
{
    struct outcome o;

    (void)state;
    run_child("", "", true, 0, &o);
    assert_true(WIFEXITED(o.status));
    assert_int_equal(WEXITSTATUS(o.status), 0);
    assert_string_equal(o.text, "");
    assert_int_equal(o.crash.signal, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_hook), cmocka_unit_test(test_exit_status),
        cmocka_unit_test(test_nested),    cmocka_unit_test(test_outside),
        cmocka_unit_test(test_no_crash),
    };

    return cmocka_run_group_tests(tests, open_plugins, free_plugins);
}
