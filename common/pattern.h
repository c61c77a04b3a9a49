/* SPDX-License-Identifier: Apache-2.0
 *
 * Patterns: users write Go's dialect (RE2 syntax), the library is PCRE2. This
 * parser accepts what Go's regexp accepts, refuses what it refuses, and writes
 * PCRE2 text in which nothing can match a newline, so that a search over a
 * block of lines finds what a search line by line finds.
 *
 * On the way it finds out what the matcher needs to be fast and right: the
 * longest literal that every match must contain, whether the pattern is just
 * that literal, whether it matches every line, and whether PCRE2's JIT can be
 * trusted with it (docs/architecture.md, "Patterns").
 *
 * What differs from Go, on purpose: \p{Lu}, \p{Ll} and \p{Lt} are not folded
 * under (?i); nesting is limited to PATTERN_MAX_DEPTH; (?s), (?m) and (?U) have
 * no effect, as the text is one line and only the fact of a match counts.
 *
 * Threads: any; a parsed pattern is const. Source: Go's regexp/syntax.
 */
#ifndef COMMON_PATTERN_H
#define COMMON_PATTERN_H

#include <dtail/plugin.h>

#define PATTERN_MAX_LEN (64u * 1024u) /* bytes of source */
#define PATTERN_MAX_DEPTH 250u        /* groups within groups */
#define PATTERN_MAX_REPEAT 1000u      /* {n,m}, also the product of nested */

/* Flags for pattern_parse. */
#define PATTERN_IGNORE_CASE 0x01u /* as with (?i) in front */
#define PATTERN_FIXED 0x02u       /* no syntax: bytes, any of them */

/* Where a pattern is wrong, and what was expected. Caller's memory. */
struct pattern_error {
    size_t offset; /* bytes from the start of the pattern */
    char text[200];
};

/* What the parser found. Caller's memory; owns its strings. The regexes have
 * a NUL behind them. */
struct pattern {
    /* PCRE2 text, for UTF, MULTILINE and newline = LF. NULL when is_literal,
     * is_always or is_never says it all. */
    char *regex;
    size_t regex_len;
    /* The same for text in which lines may end in CR LF: it finds every line
     * that matches without its CR, and maybe some more. NULL: like regex. */
    char *regex_crlf;
    size_t regex_crlf_len;
    /* Bytes that every matching line contains; len 0: none known. Where
     * mask is 0x20 the byte is a lower-case ASCII letter that stands for both
     * cases; mask is NULL when it is 0 everywhere. */
    unsigned char *literal;
    unsigned char *mask;
    size_t literal_len;
    bool is_literal; /* a line matches if and only if it has the literal */
    bool is_always;  /* every line matches, the empty one too */
    bool is_never;   /* no line can match: it asks for a newline */
    bool can_jit;    /* the JIT gives right answers */
};

/* Parses `len` bytes. DT_OK; DT_ERR_INVAL (err: where and what), DT_ERR_LIMIT
 * (too long or too deep; err), DT_ERR_NOMEM. After an error there is nothing
 * to free. `err` may be NULL. */
int pattern_parse(const char *text, size_t len, unsigned flags,
                  struct pattern *out, struct pattern_error *err);
void pattern_fini(struct pattern *p);

#endif
