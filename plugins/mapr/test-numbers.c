/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers, exact sums, distinct counts and quantiles.
 */
#include "distinct.h"
#include "numbers.h"
#include "sketch.h"
#include "sums.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static double
random_double(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) / 9007199254740992.0;
}

static void
test_accepted(void **state)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},
                {"+3", 3},
                {"-17", -17},
                {".5", 0.5},
                {"5.", 5},
                {"08", 8},
                {"007", 7},
                {"1e-7", 1e-7},
                {"1E2", 100},
                {"1e+2", 100},
                {"0x1p4", 16},
                {"-0X1.8P1", -3},
                {"0x_1_0p0", 16},
                {"0x.8p1", 1},
                {"1_000.5", 1000.5},
                {"1_0e1_0", 10e10},
                {"inf", HUGE_VAL},
                {"-Infinity", -HUGE_VAL},
                {"+INF", HUGE_VAL},
                {"123456789.123456789", 123456789.123456789},
                {"9007199254740993.5", 9007199254740993.5},
                {"0.30000000000000004", 0.30000000000000004},
                {"123456789012345678", 123456789012345678.0},
                {"1234567890123456789012", 1234567890123456789012.0},
                {"0.1234567890123456789", 0.1234567890123456789},
                {"4.9e-324", 4.9e-324},
                {"1e-999", 0},
                {"1.7976931348623157e308", 1.7976931348623157e308}};
    struct number x;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        double v;

        if (numbers_parse(good[i].text, strlen(good[i].text), &x) !=
            NUMBERS_OK) {
            fail_msg("%s was refused", good[i].text);
        }
        v = numbers_value(&x);
        if (memcmp(&v, &good[i].value, sizeof(v)) != 0) {
            fail_msg("%s is %.17g", good[i].text, v);
        }
    }
    assert_int_equal(numbers_parse("nAn", 3, &x), NUMBERS_OK);
    assert_true(isnan(numbers_value(&x)));
    assert_int_equal(numbers_parse("-0", 2, &x), NUMBERS_OK);
    assert_true(signbit(numbers_value(&x)));
}

static void
test_refused(void **state)
{
    static const char *const bad[] = {
        "",       " 1",    "1 ",   "1,5",  "0x10",   "0x",    "0xp1",
        "0x1p",   "1e",    "1e+",  "e5",   ".",      "-",     "+",
        "--1",    "1.2.3", "+nan", "-nan", "nan(1)", "infin", "1__0",
        "_1",     "1_",    "1_.5", "1._5", "1e_5",   "1e5_",  "0_x1p1",
        "0x1_p1", "١",     "1\t",  "0b1",  "1f",     "0x1.p", "1e5.5"};
    struct number x;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        if (numbers_parse(bad[i], strlen(bad[i]), &x) != NUMBERS_BAD) {
            fail_msg("%s was taken as %.17g", bad[i], numbers_value(&x));
        }
    }
    assert_int_equal(numbers_parse("1\0", 2, &x), NUMBERS_BAD);
    assert_int_equal(numbers_parse("1e999", 5, &x), NUMBERS_TOO_LARGE);
    assert_int_equal(numbers_parse("-1e999", 6, &x), NUMBERS_TOO_LARGE);
    assert_true(x.is_negative);
}

static void
test_parse_like_strtod(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        struct number x;
        double v = (random_double(&seed) - 0.5) *
                   pow(10, (int)(random_double(&seed) * 22));
        double got;

        snprintf(text, sizeof(text), "%.*f", i % 12, v);
        assert_int_equal(numbers_parse(text, strlen(text), &x), NUMBERS_OK);
        got = numbers_value(&x);
        v = strtod(text, NULL);
        if (memcmp(&v, &got, sizeof(v)) != 0) {
            fail_msg("%s: %.17g, expected %.17g", text, got, v);
        }
    }
}

static void
check_format(double v)
{
    char want[400];
    struct text out = {0};

    snprintf(want, sizeof(want), "%.6f", v);
    numbers_format(&out, v);
    if (out.len != strlen(want) || memcmp(out.data, want, out.len) != 0) {
        fail_msg("%.17g: %.*s, expected %s", v, (int)out.len, out.data, want);
    }
    text_fini(&out);
}

