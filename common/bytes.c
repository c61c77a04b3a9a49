/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting and finding newlines in blocks, ASCII and UTF-8 checks. The SIMD
 * variants are here too: intrinsics in functions with a target attribute, so
 * that the file itself is compiled for the plain processor.
 */
#include "bytes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_X86 1
#else
#define HAVE_X86 0
#endif

#define ONES (UINT64_MAX / 0xff) /* 0x0101…01 */
#define TOPS (ONES * 0x80)       /* 0x8080…80 */

enum bytes_level
bytes_level(void)
{
#if HAVE_X86
    /* popcnt came long before AVX2, but hypervisors can mask it out */
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")
               ? BYTES_AVX2
               : BYTES_SSE2;
#else
    return BYTES_PLAIN;
#endif
}

static uint64_t
load64(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static size_t
count_plain(const char *p, size_t len, char byte)
{
    const uint64_t want = ONES * (unsigned char)byte;
    size_t nr = 0;

    for (; len >= 8; p += 8, len -= 8) {
        uint64_t x = load64(p) ^ want;
        /* bit 7 of each byte that is not zero, without carries */
        uint64_t differs = ((x & ~TOPS) + ~TOPS) | x;

        nr += (((~differs & TOPS) >> 7) * ONES) >> 56;
    }
    for (; len; p++, len--) {
        nr += *p == byte;
    }
    return nr;
}

static bool
is_ascii_plain(const char *p, size_t len)
{
    uint64_t any = 0;

    for (; len >= 8; p += 8, len -= 8) {
        any |= load64(p);
    }
    for (; len; p++, len--) {
        any |= (unsigned char)*p;
    }
    return !(any & TOPS);
}

#if HAVE_X86

/* Adds up 16 byte counters. */
static size_t
sum_bytes(__m128i v)
{
    __m128i s = _mm_sad_epu8(v, _mm_setzero_si128());

    return (size_t)_mm_cvtsi128_si64(s) +
           (size_t)_mm_cvtsi128_si64(_mm_srli_si128(s, 8));
}

static __m128i
load16(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static size_t
count_sse2(const char *p, size_t len, char byte)
{
    const __m128i want = _mm_set1_epi8(byte);
    size_t nr = 0;

    while (len >= 64) {
        /* byte counters: after 63 rounds of at most 4 they are read out */
        size_t rounds = len / 64 < 63 ? len / 64 : 63;
        __m128i acc = _mm_setzero_si128();

        len -= rounds * 64;
        for (; rounds; rounds--, p += 64) {
            __m128i a = _mm_add_epi8(_mm_cmpeq_epi8(load16(p), want),
                                     _mm_cmpeq_epi8(load16(p + 16), want));
            __m128i b = _mm_add_epi8(_mm_cmpeq_epi8(load16(p + 32), want),
                                     _mm_cmpeq_epi8(load16(p + 48), want));

            acc = _mm_sub_epi8(acc, _mm_add_epi8(a, b));
        }
        nr += sum_bytes(acc);
    }
    return nr + count_plain(p, len, byte);
}

static bool
is_ascii_sse2(const char *p, size_t len)
{
    for (; len >= 64; p += 64, len -= 64) {
        __m128i any =
            _mm_or_si128(_mm_or_si128(load16(p), load16(p + 16)),
                         _mm_or_si128(load16(p + 32), load16(p + 48)));

        if (_mm_movemask_epi8(any)) {
            return false;
        }
    }
    return is_ascii_plain(p, len);
}

#define AVX2 __attribute__((target("avx2,popcnt")))

AVX2 static __m256i
load32(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

AVX2 static uint32_t
equal32(const char *p, __m256i want)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(load32(p), want));
}

AVX2 static size_t
count_avx2(const char *p, size_t len, char byte)
{
    const __m256i want = _mm256_set1_epi8(byte);
    const size_t whole = len;
    size_t nr = 0;

    while (len >= 128) {
        size_t rounds = len / 128 < 63 ? len / 128 : 63;
        __m256i acc = _mm256_setzero_si256();

        len -= rounds * 128;
        for (; rounds; rounds--, p += 128) {
            __m256i a =
                _mm256_add_epi8(_mm256_cmpeq_epi8(load32(p), want),
                                _mm256_cmpeq_epi8(load32(p + 32), want));
            __m256i b =
                _mm256_add_epi8(_mm256_cmpeq_epi8(load32(p + 64), want),
                                _mm256_cmpeq_epi8(load32(p + 96), want));

            acc = _mm256_sub_epi8(acc, _mm256_add_epi8(a, b));
        }
        nr += sum_bytes(_mm256_castsi256_si128(acc)) +
              sum_bytes(_mm256_extracti128_si256(acc, 1));
    }
    for (; len >= 32; p += 32, len -= 32) {
        nr += (size_t)__builtin_popcount(equal32(p, want));
    }
    if (len == 0 || len == whole) {
        return nr + count_plain(p, len, byte);
    }
    /* the rest, with bytes in front of it that were counted */
    return nr + (size_t)__builtin_popcount(equal32(p + len - 32, want) >>
                                           (32 - len));
}

AVX2 static bool
is_ascii_avx2(const char *p, size_t len)
{
    for (; len >= 128; p += 128, len -= 128) {
        __m256i any =
            _mm256_or_si256(_mm256_or_si256(load32(p), load32(p + 32)),
                            _mm256_or_si256(load32(p + 64), load32(p + 96)));

        if (_mm256_movemask_epi8(any)) {
            return false;
        }
    }
    for (; len >= 32; p += 32, len -= 32) {
        if (_mm256_movemask_epi8(load32(p))) {
            return false;
        }
    }
    return is_ascii_plain(p, len);
}

#endif /* HAVE_X86 */

size_t
bytes_count_at(enum bytes_level level, const char *data, size_t len, char byte)
{
#if HAVE_X86
    if (level == BYTES_AVX2) {
        return count_avx2(data, len, byte);
    }
    if (level == BYTES_SSE2) {
        return count_sse2(data, len, byte);
    }
#else
    (void)level;
#endif
    return count_plain(data, len, byte);
}

bool
bytes_is_ascii_at(enum bytes_level level, const char *data, size_t len)
{
#if HAVE_X86
    if (level == BYTES_AVX2) {
        return is_ascii_avx2(data, len);
    }
    if (level == BYTES_SSE2) {
        return is_ascii_sse2(data, len);
    }
#else
    (void)level;
#endif
    return is_ascii_plain(data, len);
}

size_t
bytes_find_long_line(const char *data, size_t len, size_t limit)
{
    size_t at = 0;

    while (len - at > limit) {
        /* a newline at at + limit ends a line of exactly `limit` bytes */
        const char *nl = memrchr(data + at, '\n', limit + 1);

        if (!nl) {
            return at;
        }
        at = (size_t)(nl - data) + 1;
    }
    return len;
}

size_t
bytes_skip_lines(const char *data, size_t len, uint64_t n)
{
    size_t at = 0;

    for (; n && at < len; n--) {
        const char *nl = memchr(data + at, '\n', len - at);

        if (!nl) {
            return len;
        }
        at = (size_t)(nl - data) + 1;
    }
    return at;
}

size_t
bytes_last_lines(const char *data, size_t len, uint64_t n)
{
    size_t at = len;

    for (; n && at; n--) {
        /* the newline at at - 1 ends the line that is looked for */
        const char *nl = memrchr(data, '\n', at - 1);

        if (!nl) {
            return 0;
        }
        at = (size_t)(nl - data) + 1;
    }
    return at;
}

/* Continuation byte? */
static bool
is_cont(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

size_t
bytes_utf8_char(const char *p, const char *end)
{
    const unsigned char *s = (const unsigned char *)p;
    size_t left = (size_t)(end - p);

    if (s[0] < 0x80) {
        return 1;
    }
    if (s[0] < 0xc2 || left < 2 || !is_cont(s[1])) {
        return 0;
    }
    if (s[0] < 0xe0) {
        return 2;
    }
    if (left < 3 || !is_cont(s[2])) {
        return 0;
    }
    if (s[0] < 0xf0) {
        bool is_overlong = s[0] == 0xe0 && s[1] < 0xa0;
        bool is_surrogate = s[0] == 0xed && s[1] >= 0xa0;

        return is_overlong || is_surrogate ? 0 : 3;
    }
    if (s[0] > 0xf4 || left < 4 || !is_cont(s[3]) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)) {
        return 0;
    }
    return 4;
}

size_t
bytes_utf8_encode(uint32_t rune, char out[4])
{
    if (rune < 0x80) {
        out[0] = (char)rune;
        return 1;
    }
    if (rune < 0x800) {
        out[0] = (char)(0xc0 | rune >> 6);
        out[1] = (char)(0x80 | (rune & 0x3f));
        return 2;
    }
    if (rune < 0x10000) {
        out[0] = (char)(0xe0 | rune >> 12);
        out[1] = (char)(0x80 | (rune >> 6 & 0x3f));
        out[2] = (char)(0x80 | (rune & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | rune >> 18);
    out[1] = (char)(0x80 | (rune >> 12 & 0x3f));
    out[2] = (char)(0x80 | (rune >> 6 & 0x3f));
    out[3] = (char)(0x80 | (rune & 0x3f));
    return 4;
}

size_t
bytes_utf8_valid(const char *data, size_t len)
{
    const char *p = data, *end = data + len;

    while (p < end) {
        size_t n;

        while (end - p >= 16 && !((load64(p) | load64(p + 8)) & TOPS)) {
            p += 16;
        }
        if (p == end) {
            break;
        }
        n = bytes_utf8_char(p, end);
        if (n == 0) {
            break;
        }
        p += n;
    }
    return (size_t)(p - data);
}
