/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line flags in the Go style: rules and texts as spec clients 2 has
 * them, so that scripts written for the Go programs see no difference.
 */
#include "options.h"

#include "guess.h"

#include <stdlib.h>

#define QUOTED_MAX 256u /* bytes of a quoted value in a message */

/* Where one run of the parser stands. */
struct parser {
    const struct option_spec *table;
    int argc;
    char **argv;
    int at; /* the next word */
    char *options;
    bool *given;
    struct error *err;
};

static void *
member(const struct option_spec *spec, void *options)
{
    return (char *)options + spec->offset;
}

/* Appends one character of a quoted text as Go's %q shows it and returns how
 * many bytes of the input that was. */
static size_t
quote_char(char *out, size_t cap, const unsigned char *s)
{
    static const char letters[] = "abtnvfr"; /* for 7 to 13 */
    size_t more = 0;

    if (*s == '"' || *s == '\\') {
        snprintf(out, cap, "\\%c", *s);
        return 1;
    }
    if (*s >= 7 && *s <= 13) {
        snprintf(out, cap, "\\%c", letters[*s - 7]);
        return 1;
    }
    if (*s >= 0x20 && *s < 0x7f) {
        snprintf(out, cap, "%c", *s);
        return 1;
    }
    if (*s >= 0xc2 && *s < 0xf5) {
        more = *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3;
    }
    for (size_t i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            more = 0;
        }
    }
    if (more == 0 || (*s == 0xc2 && s[1] < 0xa0)) {
        snprintf(out, cap, "\\x%02x", *s);
        return 1;
    }
    snprintf(out, cap, "%.*s", (int)more + 1, (const char *)s);
    return more + 1;
}

/* Writes `text` in double quotes; what does not fit is cut. */
static const char *
quote(char out[QUOTED_MAX], const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t len = 0;

    out[len++] = '"';
    while (*s && len + 8 < QUOTED_MAX) {
        s += quote_char(out + len, QUOTED_MAX - len, s);
        len += strlen(out + len);
    }
    out[len++] = '"';
    out[len] = '\0';
    return out;
}

/* Tells whether each underscore stands between digits (or between the prefix
 * of the base and a digit), which is where Go allows it. */
static bool
underscores_fit(const char *s)
{
    char last = '^';
    bool is_hex = false;

    if (*s == '+' || *s == '-') {
        s++;
    }
    if (s[0] == '0' && s[1] && strchr("boxBOX", s[1])) {
        last = '0';
        is_hex = s[1] == 'x' || s[1] == 'X';
        s += 2;
    }
    for (; *s; s++) {
        if ((*s >= '0' && *s <= '9') ||
            (is_hex && ((*s | 0x20) >= 'a' && (*s | 0x20) <= 'f'))) {
            last = '0';
        } else if (*s == '_') {
            if (last != '0') {
                return false;
            }
            last = '_';
        } else {
            return false;
        }
    }
    return last != '_';
}

/* Takes sign and prefix off and tells the base. */
static uint64_t
number_base(const char **text, bool *negative)
{
    const char *s = *text;
    uint64_t base = 10;

    *negative = *s == '-';
    if (*s == '+' || *s == '-') {
        s++;
    }
    if (s[0] == '0' && s[1] && s[2] && strchr("bB", s[1])) {
        base = 2;
        s += 2;
    } else if (s[0] == '0' && s[1] && s[2] && strchr("oO", s[1])) {
        base = 8;
        s += 2;
    } else if (s[0] == '0' && s[1] && s[2] && strchr("xX", s[1])) {
        base = 16;
        s += 2;
    } else if (s[0] == '0') {
        base = 8;
        s += 1;
    }
    *text = s;
    return base;
}

static uint64_t
digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return (uint64_t)(c - '0');
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'z' ? (uint64_t)(c - 'a') + 10 : UINT64_MAX;
}

/* A number as Go's strconv.ParseInt(text, 0, 64) reads it. NULL, or what is
 * wrong with it. */
static const char *
parse_int(const char *text, int64_t *out)
{
    const char *s = text;
    bool negative, has_underscores = false;
    uint64_t base = number_base(&s, &negative);
    uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    uint64_t value = 0;

    if (!*s && base == 10) {
        return "parse error"; /* nothing, or a sign alone */
    }
    for (; *s; s++) {
        uint64_t digit = digit_value(*s);

        if (*s == '_') {
            has_underscores = true;
            continue;
        }
        if (digit >= base) {
            return "parse error";
        }
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return "value out of range";
        }
    }
    if (has_underscores && !underscores_fit(text)) {
        return "parse error";
    }
    if (value > limit) {
        return "value out of range";
    }
    *out = (int64_t)(negative ? 0 - value : value);
    return NULL;
}

