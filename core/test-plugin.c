/* SPDX-License-Identifier: Apache-2.0
 *
 * Plugins: which files are refused and why, what the configuration makes of
 * them, and that no code runs of what is refused by its looks.
 */
#include "cleanup.h"
#include "config.h"
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SOURCE_DIR TEST_PLUGIN_DIR "/"

/* ---- a folder of plugins for each test ---- */

static char dir[] = "/tmp/test-plugin.XXXXXX";

static int
make_dir(void **state)
{
    (void)state;
    memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
    unsetenv("DTAIL_TEST_RAN");
    umask(022);
    return mkdtemp(dir) ? 0 : -1;
}

static int
remove_one(const char *path, const struct stat *st UNUSED, int type UNUSED,
           struct FTW *ftw UNUSED)
{
    return remove(path);
}

static int
remove_dir(void **state)
{
    (void)state;
    return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Puts the built dt-FROM.so there as dt-TO.so: a new inode, as install does. */
static void
put(const char *from, const char *to, mode_t mode)
{
    char path[PATH_MAX], bytes[4096];
    CLEANUP_FILE FILE *in = NULL;
    CLEANUP_FILE FILE *out = NULL;
    size_t len;

    snprintf(path, sizeof(path), SOURCE_DIR "dt-%s.so", from);
    in = fopen(path, "re");
    if (!in) {
        fail_msg("%s: run make check from the top: %s", path, strerror(errno));
    }
    snprintf(path, sizeof(path), "%s/dt-%s.so", dir, to);
    remove(path);
    out = fopen(path, "we");
    assert_non_null(out);
    while ((len = fread(bytes, 1, sizeof(bytes), in)) > 0) {
        assert_int_equal(fwrite(bytes, 1, len, out), len);
    }
    assert_int_equal(fflush(out), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static struct plugins *
open_dir(const struct config *config)
{
    struct error err = ERROR_INIT;
    struct plugins *ps;

    if (plugins_open(dir, config, &ps, &err) != DT_OK) {
        fail_msg("%s", err.text);
    }
    return ps;
}

/* The only plugin there is refused, and the reason has `why` in it. */
static void
assert_only_refused(const char *why)
{
    struct plugins *ps = open_dir(NULL);
    const char *reason;

    assert_int_equal(plugins_count(ps), 1);
    reason = plugin_refused(plugins_at(ps, 0));
    assert_non_null(reason);
    if (!strstr(reason, why)) {
        fail_msg("the reason is \"%s\", not \"%s\"", reason, why);
    }
    plugins_free(ps);
}

static void
assert_offered(const struct plugins *ps, size_t index)
{
    const char *reason = plugin_refused(plugins_at(ps, index));

    if (reason) {
        fail_msg("refused: %s", reason);
    }
}

/* ---- refused ---- */

static void
test_refused_by_descriptor(void **state)
{
    static const struct {
        const char *file;
        const char *why;
    } cases[] = {
        {"abi", "made for plugin ABI 2, this program has 1"},
        {"args", "the name of argument 2 has a space or '='"},
        {"badname", "the name \"Bad Name\" is not allowed"},
        {"combine", "DT_COMBINE is set, but there is no reduce stage"},
        {"hugestruct", "the descriptor: size is 1099511627776; allowed are"},
        {"nofeed", "map: the required hook feed is NULL"},
        {"nomap", "the map stage is missing"},
        {"nostart", "map: the required hook start is NULL"},
        {"null", "dt_plugin_entry answered NULL"},
        {"shortstage", "map: size is"},
        {"shortstruct", "the descriptor: size is"},
        {"version", "the version has the control byte 0x1b at 3"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char path[PATH_MAX];

        put(cases[i].file, cases[i].file, 0755);
        assert_only_refused(cases[i].why);
        snprintf(path, sizeof(path), "%s/dt-%s.so", dir, cases[i].file);
        remove(path);
    }
    (void)state;
}

static void
test_refused_by_symbols(void **state)
{
    (void)state;
    put("twosymbols", "x", 0755);
    assert_only_refused("exports the symbol dt_trouble_second; only "
                        "dt_plugin_entry is allowed");
    assert_null(getenv("DTAIL_TEST_RAN"));
    put("noentry", "x", 0755);
    assert_only_refused("exports the symbol dt_plugin_descriptor");
    assert_null(getenv("DTAIL_TEST_RAN"));
}

static void
test_refused_by_mode(void **state)
{
    (void)state;
    put("future", "x", 0757);
    assert_only_refused("the file is writable by others (mode 757)");
    put("future", "x", 0775);
    assert_only_refused("the file is writable by others (mode 775)");
    put("future", "x", 0755);
    assert_int_equal(chmod(dir, 0777), 0);
    assert_only_refused("its directory is writable by others (mode 777)");
    assert_null(getenv("DTAIL_TEST_RAN"));
}

static void
test_refused_by_owner(void **state)
{
    char path[PATH_MAX];

    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    put("future", "x", 0755);
    snprintf(path, sizeof(path), "%s/dt-x.so", dir);
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_only_refused("the file belongs to user 65534");
    assert_int_equal(chown(path, 0, 0), 0);
    assert_int_equal(chown(dir, 65534, 65534), 0);
    assert_only_refused("its directory belongs to user 65534");
}

static void
test_refused_by_type(void **state)
{
    char path[PATH_MAX];
    FILE *f;

    (void)state;
    snprintf(path, sizeof(path), "%s/dt-x.so", dir);
    assert_int_equal(symlink(SOURCE_DIR "dt-future.so", path), 0);
    assert_only_refused("is a symbolic link");
    remove(path);
    assert_int_equal(mkfifo(path, 0644), 0);
    assert_only_refused("is not a regular file");
    remove(path);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_only_refused("is not a regular file");
    remove(path);
    f = fopen(path, "we");
    assert_non_null(f);
    fputs("#!/bin/sh\n", f);
    fclose(f);
    assert_only_refused("is not a shared object");
    assert_int_equal(truncate(path, 0), 0);
    assert_only_refused("is not a shared object");
}

/* Every cut of a good object is refused, and nothing breaks. */
static void
test_refused_when_cut(void **state)
{
    char path[PATH_MAX];
    struct stat st;

    (void)state;
    put("future", "x", 0755);
    snprintf(path, sizeof(path), "%s/dt-x.so", dir);
    assert_int_equal(stat(path, &st), 0);
    for (off_t len = st.st_size - 1; len > 0; len -= 509) {
        struct plugins *ps;

        assert_int_equal(truncate(path, len), 0);
        ps = open_dir(NULL);
        assert_non_null(plugin_refused(plugins_at(ps, 0)));
        plugins_free(ps);
    }
    assert_null(getenv("DTAIL_TEST_RAN"));
}

static void
test_name_taken(void **state)
{
    struct plugins *ps;
    struct buf names = {0};

    (void)state;
    put("taken", "b", 0755);
    put("future", "a", 0755);
    put("taken", "c", 0755);
    ps = open_dir(NULL);
    assert_int_equal(plugins_count(ps), 3);
    assert_null(plugin_refused(plugins_at(ps, 0)));
    assert_string_equal(plugin_name(plugins_at(ps, 0)), "future");
    for (size_t i = 1; i < 3; i++) {
        const char *reason = plugin_refused(plugins_at(ps, i));

        assert_non_null(reason);
        assert_non_null(strstr(reason, "the name future is taken by "));
        assert_non_null(strstr(reason, "/dt-a.so"));
    }
    assert_ptr_equal(plugins_find(ps, "future"), plugins_at(ps, 0));
    assert_int_equal(plugins_names(ps, &names), DT_OK);
    assert_int_equal(buf_append(&names, "", 1), DT_OK);
    assert_string_equal(names.data, "future");
    buf_fini(&names);
    plugins_free(ps);
}

static void
test_other_files_are_left_alone(void **state)
{
    struct plugins *ps;
    char path[PATH_MAX];

    (void)state;
    put("future", "x.so.bak", 0755);
    snprintf(path, sizeof(path), "%s/dt-.so", dir);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/libx.so", dir);
    assert_int_equal(mkdir(path, 0755), 0);
    remove(path);
    ps = open_dir(NULL);
    /* put() writes dt-x.so.bak.so, which is one */
    assert_int_equal(plugins_count(ps), 1);
    plugins_free(ps);
}

/* ---- accepted ---- */

static void
test_newer_plugin_is_cut_to_size(void **state)
{
    struct plugins *ps;
    const struct dt_plugin *d;

    (void)state;
    put("future", "future", 0644); /* need not be executable */
    ps = open_dir(NULL);
    assert_null(plugin_refused(plugins_at(ps, 0)));
    d = plugin_descriptor(plugins_find(ps, "future"));
    assert_non_null(d->map->start);
    assert_null(d->map->close);
    assert_null(d->reduce);
    assert_true(d->size > sizeof(*d));
    plugins_free(ps);
}

static void
test_list_of_dirs(void **state)
{
    struct error err = ERROR_INIT;
    struct plugins *ps;
    char dirs[PATH_MAX];

    (void)state;
    put("future", "z", 0755);
    /* the first directory comes first, whatever the names */
    snprintf(dirs, sizeof(dirs), "%s:%s", dir, TEST_PLUGIN_DIR);
    assert_int_equal(plugins_open(dirs, NULL, &ps, &err), DT_OK);
    assert_string_equal(plugin_name(plugins_at(ps, 0)), "future");
    assert_null(plugin_refused(plugins_at(ps, 0)));
    assert_true(plugins_count(ps) > 10);
    assert_non_null(plugins_find(ps, "trouble"));
    plugins_free(ps);
    snprintf(dirs, sizeof(dirs), "%s:%s/none", dir, dir);
    assert_int_equal(plugins_open(dirs, NULL, &ps, &err), DT_ERR_NOENT);
    assert_null(ps);
    assert_non_null(strstr(err.text, "/none: No such file"));
}

/* A file that was replaced is seen by the next table, also while the old one
 * is open, and an unchanged one is not opened twice. */
static void
test_replaced_file(void **state)
{
    struct plugins *old, *new, *same;

    (void)state;
    put("future", "x", 0755);
    old = open_dir(NULL);
    assert_string_equal(plugin_name(plugins_at(old, 0)), "future");
    put("trouble", "x", 0755);
    new = open_dir(NULL);
    assert_offered(new, 0);
    assert_string_equal(plugin_name(plugins_at(new, 0)), "trouble");
    assert_string_equal(plugin_name(plugins_at(old, 0)), "future");
    same = open_dir(NULL);
    assert_offered(same, 0);
    assert_ptr_equal(plugin_descriptor(plugins_at(same, 0))->map->start,
                     plugin_descriptor(plugins_at(new, 0))->map->start);
    plugins_free(old);
    plugins_free(new);
    assert_int_equal(plugins_count(same), 1);
    plugins_free(same);
    put("future", "x", 0755);
    new = open_dir(NULL);
    assert_string_equal(plugin_name(plugins_at(new, 0)), "future");
    plugins_free(new);
}

static void
test_load(void **state)
{
    struct config_plugin settings = {.name = (char[]){"failing"},
                                     .enable = true,
                                     .turbo = CONFIG_UNSET,
                                     .config = (char[]){"{\"Depth\": 3}"}};
    const struct config config = {
        .server = {.plugins = &settings, .nr_plugins = 1}};
    struct plugins *ps;

    (void)state;
    put("load", "load", 0755);
    put("future", "future", 0755);
    ps = open_dir(&config);
    assert_non_null(plugins_find(ps, "failing"));
    plugins_load(ps, NULL);
    assert_null(plugins_find(ps, "failing"));
    assert_string_equal(
        plugin_refused(plugins_at(ps, 1)),
        "load failed: the Config is {\"Depth\": 3}, which is not enough");
    assert_non_null(plugins_find(ps, "future"));
    plugins_load(ps, NULL); /* once a process */
    plugins_free(ps);
    plugins_free(NULL);
}

static void
test_unload(void **state)
{
    struct plugins *ps;

    (void)state;
    put("trouble", "trouble", 0755);
    unsetenv("DTAIL_TEST_UNLOADED");
    ps = open_dir(NULL);
    plugins_free(ps); /* was never loaded */
    assert_null(getenv("DTAIL_TEST_UNLOADED"));
    ps = open_dir(NULL);
    plugins_load(ps, NULL);
    assert_offered(ps, 0);
    plugins_free(ps);
    assert_non_null(getenv("DTAIL_TEST_UNLOADED"));
}

/* ---- the configuration ---- */

static void
test_disabled(void **state)
{
    struct config_plugin settings[] = {
        {.name = (char[]){"x"}, .turbo = CONFIG_UNSET},
        {.name = (char[]){"future"}, .turbo = CONFIG_UNSET},
    };
    struct config config = {.server = {.plugins = settings, .nr_plugins = 1}};
    struct plugins *ps;

    (void)state;
    /* by the name that the file has: nothing of it runs */
    put("future", "x", 0755);
    ps = open_dir(&config);
    assert_string_equal(plugin_refused(plugins_at(ps, 0)),
                        "disabled in the configuration");
    assert_null(getenv("DTAIL_TEST_RAN"));
    plugins_free(ps);
    /* by the name of the command */
    config.server.plugins = &settings[1];
    ps = open_dir(&config);
    assert_string_equal(plugin_refused(plugins_at(ps, 0)),
                        "disabled in the configuration");
    assert_null(plugins_find(ps, "future"));
    plugins_free(ps);
}

static void
test_wanted_but_not_there(void **state)
{
    struct config_plugin settings = {
        .name = (char[]){"refused"}, .enable = true, .turbo = CONFIG_UNSET};
    const struct config config = {
        .server = {.plugins = &settings, .nr_plugins = 1}};
    struct error err = ERROR_INIT;
    struct plugins *ps;

    (void)state;
    assert_int_equal(plugins_open(dir, &config, &ps, &err), DT_ERR_INVAL);
    assert_non_null(strstr(err.text, "Server.Plugins.refused: there is no "
                                     "such plugin in "));
    put("nofeed", "nofeed", 0755);
    assert_int_equal(plugins_open(dir, &config, &ps, &err), DT_ERR_INVAL);
    assert_non_null(strstr(err.text, "dt-nofeed.so: map: the required hook"));
    assert_null(ps);
}

static void
assert_turbo(const struct config *config, bool expected, const char *why)
{
    struct plugins *ps = open_dir(config);
    const char *reason = NULL;

    assert_int_equal(plugin_turbo(plugins_find(ps, "future"), &reason),
                     expected);
    assert_string_equal(reason, why);
    plugins_free(ps);
}

static void
test_turbo(void **state)
{
    struct config_plugin settings = {
        .name = (char[]){"future"}, .enable = true, .turbo = CONFIG_UNSET};
    struct config config = {.server = {.plugins = &settings, .nr_plugins = 1}};

    (void)state;
    unsetenv("DTAIL_TURBOBOOST_DISABLE");
    put("future", "future", 0755);
    assert_turbo(NULL, true, "by default");
    assert_turbo(&config, true, "by default");
    config.server.turbo_boost_disable = true;
    assert_turbo(&config, false, "Server.TurboBoostDisable is true");
    setenv("DTAIL_TURBOBOOST_DISABLE", "yes", 1);
    assert_turbo(&config, false, "DTAIL_TURBOBOOST_DISABLE is yes");
    settings.turbo = CONFIG_YES;
    assert_turbo(&config, true, "Server.Plugins: Turbo is true");
    config.server.turbo_boost_disable = false;
    settings.turbo = CONFIG_NO;
    assert_turbo(&config, false, "Server.Plugins: Turbo is false");
    unsetenv("DTAIL_TURBOBOOST_DISABLE");
}

static void
test_threads(void **state)
{
    struct config_plugin settings = {.name = (char[]){"future"},
                                     .enable = true,
                                     .turbo = CONFIG_UNSET,
                                     .threads = 17};
    const struct config config = {
        .server = {.plugins = &settings, .nr_plugins = 1}};
    struct plugins *ps;
    int nr;

    (void)state;
    put("future", "future", 0755);
    ps = open_dir(&config);
    assert_int_equal(plugin_threads(plugins_at(ps, 0)), 17);
    plugins_free(ps);
    ps = open_dir(NULL);
    nr = plugin_threads(plugins_at(ps, 0));
    assert_in_range(nr, 1, 4);
    plugins_free(ps);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(test_##name, make_dir, remove_dir)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(refused_by_descriptor),
        TEST(refused_by_symbols),
        TEST(refused_by_mode),
        TEST(refused_by_owner),
        TEST(refused_by_type),
        TEST(refused_when_cut),
        TEST(name_taken),
        TEST(other_files_are_left_alone),
        TEST(newer_plugin_is_cut_to_size),
        TEST(list_of_dirs),
        TEST(replaced_file),
        TEST(load),
        TEST(unload),
        TEST(disabled),
        TEST(wanted_but_not_there),
        TEST(turbo),
        TEST(threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
