/* SPDX-License-Identifier: Apache-2.0
 *
 * Known host keys: adding to the user's file.
 */
#include "knownhosts-table.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#define BASE64_LEN ((SHA_DIGEST_LENGTH + 2) / 3 * 4 + 1)

/* "|1|salt|hash" of a name with a fresh salt. */
static int
format_hashed(const char *name, struct buf *out)
{
    uint8_t salt[SHA_DIGEST_LENGTH], digest[SHA_DIGEST_LENGTH];
    unsigned char salt64[BASE64_LEN], digest64[BASE64_LEN];
    SHA_CTX inner, outer;

    if (getrandom(salt, sizeof(salt), 0) != (ssize_t)sizeof(salt)) {
        return DT_ERR_IO;
    }
    knownhosts_key_states(salt, &inner, &outer);
    knownhosts_hash_name(&inner, &outer, name, strlen(name), digest);
    EVP_EncodeBlock(salt64, salt, (int)sizeof(salt));
    EVP_EncodeBlock(digest64, digest, (int)sizeof(digest));
    return buf_printf(out, "|1|%s|%s", salt64, digest64);
}

int
knownhosts_format(const struct knownhosts_entry *entry, bool hashed,
                  struct buf *out)
{
    char name[KNOWNHOSTS_NAME_MAX];
    size_t start = out->len;
    int rc;

    knownhosts_name(entry->host, entry->port, name);
    rc = hashed ? format_hashed(name, out) : buf_puts(out, name);
    if (rc == DT_OK) {
        rc = buf_printf(out, " %s %s\n", entry->type, entry->base64);
    }
    if (rc != DT_OK) {
        out->len = start;
    }
    return rc;
}

/* The folder of a file, made when it is missing. */
static void
make_folder(const char *path)
{
    CLEANUP_FREE char *folder = strdup(path);
    char *slash = folder ? strrchr(folder, '/') : NULL;

    if (slash && slash != folder) {
        *slash = '\0';
        mkdir(folder, 0700); /* what failed shows when the file is opened */
    }
}

/* Opens the file and locks it; again when somebody replaced it meanwhile. */
static int
open_locked(const char *path, struct error *err)
{
    make_folder(path);
    for (;;) {
        CLEANUP_FD int fd =
            open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        struct stat opened, named;

        if (fd < 0) {
            error_errno(err, errno, "known hosts file %s", path);
            return -1;
        }
        while (flock(fd, LOCK_EX) != 0) {
            if (errno != EINTR) {
                error_errno(err, errno, "lock of known hosts file %s", path);
                return -1;
            }
        }
        if (fstat(fd, &opened) == 0 && stat(path, &named) == 0 &&
            opened.st_dev == named.st_dev && opened.st_ino == named.st_ino) {
            return STEAL_FD(fd);
        }
    }
}

/* Does the last line lack its newline? */
static bool
is_open_line(int fd)
{
    struct stat st;
    char last;

    return fstat(fd, &st) == 0 && st.st_size > 0 &&
           pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
}

/* One write of whole lines; what a full disk left half-written is taken back.
 */
static int
append(int fd, const char *path, const struct buf *text, struct error *err)
{
    struct stat st;
    ssize_t put;

    if (fstat(fd, &st) != 0) {
        return error_errno(err, errno, "known hosts file %s", path);
    }
    do {
        put = write(fd, text->data, text->len);
    } while (put < 0 && errno == EINTR);
    if (put == (ssize_t)text->len) {
        return DT_OK;
    }
    int saved = put < 0 ? errno : ENOSPC;
    if (put > 0 && ftruncate(fd, st.st_size) != 0) {
        saved = errno;
    }
    return error_errno(err, saved, "write to known hosts file %s", path);
}

/* Makes the new lines known to the table. */
static int
remember(struct knownhosts *k, size_t file, struct buf *text)
{
    int rc = buf_reserve(text, 1);

    if (rc == DT_OK && (rc = knownhosts_keep_text(k, text->data)) == DT_OK) {
        char *kept = STEAL_PTR(text->data);

        rc = knownhosts_parse(k, file, kept, text->len);
    }
    return rc;
}

int
knownhosts_add(struct knownhosts *k, const char *path,
               const struct knownhosts_entry *entries, size_t nr,
               struct error *err)
{
    CLEANUP_FD int fd = open_locked(path, err);
    struct buf text = {0};
    size_t file;
    int rc;

    if (fd < 0) {
        return err->status;
    }
    rc = knownhosts_add_file(k, path, &file);
    if (rc == DT_OK && is_open_line(fd)) {
        rc = buf_puts(&text, "\n");
    }
    for (size_t i = 0; rc == DT_OK && i < nr; i++) {
        rc = knownhosts_format(&entries[i], k->files[file].has_hashed, &text);
    }
    if (rc == DT_OK) {
        rc = append(fd, path, &text, err);
    }
    if (rc == DT_OK) {
        rc = remember(k, file, &text);
    }
    if (rc != DT_OK && err->status == 0) {
        error_set(err, rc, "known hosts file %s: %s", path, dt_strerror(rc));
    }
    buf_fini(&text);
    return rc;
}
