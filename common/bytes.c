/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting and finding newlines in blocks.
 */
#include "bytes.h"

size_t
bytes_count_newlines(const char *data, size_t len)
{
    size_t nr = 0;

    for (size_t i = 0; i < len; i++) {
        nr += data[i] == '\n';
    }
    return nr;
}
