/* SPDX-License-Identifier: Apache-2.0
 *
 * authorized_keys: finding, checking and reading the file of a user.
 */
#include "auth-keys.h"
#include "auth-cert.h"
#include "base64.h"
#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_TYPE 64u /* bytes of a key type's name */

/* ---- keys ---- */

/* The type that a key names itself (RFC 4253 section 6.6: the blob starts with
 * it); `type` has MAX_TYPE + 1 bytes. */
static bool
blob_type(const char *key, char *type)
{
    uint8_t blob[AUTH_KEYS_MAX_KEY];
    size_t key_len = strlen(key), n = 0, len;

    if (base64_decoded_max(key_len) > sizeof(blob) ||
        !base64_decode(blob, &n, key, key_len) || n < 4 || blob[0] || blob[1] ||
        blob[2]) {
        return false;
    }
    len = blob[3];
    if (len == 0 || len > MAX_TYPE || len > n - 4 ||
        memchr(blob + 4, '\0', len)) {
        return false;
    }
    memcpy(type, blob + 4, len);
    type[len] = '\0';
    return true;
}

static bool
is_accepted_type(const char *type)
{
    static const char *const types[] = {
        "ssh-ed25519",
        "ssh-rsa",
        "ecdsa-sha2-nistp256",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
        "sk-ssh-ed25519@openssh.com",
        "sk-ecdsa-sha2-nistp256@openssh.com",
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (strcmp(type, types[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool
auth_keys_type_ok(const char *key)
{
    char type[MAX_TYPE + 1];

    return blob_type(key, type) && is_accepted_type(type);
}

bool
auth_keys_is_cert(const char *key)
{
    char type[MAX_TYPE + 1];

    return blob_type(key, type) && auth_cert_type_ok(type);
}

/* ---- lines ---- */

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t
skip_blanks(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && is_blank(text[n])) {
        n++;
    }
    return n;
}

static size_t
word_len(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && !is_blank(text[n])) {
        n++;
    }
    return n;
}

static bool
is_type_word(const char *text, size_t len)
{
    char type[MAX_TYPE + 1];

    if (len > MAX_TYPE) {
        return false;
    }
    memcpy(type, text, len);
    type[len] = '\0';
    return is_accepted_type(type);
}

/* One line: DT_OK the key may log in, DT_ERR_NOENT another or no key,
 * DT_ERR_ACCES this key, but refused. */
static int
match_line(const char *line, size_t len, const char *key,
           const struct auth_peer *peer, struct error *err)
{
    size_t at = skip_blanks(line, len), options_at = at, options_len = 0;
    size_t type_at, type_len, key_len;
    char type[MAX_TYPE + 1];

    if (at == len || line[at] == '#') {
        return DT_ERR_NOENT;
    }
    if (!is_type_word(line + at, word_len(line + at, len - at))) {
        options_len = auth_options_span(line + at, len - at);
        at += options_len;
        at += skip_blanks(line + at, len - at);
    }
    type_at = at;
    type_len = word_len(line + at, len - at);
    at += type_len;
    at += skip_blanks(line + at, len - at);
    key_len = word_len(line + at, len - at);
    if (key_len != strlen(key) || memcmp(line + at, key, key_len) != 0) {
        return DT_ERR_NOENT;
    }
    /* `key` is of an accepted type, so a line that says otherwise (as one
     * with a certificate's type would) is not about this key. */
    if (!blob_type(key, type) || type_len != strlen(type) ||
        memcmp(line + type_at, type, type_len) != 0) {
        return DT_ERR_NOENT;
    }
    if (options_len == 0) {
        return DT_OK;
    }
    return auth_options_check(line + options_at, options_len, peer, err);
}

int
auth_keys_search(const char *text, size_t len, const char *key,
                 const struct auth_peer *peer, unsigned *line,
                 struct error *err)
{
    int result = DT_ERR_NOENT;

    error_set(err, DT_ERR_NOENT, "the key is not listed");
    if (!auth_keys_type_ok(key)) {
        return error_set(err, DT_ERR_ACCES,
                         "the key's type is not accepted (certificates and "
                         "DSA never are)");
    }
    *line = 0;
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end ? (size_t)(end - text) - at : len - at;
        size_t bare = n > 0 && text[at + n - 1] == '\r' ? n - 1 : n;
        struct error why = ERROR_INIT;
        int st = DT_ERR_NOENT;

        ++*line;
        if (bare <= AUTH_KEYS_MAX_LINE) {
            st = match_line(text + at, bare, key, peer, &why);
        }
        if (st == DT_OK) {
            return DT_OK;
        }
        if (st == DT_ERR_ACCES) {
            result = error_set(err, st, "line %u: %s", *line, why.text);
        }
        at += n + 1;
    }
    return result;
}

/* ---- files ---- */

static int
check_modes(const struct stat *sb, const struct auth_keys_owners *owners,
            const char *what, struct error *err)
{
    if (sb->st_uid != 0 && sb->st_uid != owners->user &&
        sb->st_uid != owners->service) {
        return error_set(err, DT_ERR_ACCES,
                         "%s: owned by uid %u, not by the user, the server or "
                         "root",
                         what, (unsigned)sb->st_uid);
    }
    if (sb->st_mode & 022) {
        return error_set(err, DT_ERR_ACCES,
                         "%s: mode %04o lets others write it", what,
                         (unsigned)(sb->st_mode & 07777));
    }
    return DT_OK;
}

/* Opens a folder and checks what was opened. */
static int
open_folder(const char *path, const struct auth_keys_owners *owners,
            struct error *err)
{
    CLEANUP_FD int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat sb;
    int st;

    if (fd < 0 || fstat(fd, &sb) != 0) {
        return error_errno(err, errno, "%s", path);
    }
    st = check_modes(&sb, owners, path, err);
    return st == DT_OK ? STEAL_FD(fd) : st;
}

int
auth_keys_open(const char *folder, const char *name,
               const struct auth_keys_owners *owners, const char *above,
               struct error *err)
{
    CLEANUP_FD int dir = -1;
    CLEANUP_FD int fd = -1;
    struct stat sb;
    int st;

    if (above) {
        dir = open_folder(above, owners, err);
        if (dir < 0) {
            return STEAL_FD(dir);
        }
        close(STEAL_FD(dir));
    }
    dir = open_folder(folder, owners, err);
    if (dir < 0) {
        return STEAL_FD(dir);
    }
    /* O_NONBLOCK: a FIFO in this place must not hold us up. */
    fd = openat(dir, name,
                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno == ELOOP) {
        return error_set(err, DT_ERR_ACCES, "%s/%s: is a symbolic link", folder,
                         name);
    }
    if (fd < 0 || fstat(fd, &sb) != 0) {
        return error_errno(err, errno, "%s/%s", folder, name);
    }
    if (!S_ISREG(sb.st_mode)) {
        return error_set(err, DT_ERR_ACCES, "%s/%s: not a regular file", folder,
                         name);
    }
    st = check_modes(&sb, owners, name, err);
    if (st != DT_OK) {
        error_prefix(err, "%s", folder);
        return st;
    }
    return STEAL_FD(fd);
}

int
auth_keys_read(int fd, char **text, size_t *len, struct error *err)
{
    CLEANUP_FREE char *data = malloc(AUTH_KEYS_MAX_FILE + 1);
    size_t used = 0;
    ssize_t n;

    if (!data) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    do {
        n = read(fd, data + used, AUTH_KEYS_MAX_FILE + 1 - used);
        used += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EINTR));
    if (n < 0) {
        return error_errno(err, errno, "cannot read");
    }
    if (used > AUTH_KEYS_MAX_FILE) {
        return error_set(err, DT_ERR_LIMIT, "larger than %u bytes",
                         AUTH_KEYS_MAX_FILE);
    }
    *text = STEAL_PTR(data);
    *len = used;
    return DT_OK;
}
