/* SPDX-License-Identifier: Apache-2.0
 *
 * What text is a number, and how numbers are shown (spec mapreduce 6).
 *
 * Independent of the locale. Any thread.
 */
#ifndef MAPR_NUMBERS_H
#define MAPR_NUMBERS_H

#include "text.h"

#define NUMBERS_MAX_TEXT 1024u /* longer texts are no numbers */
#define NUMBERS_MAX_DECIMALS 18u

enum numbers_result {
    NUMBERS_OK = 0,
    NUMBERS_BAD,      /* not a number */
    NUMBERS_TOO_LARGE /* well-formed, but beyond the range of a double */
};

/* A number that was read. When `is_exact`, it equals mantissa /
 * 10^decimals with |mantissa| < 10^18; else `value` is the nearest double. */
struct number {
    int64_t mantissa;
    double value; /* valid only when has_value */
    uint8_t decimals;
    bool is_exact;
    bool has_value;
    bool is_negative; /* the sign as written: tells -0 from 0 */
};

/* 10^0 … 10^18. */
extern const uint64_t numbers_pow10[NUMBERS_MAX_DECIMALS + 1];

/* Reads the whole text. On NUMBERS_TOO_LARGE only is_negative is set. */
enum numbers_result numbers_parse(const char *p, size_t n, struct number *out);

/* The nearest double. */
static inline double
numbers_value(const struct number *x)
{
    if (x->has_value) {
        return x->value;
    }
    if (x->mantissa == 0) {
        return x->is_negative ? -0.0 : 0.0;
    }
    return x->decimals == 0
               ? (double)x->mantissa
               : (double)x->mantissa / (double)numbers_pow10[x->decimals];
}

/* Appends with six decimals, correctly rounded; NaN, +Inf, -Inf. */
void numbers_format(struct text *out, double value);
/* Appends an unsigned integer. */
void numbers_format_u64(struct text *out, uint64_t value);

/* An optionally signed decimal integer, as Go's Atoi. */
enum numbers_result numbers_parse_int(struct str s, int64_t *out);

#endif
