/* SPDX-License-Identifier: Apache-2.0
 *
 * The syntax of patterns: groups recurse, everything else is a loop, so the
 * depth of the stack is bounded by PATTERN_MAX_DEPTH.
 */
#include "pattern-parser.h"

#define REPEAT_UNBOUNDED UINT32_MAX

/* What the next quantifier would apply to: already written, but still open to
 * being wrapped. */
struct atom {
    bool is_set;
    size_t start, end;      /* in parser.out */
    struct literals before; /* as they were when it began */
    size_t arena;           /* parser.arena.len then */
    bool is_char;           /* one plain character, in the arena */
    bool is_group;          /* repeating it repeats a group */
    bool is_bare;           /* must be wrapped before it can be repeated */
    bool can_be_empty;
    bool is_always;  /* matches anywhere, without looking at anything */
    uint64_t weight; /* the largest product of counts inside */
};

static int parse_alternation(struct parser *p, struct extent *whole,
                             bool *has_bars);

/* ---- atoms ---- */

/* The atom can change no more: it counts for its branch. */
static void
absorb(struct extent *sum, const struct atom *a)
{
    if (a->is_set) {
        sum->can_be_empty &= a->can_be_empty;
        sum->is_always &= a->is_always;
        sum->weight = a->weight > sum->weight ? a->weight : sum->weight;
    }
}

static void
begin_atom(struct parser *p, struct atom *a)
{
    absorb(p->sum, a);
    *a = (struct atom){
        .is_set = true,
        .start = p->out.len,
        .before = p->lit,
        .arena = p->arena.len,
        .weight = 1,
    };
}

static int
parse_literal(struct parser *p, struct atom *a, uint32_t rune)
{
    int status;

    begin_atom(p, a);
    if (rune == '\n' || (rune >= 0xd800 && rune <= 0xdfff)) {
        /* no line has it, nor has any text that is UTF-8 */
        parser_break_run(p);
        a->is_group = true;
        return buf_puts(&p->out, "(?:(?!))");
    }
    if (parser_is_literal(p, rune)) {
        a->is_char = true;
        status = parser_add_literal(p, rune);
        if (status != DT_OK) {
            return status;
        }
    } else {
        parser_break_run(p);
    }
    return parser_write_rune(&p->out, rune);
}

/* ^ $ \b … : no characters, so neighbours stay neighbours. */
static int
parse_assertion(struct parser *p, struct atom *a, size_t len, const char *text)
{
    begin_atom(p, a);
    p->pos += len;
    p->is_exact = false;
    a->is_bare = true;
    a->can_be_empty = true;
    return buf_puts(&p->out, text);
}

static int
write_class(struct parser *p, struct atom *a, struct charclass *c)
{
    uint32_t rune;

    if (class_is_rune(c, &rune)) {
        return parse_literal(p, a, rune);
    }
    begin_atom(p, a);
    parser_break_run(p);
    return class_write(c, &p->out, &a->is_group);
}

static int
parse_class(struct parser *p, struct atom *a)
{
    struct charclass c = {0};
    int status = class_parse(p, &c);

    if (status == DT_OK) {
        status = write_class(p, a, &c);
    }
    charclass_fini(&c);
    return status;
}

/* \Q…\E; the last character is the atom. */
static int
parse_quoted(struct parser *p, struct atom *a)
{
    const char *s = p->text + p->pos + 2;
    size_t left = p->len - p->pos - 2;
    const char *close = left ? memmem(s, left, "\\E", 2) : NULL;
    size_t end = close ? (size_t)(close - p->text) : p->len;

    p->pos += 2;
    while (p->pos < end) {
        uint32_t rune;
        int status = parser_rune(p, &rune);

        if (status == DT_OK) {
            status = parse_literal(p, a, rune);
        }
        if (status != DT_OK) {
            return status;
        }
    }
    p->pos = close ? end + 2 : end;
    return DT_OK;
}

