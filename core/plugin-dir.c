/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the plugins are.
 */
#include "cleanup.h"
#include "config.h"
#include "plugin.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>

/* configure writes it into the top of the build folder, and nowhere else. */
#define BUILD_MARK "dtail-plugin-uninstalled.pc"
#define BUILD_DEPTH 4 /* folders from a program up to the top */

/* The top of the build folder that the program runs from. True when found;
 * `dir` has room for PATH_MAX bytes. */
static bool
find_build_dir(char *dir)
{
    char mark[PATH_MAX + sizeof(BUILD_MARK) + 1];
    ssize_t len = readlink("/proc/self/exe", dir, PATH_MAX - 1);

    if (len <= 0) {
        return false;
    }
    dir[len] = '\0';
    for (int i = 0; i < BUILD_DEPTH; i++) {
        char *slash = strrchr(dir, '/');

        if (!slash) {
            return false;
        }
        *slash = '\0';
        snprintf(mark, sizeof(mark), "%s/" BUILD_MARK, dir);
        if (access(mark, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* "B/plugins/cat/.libs:B/plugins/grep/.libs:…", where libtool puts them. */
static char *
list_build_dirs(const char *build_dir)
{
    char pattern[PATH_MAX + 32];
    struct buf list = {0};
    glob_t found;
    int r = DT_OK;

    snprintf(pattern, sizeof(pattern), "%s/plugins/*/.libs", build_dir);
    if (glob(pattern, 0, NULL, &found) != 0) {
        return NULL;
    }
    for (size_t i = 0; r == DT_OK && i < found.gl_pathc; i++) {
        r = buf_printf(&list, "%s%s", i ? ":" : "", found.gl_pathv[i]);
    }
    globfree(&found);
    if (r < 0) {
        buf_fini(&list);
    }
    return list.data; /* buf_printf keeps a NUL behind the text */
}

char *
plugins_default_dir(const struct config *config)
{
    const char *env = secure_getenv("DTAIL_PLUGIN_DIR");
    char build_dir[PATH_MAX];
    char *list = NULL;

    if (config && config->server.plugin_dir && *config->server.plugin_dir) {
        return strdup(config->server.plugin_dir);
    }
    if (env && *env) {
        return strdup(env);
    }
    if (find_build_dir(build_dir)) {
        list = list_build_dirs(build_dir);
    }
    return list ? list : strdup(PLUGIN_DIR);
}
