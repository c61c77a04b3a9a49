/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting and finding newlines in blocks, ASCII and UTF-8 checks, with SIMD
 * where the processor has it.
 *
 * Threads: any; there is no state. Nothing is allocated, nothing fails.
 * The level of SIMD is looked up in each call (one load and one test); the
 * functions ending in _at take it as an argument, so that tests can run each.
 */
#ifndef COMMON_BYTES_H
#define COMMON_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Readable, initialised bytes that must stand behind every block that is
 * searched: SIMD tails and wide copies may run over. */
#define BYTES_SLACK 64u

/* What the processor offers. */
enum bytes_level {
    BYTES_PLAIN = 0, /* 64-bit words */
    BYTES_SSE2 = 1,
    BYTES_AVX2 = 2
};

/* The best level of this processor. */
enum bytes_level bytes_level(void);

/* How many bytes of [data, data + len) equal `byte`. Needs no slack. */
size_t bytes_count_at(enum bytes_level level, const char *data, size_t len,
                      char byte);
/* True when no byte has its top bit set. Needs no slack. */
bool bytes_is_ascii_at(enum bytes_level level, const char *data, size_t len);

static inline size_t
bytes_count(const char *data, size_t len, char byte)
{
    return bytes_count_at(bytes_level(), data, len, byte);
}

/* How many newlines are in the block. */
static inline size_t
bytes_count_newlines(const char *data, size_t len)
{
    return bytes_count(data, len, '\n');
}

static inline bool
bytes_is_ascii(const char *data, size_t len)
{
    return bytes_is_ascii_at(bytes_level(), data, len);
}

/* Looks for a line of more than `limit` bytes (newline not counted) in a block
 * that begins at a line's start. Returns the offset at which the first such
 * line starts, or `len` when there is none. An unterminated last line counts
 * as it stands. Costs about one look back a `limit` bytes, so next to nothing
 * when `limit` is large. limit >= 1. */
size_t bytes_find_long_line(const char *data, size_t len, size_t limit);

static inline bool
bytes_has_long_line(const char *data, size_t len, size_t limit)
{
    return bytes_find_long_line(data, len, limit) < len;
}

/* Offset behind the n-th newline, or `len` when there are fewer. */
size_t bytes_skip_lines(const char *data, size_t len, uint64_t n);

/* Offset at which the last `n` lines begin (0 when there are not more). A last
 * line without newline counts as one. */
size_t bytes_last_lines(const char *data, size_t len, uint64_t n);

/* Length in bytes of the valid UTF-8 character at p, 0 when the byte there is
 * not the start of one (overlong, surrogate, above U+10FFFF or cut off, which
 * is what Go's decoder calls invalid). p < end. */
size_t bytes_utf8_char(const char *p, const char *end);

/* Writes the UTF-8 of a code point up to U+10FFFF; returns its length. */
size_t bytes_utf8_encode(uint32_t rune, char out[4]);

/* How many bytes at the front are valid UTF-8; `len` when all are. */
size_t bytes_utf8_valid(const char *data, size_t len);

/* The first newline in [p, end), or NULL. Inline, for short lines; reads up
 * to 15 bytes behind `end`. */
static inline const char *
bytes_find_newline(const char *p, const char *end)
{
#if defined(__SSE2__)
    const __m128i nl = _mm_set1_epi8('\n');

    for (; p < end; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        unsigned mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, nl));

        if (mask) {
            p += __builtin_ctz(mask);
            return p < end ? p : NULL;
        }
    }
    return NULL;
#else
    return p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
#endif
}

/* Where the line that holds p begins: behind the last newline in [low, p), or
 * `low`. Inline, for short lines; reads up to 15 bytes behind p. */
static inline const char *
bytes_line_start(const char *low, const char *p)
{
#if defined(__SSE2__)
    const __m128i nl = _mm_set1_epi8('\n');
    unsigned mask;
    __m128i v;

    for (; p - low >= 16; p -= 16) {
        v = _mm_loadu_si128((const __m128i *)(const void *)(p - 16));
        mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, nl));
        if (mask) {
            return p - 16 + (32 - __builtin_clz(mask));
        }
    }
    if (p == low) {
        return low;
    }
    v = _mm_loadu_si128((const __m128i *)(const void *)low);
    mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, nl));
    mask &= (1u << (p - low)) - 1;
    return mask ? low + (32 - __builtin_clz(mask)) : low;
#else
    const char *nl = p > low ? memrchr(low, '\n', (size_t)(p - low)) : NULL;

    return nl ? nl + 1 : low;
#endif
}

/* Behind the line that holds p: behind its newline, or `end`. */
static inline const char *
bytes_line_end(const char *p, const char *end)
{
    const char *nl = bytes_find_newline(p, end);

    return nl ? nl + 1 : end;
}

#endif
