/* SPDX-License-Identifier: Apache-2.0
 *
 * A pattern that is tried on single lines.
 */
#include "linepattern.h"

#include "bytes.h"
#include "pattern.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* A match limit counts per start position: it bounds the worst of them. */
#define LIMIT_BASE 100000u
#define LIMIT_PER_BYTE 10u
#define HEAP_KIB 65536u
#define STACK_START (32u * 1024u)
#define STACK_MAX (8u * 1024u * 1024u)

struct linepattern {
    bool is_always, is_never;
    pcre2_code *code; /* NULL: one of the two above */
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    bool has_jit;
    struct str subject; /* of the last match */
    const unsigned char *names;
    uint32_t nr_names, name_size;
};

static int
compile(struct linepattern *p, const char *text, size_t len, uint32_t options,
        bool jit, char *err, size_t err_size)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    PCRE2_SIZE at;
    int code;

    if (!context) {
        return DT_ERR_NOMEM;
    }
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    p->code = pcre2_compile((PCRE2_SPTR)text, len,
                            options | PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C,
                            &code, &at, context);
    pcre2_compile_context_free(context);
    if (!p->code) {
        PCRE2_UCHAR message[160];

        pcre2_get_error_message(code, message, sizeof(message));
        snprintf(err, err_size, "%s at byte %zu of the pattern", message, at);
        return DT_ERR_INVAL;
    }
    p->data = pcre2_match_data_create_from_pattern(p->code, NULL);
    p->context = pcre2_match_context_create(NULL);
    if (!p->data || !p->context) {
        return DT_ERR_NOMEM;
    }
    pcre2_set_heap_limit(p->context, HEAP_KIB);
    if (jit && pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE) == 0) {
        p->stack = pcre2_jit_stack_create(STACK_START, STACK_MAX, NULL);
        if (p->stack) {
            pcre2_jit_stack_assign(p->context, NULL, p->stack);
            p->has_jit = true;
        }
    }
    pcre2_pattern_info(p->code, PCRE2_INFO_NAMECOUNT, &p->nr_names);
    pcre2_pattern_info(p->code, PCRE2_INFO_NAMEENTRYSIZE, &p->name_size);
    pcre2_pattern_info(p->code, PCRE2_INFO_NAMETABLE, &p->names);
    return DT_OK;
}

/* The user's own text: pattern_parse has refused all that is not RE2 syntax;
 * `(?=)` turns off an optimisation of the JIT that gives wrong answers. */
static int
compile_captures(struct linepattern *p, struct str pattern, bool jit, char *err,
                 size_t err_size)
{
    struct text text = {0};
    int status;

    text_puts(&text, "(?=)");
    text_str(&text, pattern);
    status = text.failed ? DT_ERR_NOMEM
                         : compile(p, text.data, text.len,
                                   PCRE2_DUPNAMES | PCRE2_DOLLAR_ENDONLY, jit,
                                   err, err_size);
    text_fini(&text);
    return status;
}

int
linepattern_new(struct str pattern, bool captures, struct linepattern **out,
                char *err, size_t err_size)
{
    struct pattern_error where;
    struct pattern parsed;
    struct linepattern *p = calloc(1, sizeof(*p));
    int status;

    *out = NULL;
    if (!p) {
        return DT_ERR_NOMEM;
    }
    status = pattern_parse(pattern.p, pattern.n, 0, &parsed, &where);
    if (status < 0) {
        if (status != DT_ERR_NOMEM) {
            snprintf(err, err_size, "%s at byte %zu of the pattern", where.text,
                     where.offset + 1);
        }
        free(p);
        return status;
    }
    if (captures) {
        status = compile_captures(p, pattern, parsed.can_jit, err, err_size);
    } else if (parsed.is_always || parsed.is_never) {
        p->is_always = parsed.is_always;
        p->is_never = parsed.is_never;
    } else if (parsed.regex) {
        status = compile(p, parsed.regex, parsed.regex_len,
                         PCRE2_MULTILINE | PCRE2_NO_AUTO_CAPTURE,
                         parsed.can_jit, err, err_size);
    } else { /* just a literal */
        status = compile(p, (const char *)parsed.literal, parsed.literal_len,
                         PCRE2_LITERAL, false, err, err_size);
    }
    pattern_fini(&parsed);
    if (status < 0) {
        linepattern_free(p);
        return status;
    }
    *out = p;
    return DT_OK;
}

void
linepattern_free(struct linepattern *p)
{
    if (p) {
        pcre2_code_free(p->code);
        pcre2_match_data_free(p->data);
        pcre2_match_context_free(p->context);
        pcre2_jit_stack_free(p->stack);
        free(p);
    }
}

/* The line with U+FFFD for each byte that is not UTF-8. */
static bool
repair(struct str *line, struct arena *scratch)
{
    const char *end = line->p + line->n;
    char *copy = arena_alloc(scratch, 3 * line->n + 1), *to = copy;

    if (!copy) {
        return false;
    }
    for (const char *p = line->p; p < end;) {
        size_t n = bytes_utf8_char(p, end);

        if (n) {
            memcpy(to, p, n);
            to += n;
            p += n;
        } else {
            memcpy(to, "\xef\xbf\xbd", 3);
            to += 3;
            p++;
        }
    }
    line->p = copy;
    line->n = (size_t)(to - copy);
    return true;
}

enum linepattern_result
linepattern_match(struct linepattern *p, struct str line, struct arena *scratch)
{
    uint32_t options = PCRE2_NO_UTF_CHECK;
    uint64_t limit;
    int r;

    if (!p->code) {
        return p->is_always ? LINEPATTERN_YES : LINEPATTERN_NO;
    }
    if (!bytes_is_ascii(line.p, line.n) &&
        bytes_utf8_valid(line.p, line.n) < line.n && !repair(&line, scratch)) {
        return LINEPATTERN_NOMEM;
    }
    p->subject = line;
    limit = LIMIT_BASE + (uint64_t)LIMIT_PER_BYTE * line.n;
    pcre2_set_match_limit(p->context,
                          limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX);
    r = pcre2_match(p->code, (PCRE2_SPTR)line.p, line.n, 0, options, p->data,
                    p->context);
    if (r == PCRE2_ERROR_JIT_STACKLIMIT) {
        r = pcre2_match(p->code, (PCRE2_SPTR)line.p, line.n, 0,
                        options | PCRE2_NO_JIT, p->data, p->context);
    }
    if (r >= 0) {
        return LINEPATTERN_YES;
    }
    if (r == PCRE2_ERROR_NOMATCH) {
        return LINEPATTERN_NO;
    }
    return r == PCRE2_ERROR_NOMEMORY ? LINEPATTERN_NOMEM : LINEPATTERN_LIMIT;
}

size_t
linepattern_nr_names(const struct linepattern *p)
{
    return p->nr_names;
}

struct str
linepattern_name(const struct linepattern *p, size_t i)
{
    return str_of((const char *)p->names + i * p->name_size + 2);
}

struct str
linepattern_capture(const struct linepattern *p, size_t i)
{
    const unsigned char *entry = p->names + i * p->name_size;
    size_t group = (size_t)entry[0] << 8 | entry[1];
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(p->data);
    struct str s = {NULL, 0};

    if (group < pcre2_get_ovector_count(p->data) &&
        at[2 * group] != PCRE2_UNSET) {
        s.p = p->subject.p + at[2 * group];
        s.n = at[2 * group + 1] - at[2 * group];
    }
    return s;
}
