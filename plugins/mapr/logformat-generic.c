/* SPDX-License-Identifier: Apache-2.0
 *
 * The log formats without fields of their own, and `regex`, whose fields are
 * the named groups of a pattern.
 */
#include "logformat.h"

#include <stdlib.h>

static int
generic_line(struct logformat *f, const struct dt_block *b, size_t offset,
             struct str line)
{
    logformat_begin(f);
    return logformat_row(f, b, offset, line);
}

static int
generic_feed(struct logformat *f, const struct dt_block *b)
{
    return logformat_each_line(f, b, generic_line);
}

struct regex {
    struct linepattern *pattern;
    uint32_t *slots; /* by named group */
    size_t nr;
};

static void
regex_close(struct logformat *f)
{
    struct regex *r = f->state;

    linepattern_free(r->pattern);
    free(r->slots);
    free(r);
}

static int
regex_open(struct logformat *f, char *err, size_t err_size)
{
    struct regex *r = calloc(1, sizeof(*r));
    int status;

    if (!r) {
        return DT_ERR_NOMEM;
    }
    f->state = r;
    status =
        linepattern_new(f->format_pattern, true, &r->pattern, err, err_size);
    if (status < 0) {
        return status;
    }
    r->nr = linepattern_nr_names(r->pattern);
    if (r->nr == 0) {
        snprintf(err, err_size,
                 "the pattern of the log format has no named group, as "
                 "(?P<name>…)");
        return DT_ERR_INVAL;
    }
    r->slots = calloc(r->nr, sizeof(*r->slots));
    if (!r->slots) {
        return DT_ERR_NOMEM;
    }
    for (size_t i = 0; i < r->nr; i++) {
        struct str name = linepattern_name(r->pattern, i);

        r->slots[i] = plan_slot(f->plan, name);
        hints_add(&f->hints, name);
    }
    return DT_OK;
}

static int
regex_line(struct logformat *f, const struct dt_block *b, size_t offset,
           struct str line)
{
    const struct regex *r = f->state;
    struct str *values;

    switch (linepattern_match(r->pattern, line, &f->run->scratch)) {
    case LINEPATTERN_YES:
        break;
    case LINEPATTERN_NO:
        f->stats.rejects[REJECT_NO_MATCH]++;
        return DT_OK;
    case LINEPATTERN_LIMIT:
        f->stats.rejects[REJECT_EXPENSIVE]++;
        return DT_OK;
    case LINEPATTERN_NOMEM:
    default:
        return DT_ERR_NOMEM;
    }
    values = logformat_begin(f);
    for (size_t i = 0; i < r->nr; i++) {
        struct str s = linepattern_capture(r->pattern, i);

        if (r->slots[i] != PLAN_NONE && s.p) {
            values[r->slots[i]] = s;
        }
    }
    return logformat_row(f, b, offset, line);
}

static int
regex_feed(struct logformat *f, const struct dt_block *b)
{
    return logformat_each_line(f, b, regex_line);
}

const struct logformat_ops logformat_generic = {
    .name = "generic",
    .feed = generic_feed,
};

const struct logformat_ops logformat_regex = {
    .name = "regex",
    .open = regex_open,
    .feed = regex_feed,
    .close = regex_close,
};
