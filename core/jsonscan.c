/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the members of valid JSON text stand.
 */
#include "jsonscan.h"

static bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t
skip_space(const char *text, size_t at, size_t end)
{
    while (at < end && is_space(text[at])) {
        at++;
    }
    return at;
}

/* Behind the string whose opening quote is at `at`. */
static size_t
skip_string(const char *text, size_t at, size_t end)
{
    for (at++; at < end && text[at] != '"'; at++) {
        if (text[at] == '\\') {
            at++;
        }
    }
    return at < end ? at + 1 : end;
}

static bool
ends_word(char c)
{
    return is_space(c) || c == ',' || c == ':' || c == ']' || c == '}';
}

/* Behind the object or array whose bracket is at `at`. */
static size_t
skip_brackets(const char *text, size_t at, size_t end)
{
    size_t depth = 0;

    while (at < end) {
        char c = text[at];

        if (c == '"') {
            at = skip_string(text, at, end);
            continue;
        }
        at++;
        if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return at;
        }
    }
    return end;
}

/* Behind the value at `at`, which is below `end`. */
static size_t
skip_value(const char *text, size_t at, size_t end)
{
    if (text[at] == '"') {
        return skip_string(text, at, end);
    }
    if (text[at] == '{' || text[at] == '[') {
        return skip_brackets(text, at, end);
    }
    while (at < end && !ends_word(text[at])) {
        at++;
    }
    return at;
}

struct jsonscan_slice
jsonscan_value(const char *text, size_t at, size_t end)
{
    struct jsonscan_slice s = {.at = skip_space(text, at, end)};

    if (s.at < end) {
        s.len = skip_value(text, s.at, end) - s.at;
    }
    return s;
}

struct jsonscan
jsonscan_enter(const char *text, struct jsonscan_slice slice)
{
    struct jsonscan s = {.text = text, .at = slice.at, .end = slice.at};

    if (slice.len >= 2) {
        s.at = slice.at + 1;
        s.end = slice.at + slice.len - 1;
    }
    return s;
}

bool
jsonscan_next(struct jsonscan *s, bool is_object, struct jsonscan_member *out)
{
    size_t at = skip_space(s->text, s->at, s->end);

    if (at < s->end && s->text[at] == ',') {
        at = skip_space(s->text, at + 1, s->end);
    }
    if (at >= s->end) {
        return false;
    }
    out->key = (struct jsonscan_slice){.at = at};
    if (is_object) {
        out->key.len = skip_value(s->text, at, s->end) - at;
        at = skip_space(s->text, at + out->key.len, s->end);
        if (at >= s->end || s->text[at] != ':') {
            return false;
        }
        at++;
    }
    out->value = jsonscan_value(s->text, at, s->end);
    s->at = out->value.at + out->value.len;
    return out->value.len > 0;
}

size_t
jsonscan_depth(const char *text, size_t len)
{
    size_t depth = 0, deepest = 0;

    for (size_t at = 0; at < len;) {
        if (text[at] == '"') {
            at = skip_string(text, at, len);
            continue;
        }
        if (text[at] == '{' || text[at] == '[') {
            depth++;
            deepest = depth > deepest ? depth : deepest;
        } else if ((text[at] == '}' || text[at] == ']') && depth > 0) {
            depth--;
        }
        at++;
    }
    return deepest;
}

void
jsonscan_position(const char *text, size_t at, size_t *line, size_t *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            ++*column;
        }
    }
}
