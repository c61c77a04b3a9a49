/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums that are exact, so that they cannot depend on the order of the
 * additions: not on the number of threads, the slicing of a file, or the
 * order in which servers answer, to the last bit.
 *
 * Why exact rather than compensated: a compensated sum (Neumaier) still
 * depends on the order in its last bit. Numbers in logs are decimals with few
 * digits; those are added as integers scaled by 10^18 in 192 bits, which is
 * three additions and also exact in decimal (0.1 ten times is 1). Whatever is
 * not such a decimal (exponents, more than 18 digits, hex) is added to a
 * fixed-point number that spans the whole range of a double; it is allocated
 * for those groups only that need it. Which of the two a value takes depends
 * on its own text alone. A sum is rounded once, when it is shown.
 */
#ifndef MAPR_SUMS_H
#define MAPR_SUMS_H

#include "arena.h"
#include "numbers.h"

#define SUMS_WIDE_LIMBS 36u

/* Two's complement; bit 0 weighs 2^-1074. */
struct sums_wide {
    uint64_t limb[SUMS_WIDE_LIMBS];
};

/* 24 bytes + 8; all zero is the empty sum. `wide` belongs to an arena. */
struct sums {
    uint64_t limb[3]; /* two's complement, scaled by 10^18, little end first */
    struct sums_wide *wide; /* NULL: not needed yet */
};

/* Kept beside the sum, in one byte. */
#define SUMS_POS_INF 0x02u
#define SUMS_NEG_INF 0x04u
#define SUMS_NAN 0x08u
#define SUMS_NOT_MINUS_ZERO 0x10u /* some addend was not -0 */

/* Adds a number. False: out of memory. */
bool sums_add_slow(struct sums *s, uint8_t *flags, const struct number *x,
                   struct arena *arena);
/* Adds another sum (flags too). False: out of memory. */
bool sums_merge(struct sums *s, uint8_t *flags, const struct sums *other,
                uint8_t other_flags, struct arena *arena);
/* The nearest double of the exact sum (with both kinds of addends: of the
 * two parts, each rounded). */
double sums_value(const struct sums *s, uint8_t flags);
/* Appends the sum with six decimals; whole numbers beyond 2^53 with all their
 * digits. */
void sums_format(const struct sums *s, uint8_t flags, struct text *out);

static inline void
sums_add_i128(struct sums *s, __int128 x)
{
    unsigned __int128 low = (unsigned __int128)s->limb[1] << 64 | s->limb[0];
    unsigned __int128 sum = low + (unsigned __int128)x;

    s->limb[0] = (uint64_t)sum;
    s->limb[1] = (uint64_t)(sum >> 64);
    s->limb[2] += (uint64_t)(x >> 127) + (sum < low);
}

static inline bool
sums_add(struct sums *s, uint8_t *flags, const struct number *x,
         struct arena *arena)
{
    if (!x->is_exact) {
        return sums_add_slow(s, flags, x, arena);
    }
    if (!(*flags & SUMS_NOT_MINUS_ZERO) &&
        (x->mantissa != 0 || !x->is_negative)) {
        *flags |= SUMS_NOT_MINUS_ZERO;
    }
    sums_add_i128(
        s, (__int128)x->mantissa *
               (__int128)numbers_pow10[NUMBERS_MAX_DECIMALS - x->decimals]);
    return true;
}

#endif
