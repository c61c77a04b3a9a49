/* SPDX-License-Identifier: Apache-2.0
 *
 * What text is a number, and how numbers are shown.
 *
 * The short decimal forms, which logs are full of, are read by a loop of our
 * own; all others are checked against the grammar first, since strtod takes
 * more than the specification does, and less.
 */
#include "numbers.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

const uint64_t numbers_pow10[NUMBERS_MAX_DECIMALS + 1] = {
    1u,
    10u,
    100u,
    1000u,
    10000u,
    100000u,
    1000000u,
    10000000u,
    100000000u,
    1000000000u,
    10000000000u,
    100000000000u,
    1000000000000u,
    10000000000000u,
    100000000000000u,
    1000000000000000u,
    10000000000000000u,
    100000000000000000u,
    1000000000000000000u,
};

#define EXACT_DIVIDEND ((uint64_t)1 << 53) /* below: one division is exact */

/* Set once, const afterwards. (locale_t)0 when newlocale failed: then the
 * process's own locale decides, which nobody sets in our programs. */
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static locale_t c_locale;

static void
make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static double
to_double(const char *text)
{
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

static bool
is_digit(char c, bool hex)
{
    return (c >= '0' && c <= '9') ||
           (hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

/* inf, infinity, nan. */
static enum numbers_result
parse_word(struct str s, bool has_sign, struct number *out)
{
    if (str_is_nocase(s, "inf") || str_is_nocase(s, "infinity")) {
        out->value = out->is_negative ? -HUGE_VAL : HUGE_VAL;
    } else if (!has_sign && str_is_nocase(s, "nan")) {
        out->value = NAN;
    } else {
        return NUMBERS_BAD;
    }
    out->has_value = true;
    return NUMBERS_OK;
}

/* Copies a run of digits without its underscores; `after` is true when an
 * underscore may come first (behind 0x). Returns how many digits, or -1. */
static int
copy_digits(const char **p, const char *end, bool hex, bool after, char **to)
{
    int nr = 0;
    bool may = after;

    for (; *p < end; ++*p) {
        if (**p == '_') {
            if (!may || end - *p < 2 || !is_digit((*p)[1], hex)) {
                return -1;
            }
            may = false;
            continue;
        }
        if (!is_digit(**p, hex)) {
            break;
        }
        *(*to)++ = **p;
        nr++;
        may = true;
    }
    return nr;
}

static bool
copy_exponent(const char **p, const char *end, char **to)
{
    *(*to)++ = *(*p)++;
    if (*p < end && (**p == '+' || **p == '-')) {
        *(*to)++ = *(*p)++;
    }
    return copy_digits(p, end, false, false, to) > 0;
}

/* The grammar of section 6, signs already taken. */
static enum numbers_result
parse_slow(const char *p, size_t n, bool has_sign, struct number *out)
{
    char copy[NUMBERS_MAX_TEXT + 8], *to = copy;
    const char *end = p + n;
    bool hex = n > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    int whole, fraction = 0;

    if (n == 0 || n > NUMBERS_MAX_TEXT) {
        return NUMBERS_BAD;
    }
    if (!is_digit(*p, false) && *p != '.') {
        struct str word = {p, n};

        return parse_word(word, has_sign, out);
    }
    if (out->is_negative) {
        *to++ = '-';
    }
    if (hex) {
        *to++ = '0';
        *to++ = 'x';
        p += 2;
    }
    whole = copy_digits(&p, end, hex, hex, &to);
    if (p < end && *p == '.') {
        *to++ = *p++;
        fraction = copy_digits(&p, end, hex, false, &to);
    }
    if (whole < 0 || fraction < 0 || whole + fraction == 0) {
        return NUMBERS_BAD;
    }
    if (p < end && (hex ? (*p | 0x20) == 'p' : (*p | 0x20) == 'e')) {
        if (!copy_exponent(&p, end, &to)) {
            return NUMBERS_BAD;
        }
    } else if (hex) {
        return NUMBERS_BAD;
    }
    if (p != end) {
        return NUMBERS_BAD;
    }
    *to = '\0';
    out->value = to_double(copy);
    out->has_value = true;
    return isinf(out->value) ? NUMBERS_TOO_LARGE : NUMBERS_OK;
}

/* Plain digits with at most one point and at most 18 digits that count. */
static bool
parse_fast(const char *p, const char *end, struct number *out)
{
    uint64_t m = 0;
    const char *point = NULL;
    size_t digits = 0, decimals;

    for (; p < end; p++) {
        unsigned d = (unsigned char)*p - (unsigned)'0';

        if (d > 9) {
            if (*p != '.' || point) {
                return false;
            }
            point = p;
            continue;
        }
        if (m >= 100000000000000000u) { /* 10^17: the next would be the 19th */
            return false;
        }
        m = m * 10 + d;
        digits++;
    }
    decimals = point ? (size_t)(end - point) - 1 : 0;
    if (digits == 0 || decimals > NUMBERS_MAX_DECIMALS ||
        (decimals && m >= EXACT_DIVIDEND)) {
        return false;
    }
    out->mantissa = out->is_negative ? -(int64_t)m : (int64_t)m;
    out->decimals = (uint8_t)decimals;
    out->is_exact = true;
    return true;
}

/* Between 2^53 and 10^18 with a point: exact as a decimal, and the double
 * comes from strtod. */
static void
parse_long_decimal(const char *p, const char *end, struct number *out)
{
    uint64_t m = 0;
    size_t decimals = 0;
    bool point = false;

    for (; p < end; p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        if (!is_digit(*p, false) || m >= 100000000000000000u) {
            return;
        }
        m = m * 10 + (uint64_t)(*p - '0');
        decimals += point;
    }
    if (decimals <= NUMBERS_MAX_DECIMALS) {
        out->mantissa = out->is_negative ? -(int64_t)m : (int64_t)m;
        out->decimals = (uint8_t)decimals;
        out->is_exact = true;
    }
}

enum numbers_result
numbers_parse(const char *p, size_t n, struct number *out)
{
    const char *end = p + n;
    bool has_sign = n > 0 && (*p == '-' || *p == '+');
    enum numbers_result r;

    out->is_exact = false;
    out->has_value = false;
    out->is_negative = has_sign && *p == '-';
    p += has_sign;
    if (parse_fast(p, end, out)) {
        return NUMBERS_OK;
    }
    r = parse_slow(p, (size_t)(end - p), has_sign, out);
    if (r == NUMBERS_OK) {
        parse_long_decimal(p, end, out);
    }
    return r;
}

void
numbers_format_u64(struct text *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    text_add(out, digits + at, sizeof(digits) - at);
}

/* |value| < 2^53: value · 10^6 as an integer, rounded half to even, is a
 * shift of a 73-bit number. */
static void
format_small(struct text *out, double value)
{
    int e;
    uint64_t m = (uint64_t)ldexp(frexp(fabs(value), &e), 53);
    unsigned __int128 x = (unsigned __int128)m * 1000000u, half, rest;
    int shift = 53 - e; /* value = m / 2^shift; shift > 0 */
    char decimals[7];
    uint64_t r;

    if (shift > 100) {
        x = 0;
    } else {
        rest = x & (((unsigned __int128)1 << shift) - 1);
        half = (unsigned __int128)1 << (shift - 1);
        x >>= shift;
        x += rest > half || (rest == half && (x & 1));
    }
    if (signbit(value)) {
        text_char(out, '-');
    }
    numbers_format_u64(out, (uint64_t)(x / 1000000u));
    r = (uint64_t)(x % 1000000u);
    decimals[0] = '.';
    for (int i = 6; i > 0; i--) {
        decimals[i] = (char)('0' + r % 10);
        r /= 10;
    }
    text_add(out, decimals, sizeof(decimals));
}

void
numbers_format(struct text *out, double value)
{
    char digits[400];
    int n;

    if (isnan(value)) {
        text_puts(out, "NaN");
        return;
    }
    if (isinf(value)) {
        text_puts(out, value > 0 ? "+Inf" : "-Inf");
        return;
    }
    if (fabs(value) < 4503599627370496.0) { /* 2^52 */
        format_small(out, value);
        return;
    }
    /* An integer: no decimal point, so the locale has no say. */
    n = snprintf(digits, sizeof(digits), "%.0f", value);
    text_add(out, digits, (size_t)n);
    text_puts(out, ".000000");
}

enum numbers_result
numbers_parse_int(struct str s, int64_t *out)
{
    bool minus = s.n > 0 && s.p[0] == '-';
    size_t i = s.n > 0 && (minus || s.p[0] == '+');
    uint64_t limit = (uint64_t)INT64_MAX + minus, x = 0;
    bool large = false;

    if (i == s.n) {
        return NUMBERS_BAD;
    }
    for (; i < s.n; i++) {
        uint64_t d = (uint64_t)(unsigned char)s.p[i] - '0';

        if (d > 9) {
            return NUMBERS_BAD;
        }
        large = large || x > (limit - d) / 10;
        x = x * 10 + d;
    }
    if (large) {
        return NUMBERS_TOO_LARGE;
    }
    *out = minus ? (int64_t)(0 - x) : (int64_t)x;
    return NUMBERS_OK;
}
