/* SPDX-License-Identifier: Apache-2.0
 *
 * Patterns: from the source text to PCRE2 text and what the matcher wants to
 * know about it. The parser itself is in pattern-syntax.c.
 */
#include "pattern-parser.h"

#include "bytes.h"

#include <stdlib.h>

/* Takes the literal of `len` bytes at `from` of the arena. */
static int
take_literal(const struct parser *p, size_t from, size_t len,
             struct pattern *out)
{
    if (len == 0) {
        return DT_OK;
    }
    out->literal = malloc(len);
    if (!out->literal) {
        return DT_ERR_NOMEM;
    }
    memcpy(out->literal, p->arena.data + from, len);
    out->literal_len = len;
    for (size_t i = 0; i < len; i++) {
        if (!p->masks.data[from + i]) {
            continue;
        }
        out->mask = malloc(len);
        if (!out->mask) {
            return DT_ERR_NOMEM;
        }
        memcpy(out->mask, p->masks.data + from, len);
        break;
    }
    return DT_OK;
}

/* A copy of `text` with $ made good for lines that end in CR LF. Plain dollars
 * are written as \x{24}, so each $ is the assertion. A look-ahead, as \r?$
 * would eat what a \b behind it looks at. */
static int
write_crlf(const struct buf *text, struct pattern *out)
{
    struct buf copy = {0};
    int status = DT_OK;

    if (!memchr(text->data, '$', text->len)) {
        return DT_OK;
    }
    for (size_t i = 0; i < text->len && status == DT_OK; i++) {
        status = text->data[i] == '$' ? buf_puts(&copy, "(?=\\x{d}?$)")
                                      : buf_append(&copy, text->data + i, 1);
    }
    if (status == DT_OK) {
        status = buf_append(&copy, "", 1);
    }
    out->regex_crlf = copy.data;
    out->regex_crlf_len = copy.len - 1;
    return status;
}

static int
write_regex(struct parser *p, bool has_bars, unsigned flags,
            struct pattern *out)
{
    struct buf text = {0};
    /* (?=) in front turns off a JIT optimisation that loses matches (PCRE2
     * issue 336 and relatives); an alternation with an empty branch has
     * another fault, and stays with the interpreter. */
    bool is_risky = p->has_alternation || p->has_repeated_group;
    int status = buf_puts(&text, is_risky ? "(?=)" : "");

    if (status == DT_OK && (flags & PATTERN_IGNORE_CASE)) {
        status = buf_puts(&text, "(?i)");
    }
    if (status == DT_OK && has_bars) {
        status = buf_puts(&text, "(?:");
    }
    if (status == DT_OK) {
        status = buf_append(&text, p->out.data, p->out.len);
    }
    if (status == DT_OK && has_bars) {
        status = buf_puts(&text, ")");
    }
    if (status == DT_OK) {
        status = write_crlf(&text, out);
    }
    if (status == DT_OK) {
        status = buf_append(&text, "", 1);
    }
    out->regex = text.data;
    out->regex_len = text.len - 1;
    out->can_jit = !p->has_empty_branch;
    return status;
}

/* Bytes as they are, folded by ASCII when asked to. */
static int
take_bytes(struct parser *p, unsigned flags, struct pattern *out)
{
    int status = DT_OK;

    p->fold = flags & PATTERN_IGNORE_CASE;
    for (size_t i = 0; i < p->len && status == DT_OK; i++) {
        unsigned char lower = (unsigned char)p->text[i] | 0x20u;
        char mask = p->fold && lower >= 'a' && lower <= 'z' ? 0x20 : 0;
        char byte = (char)(p->text[i] | mask);

        status = buf_append(&p->arena, &byte, 1);
        if (status == DT_OK) {
            status = buf_append(&p->masks, &mask, 1);
        }
    }
    if (status == DT_OK) {
        status = take_literal(p, 0, p->len, out);
    }
    out->is_always = p->len == 0;
    out->is_literal = p->len > 0;
    return status;
}

static int
parse(struct parser *p, unsigned flags, struct pattern *out)
{
    struct extent whole;
    bool has_bars = false;
    int status;

    if ((flags & PATTERN_FIXED) &&
        (!(flags & PATTERN_IGNORE_CASE) ||
         bytes_utf8_valid(p->text, p->len) < p->len)) {
        return take_bytes(p, flags, out);
    }
    p->fold = flags & PATTERN_IGNORE_CASE;
    p->is_exact = true;
    status = flags & PATTERN_FIXED ? parser_fixed(p, &whole)
                                   : parser_syntax(p, &whole, &has_bars);
    if (status != DT_OK) {
        return status;
    }
    out->is_always = whole.is_always;
    out->is_literal = p->is_exact && !whole.is_always;
    if (!has_bars) {
        literals_end_run(&p->lit, p->arena.len);
        status = take_literal(p, p->lit.best, p->lit.best_len, out);
    }
    if (status == DT_OK && !out->is_literal && !out->is_always) {
        status = write_regex(p, has_bars, flags, out);
    }
    return status;
}

int
pattern_parse(const char *text, size_t len, unsigned flags, struct pattern *out,
              struct pattern_error *err)
{
    struct parser p = {.text = text, .len = len, .err = err};
    int status;

    *out = (struct pattern){.can_jit = true};
    if (len > PATTERN_MAX_LEN) {
        parser_fail(&p, PATTERN_MAX_LEN,
                    "the pattern has %zu bytes; at most %u are allowed", len,
                    PATTERN_MAX_LEN);
        return DT_ERR_LIMIT;
    }
    status = parse(&p, flags, out);
    if (status == DT_ERR_NOMEM) {
        parser_fail(&p, 0, "out of memory");
    }
    buf_fini(&p.out);
    buf_fini(&p.arena);
    buf_fini(&p.masks);
    if (status != DT_OK) {
        pattern_fini(out);
        return status;
    }
    out->is_never =
        out->is_literal && memchr(out->literal, '\n', out->literal_len);
    return DT_OK;
}

void
pattern_fini(struct pattern *p)
{
    free(p->regex);
    free(p->regex_crlf);
    free(p->literal);
    free(p->mask);
    *p = (struct pattern){0};
}
