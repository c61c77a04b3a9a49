/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing array of bytes and a list of strings.
 */
#include "buf.h"

#include <stdlib.h>

void
buf_fini(struct buf *b)
{
    free(b->data);
    *b = (struct buf){0};
}

int
buf_reserve(struct buf *b, size_t more)
{
    size_t want, cap;
    char *data;

    if (__builtin_add_overflow(b->len, more, &want)) {
        return DT_ERR_NOMEM;
    }
    if (want <= b->cap) {
        return DT_OK;
    }
    cap = b->cap ? b->cap : 64;
    while (cap < want) {
        if (__builtin_mul_overflow(cap, 2, &cap)) {
            cap = want;
        }
    }
    data = realloc(b->data, cap);
    if (!data) {
        return DT_ERR_NOMEM;
    }
    b->data = data;
    b->cap = cap;
    return DT_OK;
}

int
buf_append(struct buf *b, const void *data, size_t len)
{
    if (buf_reserve(b, len) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    if (len) {
        memcpy(b->data + b->len, data, len);
    }
    b->len += len;
    return DT_OK;
}

int
buf_puts(struct buf *b, const char *text)
{
    return buf_append(b, text, strlen(text));
}

int
buf_printf(struct buf *b, const char *format, ...)
{
    va_list ap;
    int need;

    va_start(ap, format);
    need = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (need < 0 || buf_reserve(b, (size_t)need + 1) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    va_start(ap, format);
    vsnprintf(b->data + b->len, (size_t)need + 1, format, ap);
    va_end(ap);
    b->len += (size_t)need;
    return DT_OK;
}

void
buf_consume(struct buf *b, size_t len)
{
    if (len >= b->len) {
        b->len = 0;
        return;
    }
    memmove(b->data, b->data + len, b->len - len);
    b->len -= len;
}

void
buf_shrink(struct buf *b, size_t keep)
{
    char *data;

    if (b->cap <= keep || b->len > keep) {
        return;
    }
    if (keep == 0) {
        buf_fini(b);
        return;
    }
    data = realloc(b->data, keep);
    if (data) {
        b->data = data;
        b->cap = keep;
    }
}

void
strv_fini(struct strv *s)
{
    for (size_t i = 0; i < s->nr; i++) {
        free(s->v[i]);
    }
    free(s->v);
    *s = (struct strv){0};
}

int
strv_add_n(struct strv *s, const char *text, size_t len)
{
    char *copy;

    if (s->nr == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 8;
        char **v = reallocarray(s->v, cap, sizeof(*v));

        if (!v) {
            return DT_ERR_NOMEM;
        }
        s->v = v;
        s->cap = cap;
    }
    copy = malloc(len + 1);
    if (!copy) {
        return DT_ERR_NOMEM;
    }
    memcpy(copy, text, len);
    copy[len] = '\0';
    s->v[s->nr++] = copy;
    return DT_OK;
}

int
strv_add(struct strv *s, const char *text)
{
    return strv_add_n(s, text, strlen(text));
}
