/* SPDX-License-Identifier: Apache-2.0
 *
 * The literal search finds what memmem finds, at every level of SIMD, for
 * every choice of the pair.
 */
#include "literal.h"

#include "test-random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define AREA 1500u

static const char *
slow_find(const struct literal *l, const char *p, const char *end)
{
    for (; (size_t)(end - p) >= l->len; p++) {
        size_t i = 0;

        while (i < l->len && ((unsigned char)p[i] |
                              (l->mask ? l->mask[i] : 0)) == l->bytes[i]) {
            i++;
        }
        if (i == l->len) {
            return p;
        }
    }
    return NULL;
}

/* Few letters, so that needles nearly match everywhere; NUL is one. */
static void
fill(struct rng *r, char *p, size_t len, unsigned nr_letters)
{
    static const char letters[] = "aA\0bB\n1\xe9zZ@`";

    for (size_t i = 0; i < len; i++) {
        p[i] = letters[rng_below(r, nr_letters)];
    }
}

static void
check_all(const struct literal *l, const struct literal_pair *pair,
          const char *p, const char *end)
{
    const char *want = slow_find(l, p, end);

    if (!l->mask) {
        assert_ptr_equal(want, memmem(p, (size_t)(end - p), l->bytes, l->len));
    }
    for (enum bytes_level v = BYTES_PLAIN; v <= bytes_level(); v++) {
        assert_ptr_equal(literal_find(l, pair, v, p, end), want);
    }
}

static void
test_random(void **state)
{
    struct rng r = rng_new(11);
    char area[AREA + BYTES_SLACK];
    unsigned char bytes[40], mask[40];

    (void)state;
    for (unsigned long i = 0; i < test_effort(30000); i++) {
        size_t from = rng_below(&r, 64), to = from + rng_below(&r, AREA - 64);
        struct literal l = {.bytes = bytes, .len = 1 + rng_below(&r, 40)};
        struct literal_pair pair;
        unsigned nr_letters = 2 + rng_below(&r, 11);

        if (rng_below(&r, 2)) {
            l.len = 1 + rng_below(&r, 4);
        }
        fill(&r, area, sizeof(area), nr_letters);
        fill(&r, (char *)bytes, l.len, nr_letters);
        if (rng_below(&r, 2) && to - from > l.len) {
            /* one that is there, often near the end */
            size_t at =
                rng_below(&r, 2)
                    ? to - l.len
                    : from + rng_below(&r, (unsigned)(to - from - l.len));

            memcpy(bytes, area + at, l.len);
        }
        if (rng_below(&r, 2)) {
            l.mask = mask;
            for (size_t k = 0; k < l.len; k++) {
                unsigned char low = bytes[k] | 0x20;

                mask[k] = low >= 'a' && low <= 'z' ? 0x20 : 0;
                bytes[k] |= mask[k];
            }
        }
        literal_choose(&l, rng_below(&r, 3) ? area : NULL, to, &pair);
        assert_true(pair.first < l.len && pair.second < l.len);
        check_all(&l, &pair, area + from, area + to);
        pair.first = rng_below(&r, (unsigned)l.len);
        pair.second = rng_below(&r, (unsigned)l.len);
        check_all(&l, &pair, area + from, area + to);
    }
}

/* The needle behind the end of the block is not found, whatever the slack
 * holds. */
static void
test_slack(void **state)
{
    char area[300 + BYTES_SLACK];
    const struct literal l = {(const unsigned char *)"needle", NULL, 6};
    const struct literal_pair pair = {0, 5};

    (void)state;
    for (size_t len = 0; len < 300; len++) {
        memset(area, '-', sizeof(area));
        for (size_t at = len < 5 ? 0 : len - 5; at <= len + 2; at++) {
            memcpy(area + at, "needle", 6);
            check_all(&l, &pair, area, area + len);
            memset(area + at, '-', 6);
        }
    }
}

static void
test_choice(void **state)
{
    const struct literal l = {(const unsigned char *)"aaXaYaaa", NULL, 8};
    struct literal_pair pair;
    char area[1000];

    (void)state;
    for (size_t i = 0; i < sizeof(area); i++) {
        area[i] = "ab"[i & 1];
    }
    literal_choose(&l, area, sizeof(area), &pair);
    assert_true(pair.first == 2 || pair.second == 2 || pair.first == 4 ||
                pair.second == 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_slack),
        cmocka_unit_test(test_choice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
