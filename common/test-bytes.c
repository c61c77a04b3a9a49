/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes: every level of SIMD says what a simple loop says, at every alignment.
 */
#include "bytes.h"

#include "test-random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define AREA 1024

static size_t
slow_count(const char *p, size_t len, char byte)
{
    size_t nr = 0;

    for (size_t i = 0; i < len; i++) {
        nr += p[i] == byte;
    }
    return nr;
}

/* Text of few different bytes, so that what is looked for is frequent. */
static void
fill(struct rng *r, char *p, size_t len)
{
    static const char alphabet[] = "\n\nab\x80\xff\x0b\x09";

    for (size_t i = 0; i < len; i++) {
        p[i] = alphabet[rng_below(r, sizeof(alphabet))];
    }
}

static void
test_count(void **state)
{
    struct rng r = rng_new(1);
    char area[AREA + BYTES_SLACK];

    (void)state;
    for (unsigned long i = 0; i < test_effort(3000); i++) {
        size_t from = rng_below(&r, 70), len = rng_below(&r, AREA - 70);

        fill(&r, area, sizeof(area));
        for (enum bytes_level l = BYTES_PLAIN; l <= bytes_level(); l++) {
            assert_int_equal(bytes_count_at(l, area + from, len, '\n'),
                             slow_count(area + from, len, '\n'));
            assert_int_equal(bytes_count_at(l, area + from, len, '\xff'),
                             slow_count(area + from, len, '\xff'));
        }
    }
}

/* More equal bytes than a byte counter holds. */
static void
test_count_many(void **state)
{
    static char area[1 << 20];

    (void)state;
    memset(area, '\n', sizeof(area));
    for (enum bytes_level l = BYTES_PLAIN; l <= bytes_level(); l++) {
        for (size_t cut = 0; cut < 300; cut++) {
            assert_int_equal(bytes_count_at(l, area, sizeof(area) - cut, '\n'),
                             sizeof(area) - cut);
        }
    }
}

static void
test_ascii(void **state)
{
    char area[300];

    (void)state;
    memset(area, 'x', sizeof(area));
    for (enum bytes_level l = BYTES_PLAIN; l <= bytes_level(); l++) {
        for (size_t len = 0; len < sizeof(area); len++) {
            assert_true(bytes_is_ascii_at(l, area, len));
            for (size_t i = 0; i < len; i++) {
                area[i] = '\x80';
                assert_false(bytes_is_ascii_at(l, area, len));
                area[i] = 'x';
            }
            area[len] = '\x80'; /* outside */
            assert_true(bytes_is_ascii_at(l, area, len));
            area[len] = 'x';
        }
    }
}

static void
test_lines(void **state)
{
    struct rng r = rng_new(2);
    char area[AREA + BYTES_SLACK];

    (void)state;
    for (unsigned long i = 0; i < test_effort(20000); i++) {
        size_t from = rng_below(&r, 40), to = from + rng_below(&r, 60);
        size_t at = from + rng_below(&r, (unsigned)(to - from) + 1);
        size_t start = at, next = at;

        fill(&r, area, sizeof(area));
        while (start > from && area[start - 1] != '\n') {
            start--;
        }
        while (next < to && area[next] != '\n') {
            next++;
        }
        assert_ptr_equal(bytes_line_start(area + from, area + at),
                         area + start);
        assert_ptr_equal(bytes_find_newline(area + at, area + to),
                         next < to ? area + next : NULL);
        assert_ptr_equal(bytes_line_end(area + at, area + to),
                         area + (next < to ? next + 1 : to));
    }
}

static void
test_skip_and_last(void **state)
{
    const char text[] = "a\nbb\n\nccc";
    const size_t starts[] = {0, 2, 5, 6, 9};

    (void)state;
    for (size_t n = 0; n <= 4; n++) {
        assert_int_equal(bytes_skip_lines(text, 9, n), starts[n]);
        assert_int_equal(bytes_last_lines(text, 9, n), starts[4 - n]);
    }
    assert_int_equal(bytes_skip_lines(text, 9, UINT64_MAX), 9);
    assert_int_equal(bytes_last_lines(text, 9, UINT64_MAX), 0);
    assert_int_equal(bytes_last_lines(text, 6, 2), 2);
    assert_int_equal(bytes_last_lines(text, 0, 2), 0);
    assert_int_equal(bytes_skip_lines(text, 0, 2), 0);
}

