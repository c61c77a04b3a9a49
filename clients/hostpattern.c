/* SPDX-License-Identifier: Apache-2.0
 *
 * The patterns of SSH's files.
 */
#include "hostpattern.h"

#include <ctype.h>

/* Shell-like "*" and "?" over the whole name, no case. */
static bool
match_pattern(const char *pattern, size_t pattern_len, const char *name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, mark = 0;

    while (name[n]) {
        if (p < pattern_len && pattern[p] == '*') {
            star = p++;
            mark = n;
        } else if (p < pattern_len &&
                   (pattern[p] == '?' || tolower((unsigned char)pattern[p]) ==
                                             (unsigned char)name[n])) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern_len && pattern[p] == '*') {
        p++;
    }
    return p == pattern_len;
}

bool
hostpattern_matches(const char *list, const char *name)
{
    bool found = false;

    while (*list) {
        size_t len = strcspn(list, ",");
        bool negated = list[0] == '!';

        if (len > negated &&
            match_pattern(list + negated, len - negated, name)) {
            if (negated) {
                return false;
            }
            found = true;
        }
        list += len + (list[len] == ',');
    }
    return found;
}
