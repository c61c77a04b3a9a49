/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of fields that stand on lines, and which of them a misspelt name may
 * have meant.
 */
#include "hints.h"

#include <strings.h>

#define SHOWN 3u
#define FAR 100u

void
hints_add(struct hints *h, struct str name)
{
    if (name.n == 0 || name.n > HINTS_MAX_NAME || h->nr == HINTS_MAX_NAMES) {
        return;
    }
    for (uint32_t i = 0; i < h->nr; i++) {
        if (h->names[i].n == name.n &&
            memcmp(h->names[i].p, name.p, name.n) == 0) {
            return;
        }
    }
    memcpy(h->names[h->nr].p, name.p, name.n);
    h->names[h->nr++].n = (uint32_t)name.n;
}

static uint32_t
least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Edit distance with swapped neighbours as one step, letters folded. */
static uint32_t
distance(struct str a, struct str b)
{
    uint32_t rows[3][HINTS_MAX_NAME + 1];
    uint32_t *before = rows[0], *last = rows[1], *now = rows[2];

    for (uint32_t j = 0; j <= b.n; j++) {
        last[j] = j;
    }
    for (size_t i = 1; i <= a.n; i++) {
        uint32_t *free_row = before;

        now[0] = (uint32_t)i;
        for (size_t j = 1; j <= b.n; j++) {
            bool same = strncasecmp(a.p + i - 1, b.p + j - 1, 1) == 0;

            now[j] =
                least(least(last[j] + 1, now[j - 1] + 1), last[j - 1] + !same);
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] &&
                a.p[i - 2] == b.p[j - 1]) {
                now[j] = least(now[j], before[j - 2] + 1);
            }
        }
        before = last;
        last = now;
        now = free_row;
    }
    return last[b.n];
}

static struct str
without_dollar(struct str s)
{
    if (s.n > 1 && s.p[0] == '$') {
        s.p++;
        s.n--;
    }
    return s;
}

/* 0: the same but for case and `$`; FAR: nothing to do with each other. */
static uint32_t
score(struct str name, struct str known)
{
    struct str a = without_dollar(name), b = without_dollar(known);
    size_t shorter = a.n < b.n ? a.n : b.n;
    uint32_t d = distance(a, b);

    if (d <= 2 && 3 * d <= shorter) {
        return d;
    }
    /* One is the other with something in front or behind. */
    if (shorter >= 3 &&
        (memmem(a.p, a.n, b.p, b.n) || memmem(b.p, b.n, a.p, a.n))) {
        return 3;
    }
    return FAR;
}

bool
hints_near(const struct hints *h, struct str name, struct text *out)
{
    uint32_t shown = 0;

    if (name.n == 0 || name.n > HINTS_MAX_NAME) {
        return false;
    }
    for (uint32_t want = 0; want <= 3 && shown == 0; want++) {
        for (uint32_t i = 0; i < h->nr && shown < SHOWN; i++) {
            struct str known = {h->names[i].p, h->names[i].n};

            if (score(name, known) == want) {
                text_puts(out, shown++ ? ", " : "");
                text_str(out, known);
            }
        }
    }
    return shown > 0;
}
