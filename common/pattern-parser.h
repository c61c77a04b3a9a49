/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the pattern parser share: its state and the character
 * classes (pattern-class.c) it writes. Nobody else includes this.
 */
#ifndef COMMON_PATTERN_PARSER_H
#define COMMON_PATTERN_PARSER_H

#include "buf.h"
#include "pattern.h"

#define RUNE_MAX 0x10ffffu

/* Where the search for the required literal stands: see parser.arena. */
struct literals {
    size_t run;      /* start of the run that may still grow */
    size_t best;     /* the longest complete run so far */
    size_t best_len; /* its bytes */
};

/* The sum of what was parsed: of a branch, then of its group. */
struct extent {
    bool can_be_empty;
    bool is_always;  /* matches anywhere, without looking at anything */
    uint64_t weight; /* the largest product of repeat counts inside */
};

struct parser {
    const char *text;
    size_t len;
    size_t pos; /* bytes consumed */
    struct pattern_error *err;
    struct buf out; /* PCRE2 text */
    /* All plain characters in the order of the pattern, with their masks, and
     * the runs of neighbours among them that every match must contain. */
    struct buf arena;
    struct buf masks;
    struct literals lit;
    struct extent *sum; /* of the branch that is being parsed */
    unsigned depth;
    bool fold;     /* (?i) is in force */
    bool is_exact; /* nothing but plain characters so far */
    bool has_alternation;
    bool has_repeated_group;
    bool has_empty_branch; /* an alternative that can match nothing */
};

/* Sets the error and returns DT_ERR_INVAL. */
int parser_fail(struct parser *p, size_t offset, const char *format, ...)
    DT_PRINTF(3, 4);

/* Reads one character; DT_ERR_INVAL when it is not UTF-8 or nothing is left. */
int parser_rune(struct parser *p, uint32_t *rune);

static inline bool
rune_is_alnum(uint32_t r)
{
    return (r >= '0' && r <= '9') || (r >= 'A' && r <= 'Z') ||
           (r >= 'a' && r <= 'z');
}

/* Writes a character so that it stands for itself in PCRE2 text, in and out
 * of classes. DT_OK or DT_ERR_NOMEM. */
int parser_write_rune(struct buf *out, uint32_t rune);

/* A run of plain characters that ended at `end` of the arena is complete. */
void literals_end_run(struct literals *lit, size_t end);
/* Something stands here that is not a plain character. */
void parser_break_run(struct parser *p);
/* Can the character stand in a literal that is compared byte by byte? Not the
 * replacement character, which also stands for invalid bytes; and under (?i)
 * not k, s and what is not ASCII, which fold to bytes of other lengths. */
bool parser_is_literal(const struct parser *p, uint32_t rune);
/* Adds such a character to the arena. DT_OK or DT_ERR_NOMEM. */
int parser_add_literal(struct parser *p, uint32_t rune);

/* At "(?P<name>" or "(?<name>": consumes it; *is_name false: neither. */
int parser_group_name(struct parser *p, bool *is_name);
/* At "(?": flags up to ':' (a group follows) or ')'. */
int parser_group_flags(struct parser *p, bool *fold, bool *is_group);

/* Parses p->text as Go's syntax, from the start to the end; *has_bars: there
 * are alternatives on the top level. */
int parser_syntax(struct parser *p, struct extent *whole, bool *has_bars);
/* The same as plain characters without any syntax. */
int parser_fixed(struct parser *p, struct extent *whole);

/* A class under construction: ranges and Unicode properties. */
struct class_range {
    uint32_t low, high;
};
struct charclass {
    struct class_range *v;
    size_t nr, cap;
    struct buf props;         /* \p{…} items for a PCRE2 class */
    bool props_match_newline; /* one of them does */
    bool is_negated;
};
void charclass_fini(struct charclass *c);

/* At a '[': parses to the ']' behind. */
int class_parse(struct parser *p, struct charclass *c);
/* At a '\': parses \d \D \s \S \w \W \pN \p{…} \P…; *is_class says whether it
 * was one, else nothing was consumed. */
int class_parse_escape(struct parser *p, struct charclass *c, bool *is_class);
/* At a '\': parses an escape that stands for one character. */
int class_parse_rune_escape(struct parser *p, uint32_t *rune);
/* True when the class is exactly one character. Call before class_write. */
bool class_is_rune(struct charclass *c, uint32_t *rune);
/* Writes the class, without the newline, as one PCRE2 item. *is_group says
 * whether that item is a group. */
int class_write(struct charclass *c, struct buf *out, bool *is_group);

#endif
