/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings: what each row of the table allows, messages, merging, and that a
 * dump is read back.
 */
#include "config.h"

#include "config-table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <ctype.h>

#include "test-tempdir.h"

static struct config *
parse(const char *json)
{
    struct error err = ERROR_INIT;
    struct config *c = NULL;

    if (config_parse(json, strlen(json), "f", &c, &err) != DT_OK) {
        fail_msg("%s: %s", json, err.text);
    }
    return c;
}

static void
refuse(const char *json, const char *message)
{
    struct error err = ERROR_INIT;
    struct config *c = NULL;

    if (config_parse(json, strlen(json), "f", &c, &err) != DT_ERR_INVAL) {
        fail_msg("accepted: %s", json);
    }
    assert_null(c);
    assert_int_equal(err.status, DT_ERR_INVAL);
    if (strncmp(err.text, message, strlen(message)) != 0) {
        fail_msg("%s gave\n\"%s\" instead of\n\"%s\"", json, err.text, message);
    }
}

static char *
dump(const struct config *c)
{
    struct buf out = {0};

    assert_int_equal(config_dump(c, &out), DT_OK);
    assert_int_equal(buf_append(&out, "", 1), DT_OK);
    return out.data;
}

static void
assert_round_trip(const struct config *c)
{
    char *once = dump(c);
    struct config *back = parse(once);
    char *twice = dump(back);

    assert_string_equal(once, twice);
    config_free(back);
    free(once);
    free(twice);
}

/* JSON text that sets the key of a row to a value. */
static char *
json_for(const struct config_row *row, const char *value)
{
    struct buf out = {0};
    char path[CONFIG_PREFIX_MAX], close[16] = "";
    char *rest = path, *part;

    snprintf(path, sizeof(path), "%s", row->path);
    while ((part = strsep(&rest, "."))) {
        size_t len = strcspn(part, "[");
        bool is_array = part[len] == '[';

        buf_printf(&out, "{\"%.*s\":%s", (int)len,
                   strcmp(part, "*") == 0 ? "x" : part, is_array ? "[" : "");
        memmove(close + (is_array ? 2 : 1), close, strlen(close) + 1);
        memcpy(close, is_array ? "]}" : "}", is_array ? 2 : 1);
    }
    if (strstr(row->path, "[]") && strcmp(config_row_name(row), "Name") != 0) {
        /* what a job must have */
        size_t at = (size_t)(strrchr(out.data, '{') - out.data) + 1;
        char *end = strndup(out.data + at, out.len - at);

        out.len = at;
        buf_printf(&out,
                   "\"Name\":\"n\",\"Files\":\"f\",\"Query\":\"q\","
                   "\"Outfile\":\"o\",%s",
                   end);
        free(end);
    }
    buf_printf(&out, "%s%s", value, close);
    assert_int_equal(buf_append(&out, "", 1), DT_OK);
    return out.data;
}

static void
accept_value(const struct config_row *row, const char *value)
{
    char *json = json_for(row, value);
    struct config *c = parse(json);

    assert_round_trip(c);
    config_free(c);
    free(json);
}

/* The message names key and what is allowed. */
static void
refuse_value(const struct config_row *row, const char *value)
{
    char *json = json_for(row, value);
    struct error err = ERROR_INIT;
    struct config *c = NULL;
    struct buf allowed = {0};

    if (config_parse(json, strlen(json), "f", &c, &err) != DT_ERR_INVAL) {
        fail_msg("accepted: %s", json);
    }
    assert_non_null(strstr(err.text, config_row_name(row)));
    assert_memory_equal(err.text, "f:1:", 4);
    if (row->type != CONFIG_SECTION && row->type != CONFIG_PLUGINS &&
        row->type != CONFIG_USERS) {
        assert_int_equal(config_row_describe(row, false, &allowed), DT_OK);
        assert_int_equal(buf_append(&allowed, "", 1), DT_OK);
        if (!strstr(err.text, allowed.data)) {
            fail_msg("\"%s\" does not say \"%s\"", err.text, allowed.data);
        }
    }
    buf_fini(&allowed);
    free(json);
}

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
test_every_row_has_what_it_needs(void **state)
{
    (void)state;
    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];
        size_t nr_same = 0;

        assert_non_null(row->help);
        if (row->type != CONFIG_FOREIGN) {
            assert_int_equal(row->help[strlen(row->help) - 1], '.');
        }
        if (row->type == CONFIG_INT) {
            assert_in_range(row->default_int, row->min, row->max);
            assert_true(row->max <= INT32_MAX);
        }
        if (row->flags & CONFIG_DEFAULT_IF_NONE) {
            assert_true(row->type != CONFIG_INT || row->min > 0);
        }
        for (size_t j = 0; j < config_nr_rows; j++) {
            nr_same += strcasecmp(row->path, config_rows[j].path) == 0;
        }
        assert_int_equal(nr_same, 1);
    }
}

static void
test_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];
        char text[32];

        if (row->type != CONFIG_INT) {
            continue;
        }
        for (int step = -1; step <= 1; step++) {
            bool low_is_good =
                step >= 0 ||
                ((row->flags & CONFIG_DEFAULT_IF_NONE) && row->min == 1);

            snprintf(text, sizeof(text), "%lld", (long long)row->min + step);
            (low_is_good ? accept_value : refuse_value)(row, text);
            snprintf(text, sizeof(text), "%lld", (long long)row->max + step);
            (step <= 0 ? accept_value : refuse_value)(row, text);
        }
        (row->flags & CONFIG_DEFAULT_IF_NONE ? accept_value : refuse_value)(
            row, "-9223372036854775808");
        refuse_value(row, "9223372036854775807");
    }
}

