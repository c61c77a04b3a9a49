/* SPDX-License-Identifier: Apache-2.0
 *
 * Character classes and escapes of patterns. A class becomes a set of ranges
 * plus Unicode properties; the newline is taken out when it is written.
 */
#include "pattern-parser.h"

#include "pattern-names.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

/* Since 10.40 a bare script name means script extensions; Go and RE2 mean the
 * script itself. */
#if PCRE2_MAJOR > 10 || PCRE2_MINOR >= 40
#define SCRIPT_PREFIX "sc:"
#else
#define SCRIPT_PREFIX ""
#endif

/* A named set of ASCII characters, as pairs of bounds. */
struct ascii_set {
    const char *name;
    unsigned char pairs[8];
    size_t nr_pairs;
};

static const struct ascii_set posix_sets[] = {
    {"alnum", {'0', '9', 'A', 'Z', 'a', 'z'}, 3},
    {"alpha", {'A', 'Z', 'a', 'z'}, 2},
    {"ascii", {0, 0x7f}, 1},
    {"blank", {'\t', '\t', ' ', ' '}, 2},
    {"cntrl", {0, 0x1f, 0x7f, 0x7f}, 2},
    {"digit", {'0', '9'}, 1},
    {"graph", {'!', '~'}, 1},
    {"lower", {'a', 'z'}, 1},
    {"print", {' ', '~'}, 1},
    {"punct", {'!', '/', ':', '@', '[', '`', '{', '~'}, 4},
    {"space", {'\t', '\r', ' ', ' '}, 2},
    {"upper", {'A', 'Z'}, 1},
    {"word", {'0', '9', 'A', 'Z', 'a', 'z', '_', '_'}, 4},
    {"xdigit", {'0', '9', 'A', 'F', 'a', 'f'}, 3},
};

/* \d, \s (no vertical tab) and \w */
static const struct ascii_set perl_sets[] = {
    {"d", {'0', '9'}, 1},
    {"s", {'\t', '\n', '\f', '\r', ' ', ' '}, 3},
    {"w", {'0', '9', 'A', 'Z', 'a', 'z', '_', '_'}, 4},
};

void
charclass_fini(struct charclass *c)
{
    free(c->v);
    buf_fini(&c->props);
    *c = (struct charclass){0};
}

static int
add_range(struct charclass *c, uint32_t low, uint32_t high)
{
    if (low > high) {
        return DT_OK;
    }
    if (c->nr == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 16;
        struct class_range *v = reallocarray(c->v, cap, sizeof(*v));

        if (!v) {
            return DT_ERR_NOMEM;
        }
        c->v = v;
        c->cap = cap;
    }
    c->v[c->nr++] = (struct class_range){low, high};
    return DT_OK;
}

/* Adds everything outside the set. Under (?i) that is everything outside the
 * folded set: k and s take the Kelvin sign and the long s with them. */
static int
add_complement(struct charclass *c, const bool *in, bool fold)
{
    const uint32_t long_s = 0x17f, kelvin = 0x212a;
    int status = DT_OK;

    for (uint32_t r = 0; r < 128 && status == DT_OK; r++) {
        if (!in[r]) {
            status = add_range(c, r, r);
        }
    }
    if (status == DT_OK) {
        status = add_range(c, 128, fold && in['s'] ? long_s - 1 : long_s);
    }
    if (status == DT_OK) {
        status =
            add_range(c, long_s + 1, fold && in['k'] ? kelvin - 1 : kelvin);
    }
    return status == DT_OK ? add_range(c, kelvin + 1, RUNE_MAX) : status;
}

static int
add_set(struct charclass *c, const struct ascii_set *set, bool negate,
        bool fold)
{
    bool in[128] = {false};

    for (size_t i = 0; i < set->nr_pairs; i++) {
        unsigned low = set->pairs[2 * i], high = set->pairs[2 * i + 1];

        if (!negate) {
            int status = add_range(c, low, high);

            if (status != DT_OK) {
                return status;
            }
        }
        for (unsigned r = low; r <= high; r++) {
            in[r] = true;
        }
    }
    if (!negate) {
        return DT_OK;
    }
    for (unsigned r = 'a'; fold && r <= 'z'; r++) {
        in[r] = in[r - 32] = in[r] || in[r - 32];
    }
    return add_complement(c, in, fold);
}

