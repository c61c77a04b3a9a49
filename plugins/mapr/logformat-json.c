/* SPDX-License-Identifier: Apache-2.0
 *
 * The log format `json`: one object a line. A nested member is called a.b, an
 * element of an array a.0. A string is its text, true and false are words,
 * null is a missing field, an object or array is its own JSON text. Of two
 * members of one name the last counts.
 */
#include "json.h"
#include "logformat.h"

#include <stdlib.h>

struct json {
    struct keys keys;
    struct logformat *f;
    struct str *values;
};

static int
json_open(struct logformat *f, char *err, size_t err_size)
{
    struct json *j = calloc(1, sizeof(*j));

    (void)err;
    (void)err_size;
    if (!j || keys_make(&j->keys, f->plan) < 0) {
        free(j);
        return DT_ERR_NOMEM;
    }
    j->f = f;
    f->state = j;
    return DT_OK;
}

static void
json_close(struct logformat *f)
{
    struct json *j = f->state;

    keys_fini(&j->keys);
    free(j);
}

static bool
json_take(void *ctx, const struct json_value *v)
{
    struct json *j = ctx;
    uint32_t slot =
        v->path.n ? keys_find(&j->keys, v->path.p, v->path.n) : PLAN_NONE;

    if (slot != PLAN_NONE) {
        j->values[slot] = v->text;
        if (v->type == 0) {
            j->values[slot] = j->f->constants[slot];
        }
    }
    if (j->f->sample_left) {
        hints_add(&j->f->hints, v->path);
    }
    return true;
}

static int
json_line(struct logformat *f, const struct dt_block *b, size_t offset,
          struct str line)
{
    struct json *j = f->state;
    enum json_result r;

    if (line.n == 0) {
        f->stats.ignored++;
        return DT_OK;
    }
    j->values = logformat_begin(f);
    r = line.p[0] == '{' ? json_scan(line, &f->run->scratch, json_take, j)
                         : JSON_BAD;
    if (r == JSON_NOMEM) {
        return DT_ERR_NOMEM;
    }
    if (r == JSON_BAD) {
        f->stats.rejects[REJECT_JSON]++;
        return DT_OK;
    }
    return logformat_row(f, b, offset, line);
}

static int
json_feed(struct logformat *f, const struct dt_block *b)
{
    return logformat_each_line(f, b, json_line);
}

const struct logformat_ops logformat_json = {
    .name = "json",
    .open = json_open,
    .feed = json_feed,
    .close = json_close,
};
