/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes file name patterns. An input is a pattern, a newline and a name. The
 * matcher is compared with a plain recursive one, and cleaning twice changes
 * nothing.
 */
#include "fileglob.h"
#include "fuzz.h"

#include <bytes.h>
#include <string.h>

#define MAX_TEXT 48u /* the recursive matcher takes its time */

static uint32_t
rune_at(const char *p, size_t *n)
{
    static const uint8_t mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t rune;

    *n = bytes_utf8_char(p, p + strlen(p));
    if (*n == 0) {
        *n = 1;
        return 0xfffd;
    }
    rune = (uint8_t)p[0] & mask[*n];
    for (size_t i = 1; i < *n; i++) {
        rune = rune << 6 | ((uint8_t)p[i] & 0x3fu);
    }
    return rune;
}

/* Steps over a class of a pattern that is well-formed. */
static bool
plain_class(const char **pattern, uint32_t rune)
{
    const char *p = *pattern + 1;
    bool is_negated = *p == '^', is_in = false;

    p += is_negated;
    do {
        uint32_t low, high;
        size_t n;

        p += *p == '\\';
        low = high = rune_at(p, &n);
        p += n;
        if (*p == '-') {
            p++;
            p += *p == '\\';
            high = rune_at(p, &n);
            p += n;
        }
        is_in |= low <= rune && rune <= high;
    } while (*p != ']');
    *pattern = p + 1;
    return is_in != is_negated;
}

static bool
plain_match(const char *p, const char *s)
{
    size_t n;
    uint32_t rune;

    if (*p == '\0') {
        return *s == '\0';
    }
    if (*p == '*') {
        for (;; s++) {
            if (plain_match(p + 1, s)) {
                return true;
            }
            if (*s == '\0' || *s == '/') {
                return false;
            }
        }
    }
    if (*s == '\0' || *s == '/') {
        return false;
    }
    rune = rune_at(s, &n);
    if (*p == '[') {
        return plain_class(&p, rune) && plain_match(p, s + n);
    }
    if (*p == '?') {
        return plain_match(p + 1, s + n);
    }
    p += *p == '\\';
    return *p == *s && plain_match(p + 1, s + 1);
}

static size_t
nr_stars(const char *p)
{
    size_t nr = 0;

    for (; *p; p++) {
        nr += *p == '*';
    }
    return nr;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char pattern[MAX_TEXT * 2 + 1] = "", name[MAX_TEXT + 1] = "";
    const uint8_t *nl = memchr(data, '\n', len);
    size_t pattern_len = nl ? (size_t)(nl - data) : len;
    size_t name_len = nl ? len - pattern_len - 1 : 0;
    char *clean, *again;
    int status;

    if (pattern_len > MAX_TEXT || name_len > MAX_TEXT) {
        return 0;
    }
    memcpy(pattern, data, pattern_len);
    if (name_len) {
        memcpy(name, nl + 1, name_len);
    }
    clean = fileglob_clean(pattern);
    again = clean ? fileglob_clean(clean) : NULL;
    fuzz_require(again && strcmp(clean, again) == 0);
    fuzz_require(*clean && strlen(clean) <= strlen(pattern) + 1);
    free(clean);
    free(again);
    status = fileglob_match(pattern, name);
    fuzz_require(status == DT_OK || status == DT_STOP ||
                 status == DT_ERR_INVAL);
    fuzz_require((status == DT_ERR_INVAL) ==
                 (fileglob_match(pattern, "") == DT_ERR_INVAL));
    if (status != DT_ERR_INVAL && nr_stars(pattern) <= 4 && name_len <= 24) {
        /* Go tries no earlier star again, which is seen only where a star
         * takes a byte out of the middle of a character. */
        fuzz_require(status == DT_STOP || plain_match(pattern, name));
        fuzz_require(status == DT_OK || !plain_match(pattern, name) ||
                     !bytes_is_ascii(name, name_len));
    }
    return 0;
}
