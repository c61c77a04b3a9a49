/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings: messages, merging, which file, the environment, samples.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "test-config.h"
#include "test-tempdir.h"

static void
test_defaults(void **state)
{
    struct config *c = parse("{}");

    (void)state;
    assert_int_equal(c->common.ssh_port, 2222);
    assert_string_equal(c->common.log_level, "info");
    assert_int_equal(c->server.max_line_length, 1048576);
    assert_string_equal(c->server.host_key_file_ed25519,
                        "./cache/ssh_host_key_ed25519");
    assert_int_equal(c->server.permissions_default.nr, 1);
    assert_string_equal(c->server.permissions_default.v[0], "^/.*");
    assert_true(c->server.auth_key_enabled);
    assert_true(c->client.term_colors_enable);
    assert_string_equal(c->client.term_colors, "{}");
    assert_null(c->path);
    assert_int_equal(c->warnings.nr, 0);
    assert_round_trip(c);
    config_free(c);
    config_free(NULL);
}

static void
test_messages(void **state)
{
    (void)state;
    refuse("", "f:1:0: ");
    refuse("[]", "f:1:1: an object is expected");
    refuse("7", "f:1:1: ");
    refuse("{} x", "f:1:4: end of file expected near 'x'");
    refuse("{\"Server\":\n  {\"MaxConnections\": 0x}}", "f:2:23: ");
    refuse("{\"Server\":\n  {\"SSHBindAddress\": \"é\",\t"
           "\"MaxConnections\": 0}}",
           "f:2:45: Server.MaxConnections: 0 is not allowed; an integer from "
           "1 to 100000 is");
    refuse("{\"Common\":{\"LogLevel\":\"loud\"}}",
           "f:1:23: Common.LogLevel: \"loud\" is not allowed; one of none, "
           "fatal, error,");
    refuse("{\"server\":{\"maxconections\":1}}",
           "f:1:12: Server.maxconections: this key is unknown; did you mean "
           "MaxConnections?");
    refuse("{\"Server\":{\"q\":1}}",
           "f:1:12: Server.q: this key is unknown; dtail.json(5)");
    refuse("{\"Servers\":{}}", "f:1:2: Servers: this key is unknown; did you "
                               "mean Server?");
    /* dots and stars in keys lead nowhere */
    refuse("{\"Server.MaxConnections\":5}", "f:1:2: Server.MaxConnections: "
                                            "this key is unknown");
    refuse("{\"Server\":{\"Plugins.*.Turbo\":true}}", "f:1:12: ");
    refuse("{\"Server\":{\"Plugins\":{\"cat\":{\"Threads\":-1}}}}",
           "f:1:40: Server.Plugins.cat.Threads: -1 is not allowed; an "
           "integer from 0 to 1024 is");
    refuse("{\"Server\":{\"Plugins\":{\"../x\":{}}}}",
           "f:1:23: Server.Plugins: \"../x\" is no name of a plugin; ");
    refuse("{\"Server\":{\"Permissions\":{\"Users\":{\"a\":[\"x\",7]}}}}",
           "f:1:45: Server.Permissions.Users.a[1]: a string of at most 4096 "
           "bytes is expected");
    refuse("{\"Server\":{\"Permissions\":{\"Default\":[\"!^/a\",\"^/(\"]}}}",
           "f:1:45: Server.Permissions.Default[1]: permission rule \"^/(\": "
           "byte ");
    refuse("{\"Server\":{\"Schedule\":[{\"Name\":\"a\"},{\"Name\":\"b\","
           "\"Enable\":true,\"Files\":\"f\",\"Query\":\"q\"}]}}",
           "f:1:37: Server.Schedule[1]: Outfile is missing or empty, which an "
           "enabled job needs");
    refuse("{\"Server\":{\"Continuous\":[{}]}}",
           "f:1:26: Server.Continuous[0]: Name is missing or empty");
    refuse("{\"Client\":{\"TermColors\":{\"Remote\":{\"TextFg\":1}}}}",
           "f:1:45: Client.TermColors.Remote.TextFg: a string is expected");
    refuse("{\"Common\":{\"LogDir\":\"a\\u0000b\"}}", "f:1:");
    refuse("{\"Common\":{\"LogDir\":\"\xff\"}}", "f:1:");
}

static void
test_depth(void **state)
{
    char json[256] = "{\"Server\":{\"Plugins\":{\"x\":{\"Config\":";
    size_t len = strlen(json);
    size_t nr = CONFIG_MAX_DEPTH - 3;

    (void)state;
    /* the root, three objects, and as many as make one too many */
    for (size_t i = 0; i < nr; i++) {
        len += (size_t)snprintf(json + len, sizeof(json) - len, "{\"a\":");
    }
    json[len++] = '1';
    memset(json + len, '}', nr + 4);
    json[len + nr + 4] = '\0';
    refuse(json, "f:1:1: nested deeper than the 32 levels that are allowed");
}

