/* SPDX-License-Identifier: Apache-2.0
 *
 * Searching a literal in a block, with AVX2, SSE2 or without.
 */
#include "literal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_X86 1
#else
#define HAVE_X86 0
#endif

#define INLINE inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

/* Places of the needle that are tried as pairs. */
#define NR_PLACES 6u
/* Bytes of the sample in which pairs are counted. */
#define PAIR_SAMPLE (16u * 1024u)

/* What log lines usually look like: the sample when there is no data yet. */
static const char usual_text[] =
    "2026-11-30 22:17:03,482 INFO  [main] com.example.server.Request - user "
    "12345 requested /index.html?id=678&page=9 status=200 time=0.013 ms\n"
    "Nov 30 22:17:04 host01 sshd[1234]: Accepted publickey for root from "
    "10.0.0.17 port 51234 ssh2: connection established\n"
    "192.168.1.20 - - [30/Nov/2026:22:17:05 +0000] \"GET /api/v1/items "
    "HTTP/1.1\" 404 153 \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\"\n"
    "ERROR: the operation could not be completed, retrying in 60 seconds\n"
    "WARN|1130-221706|1|stats.go:56|8|13|7|0.21|MAPREDUCE:STATS|lifetime=15\n";

static INLINE unsigned char
mask_at(const struct literal *l, size_t i)
{
    return l->mask ? l->mask[i] : 0;
}

/* ---- choosing the pair ---- */

/* The places whose bytes are rarest in the sample, rarest first; of equal
 * bytes at most two. Returns how many. */
static size_t
rare_places(const struct literal *l, const unsigned *counts,
            size_t places[NR_PLACES])
{
    unsigned char used[256] = {0};
    size_t nr = 0;

    for (size_t i = 0; i < l->len; i++) {
        unsigned count = counts[l->bytes[i]];
        size_t at;

        if (used[l->bytes[i]] == 2 ||
            (nr == NR_PLACES && count >= counts[l->bytes[places[nr - 1]]])) {
            continue;
        }
        used[l->bytes[i]]++;
        nr += nr < NR_PLACES;
        at = nr - 1;
        for (; at && counts[l->bytes[places[at - 1]]] > count; at--) {
            places[at] = places[at - 1];
        }
        places[at] = i;
    }
    return nr;
}

/* How often the two bytes stand at their distance. */
static size_t
count_pair(const struct literal *l, size_t i, size_t j, const char *p,
           size_t len)
{
    const unsigned char bi = l->bytes[i], bj = l->bytes[j];
    const unsigned char mi = mask_at(l, i), mj = mask_at(l, j);
    size_t far = i > j ? i : j, nr = 0;

    for (size_t k = 0; k + far < len; k++) {
        nr += (((unsigned char)p[k + i] | mi) == bi) &
              (((unsigned char)p[k + j] | mj) == bj);
    }
    return nr;
}

void
literal_choose(const struct literal *l, const char *data, size_t len,
               struct literal_pair *out)
{
    size_t places[NR_PLACES] = {0}, nr, best = SIZE_MAX;
    unsigned counts[256] = {0};

    if (!data) {
        data = usual_text;
        len = sizeof(usual_text) - 1;
    }
    len = len < LITERAL_SAMPLE ? len : LITERAL_SAMPLE;
    for (size_t i = 0; i < len; i++) {
        counts[(unsigned char)data[i]]++;
    }
    for (unsigned c = 'a'; l->mask && c <= 'z'; c++) {
        counts[c] += counts[c - 32];
    }
    len = len < PAIR_SAMPLE ? len : PAIR_SAMPLE;
    nr = rare_places(l, counts, places);
    *out = (struct literal_pair){places[0], places[0]};
    for (size_t a = 0; a + 1 < nr; a++) {
        for (size_t b = a + 1; b < nr; b++) {
            size_t count = count_pair(l, places[a], places[b], data, len);

            if (count < best) {
                best = count;
                *out = (struct literal_pair){places[a], places[b]};
            }
        }
    }
}

/* ---- finding ---- */

static INLINE bool
same4(const void *a, const void *b)
{
    return memcmp(a, b, 4) == 0; /* one comparison, no call */
}

static INLINE bool
same8(const void *a, const void *b)
{
    return memcmp(a, b, 8) == 0;
}