static size_t
slow_long_line(const char *p, size_t len, size_t limit)
{
    size_t start = 0;

    for (size_t i = 0; i <= len; i++) {
        if (i == len || p[i] == '\n') {
            if (i - start > limit) {
                return start;
            }
            start = i + 1;
        }
    }
    return len;
}

static void
test_long_line(void **state)
{
    struct rng r = rng_new(3);
    char area[AREA];

    (void)state;
    for (unsigned long i = 0; i < test_effort(20000); i++) {
        size_t len = rng_below(&r, 200), limit = 1 + rng_below(&r, 12);

        fill(&r, area, sizeof(area));
        assert_int_equal(bytes_find_long_line(area, len, limit),
                         slow_long_line(area, len, limit));
    }
}

/* All sequences of up to four bytes from the interesting ones, against the
 * table of the Unicode standard (3-7), written as ranges. */
static size_t
slow_utf8(const unsigned char *s, size_t len)
{
    static const unsigned char rows[][9] = {
        {1, 0x00, 0x7f},
        {2, 0xc2, 0xdf, 0x80, 0xbf},
        {3, 0xe0, 0xe0, 0xa0, 0xbf, 0x80, 0xbf},
        {3, 0xe1, 0xec, 0x80, 0xbf, 0x80, 0xbf},
        {3, 0xed, 0xed, 0x80, 0x9f, 0x80, 0xbf},
        {3, 0xee, 0xef, 0x80, 0xbf, 0x80, 0xbf},
        {4, 0xf0, 0xf0, 0x90, 0xbf, 0x80, 0xbf, 0x80, 0xbf},
        {4, 0xf1, 0xf3, 0x80, 0xbf, 0x80, 0xbf, 0x80, 0xbf},
        {4, 0xf4, 0xf4, 0x80, 0x8f, 0x80, 0xbf, 0x80, 0xbf},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t n = rows[i][0], k = 0;

        while (k < n && k < len && s[k] >= rows[i][1 + 2 * k] &&
               s[k] <= rows[i][2 + 2 * k]) {
            k++;
        }
        if (k == n) {
            return n;
        }
    }
    return 0;
}

static void
test_utf8(void **state)
{
    static const unsigned char some[] = {
        0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2,
        0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff};
    const unsigned n = sizeof(some);

    (void)state;
    for (unsigned i = 0; i < n * n * n * n; i++) {
        const char s[4] = {(char)some[i % n], (char)some[i / n % n],
                           (char)some[i / n / n % n],
                           (char)some[i / n / n / n]};

        for (size_t len = 1; len <= 4; len++) {
            size_t want = slow_utf8((const unsigned char *)s, len);

            assert_int_equal(bytes_utf8_char(s, s + len), want);
        }
    }
}

static void
test_utf8_valid(void **state)
{
    char area[100];

    (void)state;
    for (size_t len = 0; len <= sizeof(area); len++) {
        memset(area, 'x', sizeof(area));
        assert_int_equal(bytes_utf8_valid(area, len), len);
        for (size_t i = 0; i + 2 <= len; i++) {
            memset(area, 'x', sizeof(area));
            memcpy(area + i, "\xc3\xa9", 2);
            assert_int_equal(bytes_utf8_valid(area, len), len);
            assert_int_equal(bytes_utf8_valid(area, i + 1), i);
            area[i + 1] = 'x';
            assert_int_equal(bytes_utf8_valid(area, len), i);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count),         cmocka_unit_test(test_count_many),
        cmocka_unit_test(test_ascii),         cmocka_unit_test(test_lines),
        cmocka_unit_test(test_skip_and_last), cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_utf8),          cmocka_unit_test(test_utf8_valid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