static void
test_merging(void **state)
{
    struct config *c =
        parse("{\"SERVER\":{\"maxconnections\":3,\"MaxQueries\":9,"
              "\"Plugins\":{\"cat\":{\"Threads\":2,\"Config\":{\"a\":[1]}}},"
              "\"Permissions\":{\"Users\":{\"a\":[\"1\"],\"b\":[]}},"
              "\"Ciphers\":[\"aes128-ctr\",\"aes192-ctr\"],"
              "\"Schedule\":[{\"Name\":\"one\"},{\"Name\":\"two\"}]},"
              "\"Server\":{\"MaxConnections\":4,\"MaxConnections\":null,"
              "\"Plugins\":{\"cat\":{\"Turbo\":false},\"map-r\":{},\"n\":null},"
              "\"Permissions\":{\"Users\":{\"A\":[\"2\"],\"a\":[\"3\",\"4\"]}},"
              "\"Ciphers\":[\"aes256-ctr\"],"
              "\"Schedule\":[{\"Name\":\"three\",\"TimeRange\":[5]}]}}");
    const struct config_plugin *cat = config_find_plugin(c, "cat");

    (void)state;
    assert_int_equal(c->server.max_connections, 4);
    assert_int_equal(c->server.max_queries, 9);
    assert_int_equal(c->server.nr_plugins, 2);
    assert_non_null(cat);
    assert_true(cat->enable);
    assert_int_equal(cat->threads, 2);
    assert_int_equal(cat->turbo, CONFIG_NO);
    assert_string_equal(cat->config, "{\"a\":[1]}");
    assert_int_equal(config_find_plugin(c, "map-r")->turbo, CONFIG_UNSET);
    assert_string_equal(config_find_plugin(c, "map-r")->config, "{}");
    assert_null(config_find_plugin(c, "n"));
    assert_int_equal(config_rules(c, "a")->nr, 2);
    assert_string_equal(config_rules(c, "a")->v[0], "3");
    assert_string_equal(config_rules(c, "A")->v[0], "2");
    assert_int_equal(config_rules(c, "b")->nr, 0);
    assert_ptr_equal(config_rules(c, "c"), &c->server.permissions_default);
    assert_int_equal(c->server.ciphers.nr, 1);
    assert_int_equal(c->server.nr_schedule, 1);
    assert_string_equal(c->server.schedule[0].name, "three");
    assert_int_equal(c->server.schedule[0].time_range[0], 5);
    assert_int_equal(c->server.schedule[0].time_range[1], 0);
    assert_round_trip(c);
    config_free(c);
}

static void
test_words(void **state)
{
    struct config *c = parse("{\"Common\":{\"Logger\":\"Fout\","
                             "\"LogLevel\":\"\",\"LogRotation\":\"Weekly\"}}");

    (void)state;
    assert_string_equal(c->common.logger, "fout");
    assert_string_equal(c->common.log_level, "default");
    assert_string_equal(c->common.log_rotation, "signal");
    assert_int_equal(c->warnings.nr, 1);
    assert_string_equal(c->warnings.v[0],
                        "f:1:56: Common.LogRotation: \"Weekly\" means signal");
    config_free(c);
}

static void
test_colors(void **state)
{
    struct config *c = parse(
        "{\"Client\":{\"TermColors\":{\"Remote\":{\"HostnameAttr\":\"Bold\","
        "\"hostnamefg\":\"\\u001b[37m\",\"HostBg\":\"Red\"},\"X\":{},"
        "\"Client\":null}}}");

    (void)state;
    assert_int_equal(c->warnings.nr, 2);
    assert_non_null(strstr(c->warnings.v[0], "Client.TermColors.Remote.HostBg: "
                                             "this colour is unknown"));
    assert_non_null(
        strstr(c->warnings.v[1], "Client.TermColors.X: this group is unknown"));
    assert_round_trip(c);
    config_free(c);
}

/* ---- files; the working folder is the home folder ---- */

static struct config *
load(const char *path)
{
    struct error err = ERROR_INIT;
    struct config *c = NULL;

    if (config_load(path, &c, &err) != DT_OK) {
        fail_msg("%s", err.text);
    }
    return c;
}

