/* SPDX-License-Identifier: Apache-2.0
 *
 * ssh_config files: reading them. What they say of a host is in
 * sshconfig-lookup.c.
 */
#include "sshconfig-lines.h"

#include "cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

static const struct keyword {
    const char *name;
    enum sc_key key;
} keywords[] = {
    {"Host", SC_HOST},
    {"Match", SC_MATCH},
    {"Include", SC_INCLUDE},
    {"AddressFamily", SC_ADDRESS_FAMILY},
    {"BindAddress", SC_REFUSED},
    {"BindInterface", SC_REFUSED},
    {"CanonicalizeHostname", SC_REFUSED},
    {"CertificateFile", SC_CERTIFICATE},
    {"ConnectTimeout", SC_CONNECT_TIMEOUT},
    {"GlobalKnownHostsFile", SC_GLOBAL_KNOWN_HOSTS},
    {"HostKeyAlias", SC_HOST_KEY_ALIAS},
    {"HostName", SC_HOST_NAME},
    {"IdentitiesOnly", SC_IDENTITIES_ONLY},
    {"IdentityAgent", SC_IDENTITY_AGENT},
    {"IdentityFile", SC_IDENTITY},
    {"KnownHostsCommand", SC_REFUSED},
    {"Port", SC_PORT},
    {"ProxyCommand", SC_PROXY},
    {"ProxyJump", SC_PROXY},
    {"ProxyUseFdpass", SC_REFUSED},
    {"RevokedHostKeys", SC_REFUSED},
    {"StrictHostKeyChecking", SC_STRICT},
    {"User", SC_USER},
    {"UserKnownHostsFile", SC_USER_KNOWN_HOSTS},
};
#define NR_KEYWORDS (sizeof(keywords) / sizeof(keywords[0]))

/* A file being read. */
struct reading {
    struct sshconfig *config;
    const char *file;
    const char *dir; /* where relative names of Include start */
    unsigned nr;     /* line */
    unsigned depth;
    bool is_user;
    struct error *err;
};

static int
no_memory(struct reading *r)
{
    return error_set(r->err, DT_ERR_NOMEM, "%s: out of memory", r->file);
}

static int
bad_line(struct reading *r, const char *what)
{
    return error_set(r->err, DT_ERR_INVAL, "%s line %u: %s", r->file, r->nr,
                     what);
}

/* Adds a line, which takes over the arguments. */
static int
add_line(struct reading *r, const struct keyword *word, enum sc_key key,
         struct strv *args)
{
    struct sshconfig *s = r->config;

    if (s->nr == SSHCONFIG_MAX_LINES) {
        strv_fini(args);
        return error_set(r->err, DT_ERR_LIMIT, "%s: more than %u lines",
                         r->file, SSHCONFIG_MAX_LINES);
    }
    if (s->nr == s->cap) {
        size_t more = s->cap ? s->cap * 2 : 64;
        struct sc_line *lines = reallocarray(s->lines, more, sizeof(*lines));

        if (!lines) {
            strv_fini(args);
            return no_memory(r);
        }
        s->lines = lines;
        s->cap = more;
    }
    s->lines[s->nr++] = (struct sc_line){
        .key = key,
        .is_jump = word && strcmp(word->name, "ProxyJump") == 0,
        .is_user = r->is_user,
        .word = word ? word->name : "",
        .file = r->file,
        .nr = r->nr,
        .args = *args,
    };
    return DT_OK;
}

/* Splits at blanks; double quotes hold together, "#" ends. */
static int
split(struct reading *r, char *text, struct strv *out)
{
    for (;;) {
        char *start, *end;

        text += strspn(text, " \t");
        if (!*text || *text == '#') {
            return DT_OK;
        }
        if (*text == '"') {
            start = text + 1;
            end = strchr(start, '"');
            if (!end) {
                return bad_line(r, "a quote is not closed");
            }
            text = end + 1;
        } else {
            start = text;
            end = text = text + strcspn(text, " \t");
        }
        if (strv_add_n(out, start, (size_t)(end - start)) != DT_OK) {
            return no_memory(r);
        }
    }
}