/* NULL, or what is wrong. */
static const char *
parse_bool(const char *text, bool *out)
{
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True"};
    static const char *const no[] = {"0", "f", "F", "FALSE", "false", "False"};

    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        if (strcmp(text, yes[i]) == 0) {
            *out = true;
            return NULL;
        }
        if (strcmp(text, no[i]) == 0) {
            *out = false;
            return NULL;
        }
    }
    return "parse error";
}

/* Stores a value. */
static enum option_result
set_value(const struct parser *p, const struct option_spec *spec,
          const char *value)
{
    void *to = member(spec, p->options);
    const char *wrong = NULL;
    char quoted[QUOTED_MAX];

    switch (spec->type) {
    case OPTION_BOOL:
        wrong = parse_bool(value, to);
        break;
    case OPTION_INT:
        wrong = parse_int(value, to);
        break;
    case OPTION_STRING:
        *(const char **)to = value;
        break;
    case OPTION_LIST:
        wrong = strv_add(to, value) == DT_OK ? NULL : "out of memory";
        break;
    }
    if (!wrong) {
        return OPTIONS_OK;
    }
    error_set(p->err, DT_ERR_INVAL,
              spec->type == OPTION_BOOL ? "invalid boolean value %s for -%s: %s"
                                        : "invalid value %s for flag -%s: %s",
              quote(quoted, value), spec->name, wrong);
    return OPTIONS_BAD;
}

static const struct option_spec *
find(const struct option_spec *table, const char *name, size_t len)
{
    for (; table->name; table++) {
        if (strlen(table->name) == len && memcmp(table->name, name, len) == 0) {
            return table;
        }
    }
    return NULL;
}

/* The flag that was perhaps meant; NULL: none is near. */
static const struct option_spec *
guess(const struct option_spec *table, const char *name, size_t len)
{
    const struct option_spec *best = NULL;
    char copy[GUESS_MAX];
    size_t nearest = 4;

    if (len >= sizeof(copy)) {
        return NULL;
    }
    memcpy(copy, name, len);
    copy[len] = '\0';
    for (; table->name; table++) {
        size_t d = strlen(table->name) < GUESS_MAX
                       ? guess_distance(copy, table->name)
                       : SIZE_MAX;

        /* half of a short name would be anything */
        if (d < nearest && d * 2 < len + 1) {
            nearest = d;
            best = table;
        }
    }
    return best;
}

static enum option_result
unknown_flag(const struct parser *p, const char *name, size_t len)
{
    const struct option_spec *near = guess(p->table, name, len);

    error_set(p->err, DT_ERR_INVAL,
              "flag provided but not defined: -%.*s%s%s%s",
              len > 256 ? 256 : (int)len, name, near ? "\nDid you mean -" : "",
              near ? near->name : "", near ? "?" : "");
    return OPTIONS_BAD;
}

/* Takes the flag in the word at p->at, and its value. */
static enum option_result
parse_flag(struct parser *p)
{
    const char *word = p->argv[p->at++];
    const char *name = word + (word[1] == '-' ? 2 : 1);
    const char *value;
    const struct option_spec *spec;
    size_t len;

    if (*name == '\0' || *name == '-' || *name == '=') {
        error_set(p->err, DT_ERR_INVAL, "bad flag syntax: %s", word);
        return OPTIONS_BAD;
    }
    value = strchr(name, '=');
    len = value ? (size_t)(value - name) : strlen(name);
    value = value ? value + 1 : NULL;
    spec = find(p->table, name, len);
    if (!spec) {
        if ((len == 1 && *name == 'h') ||
            (len == 4 && memcmp(name, "help", 4) == 0)) {
            return OPTIONS_HELP;
        }
        return unknown_flag(p, name, len);
    }
    if (p->given) {
        p->given[spec - p->table] = true;
    }
    if (spec->type == OPTION_BOOL) {
        return set_value(p, spec, value ? value : "true");
    }
    if (!value && p->at < p->argc) {
        value = p->argv[p->at++];
    }
    if (!value) {
        error_set(p->err, DT_ERR_INVAL, "flag needs an argument: -%s",
                  spec->name);
        return OPTIONS_BAD;
    }
    return set_value(p, spec, value);
}

