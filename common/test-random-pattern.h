/* SPDX-License-Identifier: Apache-2.0
 *
 * Random patterns in Go's syntax, and random text that they have a chance to
 * match. For the tests of the matcher, in C and in C++.
 */
#ifndef COMMON_TEST_RANDOM_PATTERN_H
#define COMMON_TEST_RANDOM_PATTERN_H

#include "test-random.h"

#include <stddef.h>
#include <string.h>

struct pattern_text {
    char text[2048];
    size_t len;
};

static inline void
pattern_text_add(struct pattern_text *t, const char *s, size_t len)
{
    if (len <= sizeof(t->text) - 1 - t->len) {
        memcpy(t->text + t->len, s, len);
        t->len += len;
        t->text[t->len] = '\0';
    }
}

static inline void
pattern_text_puts(struct pattern_text *t, const char *s)
{
    pattern_text_add(t, s, strlen(s));
}

#define PICK(r, array) \
    ((array)[rng_below((r), (unsigned)(sizeof(array) / sizeof(*(array))))])

/* Characters that text and patterns share. The last ones are the Kelvin sign,
 * the long s and a letter outside the BMP. */
static inline const char *
random_char(struct rng *r)
{
    static const char *const often[] = {"a", "b", "1", "x", " "};
    static const char *const rarely[] = {"A",
                                         "B",
                                         "k",
                                         "K",
                                         "s",
                                         "S",
                                         "2",
                                         "-",
                                         "_",
                                         ".",
                                         "\t",
                                         "\xc3\xa9",
                                         "\xc3\x89",
                                         "\xce\xb1",
                                         "\xce\xa9",
                                         "\xe2\x84\xaa",
                                         "\xc5\xbf",
                                         "\xe2\x82\xac",
                                         "\xf0\x90\x90\x80",
                                         "\xe4\xb8\xad",
                                         "\xc3\x9f",
                                         "\xef\xbf\xbd",
                                         "\v"};

    return rng_below(r, 3) ? PICK(r, often) : PICK(r, rarely);
}

/* A line's content. `allow_invalid`: bytes that are not UTF-8, and CRs. */
static inline void
random_line(struct rng *r, struct pattern_text *out, unsigned max,
            int allow_invalid)
{
    static const char *const odd[] = {"\xff",         "\xc3", "\xe2\x82",
                                      "\xed\xa0\x80", "\r",   "\0x"};
    unsigned n = rng_below(r, max + 1);

    for (unsigned i = 0; i < n; i++) {
        if (allow_invalid && rng_below(r, 24) == 0) {
            pattern_text_puts(out, PICK(r, odd));
        } else {
            pattern_text_puts(out, random_char(r));
        }
    }
}

static inline void
random_pattern_rune(struct rng *r, struct pattern_text *out)
{
    const char *c = random_char(r);

    if (*c == '.') {
        pattern_text_puts(out, "\\");
    }
    pattern_text_puts(out, c);
}

static inline void
random_class(struct rng *r, struct pattern_text *out)
{
    static const char *const items[] = {"a",
                                        "b",
                                        "1",
                                        "a-c",
                                        "0-9",
                                        "\\d",
                                        "\\W",
                                        "\\s",
                                        "\\S",
                                        "\\w",
                                        "[:alpha:]",
                                        "[:^digit:]",
                                        "[:word:]",
                                        "[:punct:]",
                                        "[:^lower:]",
                                        "\xc3\xa9",
                                        "\\x{3b1}",
                                        "\\n",
                                        "\\pL",
                                        "\\p{Greek}",
                                        "\\PN",
                                        "-",
                                        "\\]",
                                        "\\x00-\\x20",
                                        "\xc3\xa0-\xc5\xbf",
                                        "[:space:]",
                                        "\\x{ffff}-\\x{10ffff}",
                                        "\\r"};
    unsigned n = 1 + rng_below(r, 3);

    pattern_text_puts(out, rng_below(r, 3) ? "[" : "[^");
    for (unsigned i = 0; i < n; i++) {
        pattern_text_puts(out, PICK(r, items));
    }
    pattern_text_puts(out, "]");
}

static inline void random_alternation(struct rng *r, struct pattern_text *out,
                                      unsigned depth);

static inline void
random_atom(struct rng *r, struct pattern_text *out, unsigned depth)
{
    static const char *const simple[] = {
        ".",     "\\d",     "\\D",     "\\w",  "\\W",        "\\s",
        "\\S",   "^",       "$",       "\\b",  "\\B",        "\\A",
        "\\z",   "\\pL",    "\\p{^L}", "\\pN", "\\p{Greek}", "\\P{Latin}",
        "\\x41", "\\x{e9}", "\\061",   "\\-",  "\\Qa.b\\E",  "\\n",
        "(?i)",  "(?-i)",   "(?s)",    "\\t",  "\\r",        "\\pC"};
    static const char *const groups[] = {
        "(", "(?:", "(?i:", "(?P<n>", "(?-i:", "(?s:"};
    unsigned what = rng_below(r, 12);

    if (what < 6) {
        random_pattern_rune(r, out);
    } else if (what < 8) {
        pattern_text_puts(out, PICK(r, simple));
    } else if (what < 9) {
        random_class(r, out);
    } else if (what < 10 || depth == 0) {
        pattern_text_puts(out, ".");
    } else {
        pattern_text_puts(out, PICK(r, groups));
        random_alternation(r, out, depth - 1);
        pattern_text_puts(out, ")");
    }
}

static inline void
random_alternation(struct rng *r, struct pattern_text *out, unsigned depth)
{
    static const char *const quantifiers[] = {
        "*",   "+",    "?",     "*?",     "+?",   "??",   "{2}",
        "{0}", "{1,}", "{0,2}", "{1,3}?", "{2,}", "{,2}", "{1}"};
    unsigned branches = rng_below(r, 4) ? 1 : 1 + rng_below(r, 3);

    for (unsigned b = 0; b < branches; b++) {
        unsigned n = rng_below(r, 12) ? 1 + rng_below(r, 4) : 0;

        if (b) {
            pattern_text_puts(out, "|");
        }
        for (unsigned i = 0; i < n; i++) {
            random_atom(r, out, depth);
            if (rng_below(r, 4) == 0) {
                pattern_text_puts(out, PICK(r, quantifiers));
            }
        }
    }
}

/* Mostly something that compiles. */
static inline void
random_pattern(struct rng *r, struct pattern_text *out)
{
    out->len = 0;
    out->text[0] = '\0';
    random_alternation(r, out, rng_below(r, 4));
}

#endif
