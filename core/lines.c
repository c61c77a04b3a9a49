/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes to whole lines no longer than MaxLineLength.
 */
#include "lines.h"

#include <bytes.h>

size_t
lines_find_long(const char *data, size_t len, size_t max)
{
    size_t at = 0;

    /* Hop `max` bytes ahead and look back for a newline: found, every line
     * up to there is short enough. */
    while (len - at > max) {
        const char *nl = memrchr(data + at, '\n', max + 1);

        if (!nl) {
            return at;
        }
        at = (size_t)(nl - data) + 1;
    }
    return len;
}

size_t
lines_take(const char *data, size_t len, size_t max, bool is_end,
           uint32_t *flags)
{
    const char *nl;

    *flags = 0;
    if (len == 0) {
        return 0;
    }
    nl = memrchr(data, '\n', len);
    if (is_end) {
        if (!nl || nl + 1 < data + len) {
            *flags = DT_BLOCK_NOEOL;
        }
        return len;
    }
    if (nl) {
        return (size_t)(nl - data) + 1;
    }
    if (len > max) {
        *flags = DT_BLOCK_CUT;
        return max;
    }
    return 0;
}

bool
lines_piece(const char *data, size_t len, uint32_t run_flags, size_t max,
            size_t *piece_len, uint32_t *piece_flags)
{
    size_t at;

    if (len == 0) {
        return false;
    }
    at = lines_find_long(data, len, max);
    if (at == len) { /* the usual case: all of it */
        *piece_len = len;
        *piece_flags = run_flags;
    } else if (at > 0) {
        *piece_len = at;
        *piece_flags = 0;
    } else {
        *piece_len = max;
        *piece_flags = DT_BLOCK_CUT;
    }
    return true;
}

uint64_t
lines_count(const char *data, size_t len, uint32_t run_flags, size_t max)
{
    uint64_t nr = 0;
    size_t piece;
    uint32_t flags;

    while (lines_piece(data, len, run_flags, max, &piece, &flags)) {
        nr += bytes_count_newlines(data, piece) + (data[piece - 1] != '\n');
        data += piece;
        len -= piece;
    }
    return nr;
}
