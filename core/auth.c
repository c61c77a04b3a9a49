/* SPDX-License-Identifier: Apache-2.0
 *
 * Who may log in: user names, accounts, and the decision about one key.
 */
#include "auth.h"
#include "auth-ca.h"
#include "auth-keys.h"
#include "cleanup.h"
#include "sandbox.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>

#define MAX_ACCOUNT (1u << 20) /* bytes of one entry of the database */

int
auth_check_user(const char *user, struct error *err)
{
    size_t len = strlen(user);

    if (len == 0 || len > BROKER_MAX_USER) {
        return error_set(err, DT_ERR_INVAL,
                         "user name of %zu bytes, 1 to %u are allowed", len,
                         BROKER_MAX_USER);
    }
    for (const char *p = user; *p; p++) {
        unsigned char c = (unsigned char)*p;

        if (c < 0x20 || c == 0x7f || c == '/') {
            return error_set(err, DT_ERR_INVAL,
                             "user name holds the byte 0x%02x", c);
        }
    }
    if (strstr(user, "..") || strcmp(user, ".") == 0) {
        return error_set(err, DT_ERR_INVAL,
                         "user name holds \"..\" or is \".\"");
    }
    return DT_OK;
}

void
auth_account_fini(struct auth_account *a)
{
    free(a->name);
    free(a->home);
    *a = (struct auth_account){0};
}

/* getpwnam_r with a growing buffer. 0, or an errno; *found NULL: none. */
static int
read_account(const char *user, struct passwd *pw, char **buffer,
             struct passwd **found)
{
    size_t size = 4096;
    int e;

    do {
        free(*buffer);
        *buffer = malloc(size);
        if (!*buffer) {
            return ENOMEM;
        }
        e = getpwnam_r(user, pw, *buffer, size, found);
        size *= 2;
    } while (e == ERANGE && size <= MAX_ACCOUNT);
    return e;
}

int
auth_account_get(const char *user, bool as_root, struct auth_account *out,
                 struct error *err)
{
    CLEANUP_FREE char *buffer = NULL;
    struct passwd pw, *found = NULL;
    int e = read_account(user, &pw, &buffer, &found);

    if (e) {
        return error_errno(err, e, "account %s", user);
    }
    if (!found) {
        return error_set(err, DT_ERR_NOENT, "there is no account %s", user);
    }
    if (as_root && pw.pw_uid == 0) {
        return error_set(err, DT_ERR_ACCES, "root may not log in");
    }
    *out = (struct auth_account){.name = strdup(pw.pw_name),
                                 .home = strdup(pw.pw_dir),
                                 .uid = pw.pw_uid,
                                 .gid = pw.pw_gid};
    if (!out->name || !out->home) {
        auth_account_fini(out);
        return error_set(err, DT_ERR_NOMEM, "account %s: out of memory", user);
    }
    return DT_OK;
}

/* The administrator's copy of the user's keys. The descriptor, DT_ERR_NOENT:
 * there is none, or an error. *path says where it was looked for. */
static int
open_cached(const struct auth_request *r, const struct auth_keys_owners *owners,
            char **path, struct error *err)
{
    const char *dir = r->config->common.cache_dir;
    CLEANUP_FREE char *name = NULL;

    if (!dir || !*dir) {
        return DT_ERR_NOENT;
    }
    if (asprintf(&name, "%s.authorized_keys", r->user) < 0) {
        name = NULL;
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    if (asprintf(path, "%s/%s", dir, name) < 0) {
        *path = NULL;
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    return auth_keys_open(dir, name, owners, NULL, err);
}

/* The one key of everybody in integration tests (spec server 4); a server that
 * is root does not start then. */
static int
open_test_keys(const struct auth_keys_owners *owners, char **path,
               struct error *err)
{
    int fd;

    *path = strdup("./id_rsa.pub");
    if (!*path) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    fd = auth_keys_open(".", "id_rsa.pub", owners, NULL, err);
    return fd == DT_ERR_NOENT ? DT_ERR_ACCES : fd;
}

/* ~user/.ssh/authorized_keys. */
static int
open_own(const struct auth_account *account,
         const struct auth_keys_owners *owners, char **path, struct error *err)
{
    CLEANUP_FREE char *folder = NULL;

    if (asprintf(&folder, "%s/.ssh", account->home) < 0) {
        folder = NULL;
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    free(*path);
    if (asprintf(path, "%s/authorized_keys", folder) < 0) {
        *path = NULL;
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    return auth_keys_open(folder, "authorized_keys", owners, account->home,
                          err);
}

/* Reads the open file and looks for the key. */
static int
search(int fd, const struct auth_request *r, const char *path,
       struct error *note)
{
    const struct auth_peer peer = {.address = r->address, .now = time(NULL)};
    CLEANUP_FREE char *text = NULL;
    unsigned line = 0;
    size_t len = 0;
    int st = auth_keys_read(fd, &text, &len, note);

    if (st == DT_OK) {
        st = auth_keys_search(text, len, r->key, &peer, &line, note);
    }
    if (st != DT_OK) {
        error_prefix(note, "%s", path);
        return st;
    }
    error_set(note, DT_OK, "%s line %u", path, line);
    return DT_OK;
}

/* The authorities belong to the server; their file is opened with its rights,
 * and read with the user's. */
static int
decide_certificate(const struct auth_request *r,
                   const struct auth_account *account, struct error *note)
{
    CLEANUP_FD int fd = auth_ca_open(r->config, note);
    int st = fd < 0 ? fd : DT_OK;

    if (st == DT_OK && r->as_root) {
        st = sandbox_become(account->uid, account->gid, account->name, note);
    }
    return st == DT_OK ? auth_ca_decide(fd, r, note) : st;
}

int
auth_decide(const struct auth_request *request, struct error *note)
{
    struct auth_keys_owners owners = {.service = geteuid()};
    struct auth_account account = {0};
    CLEANUP_FREE char *path = NULL;
    CLEANUP_FD int fd = -1;
    int st = auth_check_user(request->user, note);

    if (st == DT_OK) {
        st = auth_account_get(request->user, request->as_root, &account, note);
    }
    if (st != DT_OK) {
        return st;
    }
    if (auth_keys_is_cert(request->key)) {
        st = decide_certificate(request, &account, note);
        auth_account_fini(&account);
        return st;
    }
    owners.user = account.uid;
    /* The cache belongs to the server and is opened with its rights; all else,
     * reading what is in it included, happens with the user's. */
    fd = config_test_mode() ? open_test_keys(&owners, &path, note)
                            : open_cached(request, &owners, &path, note);
    if (request->as_root) {
        st = sandbox_become(account.uid, account.gid, account.name, note);
    }
    if (st == DT_OK && fd == DT_ERR_NOENT) {
        fd = open_own(&account, &owners, &path, note);
    }
    if (st == DT_OK) {
        st = fd < 0 ? fd : search(fd, request, path, note);
    }
    auth_account_fini(&account);
    return st;
}
