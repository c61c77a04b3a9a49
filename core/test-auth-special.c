/* SPDX-License-Identifier: Apache-2.0
 *
 * Users with a password: who may log in, from where, and what may be read
 * then.
 */
#include "auth-special.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char settings[] =
    "{\"Server\": {"
    "\"Permissions\": {\"Default\": [\"^/only/this\"],"
    "  \"Users\": {\"DTAIL-CONTINUOUS\": [\"^/var/\"]}},"
    "\"Schedule\": ["
    "  {\"Name\": \"errors\", \"Enable\": true, \"Query\": \"select x\","
    "   \"Outfile\": \"o\", \"AllowFrom\":"
    "   [\"192.0.2.7\", \"no-such-host.invalid\", \"2001:db8::/32\"],"
    "   \"Files\": \"/var/log/app-$yesterday.log, /var/log/*.gz,journal:x\"},"
    "  {\"Name\": \"off\", \"Enable\": false, \"AllowFrom\": [\"192.0.2.7\"],"
    "   \"Files\": \"/var/log/off.log\"},"
    "  {\"Name\": \"sealed\", \"Enable\": true, \"Password\": \"hush\","
    "   \"AllowOnly\": true,"
    "   \"AllowFrom\": [\"localhost\"], \"Files\": \"/var/log/sealed.log\"},"
    "  {\"Name\": \"nobody\", \"Enable\": true, \"AllowFrom\": [],"
    "   \"AllowOnly\": true, \"Files\": \"/x\"}],"
    "\"Continuous\": ["
    "  {\"Name\": \"flow\", \"Enable\": true, \"AllowOnly\": true,"
    "   \"AllowFrom\": [\"192.0.2.7\"], \"Files\": \"/var/log/flow.log\"}]}}";

static int
setup(void **state)
{
    struct error err = ERROR_INIT;
    struct config *c;

    if (config_parse(settings, sizeof(settings) - 1, "test", &c, &err) !=
        DT_OK) {
        print_error("%s\n", err.text);
        return -1;
    }
    *state = c;
    return 0;
}

static int
teardown(void **state)
{
    config_free(*state);
    return 0;
}

static int
decide_bytes(const struct config *c, const char *user, const char *password,
             size_t len, const char *address, const char **job)
{
    const struct auth_special_request r = {.config = c,
                                           .user = user,
                                           .password = password,
                                           .password_len = len,
                                           .address = address};
    struct error note = ERROR_INIT;

    return auth_special_decide(&r, job, &note);
}

static int
decide(const struct config *c, const char *user, const char *password,
       const char *address)
{
    const char *job;

    return decide_bytes(c, user, password, strlen(password), address, &job);
}

static void
test_roles(void **state)
{
    (void)state;
    assert_int_equal(auth_special_role("DTAIL-HEALTH"), AUTH_ROLE_HEALTH);
    assert_int_equal(auth_special_role("DTAIL-SCHEDULE"), AUTH_ROLE_SCHEDULE);
    assert_int_equal(auth_special_role("DTAIL-CONTINUOUS"),
                     AUTH_ROLE_CONTINUOUS);
    assert_int_equal(auth_special_role("dtail-health"), AUTH_ROLE_USER);
    assert_int_equal(auth_special_role("DTAIL-HEALTHY"), AUTH_ROLE_USER);
    assert_int_equal(auth_special_role(""), AUTH_ROLE_USER);
}

static void
test_health(void **state)
{
    const struct config *c = *state;
    const char *job;

    assert_int_equal(decide(c, "DTAIL-HEALTH", "DTAIL-HEALTH", "192.0.2.1"),
                     DT_OK);
    assert_int_equal(decide(c, "DTAIL-HEALTH", "DTAIL-HEALT", "192.0.2.1"),
                     DT_ERR_ACCES);
    assert_int_equal(decide(c, "DTAIL-HEALTH", "", "192.0.2.1"), DT_ERR_ACCES);
    assert_int_equal(decide(c, "DTAIL-HEALTH", "errors", "192.0.2.7"),
                     DT_ERR_ACCES);
    assert_int_equal(decide_bytes(c, "DTAIL-HEALTH", "DTAIL-HEALTH\0x", 14,
                                  "192.0.2.1", &job),
                     DT_ERR_ACCES);
}

