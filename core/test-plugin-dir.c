/* SPDX-License-Identifier: Apache-2.0
 *
 * Where plugins are looked for: configuration, environment, build folder.
 */
#include "cleanup.h"
#include "config.h"
#include "plugin.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "test-tempdir.h"

static void
test_default_dir(void **state)
{
    struct config config = {.server = {.plugin_dir = (char[]){"/configured"}}};
    char *found;

    (void)state;
    setenv("DTAIL_PLUGIN_DIR", "/from/environment", 1);
    found = plugins_default_dir(&config);
    assert_string_equal(found, "/configured");
    free(found);
    config.server.plugin_dir = NULL;
    found = plugins_default_dir(&config);
    assert_string_equal(found, "/from/environment");
    free(found);
    unsetenv("DTAIL_PLUGIN_DIR");
    found = plugins_default_dir(NULL);
    assert_non_null(found);
    free(found);
}

static void
copy_self(const char *to)
{
    char bytes[65536];
    CLEANUP_FD int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CLEANUP_FD int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    ssize_t len;

    while ((len = read(in, bytes, sizeof(bytes))) > 0) {
        assert_int_equal(write(out, bytes, (size_t)len), len);
    }
    assert_int_equal(len, 0);
}

/* A program in a build folder: this one, copied, prints what it finds. */
static void
assert_default_dir(const char *program, const char *expected)
{
    char line[PATH_MAX] = "";
    FILE *f = popen(program, "re");

    assert_non_null(f);
    assert_non_null(fgets(line, sizeof(line), f));
    assert_int_equal(pclose(f), 0);
    assert_string_equal(line, expected);
}

static void
test_uninstalled(void **state)
{
    static const char *const folders[] = {"core",      "plugins",
                                          "plugins/a", "plugins/a/.libs",
                                          "plugins/b", "plugins/b/.libs"};
    char path[PATH_MAX], program[PATH_MAX], expected[PATH_MAX * 2];
    const char *dir = *state;
    FILE *f;

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, folders[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    snprintf(program, sizeof(program), "%s/core/program", dir);
    copy_self(program);
    setenv("TEST_SHOW_DEFAULT_DIR", "yes", 1);
    assert_default_dir(program, PLUGIN_DIR);
    snprintf(path, sizeof(path), "%s/dtail-plugin-uninstalled.pc", dir);
    f = fopen(path, "we");
    assert_non_null(f);
    fclose(f);
    snprintf(expected, sizeof(expected),
             "%s/plugins/a/.libs:%s/plugins/b/.libs", dir, dir);
    assert_default_dir(program, expected);
    unsetenv("TEST_SHOW_DEFAULT_DIR");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_dir),
        cmocka_unit_test_setup_teardown(test_uninstalled, tempdir_enter,
                                        tempdir_leave),
    };

    if (getenv("TEST_SHOW_DEFAULT_DIR")) {
        char *found = plugins_default_dir(NULL);

        printf("%s", found ? found : "");
        free(found);
        return 0;
    }

    return cmocka_run_group_tests(tests, NULL, NULL);
}
