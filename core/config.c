/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings of a program: which file, what the environment says, and what
 * follows from other settings. The table is in config-table.c.
 */
#include "config.h"

#include "cleanup.h"
#include "config-parse.h"
#include "config-table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <sys/stat.h>

#ifndef SYSCONFDIR
#define SYSCONFDIR "/etc"
#endif

static int
no_memory(struct error *err)
{
    return error_set(err, DT_ERR_NOMEM, "settings: out of memory");
}

static bool
is_yes(const char *variable)
{
    const char *value = getenv(variable);

    return value && strcmp(value, "yes") == 0;
}

bool
config_test_mode(void)
{
    return is_yes("DTAIL_INTEGRATION_TEST_RUN_MODE");
}

/* $HOME, else the password file's; a new string. NULL: there is none. */
static char *
home_dir(void)
{
    const char *home = getenv("HOME");
    struct passwd entry, *found = NULL;
    char strings[4096];

    if (home && *home) {
        return strdup(home);
    }
    if (getpwuid_r(geteuid(), &entry, strings, sizeof(strings), &found) == 0 &&
        found && *found->pw_dir) {
        return strdup(found->pw_dir);
    }
    return NULL;
}

/* ---- which file ---- */

/* Looks for a file in one place. DT_OK: *out is its path or NULL. */
static int
try_path(const char *dir, const char *name, char **out, struct error *err)
{
    CLEANUP_FREE char *path = NULL;
    struct stat st;

    *out = NULL;
    if (asprintf(&path, "%s/%s", dir, name) < 0) {
        path = NULL;
        return no_memory(err);
    }
    if (stat(path, &st) == 0) {
        *out = STEAL_PTR(path);
        return DT_OK;
    }
    if (errno == ENOENT || errno == ENOTDIR) {
        return DT_OK;
    }
    return error_errno(err, errno, "configuration file %s", path);
}

/* The file to read; NULL: none. */
static int
find_file(const char *path, const char *home, char **out, struct error *err)
{
    int rc = DT_OK;

    *out = NULL;
    if (path && strcasecmp(path, "none") == 0) {
        return DT_OK;
    }
    if (path && *path) {
        *out = strdup(path);
        return *out ? DT_OK : no_memory(err);
    }
    if (home) {
        rc = try_path(home, ".config/dtail/dtail.conf", out, err);
        if (rc == DT_OK && !*out) {
            rc = try_path(home, ".dtail.conf", out, err);
        }
    }
    if (rc == DT_OK && !*out) {
        rc = try_path(SYSCONFDIR, "dtail/dtail.json", out, err);
    }
    return rc;
}

static int
read_file(const char *path, struct buf *out, struct error *err)
{
    /* O_NONBLOCK: a FIFO in this place must not hold us up. */
    CLEANUP_FD int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat sb;
    ssize_t n = 1;

    if (fd < 0 || fstat(fd, &sb) != 0) {
        return error_errno(err, errno, "configuration file %s", path);
    }
    if (!S_ISREG(sb.st_mode)) {
        return error_set(err, DT_ERR_INVAL,
                         "configuration file %s: not a regular file", path);
    }
    while (n > 0) {
        if (buf_reserve(out, 65536) != DT_OK) {
            return no_memory(err);
        }
        n = read(fd, out->data + out->len, 65536);
        if (n < 0 && errno == EINTR) {
            n = 1;
            continue;
        }
        if (n < 0) {
            return error_errno(err, errno, "configuration file %s", path);
        }
        out->len += (size_t)n;
        if (out->len > CONFIG_MAX_FILE) {
            return error_set(err, DT_ERR_INVAL,
                             "configuration file %s: longer than the %u bytes "
                             "that are allowed",
                             path, CONFIG_MAX_FILE);
        }
    }
    return DT_OK;
}

/* ---- the environment, and what follows from other settings ---- */

static int
replace(char **to, const char *text)
{
    char *copy = strdup(text);

    if (!copy) {
        return DT_ERR_NOMEM;
    }
    free(*to);
    *to = copy;
    return DT_OK;
}

/* Puts the home folder in front of paths that begin with ~/. */
static int
expand_homes(struct config *c, const char *home, struct error *err)
{
    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];
        char **path = config_row_value(row, c);
        size_t len;
        char *whole;

        if (row->type != CONFIG_PATH || strncmp(*path, "~/", 2) != 0) {
            continue;
        }
        len = strlen(home) + strlen(*path) - 1;
        if (len > (size_t)row->max) {
            return error_set(err, DT_ERR_LIMIT,
                             "%s: with the home folder in front %zu bytes, at "
                             "most %lld are allowed",
                             row->path, len, (long long)row->max);
        }
        if (asprintf(&whole, "%s/%s", home, *path + 2) < 0) {
            return no_memory(err);
        }
        free(*path);
        *path = whole;
    }
    return DT_OK;
}

