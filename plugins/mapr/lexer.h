/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a query (spec mapreduce 2).
 */
#ifndef MAPR_LEXER_H
#define MAPR_LEXER_H

#include "arena.h"
#include "text.h"

#define LEXER_MAX_TOKENS 4096u

struct token {
    struct str text; /* without the pair of backticks, if it had one */
    size_t at;       /* offset of its first byte in the query */
    size_t len;      /* bytes it takes there, quotes and backticks included */
    bool is_quoted;
    bool is_backticked;
};

struct tokens {
    struct token *v; /* of the arena */
    size_t nr;
};

/* Cuts the text, which must outlive the tokens. DT_OK, DT_ERR_NOMEM, or
 * DT_ERR_LIMIT for more than LEXER_MAX_TOKENS. */
int lexer_run(struct str query, struct arena *arena, struct tokens *out);

#endif