/* The patterns of a Host line as one list. */
static int
join(struct reading *r, struct strv *args)
{
    struct buf list = {0};
    struct strv one = {0};
    int rc = DT_OK;

    for (size_t i = 0; rc == DT_OK && i < args->nr; i++) {
        rc = buf_printf(&list, "%s%s", i ? "," : "", args->v[i]);
    }
    if (rc == DT_OK) {
        rc = strv_add_n(&one, list.data, list.len);
    }
    buf_fini(&list);
    strv_fini(args);
    *args = one;
    return rc == DT_OK ? DT_OK : no_memory(r);
}

static int read_file(struct reading *parent, const char *path, bool is_wanted);

/* One name of an Include line, which may be a glob. Missing files are none. */
static int
include_one(struct reading *r, const char *name)
{
    CLEANUP_FREE char *path = NULL;
    const char *home = r->config->args.home;
    glob_t found;
    int len, rc = DT_OK;

    if (name[0] == '/') {
        len = asprintf(&path, "%s", name);
    } else if (strncmp(name, "~/", 2) == 0 && r->is_user) {
        len = asprintf(&path, "%s%s", home, name + 1);
    } else if (name[0] == '~') {
        return bad_line(r, "Include takes no ~ here");
    } else {
        len = asprintf(&path, "%s/%s", r->dir, name);
    }
    if (len < 0) {
        path = NULL;
        return no_memory(r);
    }
    switch (glob(path, 0, NULL, &found)) {
    case 0:
        break;
    case GLOB_NOMATCH:
        return DT_OK;
    default:
        return bad_line(r, "Include: the files cannot be listed");
    }
    for (size_t i = 0; rc == DT_OK && i < found.gl_pathc; i++) {
        rc = read_file(r, found.gl_pathv[i], false);
    }
    globfree(&found);
    return rc;
}

static int
take_include(struct reading *r, struct strv *args)
{
    int rc = DT_OK;

    if (r->depth == SSHCONFIG_MAX_DEPTH) {
        rc = bad_line(r, "Include: too many files within files");
    }
    for (size_t i = 0; rc == DT_OK && i < args->nr; i++) {
        rc = include_one(r, args->v[i]);
    }
    strv_fini(args);
    return rc;
}

static const struct keyword *
find_keyword(const char *text, size_t len)
{
    for (size_t i = 0; i < NR_KEYWORDS; i++) {
        if (strlen(keywords[i].name) == len &&
            strncasecmp(keywords[i].name, text, len) == 0) {
            return &keywords[i];
        }
    }
    return NULL;
}

/* "KEYWORD ARGS", "KEYWORD=ARGS", "KEYWORD = ARGS". */
static int
take_line(struct reading *r, char *text)
{
    const struct keyword *word;
    struct strv args = {0};
    size_t len;
    int rc;

    text += strspn(text, " \t");
    len = strcspn(text, " \t=");
    word = find_keyword(text, len);
    if (!word) {
        return DT_OK; /* also comments */
    }
    text += len + strspn(text + len, " \t");
    text += *text == '=';
    text += strspn(text, " \t");
    /* A command goes to the shell as it is. */
    rc = strcmp(word->name, "ProxyCommand") == 0 && *text
             ? strv_add(&args, text)
             : split(r, text, &args);
    if (rc == DT_OK && args.nr == 0) {
        rc = error_set(r->err, DT_ERR_INVAL, "%s line %u: %s without a value",
                       r->file, r->nr, word->name);
    }
    if (rc == DT_OK && word->key == SC_HOST) {
        rc = join(r, &args);
    }
    if (rc != DT_OK) {
        strv_fini(&args);
        return rc == DT_ERR_NOMEM ? no_memory(r) : rc;
    }
    for (size_t i = 0; word->key == SC_MATCH && i < args.nr; i++) {
        r->config->has_final |= strcasecmp(args.v[i], "final") == 0;
    }
    return word->key == SC_INCLUDE ? take_include(r, &args)
                                   : add_line(r, word, word->key, &args);
}

/* ---- files ---- */