/* Without a home folder there is no default key. */
static int
disable_auth_key(struct config *c, struct error *err)
{
    static const char text[] = "there is no home folder: no key is registered";

    if (strncmp(c->client.auth_key_path, "~/", 2) != 0) {
        return DT_OK;
    }
    c->client.auth_key_disable = true;
    *c->client.auth_key_path = '\0';
    return strv_add(&c->warnings, text) == DT_OK ? DT_OK : no_memory(err);
}

static int
apply_environment(struct config *c, const char *home, struct error *err)
{
    int rc = home ? expand_homes(c, home, err) : disable_auth_key(c, err);

    if (is_yes("DTAIL_TURBOBOOST_DISABLE")) {
        c->server.turbo_boost_disable = true;
    }
    if (rc != DT_OK || !config_test_mode()) {
        return rc;
    }
    c->server.max_line_length = 1024;
    if (replace(&c->server.host_key_file, "./ssh_host_key") != DT_OK ||
        replace(&c->server.host_key_file_ed25519, "") != DT_OK) {
        return no_memory(err);
    }
    return DT_OK;
}

/* Fills in what depends on other settings. */
static int
complete(struct config *c)
{
    char **key = &c->server.host_key_file_ed25519;
    char *name;

    if (**key) {
        return DT_OK;
    }
    if (asprintf(&name, "%s_ed25519", c->server.host_key_file) < 0) {
        return DT_ERR_NOMEM;
    }
    free(*key);
    *key = name;
    return DT_OK;
}

/* ---- for all ---- */

static int
new_defaults(struct config **out, struct error *err)
{
    *out = calloc(1, sizeof(**out));
    if (!*out || config_set_defaults("", *out) != DT_OK) {
        config_free(*out);
        *out = NULL;
        return no_memory(err);
    }
    return DT_OK;
}

int
config_parse(const char *json, size_t len, const char *name,
             struct config **out, struct error *err)
{
    int rc = new_defaults(out, err);

    if (rc == DT_OK) {
        rc = config_parse_into(*out, json, len, name, err);
    }
    if (rc == DT_OK && complete(*out) != DT_OK) {
        rc = no_memory(err);
    }
    if (rc != DT_OK) {
        config_free(*out);
        *out = NULL;
    }
    return rc;
}

static int
load_into(struct config *c, const char *path, struct error *err)
{
    CLEANUP_FREE char *home = home_dir();
    struct buf text = {0};
    int rc = find_file(path, home, &c->path, err);

    if (rc == DT_OK && c->path) {
        rc = read_file(c->path, &text, err);
        if (rc == DT_OK) {
            rc = config_parse_into(c, text.data, text.len, c->path, err);
        }
        buf_fini(&text);
    }
    if (rc == DT_OK) {
        rc = apply_environment(c, home, err);
    }
    if (rc == DT_OK && complete(c) != DT_OK) {
        rc = no_memory(err);
    }
    return rc;
}

int
config_load(const char *path, struct config **out, struct error *err)
{
    int rc = new_defaults(out, err);

    if (rc == DT_OK) {
        rc = load_into(*out, path, err);
    }
    if (rc != DT_OK) {
        config_free(*out);
        *out = NULL;
    }
    return rc;
}

void
config_free(struct config *c)
{
    if (!c) {
        return;
    }
    config_clear("", c);
    strv_fini(&c->warnings);
    free(c->path);
    free(c);
}

int
config_check(const char *path, FILE *out, FILE *complaints)
{
    struct error err = ERROR_INIT;
    struct config *c;
    int rc = config_load(path, &c, &err);

    if (rc != DT_OK) {
        fprintf(complaints, "%s\n", err.text);
        return rc;
    }
    for (size_t i = 0; i < c->warnings.nr; i++) {
        fprintf(complaints, "warning: %s\n", c->warnings.v[i]);
    }
    fprintf(out, "%s: OK\n", c->path ? c->path : "no configuration file");
    config_free(c);
    return DT_OK;
}

const struct config_plugin *
config_find_plugin(const struct config *c, const char *name)
{
    for (size_t i = 0; c && i < c->server.nr_plugins; i++) {
        /* a plugin that is being added has no name yet */
        if (c->server.plugins[i].name &&
            strcmp(c->server.plugins[i].name, name) == 0) {
            return &c->server.plugins[i];
        }
    }
    return NULL;
}

const struct strv *
config_rules(const struct config *c, const char *user)
{
    for (size_t i = 0; i < c->server.nr_permissions_users; i++) {
        if (strcmp(c->server.permissions_users[i].user, user) == 0) {
            return &c->server.permissions_users[i].rules;
        }
    }
    return &c->server.permissions_default;
}

char *
config_host_name(void)
{
    const char *override = getenv("DTAIL_HOSTNAME_OVERRIDE");
    char name[HOST_NAME_MAX + 1];

    if (config_test_mode()) {
        return strdup("integrationtest");
    }
    if (override && *override) {
        return strdup(override);
    }
    if (gethostname(name, sizeof(name)) != 0) {
        return strdup("localhost");
    }
    name[sizeof(name) - 1] = '\0';
    return strdup(name);
}