static void
test_format_like_printf(void **state)
{
    static const double values[] = {0,
                                    -0.0,
                                    0.0000005,
                                    0.0000015,
                                    2.0000005,
                                    1e21,
                                    -1e-7,
                                    0.5e-6,
                                    1.5e-6,
                                    2.5e-6,
                                    4503599627370496.5,
                                    1e15,
                                    1e308,
                                    5e-324,
                                    0.9999995,
                                    999999.9999995,
                                    -123.456,
                                    9007199254740993.0,
                                    4503599627370495.5};
    uint64_t seed = 3;

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        check_format(values[i]);
    }
    for (int i = 0; i < 200000; i++) {
        check_format((random_double(&seed) - 0.5) *
                     pow(10, (int)(random_double(&seed) * 40) - 15));
    }
}

static void
test_integers(void **state)
{
    int64_t n;

    (void)state;
    assert_int_equal(numbers_parse_int(str_of("+5"), &n), NUMBERS_OK);
    assert_int_equal(n, 5);
    assert_int_equal(numbers_parse_int(str_of("-9223372036854775808"), &n),
                     NUMBERS_OK);
    assert_true(n == INT64_MIN);
    assert_int_equal(numbers_parse_int(str_of("9223372036854775808"), &n),
                     NUMBERS_TOO_LARGE);
    assert_int_equal(numbers_parse_int(str_of("2.5"), &n), NUMBERS_BAD);
    assert_int_equal(numbers_parse_int(str_of("-"), &n), NUMBERS_BAD);
    assert_int_equal(numbers_parse_int(str_of("1_0"), &n), NUMBERS_BAD);
}

/* ---- sums ---- */

static void
add_text(struct sums *s, uint8_t *flags, const char *text, struct arena *a)
{
    struct number x;

    assert_int_equal(numbers_parse(text, strlen(text), &x), NUMBERS_OK);
    assert_true(sums_add(s, flags, &x, a));
}

static void
check_sum(const char *texts, const char *want)
{
    struct arena arena = {0};
    struct sums s = {{0}, NULL};
    struct text out = {0};
    uint8_t flags = 0;
    char copy[512], *save = NULL;

    snprintf(copy, sizeof(copy), "%s", texts);
    for (char *t = strtok_r(copy, " ", &save); t;
         t = strtok_r(NULL, " ", &save)) {
        add_text(&s, &flags, t, &arena);
    }
    sums_format(&s, flags, &out);
    text_char(&out, '\0');
    assert_string_equal(out.data, want);
    text_fini(&out);
    arena_fini(&arena);
}

static void
test_sums(void **state)
{
    (void)state;
    check_sum("0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1", "1.000000");
    check_sum("9007199254740992 1 1 1", "9007199254740995.000000");
    check_sum("999999999999999999 999999999999999999",
              "1999999999999999998.000000");
    check_sum("-9007199254740993 -2", "-9007199254740995.000000");
    check_sum("1e16 1 -1e16", "1.000000");
    check_sum("1e300 5 -1e300 2.5e0", "7.500000");
    check_sum("1e-320 -1e-320", "0.000000");
    check_sum("1.7e308 1.7e308 -1.7e308 -1.7e308 3", "3.000000");
    check_sum("1.7e308 1.7e308", "+Inf");
    check_sum("-0 -0", "-0.000000");
    check_sum("-0 0", "0.000000");
    check_sum("1 -1", "0.000000");
    check_sum("inf 1", "+Inf");
    check_sum("inf -inf", "NaN");
    check_sum("nan 1", "NaN");
    check_sum("0x1p-1 0.5", "1.000000");
    check_sum("-0.0000001", "-0.000000");
}

/* In any order and any grouping the same bits. */
static void
test_sums_order(void **state)
{
    uint64_t seed = 11;
    char texts[200][40];

    (void)state;
    for (int round = 0; round < 200; round++) {
        struct arena arena = {0};
        struct sums a = {{0}, NULL}, b = {{0}, NULL}, parts[3];
        uint8_t fa = 0, fb = 0, fp[3] = {0};
        double x, y;

        memset(parts, 0, sizeof(parts));
        for (int i = 0; i < 200; i++) {
            double v = (random_double(&seed) - 0.5) *
                       pow(10, (int)(random_double(&seed) * 30) - 10);

            snprintf(texts[i], sizeof(texts[i]),
                     random_double(&seed) < 0.5 ? "%.17g" : "%.4f", v);
        }
        for (int i = 0; i < 200; i++) {
            add_text(&a, &fa, texts[i], &arena);
            add_text(&parts[i % 3], &fp[i % 3], texts[199 - i], &arena);
        }
        for (int i = 3; i-- > 0;) {
            assert_true(sums_merge(&b, &fb, &parts[i], fp[i], &arena));
        }
        x = sums_value(&a, fa);
        y = sums_value(&b, fb);
        assert_memory_equal(&x, &y, sizeof(x));
        assert_int_equal(fa, fb);
        arena_fini(&arena);
    }
}