/* As ssh: others must not write what chooses commands and keys. */
static int
check_owner(struct reading *r, int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0) {
        return error_errno(r->err, errno, "%s", r->file);
    }
    if (r->is_user && S_ISREG(st.st_mode) &&
        ((st.st_uid != getuid() && st.st_uid != 0) || (st.st_mode & 022))) {
        return error_set(r->err, DT_ERR_ACCES,
                         "%s: others may write this file (owner %u, mode "
                         "%03o): chmod go-w it",
                         r->file, (unsigned)st.st_uid, st.st_mode & 0777u);
    }
    return DT_OK;
}

static int
read_text(struct reading *r, int fd, struct buf *text)
{
    for (;;) {
        ssize_t got;

        if (buf_reserve(text, 16384 + 1) != DT_OK) {
            return no_memory(r);
        }
        got = read(fd, text->data + text->len, 16384);
        if (got < 0 && errno != EINTR) {
            return error_errno(r->err, errno, "%s", r->file);
        }
        text->len += got > 0 ? (size_t)got : 0;
        if (text->len > SSHCONFIG_MAX_FILE) {
            return error_set(r->err, DT_ERR_LIMIT, "%s: more than %u bytes",
                             r->file, SSHCONFIG_MAX_FILE);
        }
        if (got == 0) {
            text->data[text->len] = '\0';
            return DT_OK;
        }
    }
}

static int
take_text(struct reading *r, char *text)
{
    struct strv none = {0};
    int rc = add_line(r, NULL, SC_PUSH, &none);

    for (char *at = text; rc == DT_OK && *at;) {
        size_t len = strcspn(at, "\n");
        char *next = at + len + (at[len] == '\n');

        r->nr++;
        while (len && isspace((unsigned char)at[len - 1])) {
            len--;
        }
        at[len] = '\0';
        rc = take_line(r, at);
        at = next;
    }
    return rc == DT_OK ? add_line(r, NULL, SC_POP, &none) : rc;
}

/* Reads a file into parent's config; a missing one is an error when wanted. */
static int
read_file(struct reading *parent, const char *path, bool is_wanted)
{
    struct reading r = *parent;
    struct buf text = {0};
    int rc;

    r.depth++;
    r.nr = 0;
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return !is_wanted &&
                       (errno == ENOENT || errno == EACCES || errno == ENOTDIR)
                   ? DT_OK
                   : error_errno(r.err, errno, "%s", path);
    }
    if (strv_add(&r.config->files, path) != DT_OK) {
        return no_memory(parent);
    }
    r.file = r.config->files.v[r.config->files.nr - 1];
    rc = check_owner(&r, fd);
    if (rc == DT_OK) {
        rc = read_text(&r, fd, &text);
    }
    if (rc == DT_OK) {
        rc = take_text(&r, text.data);
    }
    buf_fini(&text);
    return rc;
}

int
sshconfig_load(const struct sshconfig_args *args, struct sshconfig **out,
               struct error *err)
{
    struct sshconfig *s = calloc(1, sizeof(*s));
    CLEANUP_FREE char *dir = NULL, *path = NULL;
    struct reading user = {
        .config = s, .file = "ssh_config", .is_user = true, .err = err};
    struct reading rest = {
        .config = s, .file = "ssh_config", .dir = "/etc/ssh", .err = err};
    int rc = DT_OK;

    if (!s || asprintf(&dir, "%s/.ssh", args->home) < 0) {
        dir = NULL;
        free(s);
        return error_set(err, DT_ERR_NOMEM, "ssh_config: out of memory");
    }
    s->args = *args;
    user.dir = dir;
    if (*args->path) {
        rc = read_file(&user, args->path, true);
    } else {
        if (*args->home && asprintf(&path, "%s/config", dir) < 0) {
            path = NULL;
            rc = no_memory(&user);
        }
        if (rc == DT_OK && path) {
            rc = read_file(&user, path, false);
        }
        if (rc == DT_OK) {
            rc = read_file(&rest, "/etc/ssh/ssh_config", false);
        }
    }
    if (rc != DT_OK) {
        sshconfig_free(s);
        return rc;
    }
    *out = s;
    return DT_OK;
}

void
sshconfig_free(struct sshconfig *s)
{
    if (!s) {
        return;
    }
    for (size_t i = 0; i < s->nr; i++) {
        strv_fini(&s->lines[i].args);
    }
    free(s->lines);
    strv_fini(&s->files);
    free(s);
}