static int
parse_escape(struct parser *p, struct atom *a)
{
    struct charclass c = {0};
    bool is_class;
    uint32_t rune;
    int status;

    switch (p->len - p->pos >= 2 ? p->text[p->pos + 1] : '\0') {
    case 'A':
        return parse_assertion(p, a, 2, "^");
    case 'z':
        return parse_assertion(p, a, 2, "$");
    case 'b':
        return parse_assertion(p, a, 2, "\\b");
    case 'B':
        return parse_assertion(p, a, 2, "\\B");
    case 'Q':
        return parse_quoted(p, a);
    default:
        break;
    }
    status = class_parse_escape(p, &c, &is_class);
    if (status == DT_OK && is_class) {
        status = write_class(p, a, &c);
    } else if (status == DT_OK) {
        status = class_parse_rune_escape(p, &rune);
        if (status == DT_OK) {
            status = parse_literal(p, a, rune);
        }
    }
    charclass_fini(&c);
    return status;
}

/* ---- groups ---- */

/* A group whose "(" or "(?…:" is consumed and began at `start`. */
static int
parse_group(struct parser *p, struct atom *a, size_t start, bool fold)
{
    bool outer_fold = p->fold, has_bars = false;
    struct extent *outer = NULL;
    struct extent inside;
    int status;

    if (p->depth == PATTERN_MAX_DEPTH) {
        parser_fail(p, start, "groups are nested deeper than %u",
                    PATTERN_MAX_DEPTH);
        return DT_ERR_LIMIT;
    }
    begin_atom(p, a);
    a->is_group = true;
    outer = p->sum;
    p->depth++;
    p->fold = fold;
    status = buf_puts(&p->out, fold == outer_fold ? "(?:"
                               : fold             ? "(?i:"
                                                  : "(?-i:");
    if (status == DT_OK) {
        status = parse_alternation(p, &inside, &has_bars);
    }
    if (status != DT_OK) {
        return status;
    }
    if (p->pos == p->len) {
        return parser_fail(p, start,
                           "expected ) to close the group that "
                           "begins here");
    }
    p->pos++;
    p->depth--;
    p->fold = outer_fold;
    p->sum = outer;
    a->can_be_empty = inside.can_be_empty;
    a->is_always = inside.is_always;
    a->weight = inside.weight;
    if (has_bars) {
        /* no branch must match, so nothing inside is required */
        p->lit = a->before;
        literals_end_run(&p->lit, a->arena);
        p->lit.run = p->arena.len;
    }
    return buf_puts(&p->out, ")");
}

/* At a '('. Bare flags leave the atom alone: the next quantifier is its. */
static int
parse_paren(struct parser *p, struct atom *a)
{
    size_t start = p->pos;
    bool fold = p->fold, is_group = true, is_name = false;
    int status = DT_OK;

    if (p->len - p->pos >= 2 && p->text[p->pos + 1] == '?') {
        status = parser_group_name(p, &is_name);
        if (status == DT_OK && !is_name) {
            status = parser_group_flags(p, &fold, &is_group);
        }
    } else {
        p->pos++;
    }
    if (status != DT_OK) {
        return status;
    }
    if (is_group) {
        return parse_group(p, a, start, fold);
    }
    if (fold != p->fold) {
        p->fold = fold;
        return buf_puts(&p->out, fold ? "(?i)" : "(?-i)");
    }
    return DT_OK;
}

/* ---- quantifiers ---- */

/* Digits of {n,m}. False: none, or a leading zero. Too large is 10^8. */
static bool
parse_count(const char *s, size_t len, size_t *at, uint32_t *value)
{
    size_t i = *at;

    if (i == len || s[i] < '0' || s[i] > '9' ||
        (s[i] == '0' && i + 1 < len && s[i + 1] >= '0' && s[i + 1] <= '9')) {
        return false;
    }
    for (*value = 0; i < len && s[i] >= '0' && s[i] <= '9'; i++) {
        *value = *value < 10000000 ? *value * 10 + (uint32_t)(s[i] - '0')
                                   : 100000000;
    }
    *at = i;
    return true;
}