/* Without a call, so that the loops around it keep their registers. */
static INLINE bool
is_here(const struct literal *l, const char *p, bool fold)
{
    const unsigned char *bytes = l->bytes;
    const size_t len = l->len;
    size_t i = 0;

    if (!fold && len >= 8) {
        for (; i + 8 < len; i += 8) {
            if (!same8(p + i, bytes + i)) {
                return false;
            }
        }
        return same8(p + len - 8, bytes + len - 8);
    }
    if (!fold && len >= 4) {
        return same4(p, bytes) && same4(p + len - 4, bytes + len - 4);
    }
    for (; i < len; i++) {
        if (((unsigned char)p[i] | (fold ? l->mask[i] : 0)) != bytes[i]) {
            return false;
        }
    }
    return true;
}

static const char *
find_plain(const struct literal *l, const struct literal_pair *pair,
           const char *p, const char *end)
{
    const unsigned char bi = l->bytes[pair->first];
    const unsigned char mi = mask_at(l, pair->first);

    if (!l->mask) {
        return memmem(p, (size_t)(end - p), l->bytes, l->len);
    }
    for (; (size_t)(end - p) >= l->len; p++) {
        if (((unsigned char)p[pair->first] | mi) == bi && is_here(l, p, true)) {
            return p;
        }
    }
    return NULL;
}

#if HAVE_X86

/* The first of the places p + bit that has the needle, not behind `last`. */
static INLINE const char *
confirm(const struct literal *l, const char *p, uint64_t bits, const char *last,
        bool fold)
{
    for (; bits; bits &= bits - 1) {
        const char *at = p + __builtin_ctzll(bits);

        if (at > last) {
            return NULL;
        }
        if (is_here(l, at, fold)) {
            return at;
        }
    }
    return NULL;
}

/* The needle's two bytes with their masks, in every lane. */
struct lanes16 {
    __m128i bi, bj, mi, mj;
};

static INLINE __m128i
pair16(const struct lanes16 *v, const char *pi, const char *pj, bool fold)
{
    __m128i a = _mm_loadu_si128((const __m128i *)(const void *)pi);
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)pj);

    if (fold) {
        a = _mm_or_si128(a, v->mi);
        b = _mm_or_si128(b, v->mj);
    }
    return _mm_and_si128(_mm_cmpeq_epi8(a, v->bi), _mm_cmpeq_epi8(b, v->bj));
}

static INLINE const char *
find16(const struct literal *l, const struct literal_pair *pair, const char *p,
       const char *end, bool fold)
{
    const size_t i = pair->first, j = pair->second;
    const char *last = end - l->len, *hit;
    const struct lanes16 v = {
        _mm_set1_epi8((char)l->bytes[i]), _mm_set1_epi8((char)l->bytes[j]),
        _mm_set1_epi8((char)mask_at(l, i)), _mm_set1_epi8((char)mask_at(l, j))};

    for (; last - p >= 63; p += 64) {
        __m128i a = pair16(&v, p + i, p + j, fold);
        __m128i b = pair16(&v, p + i + 16, p + j + 16, fold);
        __m128i c = pair16(&v, p + i + 32, p + j + 32, fold);
        __m128i d = pair16(&v, p + i + 48, p + j + 48, fold);
        __m128i any = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d));

        if (_mm_movemask_epi8(any)) {
            uint64_t bits = (uint64_t)(unsigned)_mm_movemask_epi8(a) |
                            (uint64_t)(unsigned)_mm_movemask_epi8(b) << 16 |
                            (uint64_t)(unsigned)_mm_movemask_epi8(c) << 32 |
                            (uint64_t)(unsigned)_mm_movemask_epi8(d) << 48;

            hit = confirm(l, p, bits, last, fold);
            if (hit) {
                return hit;
            }
        }
    }
    for (; p <= last; p += 16) {
        __m128i a = pair16(&v, p + i, p + j, fold);

        hit = confirm(l, p, (unsigned)_mm_movemask_epi8(a), last, fold);
        if (hit) {
            return hit;
        }
    }
    return NULL;
}

static const char *
find_sse2(const struct literal *l, const struct literal_pair *pair,
          const char *p, const char *end)
{
    return l->mask ? find16(l, pair, p, end, true)
                   : find16(l, pair, p, end, false);
}

#define AVX2 __attribute__((target("avx2,popcnt")))

struct lanes32 {
    __m256i bi, bj, mi, mj;
};

AVX2 static INLINE __m256i
pair32(const struct lanes32 *v, const char *pi, const char *pj, bool fold)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)pi);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)pj);

    if (fold) {
        a = _mm256_or_si256(a, v->mi);
        b = _mm256_or_si256(b, v->mj);
    }
    return _mm256_and_si256(_mm256_cmpeq_epi8(a, v->bi),
                            _mm256_cmpeq_epi8(b, v->bj));
}

AVX2 static INLINE uint64_t
bits64(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_epi8(a) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
}

