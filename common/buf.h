/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing array of bytes and a list of strings.
 */
#ifndef COMMON_BUF_H
#define COMMON_BUF_H

#include <dtail/plugin.h>

/* Caller's memory; all zero is empty. Not thread-safe. */
struct buf {
    char *data;
    size_t len; /* bytes used */
    size_t cap; /* bytes allocated */
};

/* Frees the memory; the buffer is empty afterwards. */
void buf_fini(struct buf *b);
/* Makes room for `more` further bytes. DT_OK or DT_ERR_NOMEM. */
int buf_reserve(struct buf *b, size_t more);
/* Append; DT_OK or DT_ERR_NOMEM (then nothing was appended). */
int buf_append(struct buf *b, const void *data, size_t len);
int buf_puts(struct buf *b, const char *text);
int buf_printf(struct buf *b, const char *format, ...) DT_PRINTF(2, 3);
/* Drops `len` bytes at the front. */
void buf_consume(struct buf *b, size_t len);
/* Gives memory back when more than `keep` bytes are allocated and the contents
 * fit into `keep`. */
void buf_shrink(struct buf *b, size_t keep);

/* A list of strings, all owned; all zero is empty. */
struct strv {
    char **v;
    size_t nr;
    size_t cap;
};

void strv_fini(struct strv *s);
/* Appends a copy of `len` bytes and a NUL. DT_OK or DT_ERR_NOMEM. */
int strv_add_n(struct strv *s, const char *text, size_t len);
int strv_add(struct strv *s, const char *text);

#endif