static int
enter_home(void **state)
{
    int rc = tempdir_enter(state);

    unsetenv("DTAIL_TURBOBOOST_DISABLE");
    unsetenv("DTAIL_INTEGRATION_TEST_RUN_MODE");
    unsetenv("DTAIL_HOSTNAME_OVERRIDE");
    return rc == 0 ? setenv("HOME", *state, 1) : rc;
}

static void
test_which_file(void **state)
{
    static const char two[] = "{\"Common\":{\"SSHPort\":2}}";
    static const char three[] = "{\"Common\":{\"SSHPort\":3}}";
    static const char four[] = "{\"Common\":{\"SSHPort\":4}}";
    struct config *c;
    char path[256];

    tempdir_write(".dtail.conf", two, strlen(two));
    c = load(NULL);
    assert_int_equal(c->common.ssh_port, 2);
    snprintf(path, sizeof(path), "%s/.dtail.conf", (char *)*state);
    assert_string_equal(c->path, path);
    config_free(c);

    assert_int_equal(mkdir(".config", 0755) | mkdir(".config/dtail", 0755), 0);
    tempdir_write(".config/dtail/dtail.conf", three, strlen(three));
    c = load("");
    assert_int_equal(c->common.ssh_port, 3);
    config_free(c);

    tempdir_write("other", four, strlen(four));
    c = load("other");
    assert_int_equal(c->common.ssh_port, 4);
    config_free(c);

    c = load("None");
    assert_int_equal(c->common.ssh_port, 2222);
    assert_null(c->path);
    config_free(c);
}

static void
test_unreadable(void **state)
{
    struct error err = ERROR_INIT;
    struct config *c;
    char *big = malloc(CONFIG_MAX_FILE + 1);

    (void)state;
    assert_int_equal(config_load("missing", &c, &err), DT_ERR_NOENT);
    assert_string_equal(err.text, "configuration file missing: No such file "
                                  "or directory");
    assert_int_equal(config_load("/", &c, &err), DT_ERR_INVAL);
    assert_string_equal(err.text, "configuration file /: not a regular file");

    /* "does not exist" is the only reason to go on searching */
    assert_int_equal(symlink(".dtail.conf", ".dtail.conf"), 0);
    assert_int_equal(config_load(NULL, &c, &err), DT_ERR_IO);
    assert_non_null(strstr(err.text, "/.dtail.conf: Too many levels"));

    assert_non_null(big);
    memset(big, ' ', CONFIG_MAX_FILE + 1);
    tempdir_write("big", big, CONFIG_MAX_FILE + 1);
    free(big);
    assert_int_equal(config_load("big", &c, &err), DT_ERR_INVAL);
    assert_non_null(strstr(err.text, "8388608"));
    assert_null(c);
}

static void
test_environment(void **state)
{
    static const char json[] =
        "{\"Common\":{\"LogDir\":\"~/x\",\"CacheDir\":\"/~/y\"},"
        "\"Server\":{\"MaxLineLength\":77,\"HostKeyFileEd25519\":\"k\"}}";
    struct config *c;
    char text[256];

    tempdir_write("f", json, strlen(json));
    c = load("f");
    snprintf(text, sizeof(text), "%s/x", (char *)*state);
    assert_string_equal(c->common.log_dir, text);
    assert_string_equal(c->common.cache_dir, "/~/y");
    snprintf(text, sizeof(text), "%s/.ssh/id_rsa", (char *)*state);
    assert_string_equal(c->client.auth_key_path, text);
    assert_false(c->server.turbo_boost_disable);
    assert_int_equal(c->server.max_line_length, 77);
    assert_string_equal(c->server.host_key_file_ed25519, "k");
    config_free(c);

    setenv("DTAIL_TURBOBOOST_DISABLE", "Yes", 1);
    setenv("DTAIL_INTEGRATION_TEST_RUN_MODE", "1", 1);
    c = load("f");
    assert_false(c->server.turbo_boost_disable);
    assert_int_equal(c->server.max_line_length, 77);
    config_free(c);

    setenv("DTAIL_TURBOBOOST_DISABLE", "yes", 1);
    setenv("DTAIL_INTEGRATION_TEST_RUN_MODE", "yes", 1);
    c = load("f");
    assert_true(c->server.turbo_boost_disable);
    assert_int_equal(c->server.max_line_length, 1024);
    assert_string_equal(c->server.host_key_file, "./ssh_host_key");
    assert_string_equal(c->server.host_key_file_ed25519,
                        "./ssh_host_key_ed25519");
    assert_round_trip(c);
    config_free(c);
}