static int
add_property(struct charclass *c, const char *name, size_t len, bool negate)
{
    char sign = negate ? 'P' : 'p';
    bool is_any = len == 3 && memcmp(name, "Any", 3) == 0;
    bool is_c = len == 1 && name[0] == 'C';
    bool has_newline = is_any || is_c ||
                       (len == 2 && memcmp(name, "Cc", 2) == 0) ||
                       (len == 6 && memcmp(name, "Common", 6) == 0);

    c->props_match_newline |= has_newline != negate;
    if (is_any) {
        return negate ? DT_OK : add_range(c, 0, RUNE_MAX);
    }
    if (is_c && negate) {
        /* one item of a class must do: all that is not C but unassigned */
        return buf_puts(&c->props, "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Z}"
                                   "\\p{Cn}");
    }
    if (is_c) {
        /* PCRE2's C includes what is not assigned */
        return buf_puts(&c->props, "\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}");
    }
    if (pattern_is_category(name, len)) {
        return buf_printf(&c->props, "\\%c{%.*s}", sign, (int)len, name);
    }
    return buf_printf(&c->props, "\\%c{" SCRIPT_PREFIX "%.*s}", sign, (int)len,
                      name);
}

/* \pN, \p{Name}, \p{^Name}, \P… */
static int
parse_property(struct parser *p, struct charclass *c)
{
    size_t start = p->pos, len;
    bool negate = p->text[start + 1] == 'P';
    const char *name;
    uint32_t rune;
    int status;

    p->pos += 2;
    name = p->text + p->pos;
    if (p->pos < p->len && *name == '{') {
        const char *end = memchr(name, '}', p->len - p->pos);

        if (!end) {
            return parser_fail(p, start,
                               "expected } to end the name of the "
                               "Unicode class");
        }
        name++;
        len = (size_t)(end - name);
        p->pos += len + 2;
    } else {
        status = parser_rune(p, &rune);
        if (status != DT_OK) {
            return status;
        }
        len = (size_t)(p->text + p->pos - name);
    }
    if (len && name[0] == '^') {
        negate = !negate;
        name++;
        len--;
    }
    if (!(len == 3 && memcmp(name, "Any", 3) == 0) &&
        !pattern_is_category(name, len) && !pattern_is_script(name, len)) {
        return parser_fail(p, start,
                           "expected a Unicode class: a category such as Lu "
                           "or a script such as Greek");
    }
    return add_property(c, name, len, negate);
}

int
class_parse_escape(struct parser *p, struct charclass *c, bool *is_class)
{
    char kind;

    *is_class = false;
    if (p->len - p->pos < 2) {
        return DT_OK;
    }
    kind = p->text[p->pos + 1];
    if (kind == 'p' || kind == 'P') {
        *is_class = true;
        return parse_property(p, c);
    }
    for (size_t i = 0; i < sizeof(perl_sets) / sizeof(*perl_sets); i++) {
        char lower = perl_sets[i].name[0];

        if (kind == lower || kind == lower - 32) {
            *is_class = true;
            p->pos += 2;
            return add_set(c, &perl_sets[i], kind != lower, p->fold);
        }
    }
    return DT_OK;
}

static int
hex_value(uint32_t rune)
{
    if (rune >= '0' && rune <= '9') {
        return (int)(rune - '0');
    }
    rune |= 0x20;
    return rune >= 'a' && rune <= 'f' ? (int)(rune - 'a' + 10) : -1;
}

/* Behind "\x": HH or {H…}. */
static int
parse_hex(struct parser *p, size_t start, uint32_t *rune)
{
    const char *s = p->text + p->pos;
    size_t left = p->len - p->pos, nr = 0;
    bool is_braced = left && s[0] == '{';
    int digit;

    *rune = 0;
    for (size_t i = is_braced; i < left; i++) {
        if (is_braced && s[i] == '}' && nr) {
            p->pos += i + 1;
            return DT_OK;
        }
        digit = hex_value((unsigned char)s[i]);
        if (digit < 0) {
            break;
        }
        *rune = *rune * 16 + (uint32_t)digit;
        if (*rune > RUNE_MAX) {
            break;
        }
        nr++;
        if (!is_braced && nr == 2) {
            p->pos += 2;
            return DT_OK;
        }
    }
    return parser_fail(p, start, "expected \\xHH or \\x{H...} up to 10FFFF");
}

