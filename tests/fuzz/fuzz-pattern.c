/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes patterns and the matcher. The input is a byte of flags, a pattern up
 * to the first newline (which may stand in it as \n only), and a text. What is
 * refused has an offset inside the pattern and a message; what is accepted
 * finds the same lines by block, by its literal and line by line.
 */
#include "fuzz.h"
#include "match.h"

#include <string.h>

#define MAX_PATTERN 256u
#define MAX_TEXT 2048u

/* Expensive patterns are the fuzzer's favourites: a search asks so often. */
#define MAX_QUESTIONS 2000u

static bool
is_enough(void *ctx)
{
    unsigned *left = ctx;

    return *left == 0 || --*left == 0;
}

/* Which lines are selected, by a byte each; false when it took too long. */
static bool
search(const struct match_args *args, unsigned hooks, const char *text,
       size_t len, char *selected)
{
    struct match_args forced = *args;
    unsigned left = MAX_QUESTIONS;
    struct match_state *s = NULL;
    struct match *m = NULL;
    size_t start, end, behind = 0;
    int rc;

    forced.hooks = hooks;
    fuzz_require(match_compile(&forced, &m, NULL) == DT_OK);
    fuzz_require(match_state_new(m, is_enough, &left, &s) == DT_OK);
    memset(selected, 0, len);
    match_begin(s, text, len);
    while ((rc = match_next(s, &start, &end)) == 1) {
        fuzz_require(start >= behind && start < end && end <= len);
        fuzz_require(start == 0 || text[start - 1] == '\n');
        fuzz_require(end == len || text[end - 1] == '\n');
        memset(selected + start, 1, end - start);
        behind = end;
    }
    fuzz_require(rc == 0 || rc == DT_ERR_LIMIT || rc == DT_ERR_CANCELLED);
    if (rc < 0) {
        fuzz_require(match_error_offset(s) < len);
        fuzz_require(match_error_text(s)[0] != '\0');
    }
    match_state_free(s);
    match_free(m);
    return rc == 0;
}

static void
compare(const struct match_args *args, const char *text, size_t len)
{
    static const unsigned ways[] = {0, MATCH_BY_BLOCK, MATCH_BY_FILTER,
                                    MATCH_NO_JIT | MATCH_BY_LINE};
    char wanted[MAX_TEXT], got[MAX_TEXT];
    bool has_wanted = false;

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        if (!search(args, ways[i], text, len, has_wanted ? got : wanted)) {
            continue;
        }
        fuzz_require(!has_wanted || memcmp(wanted, got, len) == 0);
        has_wanted = true;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *newline = len ? memchr(data, '\n', len) : NULL;
    struct match_term term;
    struct match_args args = {.terms = &term, .nr_terms = 1};
    struct match_error err;
    struct match *m = NULL;
    char *text;

    if (len < 2 || !newline) {
        return 0;
    }
    term = (struct match_term){(const char *)data + 1,
                               (size_t)(newline - (const char *)data) - 1,
                               data[0] & 1};
    if ((const uint8_t *)newline == data || term.len > MAX_PATTERN) {
        return 0;
    }
    args.invert = data[0] & 2;
    args.ignore_case = data[0] & 4;
    args.is_fixed = data[0] & 8;
    if (match_compile(&args, &m, &err) != DT_OK) {
        fuzz_require(!m && err.offset <= term.len);
        fuzz_require(strncmp(err.text, "pattern \"", 9) == 0);
        return 0;
    }
    match_free(m);
    len -= (size_t)((const uint8_t *)newline + 1 - data);
    len = len < MAX_TEXT ? len : MAX_TEXT;
    text = calloc(1, len + BYTES_SLACK);
    fuzz_require(text);
    memcpy(text, newline + 1, len);
    compare(&args, text, len);
    free(text);
    return 0;
}
