/* SPDX-License-Identifier: Apache-2.0
 *
 * The key that a client registers with servers.
 */
#include "authkey.h"

#include "base64.h"
#include "cleanup.h"
#include "hostkey.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FILE 65536u /* bytes of a .pub file */
#define TEST_KEY_BITS 4096

/* The whole of a small regular file; `text` has MAX_FILE + 1 bytes. */
static bool
read_small(const char *path, char *text)
{
    /* O_NONBLOCK: a FIFO in this place must not hold us up. */
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat sb;
    size_t used = 0;
    ssize_t n;

    if (fd < 0 || fstat(fd, &sb) != 0 || !S_ISREG(sb.st_mode)) {
        return false;
    }
    while ((n = read(fd, text + used, MAX_FILE - used)) > 0) {
        used += (size_t)n;
    }
    text[used] = '\0';
    return n == 0;
}

/* The second word of a line. */
static const char *
second_word(char *line)
{
    static const char blanks[] = " \t\r";
    char *rest = NULL;

    return strtok_r(line, blanks, &rest) ? strtok_r(NULL, blanks, &rest) : NULL;
}

static const char *
find_key(char *text)
{
    char *line;

    while ((line = strsep(&text, "\n"))) {
        line += strspn(line, " \t\r");
        if (*line && *line != '#') {
            return second_word(line);
        }
    }
    return NULL;
}

bool
authkey_read(const char *key_path, struct buf *out, const char **why)
{
    CLEANUP_FREE char *text = malloc(MAX_FILE + 1);
    CLEANUP_FREE char *blob = malloc(MAX_FILE);
    CLEANUP_FREE char *path = NULL;
    const char *key;
    size_t len;

    *why = "out of memory";
    if (!text || !blob || asprintf(&path, "%s.pub", key_path) < 0) {
        return false;
    }
    *why = "its .pub file cannot be read";
    if (!read_small(path, text)) {
        return false;
    }
    key = find_key(text);
    *why = "its .pub file holds no public key";
    if (!key || base64_decoded_max(strlen(key)) > MAX_FILE ||
        !base64_decode(blob, &len, key, strlen(key)) || len == 0) {
        return false;
    }
    *why = "out of memory";
    return buf_append(out, key, strlen(key)) == DT_OK;
}

int
authkey_make(const char *key_path, struct log *log, struct error *err)
{
    CLEANUP_FREE char *public_path = NULL;
    enum ssh_keytypes_e type;
    ssh_key key = NULL;
    int rc;

    if (access(key_path, F_OK) == 0) {
        return DT_OK;
    }
    rc = hostkey_ensure(key_path, SSH_KEYTYPE_RSA, TEST_KEY_BITS, log, &type,
                        err);
    if (rc != DT_OK) {
        return rc;
    }
    if (asprintf(&public_path, "%s.pub", key_path) < 0) {
        public_path = NULL;
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    if (ssh_pki_import_privkey_file(key_path, NULL, NULL, NULL, &key) !=
            SSH_OK ||
        ssh_pki_export_pubkey_file(key, public_path) != SSH_OK) {
        rc = error_set(err, DT_ERR_IO, "%s: cannot be written", public_path);
    }
    ssh_key_free(key);
    return rc;
}