/* At a '{': false when it is no quantifier, but text. */
static bool
parse_braces(struct parser *p, uint32_t *min, uint32_t *max)
{
    const char *s = p->text + p->pos;
    size_t len = p->len - p->pos, at = 1;

    if (!parse_count(s, len, &at, min) || at == len) {
        return false;
    }
    *max = *min;
    if (s[at] == ',') {
        at++;
        *max = REPEAT_UNBOUNDED;
        if (at < len && s[at] != '}' && !parse_count(s, len, &at, max)) {
            return false;
        }
    }
    if (at == len || s[at] != '}') {
        return false;
    }
    p->pos += at + 1;
    return true;
}

/* Puts text into the output at `at`; what is behind moves. */
static int
insert_text(struct buf *out, size_t at, const char *text)
{
    size_t len = strlen(text);
    int status = buf_reserve(out, len);

    if (status == DT_OK) {
        memmove(out->data + at + len, out->data + at, out->len - at);
        memcpy(out->data + at, text, len);
        out->len += len;
    }
    return status;
}

static int
write_quantifier(struct parser *p, struct atom *a, uint32_t min, uint32_t max,
                 bool is_lazy)
{
    char text[48];
    int n, status = DT_OK;

    if (a->is_bare) {
        status = insert_text(&p->out, a->end, ")");
        if (status == DT_OK) {
            status = insert_text(&p->out, a->start, "(?:");
        }
        a->end += 4;
        a->is_group = true;
    }
    if (max == REPEAT_UNBOUNDED && min <= 1) {
        n = snprintf(text, sizeof(text), "%c", min ? '+' : '*');
    } else if (min == 0 && max == 1) {
        n = snprintf(text, sizeof(text), "?");
    } else if (max == REPEAT_UNBOUNDED) {
        n = snprintf(text, sizeof(text), "{%u,}", min);
    } else {
        n = snprintf(text, sizeof(text), "{%u,%u}", min, max);
    }
    if (is_lazy) {
        text[n++] = '?';
        text[n] = '\0';
    }
    if (status == DT_OK) {
        status = insert_text(&p->out, a->end, text);
    }
    a->end += (size_t)n;
    return status;
}

/* The atom's literals are there `min` to `max` times. */
static void
repeat_literals(struct parser *p, const struct atom *a, uint32_t min,
                uint32_t max)
{
    p->is_exact = false;
    if (min == 0) {
        p->lit = a->before;
        literals_end_run(&p->lit, a->arena);
        p->lit.run = p->arena.len;
    } else if (max != 1) {
        literals_end_run(&p->lit, p->arena.len);
        /* of a repeated character the last one has the next as neighbour */
        p->lit.run = a->is_char ? a->arena : p->arena.len;
    }
}