AVX2 static INLINE const char *
find32(const struct literal *l, const struct literal_pair *pair, const char *p,
       const char *end, bool fold)
{
    const size_t i = pair->first, j = pair->second;
    const char *last = end - l->len, *hit;
    const struct lanes32 v = {_mm256_set1_epi8((char)l->bytes[i]),
                              _mm256_set1_epi8((char)l->bytes[j]),
                              _mm256_set1_epi8((char)mask_at(l, i)),
                              _mm256_set1_epi8((char)mask_at(l, j))};

    if (last - p >= 160) {
        /* one step as it comes, then p + i is aligned */
        __m256i a = pair32(&v, p + i, p + j, fold);

        hit = confirm(l, p, (uint32_t)_mm256_movemask_epi8(a), last, fold);
        if (hit) {
            return hit;
        }
        p += 32 - ((uintptr_t)(p + i) & 31);
    }
    for (; last - p >= 127; p += 128) {
        __m256i a = pair32(&v, p + i, p + j, fold);
        __m256i b = pair32(&v, p + i + 32, p + j + 32, fold);
        __m256i c = pair32(&v, p + i + 64, p + j + 64, fold);
        __m256i d = pair32(&v, p + i + 96, p + j + 96, fold);
        __m256i any =
            _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));

        if (_mm256_testz_si256(any, any)) {
            continue;
        }
        hit = confirm(l, p, bits64(a, b), last, fold);
        if (!hit) {
            hit = confirm(l, p + 64, bits64(c, d), last, fold);
        }
        if (hit) {
            return hit;
        }
    }
    for (; p <= last; p += 32) {
        __m256i a = pair32(&v, p + i, p + j, fold);

        hit = confirm(l, p, (uint32_t)_mm256_movemask_epi8(a), last, fold);
        if (hit) {
            return hit;
        }
    }
    return NULL;
}

/* Out of line, so that find_short needs no frame. */
static NOINLINE const char *
confirm_short(const struct literal *l, const char *p, uint64_t low,
              uint64_t high, const char *last)
{
    const char *hit = confirm(l, p, low, last, false);

    return hit || p + 64 > last ? hit : confirm(l, p + 64, high, last, false);
}

/* At most 127 places behind p, as in a line: all of them at once. Reads up to
 * 62 bytes behind the text. */
AVX2 static NOINLINE const char *
find_short(const struct literal *l, const struct literal_pair *pair,
           const char *p, const char *last)
{
    const struct lanes32 v = {_mm256_set1_epi8((char)l->bytes[pair->first]),
                              _mm256_set1_epi8((char)l->bytes[pair->second]),
                              _mm256_setzero_si256(), _mm256_setzero_si256()};
    const char *pi = p + pair->first, *pj = p + pair->second;
    __m256i a = pair32(&v, pi, pj, false);
    __m256i b = pair32(&v, pi + 32, pj + 32, false);
    __m256i any = _mm256_or_si256(a, b);
    uint64_t high = 0;

    if (last - p >= 64) {
        __m256i c = pair32(&v, pi + 64, pj + 64, false);
        __m256i d = pair32(&v, pi + 96, pj + 96, false);

        any = _mm256_or_si256(any, _mm256_or_si256(c, d));
        if (_mm256_testz_si256(any, any)) {
            return NULL;
        }
        high = bits64(c, d);
    } else if (_mm256_testz_si256(any, any)) {
        return NULL;
    }
    return confirm_short(l, p, bits64(a, b), high, last);
}

AVX2 static const char *
find_avx2(const struct literal *l, const struct literal_pair *pair,
          const char *p, const char *end)
{
    return l->mask ? find32(l, pair, p, end, true)
                   : find32(l, pair, p, end, false);
}

#endif /* HAVE_X86 */

const char *
literal_find(const struct literal *l, const struct literal_pair *pair,
             enum bytes_level level, const char *p, const char *end)
{
#if HAVE_X86
    /* a line, in most cases; a needle that is longer wraps around */
    if (level == BYTES_AVX2 && !l->mask && l->len > 1 &&
        (size_t)(end - p) - l->len < 128) {
        return find_short(l, pair, p, end - l->len);
    }
#endif
    if ((size_t)(end - p) < l->len) {
        return NULL;
    }
    if (l->len == 1 && !l->mask) {
        return memchr(p, l->bytes[0], (size_t)(end - p));
    }
#if HAVE_X86
    if (level == BYTES_AVX2) {
        return find_avx2(l, pair, p, end);
    }
    if (level == BYTES_SSE2) {
        return find_sse2(l, pair, p, end);
    }
#endif
    (void)level;
    return find_plain(l, pair, p, end);
}
