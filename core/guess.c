/* SPDX-License-Identifier: Apache-2.0
 *
 * Which word may have been meant.
 */
#include "guess.h"

static size_t
smallest(size_t a, size_t b, size_t c)
{
    a = a < b ? a : b;
    return a < c ? a : c;
}

static int
lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

size_t
guess_distance(const char *a, const char *b)
{
    size_t row[GUESS_MAX + 1];
    size_t len = strlen(b);

    for (size_t j = 0; j <= len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];

        row[0] = i;
        for (size_t j = 1; j <= len; j++) {
            size_t differs = lower(a[i - 1]) != lower(b[j - 1]);
            size_t here =
                smallest(row[j] + 1, row[j - 1] + 1, corner + differs);

            corner = row[j];
            row[j] = here;
        }
    }
    return row[len];
}