/* A quantifier at p->pos, if there is one. */
static int
parse_quantifier(struct parser *p, struct atom *a, bool *was_repeat)
{
    size_t start = p->pos;
    bool is_stacked = *was_repeat, is_lazy = false;
    uint32_t min = 0, max = REPEAT_UNBOUNDED, factor;
    char op = p->text[start];

    if (op == '{') {
        if (!parse_braces(p, &min, &max)) {
            p->pos++;
            *was_repeat = false;
            return parse_literal(p, a, '{');
        }
        if (min > PATTERN_MAX_REPEAT ||
            (max != REPEAT_UNBOUNDED &&
             (max > PATTERN_MAX_REPEAT || max < min))) {
            return parser_fail(p, start,
                               "a repeat count is at most %u, and "
                               "the first not above the second",
                               PATTERN_MAX_REPEAT);
        }
    } else {
        p->pos++;
        min = op == '+';
        max = op == '?' ? 1 : REPEAT_UNBOUNDED;
    }
    if (p->pos < p->len && p->text[p->pos] == '?') {
        is_lazy = true;
        p->pos++;
    }
    if (is_stacked) {
        return parser_fail(p, start,
                           "a quantifier cannot follow another; "
                           "possessive ones are not supported");
    }
    if (!a->is_set) {
        return parser_fail(p, start,
                           "expected something to repeat in front "
                           "of the quantifier");
    }
    factor = max == REPEAT_UNBOUNDED ? min : max;
    if (op == '{') {
        a->weight = max == 0 ? 1 : a->weight * (factor ? factor : 1);
        if ((min >= 2 || (max >= 2 && max != REPEAT_UNBOUNDED)) &&
            a->weight > PATTERN_MAX_REPEAT) {
            return parser_fail(p, start,
                               "repeat counts within one another "
                               "multiply to more than %u",
                               PATTERN_MAX_REPEAT);
        }
    }
    repeat_literals(p, a, min, max);
    a->can_be_empty |= min == 0;
    a->is_always |= min == 0;
    a->is_char = false;
    *was_repeat = true;
    if (write_quantifier(p, a, min, max, is_lazy) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    p->has_repeated_group |= a->is_group;
    a->is_bare = true;
    return DT_OK;
}

/* ---- branches ---- */

/* One element at p->pos, which is neither '|' nor ')' nor a quantifier. */
static int
parse_element(struct parser *p, struct atom *a)
{
    uint32_t rune;
    int status;

    switch (p->text[p->pos]) {
    case '(':
        return parse_paren(p, a);
    case '[':
        return parse_class(p, a);
    case '\\':
        return parse_escape(p, a);
    case '^':
        return parse_assertion(p, a, 1, "^");
    case '$':
        return parse_assertion(p, a, 1, "$");
    case '.':
        begin_atom(p, a);
        parser_break_run(p);
        p->pos++;
        return buf_puts(&p->out, ".");
    default:
        status = parser_rune(p, &rune);
        return status == DT_OK ? parse_literal(p, a, rune) : status;
    }
}

static bool
is_quantifier(char c)
{
    return c == '*' || c == '+' || c == '?' || c == '{';
}

/* What stands in a branch, up to '|', ')' or the end. */
static int
parse_branch(struct parser *p, struct extent *sum)
{
    struct atom a = {0};
    bool was_repeat = false;

    *sum = (struct extent){true, true, 1};
    p->sum = sum;
    while (p->pos < p->len && p->text[p->pos] != '|' &&
           p->text[p->pos] != ')') {
        int status;

        if (is_quantifier(p->text[p->pos])) {
            status = parse_quantifier(p, &a, &was_repeat);
        } else {
            was_repeat = false;
            status = parse_element(p, &a);
        }
        if (status != DT_OK) {
            return status;
        }
        if (a.end == 0) {
            a.end = p->out.len; /* flags may be written behind it */
        }
    }
    absorb(sum, &a);
    return DT_OK;
}

static int
parse_alternation(struct parser *p, struct extent *whole, bool *has_bars)
{
    struct extent branch;
    bool has_empty = false;

    *whole = (struct extent){.weight = 1};
    *has_bars = false;
    for (;;) {
        int status = parse_branch(p, &branch);

        if (status != DT_OK) {
            return status;
        }
        has_empty |= branch.can_be_empty;
        whole->can_be_empty |= branch.can_be_empty;
        whole->is_always |= branch.is_always;
        whole->weight =
            branch.weight > whole->weight ? branch.weight : whole->weight;
        if (p->pos == p->len || p->text[p->pos] != '|') {
            break;
        }
        *has_bars = true;
        parser_break_run(p);
        p->pos++;
        status = buf_puts(&p->out, "|");
        if (status != DT_OK) {
            return status;
        }
    }
    p->has_alternation |= *has_bars;
    p->has_empty_branch |= *has_bars && has_empty;
    return DT_OK;
}

int
parser_syntax(struct parser *p, struct extent *whole, bool *has_bars)
{
    int status = parse_alternation(p, whole, has_bars);

    if (status == DT_OK && p->pos < p->len) {
        status = parser_fail(p, p->pos, "there is no ( that this ) closes");
    }
    return status;
}

int
parser_fixed(struct parser *p, struct extent *whole)
{
    int status = DT_OK;
    struct atom a = {0};

    *whole = (struct extent){.is_always = p->len == 0, .weight = 1};
    p->sum = whole;
    while (p->pos < p->len && status == DT_OK) {
        uint32_t rune;

        status = parser_rune(p, &rune);
        if (status == DT_OK) {
            status = parse_literal(p, &a, rune);
        }
    }
    return status;
}
