/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact sums.
 */
#include "sums.h"

#include <math.h>

#define EXACT ((__int128)1 << 53)
#define LOWEST 1074 /* bit 0 of a wide sum weighs 2^-1074 */

static struct sums_wide *
wide_of(struct sums *s, struct arena *arena)
{
    if (!s->wide) {
        s->wide = arena_alloc(arena, sizeof(*s->wide));
    }
    return s->wide;
}

static void
wide_add_at(struct sums_wide *w, size_t at, uint64_t lo, uint64_t hi,
            bool negative)
{
    uint64_t part[2] = {lo, hi};
    bool carry = false;

    for (size_t i = at; i < SUMS_WIDE_LIMBS; i++) {
        uint64_t add = i - at < 2 ? part[i - at] : 0;
        uint64_t was = w->limb[i];

        if (i - at >= 2 && !carry) {
            break;
        }
        if (negative) {
            w->limb[i] = was - add - carry;
            carry = was < add || (was == add && carry);
        } else {
            w->limb[i] = was + add + carry;
            carry = w->limb[i] < was || (carry && w->limb[i] == was);
        }
    }
}

static void
wide_add(struct sums_wide *w, double value)
{
    int e;
    uint64_t m = (uint64_t)ldexp(frexp(fabs(value), &e), 53);
    int at = e - 53 + LOWEST; /* value = m · 2^(at - LOWEST) */
    unsigned shift;

    if (m == 0) {
        return;
    }
    if (at < 0) { /* subnormal: the low bits of m are zero */
        m >>= -at;
        at = 0;
    }
    shift = (unsigned)at % 64;
    wide_add_at(w, (size_t)at / 64, m << shift, shift ? m >> (64 - shift) : 0,
                value < 0);
}

bool
sums_add_slow(struct sums *s, uint8_t *flags, const struct number *x,
              struct arena *arena)
{
    double value = numbers_value(x);

    if (isnan(value)) {
        *flags |= SUMS_NAN | SUMS_NOT_MINUS_ZERO;
    } else if (isinf(value)) {
        *flags |= SUMS_NOT_MINUS_ZERO;
        *flags |= value > 0 ? SUMS_POS_INF : SUMS_NEG_INF;
    } else if (value == 0) {
        *flags |= signbit(value) ? 0 : SUMS_NOT_MINUS_ZERO;
    } else {
        struct sums_wide *w = wide_of(s, arena);

        if (!w) {
            return false;
        }
        *flags |= SUMS_NOT_MINUS_ZERO;
        wide_add(w, value);
    }
    return true;
}

bool
sums_merge(struct sums *s, uint8_t *flags, const struct sums *other,
           uint8_t other_flags, struct arena *arena)
{
    unsigned __int128 low = (unsigned __int128)s->limb[1] << 64 | s->limb[0];
    unsigned __int128 more =
        (unsigned __int128)other->limb[1] << 64 | other->limb[0];
    unsigned __int128 sum = low + more;

    *flags |= other_flags &
              (SUMS_POS_INF | SUMS_NEG_INF | SUMS_NAN | SUMS_NOT_MINUS_ZERO);
    s->limb[0] = (uint64_t)sum;
    s->limb[1] = (uint64_t)(sum >> 64);
    s->limb[2] += other->limb[2] + (sum < low);
    if (other->wide) {
        struct sums_wide *w = wide_of(s, arena);
        bool carry = false;

        if (!w) {
            return false;
        }
        for (size_t i = 0; i < SUMS_WIDE_LIMBS; i++) {
            uint64_t was = w->limb[i], add = other->wide->limb[i];

            w->limb[i] = was + add + carry;
            carry = w->limb[i] < was || (carry && w->limb[i] == was);
        }
    }
    return true;
}

static void
negate(uint64_t *limb, size_t nr)
{
    bool carry = true;

    for (size_t i = 0; i < nr; i++) {
        limb[i] = ~limb[i] + carry;
        carry = carry && limb[i] == 0;
    }
}

/* Divides in place, returns the rest. */
static uint64_t
divide(uint64_t *limb, size_t nr, uint64_t by)
{
    unsigned __int128 rest = 0;

    for (size_t i = nr; i-- > 0;) {
        rest = rest << 64 | limb[i];
        limb[i] = (uint64_t)(rest / by);
        rest %= by;
    }
    return (uint64_t)rest;
}

static bool
is_zero(const uint64_t *limb, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        if (limb[i]) {
            return false;
        }
    }
    return true;
}

