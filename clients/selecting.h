/* SPDX-License-Identifier: Apache-2.0
 *
 * The flags that select lines, shared by dgrep and dtail, and what they mean
 * for a query.
 */
#ifndef CLIENTS_SELECTING_H
#define CLIENTS_SELECTING_H

#include "client.h"

/* The second member of a command's options struct, behind struct flags. */
struct selecting {
    const char *regex;
    const char *grep; /* other name; wins when not empty */
    struct strv and_patterns;
    struct strv not_patterns;
    bool invert;
    bool ignore_case;
    bool fixed;
    int64_t before;
    int64_t after;
    int64_t max;
};

#define SELECTING_ROW(type, name, type_id, member, def, text, help)      \
    {                                                                    \
        name, type_id, offsetof(type, selecting.member), def, text, help \
    }

/* Rows for the table of a command whose options are `type`. */
#define SELECTING_FLAGS(type)                                                 \
    SELECTING_ROW(type, "regex", OPTION_STRING, regex, 0, ".",                \
                  "Pattern of the lines to select, in Go's (RE2) syntax"),    \
        SELECTING_ROW(type, "grep", OPTION_STRING, grep, 0, "",               \
                      "Other name of regex"),                                 \
        SELECTING_ROW(type, "and", OPTION_LIST, and_patterns, 0, NULL,        \
                      "Lines must match this pattern, too; repeatable"),      \
        SELECTING_ROW(type, "not", OPTION_LIST, not_patterns, 0, NULL,        \
                      "Lines must not match this pattern; repeatable"),       \
        SELECTING_ROW(type, "invert", OPTION_BOOL, invert, 0, NULL,           \
                      "Select the lines that do not match"),                  \
        SELECTING_ROW(type, "ignore-case", OPTION_BOOL, ignore_case, 0, NULL, \
                      "Letters stand for both cases"),                        \
        SELECTING_ROW(type, "fixed", OPTION_BOOL, fixed, 0, NULL,             \
                      "Patterns are plain text"),                             \
        SELECTING_ROW(type, "before", OPTION_INT, before, 0, NULL,            \
                      "Lines of leading context"),                            \
        SELECTING_ROW(type, "after", OPTION_INT, after, 0, NULL,              \
                      "Lines of trailing context"),                           \
        SELECTING_ROW(type, "max", OPTION_INT, max, 0, NULL,                  \
                      "End a file after that many selected lines")

/* Checks the patterns, before any connection, and adds the arguments of the
 * plugins grep and tail; c->spans shows their matches. DT_OK, or err says which
 * pattern is wrong, where. */
int selecting_add(const struct selecting *s, struct client *c,
                  struct query_spec *q, struct error *err);

#endif
