/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the items of a server list come from: the methods, and the two that
 * have --servers as their input.
 */
#include "discovery.h"

#include "cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>

struct job {
    const char *options; /* behind NAME:, "" */
    const char *list;    /* --servers */
    discovery_take_fn *take;
    void *ctx;
};

bool
discovery_is_filter(const char *list)
{
    size_t len = strlen(list);

    return len >= 2 && list[0] == '/' && list[len - 1] == '/';
}

/* Hands on an item without the blanks around it, unless nothing is left. */
static int
take_trimmed(const struct job *j, const char *text, size_t len,
             struct error *err)
{
    while (len && isspace((unsigned char)text[0])) {
        text++;
        len--;
    }
    while (len && isspace((unsigned char)text[len - 1])) {
        len--;
    }
    return len ? j->take(j->ctx, text, len, err) : DT_OK;
}

/* What comma and file go by: --servers, or the options when that is empty or a
 * filter. */
static const char *
input(const struct job *j)
{
    return *j->options && (!*j->list || discovery_is_filter(j->list))
               ? j->options
               : j->list;
}

static int
run_comma(const struct job *j, struct error *err)
{
    int rc = DT_OK;

    for (const char *at = input(j); rc == DT_OK;) {
        size_t len = strcspn(at, ",");

        rc = take_trimmed(j, at, len, err);
        if (!at[len]) {
            break;
        }
        at += len + 1;
    }
    return rc;
}

/* ---- files ---- */

static bool
is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

static FILE *
open_list(const char *path)
{
    FILE *file;
    int fd;

    if (!is_stdin(path)) {
        return fopen(path, "re");
    }
    /* A copy: what is closed afterwards is not descriptor 0. */
    fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!file && fd >= 0) {
        close(fd);
    }
    return file;
}

static int
read_file(const char *path, struct buf *out, struct error *err)
{
    CLEANUP_FILE FILE *file = open_list(path);

    if (!file) {
        return error_errno(err, errno, "server list file %s", path);
    }
    for (;;) {
        size_t got;

        if (out->len > DISCOVERY_MAX_TEXT) {
            return error_set(err, DT_ERR_LIMIT,
                             "server list file %s is longer than %u bytes",
                             path, DISCOVERY_MAX_TEXT);
        }
        if (buf_reserve(out, 65536) != DT_OK) {
            return error_set(err, DT_ERR_NOMEM, "server list: out of memory");
        }
        got = fread(out->data + out->len, 1, 65536, file);
        out->len += got;
        if (got == 0) {
            break;
        }
    }
    if (ferror(file)) {
        return error_errno(err, errno, "server list file %s", path);
    }
    return DT_OK;
}

int
discovery_lines(const char *what, const struct buf *text,
                discovery_take_fn *take, void *ctx, struct error *err)
{
    const struct job j = {.take = take, .ctx = ctx};
    size_t line_nr = 0;
    int rc = DT_OK;

    for (size_t at = 0; rc == DT_OK && at < text->len;) {
        const char *line = text->data + at;
        const char *end = memchr(line, '\n', text->len - at);
        size_t len = end ? (size_t)(end - line) : text->len - at;

        line_nr++;
        at += len + 1;
        while (len && isspace((unsigned char)*line)) {
            line++;
            len--;
        }
        if (len && *line != '#') {
            rc = take_trimmed(&j, line, len, err);
            if (rc != DT_OK) {
                error_prefix(err, "%s line %zu", what, line_nr);
            }
        }
    }
    return rc;
}

static int
run_file(const struct job *j, struct error *err)
{
    const char *path = input(j);
    struct buf text = {0};
    int rc = read_file(path, &text, err);

    if (rc == DT_OK) {
        rc = discovery_lines(is_stdin(path) ? "standard input" : path, &text,
                             j->take, j->ctx, err);
    }
    buf_fini(&text);
    return rc;
}

/* ---- programs and DNS ---- */

static int
run_exec(const struct job *j, struct error *err)
{
    struct buf text = {0};
    int rc = discovery_exec(j->options, &text, err);

    if (rc == DT_OK) {
        rc = discovery_is_json(&text)
                 ? discovery_inventory(j->options, &text, j->take, j->ctx, err)
                 : discovery_lines(j->options, &text, j->take, j->ctx, err);
    }
    buf_fini(&text);
    return rc;
}

static int
run_srv(const struct job *j, struct error *err)
{
    return discovery_srv(j->options, j->take, j->ctx, err);
}

/* ---- the table ---- */

static const struct method {
    const char *name;
    const char *options; /* what has to stand behind the name; NULL: nothing,
                            its input is --servers */
    int (*run)(const struct job *j, struct error *err);
} methods[] = {
    {"comma", NULL, run_comma},
    {"file", NULL, run_file},
    {"dns-srv", "a name, as in dns-srv:_dtail._tcp.example.net", run_srv},
    {"exec", "a program, as in exec:/etc/dtail/hosts", run_exec},
};
#define NR_METHODS (sizeof(methods) / sizeof(methods[0]))

/* Only regular files and fifos are lists: a folder that happens to be named
 * like a server is none. */
static bool
is_list_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 &&
           (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode));
}

static int
run_method(const struct method *m, const struct job *j, struct error *err)
{
    if (m->options && !*j->options) {
        return error_set(err, DT_ERR_INVAL, "--discovery %s needs %s", m->name,
                         m->options);
    }
    if (m->options && *j->list && !discovery_is_filter(j->list)) {
        return error_set(err, DT_ERR_INVAL,
                         "--discovery %s finds the servers itself: --servers "
                         "may only be a filter, /PATTERN/, and not \"%s\"",
                         m->name, j->list);
    }
    return m->run(j, err);
}

int
discovery_run(const char *discovery, const char *list, discovery_take_fn *take,
              void *ctx, struct error *err)
{
    const char *colon = strchr(discovery, ':');
    size_t len = colon ? (size_t)(colon - discovery) : strlen(discovery);
    const struct job j = {
        .options = colon ? colon + 1 : "",
        .list = list,
        .take = take,
        .ctx = ctx,
    };

    if (!*discovery) {
        return is_stdin(list) || is_list_file(list) ? run_file(&j, err)
                                                    : run_comma(&j, err);
    }
    if (len == 0 || (colon && !*j.options)) {
        return error_set(err, DT_ERR_INVAL,
                         "unable to parse discovery module \"%s\": it is NAME "
                         "or NAME:OPTIONS",
                         discovery);
    }
    for (size_t i = 0; i < NR_METHODS; i++) {
        const struct method *m = &methods[i];

        if (strlen(m->name) == len &&
            strncasecmp(m->name, discovery, len) == 0) {
            return run_method(m, &j, err);
        }
    }
    return error_set(err, DT_ERR_INVAL,
                     "No such server discovery module|%.*s|there are comma, "
                     "file, dns-srv:NAME and exec:PROGRAM",
                     (int)(len > 100 ? 100 : len), discovery);
}