static void
test_jobs(void **state)
{
    const struct config *c = *state;
    const char *job;

    assert_int_equal(
        decide_bytes(c, "DTAIL-SCHEDULE", "errors", 6, "192.0.2.7", &job),
        DT_OK);
    assert_string_equal(job, "errors");
    assert_int_equal(decide(c, "DTAIL-SCHEDULE", "errors", "2001:db8::5"),
                     DT_OK);
    assert_int_equal(decide(c, "DTAIL-SCHEDULE", "errors", "192.0.2.8"),
                     DT_ERR_ACCES);
    assert_int_equal(decide(c, "DTAIL-SCHEDULE", "error", "192.0.2.7"),
                     DT_ERR_ACCES);
    /* not enabled; from nowhere; of the other kind; no job's user */
    assert_int_equal(decide(c, "DTAIL-SCHEDULE", "off", "192.0.2.7"),
                     DT_ERR_ACCES);
    assert_int_equal(decide(c, "DTAIL-SCHEDULE", "nobody", "192.0.2.7"),
                     DT_ERR_ACCES);
    assert_int_equal(decide(c, "DTAIL-SCHEDULE", "flow", "192.0.2.7"),
                     DT_ERR_ACCES);
    assert_int_equal(decide(c, "DTAIL-CONTINUOUS", "flow", "192.0.2.7"), DT_OK);
    assert_int_equal(decide(c, "alice", "errors", "192.0.2.7"), DT_ERR_ACCES);
    assert_int_equal(decide(c, "DTAIL-SCHEDULE", "", "192.0.2.7"),
                     DT_ERR_ACCES);
}

static void
test_password_and_names(void **state)
{
    const struct config *c = *state;
    const char *job;

    /* localhost is a name; an IPv4 peer may be written as an IPv6 one */
    assert_int_equal(
        decide_bytes(c, "DTAIL-SCHEDULE", "hush", 4, "::ffff:127.0.0.1", &job),
        DT_OK);
    assert_string_equal(job, "sealed");
    assert_int_equal(decide(c, "DTAIL-SCHEDULE", "hush", "192.0.2.7"),
                     DT_ERR_ACCES);
    assert_int_equal(decide(c, "DTAIL-SCHEDULE", "sealed", "127.0.0.1"),
                     DT_ERR_ACCES);
}

static int
may_read(const struct config *c, enum auth_role role, const char *job,
         const char *file)
{
    struct strv files = {0};
    struct error err = ERROR_INIT;
    int st;

    assert_int_equal(strv_add(&files, file), DT_OK);
    st = auth_special_check_files(c, role, job, &files, &err);
    strv_fini(&files);
    return st;
}

static void
test_files(void **state)
{
    const struct config *c = *state;
    static const char *const good[] = {"/var/log/app-20261130.log",
                                       "/var/log/*.gz", "journal:x"};
    static const char *const bad[] = {"/var/log/app-2026113.log",
                                      "/var/log/app-202611300.log",
                                      "/var/log/app-*.log",
                                      "/var/log/app-$yesterday.log",
                                      "/var/log/app-20261130.log,",
                                      "/var/log/x.gz",
                                      "/etc/passwd",
                                      "",
                                      "/var/log/*.gz,journal:x",
                                      " /var/log/*.gz",
                                      "/var/log/off.log",
                                      "/var/log/flow.log"};

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        assert_int_equal(may_read(c, AUTH_ROLE_SCHEDULE, "errors", good[i]),
                         DT_OK);
        assert_int_equal(may_read(c, AUTH_ROLE_HEALTH, "", good[i]),
                         DT_ERR_ACCES);
        assert_int_equal(may_read(c, AUTH_ROLE_CONTINUOUS, "errors", good[i]),
                         DT_ERR_ACCES);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(may_read(c, AUTH_ROLE_SCHEDULE, "errors", bad[i]),
                         DT_ERR_ACCES);
    }
    assert_int_equal(may_read(c, AUTH_ROLE_SCHEDULE, "off", "/var/log/off.log"),
                     DT_ERR_ACCES);
    assert_int_equal(may_read(c, AUTH_ROLE_USER, "", "/etc/passwd"), DT_OK);
}

static void
test_rules(void **state)
{
    const struct config *c = *state;
    const struct strv *r;

    r = auth_special_rules(c, AUTH_ROLE_USER, "alice");
    assert_string_equal(r->v[0], "^/only/this");
    r = auth_special_rules(c, AUTH_ROLE_SCHEDULE, "DTAIL-SCHEDULE");
    assert_int_equal(r->nr, 1);
    assert_string_equal(r->v[0], "");
    r = auth_special_rules(c, AUTH_ROLE_CONTINUOUS, "DTAIL-CONTINUOUS");
    assert_string_equal(r->v[0], "^/var/");
    r = auth_special_rules(c, AUTH_ROLE_HEALTH, "DTAIL-HEALTH");
    assert_int_equal(r->nr, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roles), cmocka_unit_test(test_health),
        cmocka_unit_test(test_jobs),  cmocka_unit_test(test_password_and_names),
        cmocka_unit_test(test_files), cmocka_unit_test(test_rules),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