/* The wide sum against addition in 113 bits, where that is exact. */
static void
test_sums_wide(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct arena arena = {0};
        struct sums s = {{0}, NULL};
        uint8_t flags = 0;
        _Float128 exact = 0;
        double got, want;

        for (int i = 0; i < 10; i++) {
            struct number x = {.has_value = true};

            x.value = ldexp(random_double(&seed) - 0.5,
                            (int)(random_double(&seed) * 40));
            x.value = ldexp(rint(ldexp(x.value, 40)), -40);
            exact += (_Float128)x.value;
            assert_true(sums_add_slow(&s, &flags, &x, &arena));
        }
        got = sums_value(&s, flags);
        want = (double)exact;
        assert_memory_equal(&got, &want, sizeof(got));
        arena_fini(&arena);
    }
}

/* ---- distinct, quantiles ---- */

static void
test_distinct(void **state)
{
    static const uint32_t counts[] = {0, 1, 10, 256, 257, 1000, 20000, 300000};

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        struct arena arena = {0};
        struct distinct d = {0};
        double error;

        for (uint32_t n = 0; n < counts[i]; n++) {
            assert_true(distinct_add(&d, distinct_hash(&n, sizeof(n)), &arena));
            n += counts[i] == 0;
        }
        for (uint32_t n = 0; n < counts[i]; n += 3) { /* known ones */
            assert_true(distinct_add(&d, distinct_hash(&n, sizeof(n)), &arena));
        }
        error = fabs((double)distinct_count(&d) - counts[i]);
        if (counts[i] <= DISTINCT_EXACT) {
            assert_true(error == 0);
        } else {
            assert_true(error <= 0.03 * counts[i]); /* 3.7 standard errors */
        }
        arena_fini(&arena);
    }
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void
test_quantiles(void **state)
{
    static const double qs[] = {0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1};
    enum { NR = 5000 };
    static double v[NR];
    uint64_t seed = 9;

    (void)state;
    for (int round = 0; round < 3; round++) {
        struct arena arena = {0};
        struct sketch s = {.zero = 0};

        for (int i = 0; i < NR; i++) {
            double u = random_double(&seed);

            v[i] = round == 0   ? u * 1000
                   : round == 1 ? exp(u * 40 - 20)
                                : (u - 0.5) * exp(u * 10);
            assert_true(sketch_add(&s, v[i], &arena));
        }
        qsort(v, NR, sizeof(*v), by_value);
        for (size_t i = 0; i < sizeof(qs) / sizeof(*qs); i++) {
            double want = v[(size_t)floor(qs[i] * (NR - 1))];
            double got = sketch_quantile(&s, qs[i]);

            assert_true(fabs(got - want) <= 1.0001 * SKETCH_ERROR * fabs(want));
        }
        arena_fini(&arena);
    }
}

/* A span beyond the limit collapses at the low end, whatever the order. */
static void
test_quantile_span(void **state)
{
    struct arena arena = {0};
    struct sketch up = {.zero = 0}, down = {.zero = 0};

    (void)state;
    for (int e = -300; e <= 300; e += 10) {
        assert_true(sketch_add(&up, pow(10, e), &arena));
        assert_true(sketch_add(&down, pow(10, -e), &arena));
    }
    assert_true(up.positive.nr <= SKETCH_SPAN);
    assert_int_equal(up.positive.base, down.positive.base);
    assert_int_equal(up.positive.nr, down.positive.nr);
    assert_memory_equal(up.positive.counts, down.positive.counts,
                        up.positive.nr * sizeof(uint64_t));
    arena_fini(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_parse_like_strtod),
        cmocka_unit_test(test_format_like_printf),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_sums_order),
        cmocka_unit_test(test_sums_wide),
        cmocka_unit_test(test_distinct),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_quantile_span),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
