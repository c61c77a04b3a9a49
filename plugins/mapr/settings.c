/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin's `Config` object.
 */
#include "settings.h"

#include "json.h"
#include "numbers.h"

#include <stdlib.h>

struct reading {
    struct settings *s;
    int status;
    char *err;
    size_t err_size;
};

static bool
take_string(struct reading *r, const struct json_value *v, char **to)
{
    if (v->type != 's') {
        r->status = DT_ERR_INVAL;
        snprintf(r->err, r->err_size, "Config.%.*s: a string is expected",
                 (int)v->path.n, v->path.p);
        return true;
    }
    free(*to);
    *to = strndup(v->text.p, v->text.n);
    return *to != NULL;
}

static void
take_budget(struct reading *r, const struct json_value *v)
{
    int64_t mib = 0;

    if (v->type != 'n' || numbers_parse_int(v->text, &mib) != NUMBERS_OK ||
        mib < 1 || mib > SETTINGS_MAX_BUDGET_MIB) {
        r->status = DT_ERR_INVAL;
        snprintf(r->err, r->err_size,
                 "Config.MemoryBudgetMiB: a whole number from 1 to %d is "
                 "expected",
                 SETTINGS_MAX_BUDGET_MIB);
        return;
    }
    r->s->budget = (size_t)mib << 20;
}

static bool
take_member(void *ctx, const struct json_value *v)
{
    struct reading *r = ctx;

    if (v->path.n == 0) {
        return true; /* the object itself */
    }
    if (str_is(v->path, "MapreduceLogFormat")) {
        return take_string(r, v, &r->s->logformat);
    }
    if (str_is(v->path, "Custom1")) {
        return take_string(r, v, &r->s->custom[0]);
    }
    if (str_is(v->path, "Custom2")) {
        return take_string(r, v, &r->s->custom[1]);
    }
    if (str_is(v->path, "MemoryBudgetMiB")) {
        take_budget(r, v);
        return true;
    }
    r->status = DT_ERR_INVAL;
    snprintf(r->err, r->err_size,
             "Config.%.*s: there is no such member; there are "
             "MapreduceLogFormat, MemoryBudgetMiB, Custom1 and Custom2",
             (int)v->path.n, v->path.p);
    return true;
}

int
settings_read(struct settings *s, const char *json, char *err, size_t err_size)
{
    struct reading r = {s, DT_OK, err, err_size};
    struct arena scratch = {0};
    struct str text = str_of(json && *json ? json : "{}");
    enum json_result result;

    memset(s, 0, sizeof(*s));
    s->budget = (size_t)SETTINGS_BUDGET_MIB << 20;
    result = json_scan(text, &scratch, take_member, &r);
    arena_fini(&scratch);
    if (result == JSON_NOMEM) {
        r.status = DT_ERR_NOMEM;
    } else if (result == JSON_BAD) {
        r.status = DT_ERR_INVAL;
        snprintf(err, err_size, "Config is not a JSON object");
    }
    if (r.status < 0) {
        settings_fini(s);
    }
    return r.status;
}

void
settings_fini(struct settings *s)
{
    free(s->logformat);
    free(s->custom[0]);
    free(s->custom[1]);
    memset(s, 0, sizeof(*s));
}