int
class_parse_rune_escape(struct parser *p, uint32_t *rune)
{
    static const char names[] = "afnrtv";
    static const char values[] = "\a\f\n\r\t\v";
    size_t start = p->pos;
    const char *name;
    uint32_t r;
    int status;

    if (++p->pos == p->len) {
        return parser_fail(p, start,
                           "expected a character behind the \\ at "
                           "the end");
    }
    status = parser_rune(p, &r);
    if (status != DT_OK) {
        return status;
    }
    if (r == 'x') {
        return parse_hex(p, start, rune);
    }
    if (r >= '0' && r <= '7') {
        const char *s = p->text + p->pos;
        bool is_octal = p->pos < p->len && *s >= '0' && *s <= '7';

        if (r != '0' && !is_octal) {
            return parser_fail(p, start,
                               "back-references such as \\%c are "
                               "not supported",
                               (char)r);
        }
        *rune = r - '0';
        for (int i = 0; i < 2 && p->pos < p->len; i++, p->pos++) {
            s = p->text + p->pos;
            if (*s < '0' || *s > '7') {
                break;
            }
            *rune = *rune * 8 + (uint32_t)(*s - '0');
        }
        return DT_OK;
    }
    name = r && r < 128 ? strchr(names, (int)r) : NULL;
    if (name) {
        *rune = (unsigned char)values[name - names];
        return DT_OK;
    }
    if (r >= 128 || (r >= '0' && r <= '9') || (r >= 'A' && r <= 'Z') ||
        (r >= 'a' && r <= 'z')) {
        return parser_fail(p, start,
                           "unknown escape; expected \\ and a "
                           "punctuation character, or one of the "
                           "escapes of RE2");
    }
    *rune = r;
    return DT_OK;
}

/* One character of a class, which may be escaped. */
static int
parse_class_rune(struct parser *p, size_t start, uint32_t *rune)
{
    if (p->pos == p->len) {
        return parser_fail(p, start,
                           "expected ] to end the class that begins "
                           "here");
    }
    if (p->text[p->pos] == '\\') {
        return class_parse_rune_escape(p, rune);
    }
    return parser_rune(p, rune);
}

/* At "[:": [:alpha:] or [:^alpha:]; *is_class false when there is no ":]". */
static int
parse_posix(struct parser *p, struct charclass *c, bool *is_class)
{
    const char *s = p->text + p->pos;
    size_t left = p->len - p->pos, len;
    const char *end = memmem(s + 2, left - 2, ":]", 2);
    const char *name = s + 2;
    bool negate = false;

    *is_class = end != NULL;
    if (!end) {
        return DT_OK;
    }
    len = (size_t)(end - name);
    if (len && *name == '^') {
        negate = true;
        name++;
        len--;
    }
    for (size_t i = 0; i < sizeof(posix_sets) / sizeof(*posix_sets); i++) {
        const struct ascii_set *set = &posix_sets[i];

        if (strlen(set->name) == len && memcmp(set->name, name, len) == 0) {
            p->pos += (size_t)(end - s) + 2;
            return add_set(c, set, negate, p->fold);
        }
    }
    return parser_fail(p, p->pos,
                       "expected the name of a class such as "
                       "[:alpha:]");
}

/* A character or a range of a class that began at `start`. */
static int
parse_range(struct parser *p, struct charclass *c, size_t start)
{
    size_t at = p->pos;
    uint32_t low, high;
    int status = parse_class_rune(p, start, &low);

    if (status != DT_OK) {
        return status;
    }
    high = low;
    if (p->len - p->pos >= 2 && p->text[p->pos] == '-' &&
        p->text[p->pos + 1] != ']') {
        p->pos++;
        status = parse_class_rune(p, start, &high);
        if (status != DT_OK) {
            return status;
        }
        if (high < low) {
            return parser_fail(p, at, "this range ends before it begins");
        }
    }
    return add_range(c, low, high);
}

int
class_parse(struct parser *p, struct charclass *c)
{
    size_t start = p->pos++;
    bool is_first = true;

    if (p->pos < p->len && p->text[p->pos] == '^') {
        c->is_negated = true;
        p->pos++;
    }
    while (p->pos == p->len || p->text[p->pos] != ']' || is_first) {
        const char *s = p->text + p->pos;
        size_t left = p->len - p->pos;
        bool is_class = false;
        int status = DT_OK;

        is_first = false;
        if (left > 2 && s[0] == '[' && s[1] == ':') {
            status = parse_posix(p, c, &is_class);
        } else if (left && s[0] == '\\') {
            status = class_parse_escape(p, c, &is_class);
        }
        if (status == DT_OK && !is_class) {
            status = parse_range(p, c, start);
        }
        if (status != DT_OK) {
            return status;
        }
    }
    p->pos++;
    return DT_OK;
}

