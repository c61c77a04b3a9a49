/* SPDX-License-Identifier: Apache-2.0
 *
 * Server lists: every form is read, everything else is refused by name.
 */
#include "servers.h"

#include "cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

static const struct {
    const char *item, *host;
    uint16_t port;
} good[] = {
    {"web1", "web1", 2222},
    {" web_1.example.net:22 ", "web_1.example.net", 22},
    {"10.0.0.1:65535", "10.0.0.1", 65535},
    {"[::1]:2223", "::1", 2223},
    {"[fe80::1%eth0]", "fe80::1%eth0", 2222},
    {"2001:db8::7", "2001:db8::7", 2222},
    {"::1", "::1", 2222},
};

static const char *const bad[] = {
    "web1:",
    "web1:0",
    "web1:65536",
    "web1:22x",
    "web1:-1",
    "[::1",
    "[::1]x",
    "[::1]:",
    "[web1]:22",
    "a:b:c",
    "joe@web1",
    "-oProxy",
    "web 1",
    "web1/x",
    ":2222",
    "[]:22",
    "fe80::1%",
    "web1:123456",
    "1:2:3:4:5:6:7:8:9",
};

static void
test_items(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct servers s = {0};
        struct error err = ERROR_INIT;

        assert_int_equal(servers_parse("", good[i].item, 2222, &s, &err),
                         DT_OK);
        assert_int_equal(s.nr, 1);
        assert_string_equal(s.v[0].host, good[i].host);
        assert_int_equal(s.v[0].port, good[i].port);
        servers_fini(&s);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct servers s = {0};
        struct error err = ERROR_INIT;

        if (servers_parse("", bad[i], 2222, &s, &err) != DT_ERR_INVAL) {
            fail_msg("\"%s\" was taken", bad[i]);
        }
        assert_non_null(strstr(err.text, bad[i]));
        assert_null(s.v);
    }
}

static void
test_duplicates(void **state)
{
    struct servers s = {0};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(servers_parse("", "b,a:1,,B:2222, b ,a:2,a:1,[::1],::1",
                                   2222, &s, &err),
                     DT_OK);
    assert_int_equal(s.nr, 4);
    assert_string_equal(s.v[0].text, "b");
    assert_string_equal(s.v[1].text, "a:1");
    assert_string_equal(s.v[2].text, "a:2");
    assert_string_equal(s.v[3].host, "::1");
    servers_fini(&s);
}

static void
test_file(void **state)
{
    char path[] = "/tmp/test-servers-XXXXXX";
    struct servers s = {0};
    struct error err = ERROR_INIT;
    CLEANUP_FD int fd = mkstemp(path);
    static const char text[] = "# all\r\n\n  web1\r\nweb2:22\n\t\n #x\n::1";

    (void)state;
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    assert_int_equal(servers_parse("", path, 2222, &s, &err), DT_OK);
    assert_int_equal(s.nr, 3);
    assert_string_equal(s.v[0].host, "web1");
    assert_int_equal(s.v[1].port, 22);
    servers_fini(&s);
    assert_int_equal(write(fd, "\nbad:x\n", 7), 7);
    assert_int_equal(servers_parse("FILE", path, 2222, &s, &err), DT_ERR_INVAL);
    assert_non_null(strstr(err.text, "line 8"));
    unlink(path);
    assert_int_equal(servers_parse("file", path, 2222, &s, &err), DT_ERR_NOENT);
    assert_int_equal(servers_parse("dns", "x", 2222, &s, &err), DT_ERR_INVAL);
    assert_int_equal(servers_parse("", "/web/", 2222, &s, &err), DT_ERR_INVAL);
    assert_int_equal(servers_parse("", " , ", 2222, &s, &err), DT_ERR_INVAL);
    /* A folder of that name is no list. */
    assert_int_equal(servers_parse("comma", "tmp", 2222, &s, &err), DT_OK);
    servers_fini(&s);
}

static void
test_many(void **state)
{
    struct servers s = {0};
    struct error err = ERROR_INIT;
    size_t nr = 20000, sum = 0;
    CLEANUP_FREE char *list = malloc(nr * 16);
    char *at = list;

    (void)state;
    for (size_t i = 0; i < nr; i++) {
        at += sprintf(at, "h%zu,", i % 10000);
    }
    assert_int_equal(servers_parse("", list, 2222, &s, &err), DT_OK);
    assert_int_equal(s.nr, 10000);
    servers_shuffle(&s);
    for (size_t i = 0; i < s.nr; i++) {
        sum += (size_t)atoi(s.v[i].host + 1);
    }
    assert_int_equal(sum, 10000 * 9999 / 2);
    servers_fini(&s);
}

static void
test_ranges(void **state)
{
    struct servers s = {0};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(servers_parse("",
                                   "web[01-03].x:22, web02.x:22,a[1-2],[::1]:7",
                                   2222, &s, &err),
                     DT_OK);
    assert_int_equal(s.nr, 6);
    assert_string_equal(s.v[0].text, "web01.x:22");
    assert_string_equal(s.v[2].host, "web03.x");
    assert_int_equal(s.v[2].port, 22);
    assert_string_equal(s.v[4].host, "a2");
    assert_string_equal(s.v[5].host, "::1");
    servers_fini(&s);
    /* What becomes of a range is looked at as any other item. */
    assert_int_equal(servers_parse("", "web:[65535-65536]", 2222, &s, &err),
                     DT_ERR_INVAL);
    assert_non_null(strstr(err.text, "web:65536"));
    assert_null(s.v);
    err = (struct error)ERROR_INIT;
    assert_int_equal(servers_parse("", "a[1-60000],b[1-60000]", 2222, &s, &err),
                     DT_ERR_LIMIT);
    assert_null(s.v);
}

static void
test_stdin(void **state)
{
    static const char text[] = "web1\n# two more\nweb[2-3]:22\nweb1\n";
    struct servers s = {0};
    struct error err = ERROR_INIT;
    CLEANUP_FD int saved = dup(STDIN_FILENO);
    int fds[2];

    (void)state;
    assert_true(saved >= 0);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], text, sizeof(text) - 1), sizeof(text) - 1);
    close(fds[1]);
    assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
    close(fds[0]);
    assert_int_equal(servers_parse("", "-", 2222, &s, &err), DT_OK);
    assert_int_equal(s.nr, 3);
    assert_string_equal(s.v[2].text, "web3:22");
    servers_fini(&s);
    /* The descriptor is still there, at its end: nothing is named. */
    assert_int_equal(servers_parse("file", "-", 2222, &s, &err), DT_ERR_INVAL);
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
}

static void
test_serverless(void **state)
{
    (void)state;
    assert_true(servers_is_serverless("", ""));
    assert_true(servers_is_serverless("", "ServerLess"));
    assert_false(servers_is_serverless("comma", ""));
    assert_false(servers_is_serverless("", "web1"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),      cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_file),       cmocka_unit_test(test_many),
        cmocka_unit_test(test_ranges),     cmocka_unit_test(test_stdin),
        cmocka_unit_test(test_serverless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
