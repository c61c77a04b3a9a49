/* SPDX-License-Identifier: Apache-2.0
 *
 * Characters of patterns: reading and writing them, and the runs of plain ones
 * that every match must contain.
 */
#include "pattern-parser.h"

#include "bytes.h"

#define RUNE_REPLACEMENT 0xfffdu

int
parser_fail(struct parser *p, size_t offset, const char *format, ...)
{
    va_list ap;

    if (p->err) {
        p->err->offset = offset;
        va_start(ap, format);
        vsnprintf(p->err->text, sizeof(p->err->text), format, ap);
        va_end(ap);
    }
    return DT_ERR_INVAL;
}

int
parser_rune(struct parser *p, uint32_t *rune)
{
    const unsigned char *s = (const unsigned char *)p->text + p->pos;
    size_t n = p->pos < p->len
                   ? bytes_utf8_char((const char *)s, p->text + p->len)
                   : 0;

    switch (n) {
    case 1:
        *rune = s[0];
        break;
    case 2:
        *rune = (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
        break;
    case 3:
        *rune = (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
        break;
    case 4:
        *rune = (s[0] & 0x07u) << 18 | (s[1] & 0x3fu) << 12 |
                (s[2] & 0x3fu) << 6 | (s[3] & 0x3fu);
        break;
    default:
        return p->pos < p->len
                   ? parser_fail(p, p->pos, "byte 0x%02x is not valid UTF-8",
                                 s[0])
                   : parser_fail(p, p->pos,
                                 "expected a character, not the "
                                 "end of the pattern");
    }
    p->pos += n;
    return DT_OK;
}

int
parser_write_rune(struct buf *out, uint32_t rune)
{
    char bytes[4];

    if (rune < 0x80 && !rune_is_alnum(rune)) {
        return buf_printf(out, "\\x{%x}", (unsigned)rune);
    }
    return buf_append(out, bytes, bytes_utf8_encode(rune, bytes));
}

void
literals_end_run(struct literals *lit, size_t end)
{
    if (end - lit->run > lit->best_len) {
        lit->best = lit->run;
        lit->best_len = end - lit->run;
    }
}

void
parser_break_run(struct parser *p)
{
    literals_end_run(&p->lit, p->arena.len);
    p->lit.run = p->arena.len;
    p->is_exact = false;
}

bool
parser_is_literal(const struct parser *p, uint32_t rune)
{
    uint32_t lower = rune | 0x20;

    if (rune == RUNE_REPLACEMENT || rune == '\n' ||
        (rune >= 0xd800 && rune <= 0xdfff)) {
        return false;
    }
    return !p->fold || (rune < 0x80 && lower != 'k' && lower != 's');
}

int
parser_add_literal(struct parser *p, uint32_t rune)
{
    char bytes[4], mask[4] = {0};
    size_t n = bytes_utf8_encode(rune, bytes);
    int status;

    if (p->fold && (rune | 0x20) >= 'a' && (rune | 0x20) <= 'z') {
        bytes[0] |= 0x20;
        mask[0] = 0x20;
    }
    status = buf_append(&p->arena, bytes, n);
    return status == DT_OK ? buf_append(&p->masks, mask, n) : status;
}