static void
test_long_home(void **state)
{
    struct error err = ERROR_INIT;
    struct config *c;
    char home[4097];

    (void)state;
    memset(home, 'h', sizeof(home) - 1);
    home[sizeof(home) - 1] = '\0';
    setenv("HOME", home, 1);
    assert_int_equal(config_load("none", &c, &err), DT_ERR_LIMIT);
    assert_string_equal(err.text, "Client.AuthKeyPath: with the home folder in "
                                  "front 4108 bytes, at most 4096 are allowed");
    unsetenv("HOME"); /* then that of the account */
    c = load("none");
    assert_int_equal(*c->client.auth_key_path, '/');
    config_free(c);
}

static void
test_host_name(void **state)
{
    char *name = config_host_name(), real[256];

    (void)state;
    assert_int_equal(gethostname(real, sizeof(real)), 0);
    assert_string_equal(name, real);
    free(name);
    setenv("DTAIL_HOSTNAME_OVERRIDE", "web1.example.org", 1);
    name = config_host_name();
    assert_string_equal(name, "web1.example.org");
    free(name);
    setenv("DTAIL_INTEGRATION_TEST_RUN_MODE", "yes", 1);
    name = config_host_name();
    assert_string_equal(name, "integrationtest");
    free(name);
}

static void
test_check(void **state)
{
    static const char good[] = "{\"Server\":{\"OutputEOFWaitMaxMs\":1}}";
    static const char bad[] = "{\"Server\":{\n\"SSHPort\":1}}";
    char *out = NULL, *complaints = NULL;
    size_t out_len, complaints_len;
    FILE *a = open_memstream(&out, &out_len);
    FILE *b = open_memstream(&complaints, &complaints_len);

    (void)state;
    tempdir_write("good", good, strlen(good));
    tempdir_write("bad", bad, strlen(bad));
    assert_int_equal(config_check("good", a, b), DT_OK);
    fflush(a);
    fflush(b);
    assert_string_equal(out, "good: OK\n");
    assert_string_equal(complaints,
                        "warning: good:1:33: Server.OutputEOFWaitMaxMs: this "
                        "key is skipped: only the Go program knows it\n");
    rewind(b);
    assert_int_equal(config_check("bad", a, b), DT_ERR_INVAL);
    fflush(b);
    assert_memory_equal(complaints, "bad:2:1: Server.SSHPort: ", 25);
    fclose(a);
    fclose(b);
    free(out);
    free(complaints);
}

/* ---- files of the source ---- */

static void
test_go_sample(void **state)
{
    char *path = source_path("core/test-config-go.json");
    struct config *c = load(path);

    (void)state;
    assert_string_equal(c->common.logger, "fout");
    assert_string_equal(c->common.log_rotation, "daily");
    assert_string_equal(c->common.log_level, "info");
    assert_int_equal(c->server.max_connections, 50);
    assert_int_equal(c->server.ciphers.nr, 2);
    assert_int_equal(config_rules(c, "jamesblake")->nr, 3);
    assert_int_equal(c->server.nr_schedule, 1);
    assert_string_equal(c->server.schedule[0].name, "yesterdays-stats");
    assert_int_equal(c->server.schedule[0].time_range[0], 5);
    assert_int_equal(c->server.schedule[0].time_range[1], 8);
    assert_true(c->server.continuous[0].restart_on_day_change);
    assert_int_equal(c->server.continuous[0].allow_from.nr, 2);
    /* the keys that only the Go program knows, and no colour */
    assert_int_equal(c->warnings.nr, 12);
    for (size_t i = 0; i < c->warnings.nr; i++) {
        assert_non_null(strstr(c->warnings.v[i], "only the Go program"));
    }
    assert_round_trip(c);
    config_free(c);
    free(path);
}

static void
test_our_sample(void **state)
{
    char *path = source_path("contrib/dtail.json");
    struct config *c = load(path);

    (void)state;
    assert_int_equal(c->warnings.nr, 0);
    assert_string_equal(c->server.host_key_file_ed25519,
                        "/var/lib/dtail/ssh_host_key_ed25519");
    config_free(c);
    free(path);
}

#define TEST_HOME(f) \
    cmocka_unit_test_setup_teardown(f, enter_home, tempdir_leave)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_go_sample), cmocka_unit_test(test_our_sample),
        cmocka_unit_test(test_defaults),  cmocka_unit_test(test_messages),
        cmocka_unit_test(test_depth),     cmocka_unit_test(test_merging),
        cmocka_unit_test(test_words),     cmocka_unit_test(test_colors),
        TEST_HOME(test_which_file),       TEST_HOME(test_unreadable),
        TEST_HOME(test_environment),      TEST_HOME(test_long_home),
        TEST_HOME(test_host_name),        TEST_HOME(test_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
