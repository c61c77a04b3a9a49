/* SPDX-License-Identifier: Apache-2.0
 *
 * The log format `logfmt`: key=value pairs between blanks; a value may be
 * quoted, with \" \\ \n \t \r inside; a key without = has the value "true".
 */
#include "logformat.h"

#include <stdlib.h>

struct logfmt {
    struct keys keys;
};

static int
logfmt_open(struct logformat *f, char *err, size_t err_size)
{
    struct logfmt *l = calloc(1, sizeof(*l));

    (void)err;
    (void)err_size;
    if (!l || keys_make(&l->keys, f->plan) < 0) {
        free(l);
        return DT_ERR_NOMEM;
    }
    f->state = l;
    return DT_OK;
}

static void
logfmt_close(struct logformat *f)
{
    struct logfmt *l = f->state;

    keys_fini(&l->keys);
    free(l);
}

/* Behind the opening quote; *p comes to stand behind the closing one. False:
 * it does not end. value->p == NULL: out of memory. */
static bool
take_quoted(struct arena *scratch, const char **p, const char *end,
            struct str *value)
{
    const char *start = *p, *stop = start;
    bool escaped = false;
    char *copy, *to;

    for (; stop < end && *stop != '"'; stop++) {
        if (*stop == '\\') {
            escaped = true;
            stop++;
        }
    }
    if (stop >= end) {
        return false;
    }
    *p = stop + 1;
    value->p = start;
    value->n = (size_t)(stop - start);
    if (!escaped) {
        return true;
    }
    to = copy = arena_alloc(scratch, value->n + 1);
    value->p = copy;
    for (; copy && start < stop; start++) {
        if (*start == '\\') {
            start++;
            *to++ = *start == 'n'   ? '\n'
                    : *start == 't' ? '\t'
                    : *start == 'r' ? '\r'
                                    : *start;
        } else {
            *to++ = *start;
        }
    }
    value->n = (size_t)(to - copy);
    return true;
}

static int
logfmt_line(struct logformat *f, const struct dt_block *b, size_t offset,
            struct str line)
{
    const struct logfmt *l = f->state;
    const char *p = line.p, *end = line.p + line.n;
    struct str *values = logformat_begin(f);

    while (p < end) {
        struct str name = {p, 0}, value = {"true", 4};
        uint32_t slot;

        if (*p == ' ' || *p == '\t') {
            p++;
            continue;
        }
        while (p < end && *p != '=' && *p != ' ' && *p != '\t') {
            p++;
        }
        name.n = (size_t)(p - name.p);
        if (p < end && *p == '=') {
            p++;
            if (p < end && *p == '"') {
                p++;
                if (!take_quoted(&f->run->scratch, &p, end, &value)) {
                    f->stats.rejects[REJECT_QUOTES]++;
                    return DT_OK;
                }
                if (!value.p) {
                    return DT_ERR_NOMEM;
                }
            } else {
                value.p = p;
                while (p < end && *p != ' ' && *p != '\t') {
                    p++;
                }
                value.n = (size_t)(p - value.p);
            }
        }
        slot = keys_find(&l->keys, name.p, name.n);
        if (slot != PLAN_NONE) {
            values[slot] = value;
        }
        if (f->sample_left) {
            hints_add(&f->hints, name);
        }
    }
    return logformat_row(f, b, offset, line);
}

static int
logfmt_feed(struct logformat *f, const struct dt_block *b)
{
    return logformat_each_line(f, b, logfmt_line);
}

const struct logformat_ops logformat_logfmt = {
    .name = "logfmt",
    .open = logfmt_open,
    .feed = logfmt_feed,
    .close = logfmt_close,
};