static void
test_string_lengths(void **state)
{
    char *text = malloc(1 << 17);

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];

        if (row->type != CONFIG_STRING && row->type != CONFIG_PATH) {
            continue;
        }
        for (int64_t len = row->max; len <= row->max + 1; len++) {
            memset(text, 'x', (size_t)len + 2);
            text[0] = text[len + 1] = '"';
            text[len + 2] = '\0';
            (len == row->max ? accept_value : refuse_value)(row, text);
        }
        (row->min > 0 ? refuse_value : accept_value)(row, "\"\"");
    }
    free(text);
}

static void
test_types(void **state)
{
    static const char *const values[] = {
        "true", "1.5", "7777", "\"x7~\"", "[1.5]", "{\"x\":{\"Turbo\":1}}"};

    (void)state;
    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];

        if (strcmp(config_row_name(row), "Name") != 0) {
            accept_value(row, "null");
        }
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
            bool is_good = false;

            switch (row->type) {
            case CONFIG_FOREIGN:
                is_good = true;
                break;
            case CONFIG_BOOL:
            case CONFIG_TRISTATE:
                is_good = v == 0;
                break;
            case CONFIG_INT:
                is_good = v == 2 && row->min <= 7777 && row->max >= 7777;
                break;
            case CONFIG_STRING:
            case CONFIG_PATH:
                is_good = v == 3;
                break;
            case CONFIG_WORD:
                is_good = v == 3 && (row->flags & CONFIG_OTHER_IS_LAST);
                break;
            case CONFIG_OBJECT:
                is_good = v == 5;
                break;
            case CONFIG_COLORS:
                is_good = v == 5; /* unknown names get a warning */
                break;
            default:
                break;
            }
            if (is_good) {
                accept_value(row, values[v]);
            } else if (v != 4 && v != 5) {
                refuse_value(row, values[v]);
            } else {
                char *json = json_for(row, values[v]);

                refuse(json, "f:1:");
                free(json);
            }
        }
    }
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
              "\"Ciphers\":[\"x\",\"y\"],"
              "\"Schedule\":[{\"Name\":\"one\"},{\"Name\":\"two\"}]},"
              "\"Server\":{\"MaxConnections\":4,\"MaxConnections\":null,"
              "\"Plugins\":{\"cat\":{\"Turbo\":false},\"map-r\":{},\"n\":null},"
              "\"Permissions\":{\"Users\":{\"A\":[\"2\"],\"a\":[\"3\",\"4\"]}},"
              "\"Ciphers\":[\"z\"],"
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
    assert_int_equal(config_load("/", &c, &err), DT_ERR_IO);
    assert_string_equal(err.text, "configuration file /: Is a directory");

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

/* A file below the top of the source. */
static char *
source_path(const char *name)
{
    const char *srcdir = getenv("srcdir");
    char *path = NULL;

    assert_true(asprintf(&path, "%s/../%s", srcdir ? srcdir : ".", name) > 0);
    return path;
}

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

/* The plain text that stands behind an .It, its lines joined, and the row that
 * the .It names. */
static void
check_manual_item(const struct config_row *row, FILE *manual)
{
    struct buf want = {0}, got = {0};
    char line[512];

    assert_int_equal(config_row_describe(row, true, &want), DT_OK);
    assert_int_equal(buf_append(&want, ".", 2), DT_OK);
    want.data[0] = (char)toupper(want.data[0]);
    while (got.len < want.len && fgets(line, sizeof(line), manual) &&
           *line != '.') {
        line[strcspn(line, "\n")] = '\0';
        assert_int_equal(buf_printf(&got, "%s%s", got.len ? " " : "", line),
                         DT_OK);
    }
    assert_int_equal(buf_append(&got, "", 1), DT_OK);
    if (strncmp(got.data, want.data, want.len - 1) != 0) {
        fail_msg("%s: the manual says \"%s\", the table \"%s\"", row->path,
                 got.data, want.data);
    }
    buf_fini(&want);
    buf_fini(&got);
}

static void
test_manual(void **state)
{
    char *path = source_path("docs/dtail.json.5");
    FILE *manual = fopen(path, "r");
    bool *seen = calloc(config_nr_rows, sizeof(*seen));
    char line[512], key[256];

    (void)state;
    assert_non_null(manual);
    assert_non_null(seen);
    while (fgets(line, sizeof(line), manual)) {
        size_t i = 0;

        if (sscanf(line, ".It Ic %255s", key) != 1) {
            continue;
        }
        while (i < config_nr_rows && strcmp(config_rows[i].path, key) != 0) {
            i++;
        }
        if (i == config_nr_rows) {
            fail_msg("the manual has a key %s, the table has not", key);
        }
        assert_false(seen[i]);
        seen[i] = true;
        if (config_rows[i].type != CONFIG_FOREIGN) {
            check_manual_item(&config_rows[i], manual);
        }
    }
    for (size_t i = 0; i < config_nr_rows; i++) {
        if (!seen[i]) {
            fail_msg("the manual lacks %s", config_rows[i].path);
        }
    }
    fclose(manual);
    free(seen);
    free(path);
}

#define TEST_HOME(f) \
    cmocka_unit_test_setup_teardown(f, enter_home, tempdir_leave)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_go_sample),
        cmocka_unit_test(test_our_sample),
        cmocka_unit_test(test_manual),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_row_has_what_it_needs),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_string_lengths),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_merging),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_colors),
        TEST_HOME(test_which_file),
        TEST_HOME(test_unreadable),
        TEST_HOME(test_environment),
        TEST_HOME(test_long_home),
        TEST_HOME(test_host_name),
        TEST_HOME(test_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