static double
wide_value(const struct sums_wide *wide)
{
    struct sums_wide w = *wide;
    bool negative = w.limb[SUMS_WIDE_LIMBS - 1] >> 63;
    size_t top = SUMS_WIDE_LIMBS, bits, drop;
    uint64_t m = 0;
    bool sticky = false, half;
    double value;

    if (negative) {
        negate(w.limb, SUMS_WIDE_LIMBS);
    }
    while (top > 0 && w.limb[top - 1] == 0) {
        top--;
    }
    if (top == 0) {
        return 0;
    }
    bits = top * 64 - (size_t)__builtin_clzll(w.limb[top - 1]);
    drop = bits > 53 ? bits - 53 : 0; /* below: a multiple of 2^-1074 */
    m = w.limb[drop / 64] >> drop % 64;
    if (drop % 64 && drop / 64 + 1 < SUMS_WIDE_LIMBS) {
        m |= w.limb[drop / 64 + 1] << (64 - drop % 64);
    }
    m &= ((uint64_t)1 << 53) - 1;
    if (drop) {
        size_t at = drop - 1;

        half = w.limb[at / 64] >> at % 64 & 1;
        sticky = !is_zero(w.limb, at / 64) ||
                 (w.limb[at / 64] & (((uint64_t)1 << at % 64) - 1)) != 0;
        m += half && (sticky || (m & 1));
    }
    value = ldexp((double)m, (int)drop - LOWEST);
    return negative ? -value : value;
}

/* Writes |limb| / 10^18 as "digits.decimals" into out[64]; returns whether it
 * is a whole number. */
static bool
decimal_text(const struct sums *s, char *out, bool *negative)
{
    uint64_t limb[3] = {s->limb[0], s->limb[1], s->limb[2]};
    char digits[80];
    size_t nr = 0, at = 0;
    bool whole = true;

    *negative = limb[2] >> 63;
    if (*negative) {
        negate(limb, 3);
    }
    while (nr <= NUMBERS_MAX_DECIMALS || !is_zero(limb, 3)) {
        digits[nr++] = (char)('0' + divide(limb, 3, 10));
    }
    while (nr > 0) {
        if (nr == NUMBERS_MAX_DECIMALS) {
            out[at++] = '.';
        }
        whole = whole && (nr > NUMBERS_MAX_DECIMALS || digits[nr - 1] == '0');
        out[at++] = digits[--nr];
    }
    out[at] = '\0';
    return whole;
}

/* The usual case: at most six or nine decimals and a mantissa below 2^53, so
 * that one division is exactly rounded. */
static bool
short_decimal(__int128 v, double *out)
{
    static const unsigned decimals[] = {0, 6, 9};

    for (size_t i = 0; i < 3; i++) {
        __int128 by =
            (__int128)numbers_pow10[NUMBERS_MAX_DECIMALS - decimals[i]];

        if (v % by == 0 && v / by < EXACT && v / by > -EXACT) {
            *out =
                (double)(int64_t)(v / by) / (double)numbers_pow10[decimals[i]];
            return true;
        }
    }
    return false;
}

static double
decimal_value(const struct sums *s)
{
    uint64_t up = s->limb[2];
    char text[96];
    struct number x;
    bool negative;
    double value;

    if (up == (uint64_t)((int64_t)s->limb[1] >> 63) &&
        short_decimal(
            (__int128)((unsigned __int128)s->limb[1] << 64 | s->limb[0]),
            &value)) {
        return value;
    }
    decimal_text(s, text, &negative);
    if (numbers_parse(text, strlen(text), &x) != NUMBERS_OK) {
        return 0; /* cannot happen: at most 58 digits */
    }
    return negative ? -numbers_value(&x) : numbers_value(&x);
}

double
sums_value(const struct sums *s, uint8_t flags)
{
    bool both = (flags & SUMS_POS_INF) && (flags & SUMS_NEG_INF);
    double value = 0;

    if ((flags & SUMS_NAN) || both) {
        return NAN;
    }
    if (flags & (SUMS_POS_INF | SUMS_NEG_INF)) {
        return flags & SUMS_POS_INF ? HUGE_VAL : -HUGE_VAL;
    }
    if (!is_zero(s->limb, 3)) {
        value = decimal_value(s);
    }
    if (s->wide) {
        value += wide_value(s->wide);
    }
    if (value == 0) {
        return flags & SUMS_NOT_MINUS_ZERO ? 0.0 : -0.0;
    }
    return value;
}

void
sums_format(const struct sums *s, uint8_t flags, struct text *out)
{
    double value = sums_value(s, flags);
    char text[96];
    bool negative;

    if (fabs(value) >= 9007199254740992.0 && isfinite(value) &&
        (!s->wide || is_zero(s->wide->limb, SUMS_WIDE_LIMBS)) &&
        decimal_text(s, text, &negative)) {
        if (negative) {
            text_char(out, '-');
        }
        text_add(out, text, strlen(text) - (NUMBERS_MAX_DECIMALS - 6));
        return;
    }
    numbers_format(out, value);
}
