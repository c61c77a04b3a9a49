/* SPDX-License-Identifier: Apache-2.0
 *
 * The server's host keys: made at the first start, read at each.
 *
 * A new key is written under another name and linked into place, so that a
 * reader sees the whole file or none, and of two servers that start at the
 * same time both use the key that was there first.
 */
#include "hostkey.h"
#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Creates the missing folders on the way to `path`. */
static int
make_folders(const char *path, struct error *err)
{
    CLEANUP_FREE char *copy = strdup(path);

    if (!copy) {
        return error_set(err, DT_ERR_NOMEM, "host key %s: out of memory", path);
    }
    for (char *p = strchr(copy + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST) {
            return error_errno(err, errno, "host key: cannot create folder %s",
                               copy);
        }
        *p = '/';
    }
    return DT_OK;
}

/* Syncs what libssh wrote and gives it its name. */
static int
put_in_place(const char *temp, const char *path, struct error *err)
{
    CLEANUP_FD int fd = open(temp, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) != 0) {
        return error_errno(err, errno, "host key: cannot write %s", temp);
    }
    if (link(temp, path) != 0 && errno != EEXIST) {
        return error_errno(err, errno, "host key: cannot create %s", path);
    }
    return DT_OK;
}

static int
write_key(ssh_key key, const char *path, struct error *err)
{
    CLEANUP_FREE char *temp = NULL;
    mode_t mask;
    int fd, st;

    if (asprintf(&temp, "%s.new-XXXXXX", path) < 0) {
        temp = NULL;
        return error_set(err, DT_ERR_NOMEM, "host key %s: out of memory", path);
    }
    /* libssh writes through fopen and so obeys the umask. */
    mask = umask(077);
    st = make_folders(path, err);
    fd = st == DT_OK ? mkostemp(temp, O_CLOEXEC) : -1;
    if (st == DT_OK && fd < 0) {
        st = error_errno(err, errno, "host key: cannot create %s", temp);
    }
    if (fd >= 0) {
        close(fd);
        if (ssh_pki_export_privkey_file(key, NULL, NULL, NULL, temp) !=
            SSH_OK) {
            st = error_set(err, DT_ERR_IO, "host key: cannot write %s", temp);
        } else {
            st = put_in_place(temp, path, err);
        }
        unlink(temp);
    }
    umask(mask);
    return st;
}

static int
generate(const char *path, enum ssh_keytypes_e type, int bits, struct log *log,
         struct error *err)
{
    ssh_key key = NULL;
    int st;

    if (ssh_pki_generate(type, bits, &key) != SSH_OK) {
        return error_set(err, DT_ERR_INVAL,
                         "host key %s: cannot generate a key of type %s", path,
                         ssh_key_type_to_char(type));
    }
    st = write_key(key, path, err);
    ssh_key_free(key);
    if (st == DT_OK) {
        log_info(log, "host key|%s|created|%s", path,
                 ssh_key_type_to_char(type));
    }
    return st;
}

/* What is worth a warning about a key file that is already there. */
static void
inspect(const char *path, enum ssh_keytypes_e type, struct log *log)
{
    static const char openssh[] = "-----BEGIN OPENSSH PRIVATE KEY-----";
    CLEANUP_FILE FILE *file = fopen(path, "re");
    char first[sizeof(openssh)] = "";
    struct stat sb;

    if (!file) {
        return;
    }
    if (fstat(fileno(file), &sb) == 0 && (sb.st_mode & 077)) {
        log_warn(log,
                 "host key|%s|mode %04o lets others at the private key, "
                 "0600 is right",
                 path, (unsigned)(sb.st_mode & 07777));
    }
    if (type == SSH_KEYTYPE_RSA && fgets(first, sizeof(first), file) &&
        strcmp(first, openssh) == 0) {
        log_warn(log,
                 "host key|%s|RSA in OpenSSH's own format makes each log-in "
                 "slower; ssh-keygen -p -m PEM -f FILE converts it",
                 path);
    }
}

int
hostkey_ensure(const char *path, enum ssh_keytypes_e type, int bits,
               struct log *log, enum ssh_keytypes_e *found, struct error *err)
{
    ssh_key key = NULL;
    struct stat sb;
    int st;

    if (stat(path, &sb) != 0) {
        if (errno != ENOENT) {
            return error_errno(err, errno, "host key %s", path);
        }
        st = generate(path, type, bits, log, err);
        if (st != DT_OK) {
            return st;
        }
    } else if (!S_ISREG(sb.st_mode)) { /* libssh would wait at a FIFO */
        return error_set(err, DT_ERR_INVAL, "host key %s: not a regular file",
                         path);
    }
    if (ssh_pki_import_privkey_file(path, NULL, NULL, NULL, &key) != SSH_OK) {
        return error_set(err, DT_ERR_INVAL,
                         "host key %s: not a readable private key without "
                         "passphrase (PEM or OpenSSH format)",
                         path);
    }
    *found = ssh_key_type(key);
    ssh_key_free(key);
    inspect(path, *found, log);
    return DT_OK;
}
