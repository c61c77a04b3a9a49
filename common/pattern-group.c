/* SPDX-License-Identifier: Apache-2.0
 *
 * What may stand behind the "(?" of a group: names and flags.
 */
#include "pattern-parser.h"

int
parser_group_name(struct parser *p, bool *is_name)
{
    const char *s = p->text + p->pos;
    size_t left = p->len - p->pos, start = p->pos;
    size_t skip = 0;
    const char *end;

    if (left > 4 && s[2] == 'P' && s[3] == '<') {
        skip = 4;
    } else if (left > 3 && s[2] == '<' && s[3] != '=' && s[3] != '!') {
        skip = 3;
    }
    *is_name = skip > 0;
    if (!skip) {
        return DT_OK;
    }
    end = memchr(s + skip, '>', left - skip);
    if (!end || end == s + skip) {
        return parser_fail(p, start, "expected a name as in (?P<name>...)");
    }
    for (const char *c = s + skip; c < end; c++) {
        if (!rune_is_alnum((unsigned char)*c) && *c != '_') {
            return parser_fail(p, (size_t)(c - p->text),
                               "a group's name has letters, digits and _");
        }
    }
    p->pos = (size_t)(end - p->text) + 1;
    return DT_OK;
}

int
parser_group_flags(struct parser *p, bool *fold, bool *is_group)
{
    size_t start = p->pos;
    bool is_negative = false, has_flag = false;

    *fold = p->fold;
    for (p->pos += 2; p->pos < p->len; p->pos++) {
        switch (p->text[p->pos]) {
        case 'i':
            *fold = !is_negative;
            has_flag = true;
            continue;
        case 'm': /* no effect on one line */
        case 's':
        case 'U':
            has_flag = true;
            continue;
        case '-':
            if (is_negative) {
                break;
            }
            is_negative = true;
            has_flag = false;
            continue;
        case ':':
        case ')':
            if (is_negative && !has_flag) {
                break;
            }
            *is_group = p->text[p->pos++] == ':';
            return DT_OK;
        default:
            break;
        }
        return parser_fail(p, p->pos,
                           "expected flags (i, m, s, U), : or ) "
                           "behind (?; look-around and other "
                           "extensions are not supported");
    }
    return parser_fail(p, start,
                       "expected ) to close the group that begins "
                       "here");
}
