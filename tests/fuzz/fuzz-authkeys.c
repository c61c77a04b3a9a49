/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes authorized_keys: the input is the file. Whatever stands in it, a key
 * that is not there never logs in, and an answer is the same twice.
 */
#include "auth-keys.h"
#include "fuzz.h"

#define KEY \
    "AAAAC3NzaC1lZDI1NTE5AAAAIKMnixVTeULgqCC76jpKJGLaq9e26OanTQRJTOrvCX8P"

static int
search(const char *text, size_t len, unsigned *line)
{
    const struct auth_peer peer = {"192.0.2.7", 1700000000};
    struct error err = ERROR_INIT;
    int st = auth_keys_search(text, len, KEY, &peer, line, &err);

    fuzz_require(st == DT_OK || st == DT_ERR_NOENT || st == DT_ERR_ACCES);
    fuzz_require(st == DT_OK || err.text[0]);
    return st;
}

/* The line of that number, without its newline. */
static const char *
find_line(const char *text, size_t len, unsigned number, size_t *line_len)
{
    const char *end = text + len, *newline;

    for (unsigned i = 1; i < number; i++) {
        newline = memchr(text, '\n', (size_t)(end - text));
        fuzz_require(newline);
        text = newline + 1;
    }
    newline = memchr(text, '\n', (size_t)(end - text));
    *line_len = (size_t)((newline ? newline : end) - text);
    return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    unsigned line = 0, again = 0;
    /* exactly as long as the file, so that a read behind it is seen */
    char *text = malloc(len ? len : 1);
    int st;

    fuzz_require(text);
    memcpy(text, data, len);
    st = search(text, len, &line);
    fuzz_require(search(text, len, &again) == st && again == line);
    if (st == DT_OK) {
        size_t line_len;
        const char *found = find_line(text, len, line, &line_len);

        fuzz_require(memmem(found, line_len, KEY, strlen(KEY)));
        fuzz_require(line_len <= AUTH_KEYS_MAX_LINE + 1);
        fuzz_require(strncmp(found, "cert-authority", 14) != 0);
    }
    free(text);
    return 0;
}