static int
compare_ranges(const void *a, const void *b)
{
    const struct class_range *x = a, *y = b;

    return (x->low > y->low) - (x->low < y->low);
}

/* Sorts, and joins what overlaps or touches. */
static void
normalise(struct charclass *c)
{
    size_t nr = 0;

    if (c->nr) {
        qsort(c->v, c->nr, sizeof(*c->v), compare_ranges);
    }
    for (size_t i = 0; i < c->nr; i++) {
        struct class_range r = c->v[i];

        if (nr && r.low <= c->v[nr - 1].high + 1) {
            if (r.high > c->v[nr - 1].high) {
                c->v[nr - 1].high = r.high;
            }
        } else {
            c->v[nr++] = r;
        }
    }
    c->nr = nr;
}

/* Takes [low, high] out of a class that is normalised. */
static int
cut_range(struct charclass *c, uint32_t low, uint32_t high)
{
    size_t nr = c->nr;

    for (size_t i = 0; i < nr; i++) {
        struct class_range *r = &c->v[i];
        struct class_range rest = {high + 1, r->high};

        if (r->high < low || r->low > high) {
            continue;
        }
        if (r->low < low) {
            r->high = low - 1;
            if (rest.low <= rest.high) {
                int status = add_range(c, rest.low, rest.high);

                if (status != DT_OK) {
                    return status;
                }
            }
        } else if (r->high > high) {
            r->low = high + 1;
        } else {
            /* swallowed whole: an empty range, skipped when written */
            r->low = 1;
            r->high = 0;
        }
    }
    return DT_OK;
}

bool
class_is_rune(struct charclass *c, uint32_t *rune)
{
    if (c->is_negated || c->props.len || c->nr == 0) {
        return false;
    }
    normalise(c);
    *rune = c->v[0].low;
    return c->nr == 1 && c->v[0].low == c->v[0].high;
}

static int
write_ranges(const struct charclass *c, struct buf *out)
{
    int status = DT_OK;

    for (size_t i = 0; i < c->nr && status == DT_OK; i++) {
        const struct class_range *r = &c->v[i];

        if (r->low > r->high) {
            continue;
        }
        status = parser_write_rune(out, r->low);
        if (status == DT_OK && r->high > r->low) {
            status = buf_puts(out, "-");
            if (status == DT_OK) {
                status = parser_write_rune(out, r->high);
            }
        }
    }
    return status;
}

/* True when nothing but the newline is missing. */
static bool
is_dot(const struct charclass *c)
{
    uint64_t nr = 0;

    for (size_t i = 0; i < c->nr; i++) {
        nr += c->v[i].low <= c->v[i].high ? c->v[i].high - c->v[i].low + 1 : 0;
    }
    return nr == RUNE_MAX + 1 - 0x800 - 1;
}

int
class_write(struct charclass *c, struct buf *out, bool *is_group)
{
    const char *open = c->is_negated ? "[^\\x{a}" : "[";
    const char *close = "]";
    size_t mark;
    int status;

    *is_group = false;
    normalise(c);
    status = cut_range(c, '\n', '\n');
    if (status == DT_OK) {
        status = cut_range(c, 0xd800, 0xdfff); /* PCRE2 refuses surrogates */
    }
    if (status != DT_OK) {
        return status;
    }
    if (!c->is_negated && is_dot(c)) {
        return buf_puts(out, ".");
    }
    if (!c->is_negated && c->props_match_newline && c->props.len) {
        *is_group = true;
        open = "(?:(?!\\x{a})[";
        close = "])";
    }
    status = buf_puts(out, open);
    mark = out->len;
    if (status == DT_OK) {
        status = write_ranges(c, out);
    }
    if (status == DT_OK) {
        status = buf_append(out, c->props.data, c->props.len);
    }
    if (status == DT_OK && !c->is_negated && out->len == mark) {
        *is_group = true; /* an empty class matches nothing */
        out->len -= strlen(open);
        return buf_puts(out, "(?:(?!))");
    }
    return status == DT_OK ? buf_puts(out, close) : status;
}
