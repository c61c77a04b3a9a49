/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the delimiters of a block stand.
 */
#include "delimiters.h"

#include <dtail/plugin.h>

#include <stdlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ORDINARY ((size_t)1 << 20) /* entries that are kept */

/* Entries may be written eight at a time, beyond the last. */
#define SPARE 64u

/* Appends the offsets of the bits of `all`, and of `nl` their indices. */
static inline __attribute__((always_inline)) void
put_masks(struct delimiters *d, uint32_t base, uint64_t all, uint64_t nl)
{
    uint32_t *at = d->at + d->nr;
    size_t nr = (size_t)__builtin_popcountll(all);

    while (nl) {
        uint64_t low = nl & (0 - nl);

        d->lines[d->nr_lines++] =
            (uint32_t)(d->nr + (size_t)__builtin_popcountll(all & (low - 1)));
        nl ^= low;
    }
    d->nr += nr;
    for (size_t i = 0; i < nr; i += 4) {
        for (size_t j = 0; j < 4; j++) {
            at[i + j] = base + (uint32_t)__builtin_ctzll(all | 1ull << 63);
            all &= all - 1;
        }
    }
}

static void
delimiters_plain(const char *data, size_t len, char delimiter,
                 struct delimiters *d)
{
    for (size_t i = 0; i < len; i++) {
        if (data[i] == '\n') {
            d->lines[d->nr_lines++] = (uint32_t)d->nr;
            d->at[d->nr++] = (uint32_t)i;
        } else if (data[i] == delimiter) {
            d->at[d->nr++] = (uint32_t)i;
        }
    }
}

#if defined(__x86_64__)

/* 64 readable bytes stand behind the block: the last step masks them off. */
static inline uint64_t
keep(size_t left)
{
    return left >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
}

__attribute__((target("avx2,bmi,popcnt"))) static void
delimiters_avx2(const char *data, size_t len, char delimiter,
                struct delimiters *d)
{
    const __m256i want = _mm256_set1_epi8(delimiter);
    const __m256i newline = _mm256_set1_epi8('\n');

    for (size_t i = 0; i < len; i += 64) {
        __m256i a =
            _mm256_loadu_si256((const __m256i *)(const void *)(data + i));
        __m256i b =
            _mm256_loadu_si256((const __m256i *)(const void *)(data + i + 32));
        __m256i na = _mm256_cmpeq_epi8(a, newline);
        __m256i nb = _mm256_cmpeq_epi8(b, newline);
        uint64_t nl = (uint32_t)_mm256_movemask_epi8(na) |
                      (uint64_t)(uint32_t)_mm256_movemask_epi8(nb) << 32;
        uint64_t all = (uint32_t)_mm256_movemask_epi8(
                           _mm256_or_si256(na, _mm256_cmpeq_epi8(a, want))) |
                       (uint64_t)(uint32_t)_mm256_movemask_epi8(
                           _mm256_or_si256(nb, _mm256_cmpeq_epi8(b, want)))
                           << 32;

        if (len - i < 64) {
            nl &= keep(len - i);
            all &= keep(len - i);
        }
        put_masks(d, (uint32_t)i, all, nl);
    }
}

static void
delimiters_sse2(const char *data, size_t len, char delimiter,
                struct delimiters *d)
{
    const __m128i want = _mm_set1_epi8(delimiter);
    const __m128i newline = _mm_set1_epi8('\n');

    for (size_t i = 0; i < len; i += 64) {
        uint64_t nl = 0, all = 0;

        for (size_t j = 0; j < 4; j++) {
            __m128i v = _mm_loadu_si128(
                (const __m128i *)(const void *)(data + i + 16 * j));
            __m128i n = _mm_cmpeq_epi8(v, newline);
            __m128i a = _mm_or_si128(n, _mm_cmpeq_epi8(v, want));

            nl |= (uint64_t)(uint32_t)_mm_movemask_epi8(n) << 16 * j;
            all |= (uint64_t)(uint32_t)_mm_movemask_epi8(a) << 16 * j;
        }
        if (len - i < 64) {
            nl &= keep(len - i);
            all &= keep(len - i);
        }
        put_masks(d, (uint32_t)i, all, nl);
    }
}

delimiters_fn *
delimiters_variant(size_t index)
{
    if (index == 0) {
        return delimiters_plain;
    }
    if (index == 1) {
        return delimiters_sse2;
    }
    if (index == 2 && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt")) {
        return delimiters_avx2;
    }
    return NULL;
}

#else

delimiters_fn *
delimiters_variant(size_t index)
{
    return index == 0 ? delimiters_plain : NULL;
}

#endif

delimiters_fn *
delimiters_choose(void)
{
    size_t last = 0;

    while (delimiters_variant(last + 1)) {
        last++;
    }
    return delimiters_variant(last);
}

int
delimiters_reserve(struct delimiters *d, size_t len)
{
    size_t cap = len + SPARE;

    d->nr = 0;
    d->nr_lines = 0;
    if (len > UINT32_MAX - SPARE) {
        return DT_ERR_NOMEM;
    }
    if (cap <= d->cap && (d->cap <= ORDINARY || cap > ORDINARY)) {
        return DT_OK;
    }
    if (cap < ORDINARY / 16) {
        cap = ORDINARY / 16;
    }
    delimiters_fini(d);
    d->at = malloc(cap * sizeof(*d->at));
    d->lines = malloc(cap * sizeof(*d->lines));
    if (!d->at || !d->lines) {
        delimiters_fini(d);
        return DT_ERR_NOMEM;
    }
    d->cap = cap;
    return DT_OK;
}

void
delimiters_fini(struct delimiters *d)
{
    free(d->at);
    free(d->lines);
    memset(d, 0, sizeof(*d));
}