static void
set_defaults(const struct option_spec *table, void *options, bool *given)
{
    for (size_t i = 0; table[i].name; i++) {
        void *to = member(&table[i], options);

        switch (table[i].type) {
        case OPTION_BOOL:
            *(bool *)to = table[i].default_int != 0;
            break;
        case OPTION_INT:
            *(int64_t *)to = table[i].default_int;
            break;
        case OPTION_STRING:
            *(const char **)to =
                table[i].default_text ? table[i].default_text : "";
            break;
        case OPTION_LIST:
            *(struct strv *)to = (struct strv){0};
            break;
        }
        if (given) {
            given[i] = false;
        }
    }
}

enum option_result
options_parse(const struct option_spec *table, int argc, char **argv,
              void *options, bool *given, char ***words, size_t *nr_words,
              struct error *err)
{
    set_defaults(table, options, given);
    return options_parse_more(table, argc, argv, options, given, words,
                              nr_words, err);
}

enum option_result
options_parse_more(const struct option_spec *table, int argc, char **argv,
                   void *options, bool *given, char ***words, size_t *nr_words,
                   struct error *err)
{
    struct parser p = {.table = table,
                       .argc = argc,
                       .argv = argv,
                       .at = 1,
                       .options = options,
                       .given = given,
                       .err = err};

    *words = NULL;
    *nr_words = 0;
    while (p.at < argc && argv[p.at][0] == '-' && argv[p.at][1]) {
        enum option_result rc;

        if (strcmp(argv[p.at], "--") == 0) {
            p.at++;
            break;
        }
        rc = parse_flag(&p);
        if (rc != OPTIONS_OK) {
            return rc;
        }
    }
    *nr_words = p.at < argc ? (size_t)(argc - p.at) : 0;
    *words = calloc(*nr_words + 1, sizeof(**words));
    if (!*words) {
        *nr_words = 0;
        error_set(err, DT_ERR_NOMEM, "out of memory");
        return OPTIONS_BAD;
    }
    if (*nr_words) {
        memcpy(*words, argv + p.at, *nr_words * sizeof(**words));
    }
    return OPTIONS_OK;
}

static int
compare_names(const void *a, const void *b)
{
    const struct option_spec *const *x = a;
    const struct option_spec *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

/* Appends the flag's lines. */
static int
usage_flag(const struct option_spec *spec, struct buf *out)
{
    char quoted[QUOTED_MAX];
    const char *type = spec->type == OPTION_BOOL  ? ""
                       : spec->type == OPTION_INT ? " int"
                                                  : " string";
    /* Go puts the text of a boolean flag of one letter on its line. */
    bool is_short = spec->type == OPTION_BOOL && strlen(spec->name) == 1;
    int rc = buf_printf(out, "  -%s%s%s\t%s", spec->name, type,
                        is_short ? "" : "\n    ", spec->help);

    if (rc != DT_OK) {
        return rc;
    }
    switch (spec->type) {
    case OPTION_BOOL:
        rc = spec->default_int ? buf_puts(out, " (default true)") : DT_OK;
        break;
    case OPTION_INT:
        rc = spec->default_int ? buf_printf(out, " (default %lld)",
                                            (long long)spec->default_int)
                               : DT_OK;
        break;
    case OPTION_STRING:
        rc = spec->default_text && *spec->default_text
                 ? buf_printf(out, " (default %s)",
                              quote(quoted, spec->default_text))
                 : DT_OK;
        break;
    case OPTION_LIST:
        break;
    }
    return rc == DT_OK ? buf_puts(out, "\n") : rc;
}

int
options_usage(const struct option_spec *table, const char *name,
              struct buf *out)
{
    const struct option_spec **sorted;
    size_t nr = 0;
    int rc;

    while (table[nr].name) {
        nr++;
    }
    sorted = calloc(nr + 1, sizeof(*sorted));
    if (!sorted) {
        return DT_ERR_NOMEM;
    }
    for (size_t i = 0; i < nr; i++) {
        sorted[i] = &table[i];
    }
    qsort(sorted, nr, sizeof(*sorted), compare_names);
    rc = buf_printf(out, "Usage of %s:\n", name);
    for (size_t i = 0; i < nr && rc == DT_OK; i++) {
        rc = usage_flag(sorted[i], out);
    }
    free(sorted);
    return rc;
}

void
options_fini(const struct option_spec *table, void *options)
{
    for (; table->name; table++) {
        if (table->type == OPTION_LIST) {
            strv_fini(member(table, options));
        }
    }
}
