/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources in JSON payloads.
 */
#include "request-source.h"

#include "cleanup.h"
#include "jsonval.h"

#define MAX_SHOWN 65536u     /* bytes of the shown name and of the path */
#define MAX_FINGERPRINT 512u /* bytes */

void
source_desc_fini(struct source_desc *d)
{
    free(d->name);
    free(d->path);
    free(d->fingerprint);
    free(d->state);
    *d = (struct source_desc){0};
}

int
source_desc_copy(struct source_desc *to, const struct source_desc *from)
{
    *to = *from;
    to->name = malloc(from->name_len + 1);
    to->path = from->path ? strdup(from->path) : NULL;
    to->fingerprint = from->fingerprint ? strdup(from->fingerprint) : NULL;
    to->state = NULL;
    to->state_len = 0;
    if (!to->name || (from->path && !to->path) ||
        (from->fingerprint && !to->fingerprint)) {
        source_desc_fini(to);
        return DT_ERR_NOMEM;
    }
    memcpy(to->name, from->name, from->name_len);
    to->name[from->name_len] = '\0';
    if (source_desc_set_state(to, from->state, from->state_len) != DT_OK) {
        source_desc_fini(to);
        return DT_ERR_NOMEM;
    }
    return DT_OK;
}

int
source_desc_set_state(struct source_desc *d, const void *state, size_t len)
{
    char *copy = NULL;

    if (len) {
        copy = malloc(len);
        if (!copy) {
            return DT_ERR_NOMEM;
        }
        memcpy(copy, state, len);
    }
    free(d->state);
    d->state = copy;
    d->state_len = len;
    return DT_OK;
}

/* dev and ino use all 64 bits, which JSON numbers do not carry safely: they
 * travel as decimal text. */
static json_t *
number_text(uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    return json_string(text);
}

static int
parse_number_text(const json_t *o, const char *name, uint64_t *out,
                  struct error *err)
{
    CLEANUP_FREE char *text = NULL;
    int rc = jsonval_bytes(o, name, 20, &text, NULL, err);
    uint64_t value = 0;

    if (rc != DT_OK || !text) {
        return rc;
    }
    for (const char *s = text; *s || s == text; s++) {
        if (*s < '0' || *s > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*s - '0'), &value)) {
            return error_set(err, DT_ERR_PROTO,
                             "%s: a decimal number of 64 bits in quotes is "
                             "expected",
                             name);
        }
    }
    *out = value;
    return DT_OK;
}

int
source_desc_from_json(const json_t *o, struct source_desc *out,
                      struct error *err)
{
    int64_t generation = 0;
    int rc =
        jsonval_bytes(o, "name", MAX_SHOWN, &out->name, &out->name_len, err);

    if (rc == DT_OK && !out->name) {
        rc = error_set(err, DT_ERR_PROTO, "name is missing");
    }
    rc = rc ? rc : jsonval_bytes(o, "path", MAX_SHOWN, &out->path, NULL, err);
    rc =
        rc ? rc : jsonval_int(o, "generation", 0, UINT32_MAX, &generation, err);
    out->generation = (uint32_t)generation;
    rc = rc ? rc : parse_number_text(o, "dev", &out->dev, err);
    rc = rc ? rc : parse_number_text(o, "ino", &out->ino, err);
    rc = rc ? rc : parse_number_text(o, "offset", &out->offset, err);
    rc = rc ? rc
            : jsonval_bytes(o, "state", DT_STATE_MAX, &out->state,
                            &out->state_len, err);
    return rc ? rc
              : jsonval_bytes(o, "fingerprint", MAX_FINGERPRINT,
                              &out->fingerprint, NULL, err);
}

json_t *
source_desc_to_json(const struct source_desc *d)
{
    json_t *o = json_object();
    int failed = 0;

    failed |= jsonval_put(o, "name", jsonval_from_bytes(d->name, d->name_len));
    failed |= jsonval_put(o, "generation", json_integer(d->generation));
    if (d->path) {
        failed |= jsonval_put(o, "path",
                              jsonval_from_bytes(d->path, strlen(d->path)));
    }
    if (d->dev || d->ino || d->offset) { /* followed: what a resume needs */
        failed |= jsonval_put(o, "dev", number_text(d->dev));
        failed |= jsonval_put(o, "ino", number_text(d->ino));
        failed |= jsonval_put(o, "offset", number_text(d->offset));
    }
    if (d->state_len) {
        failed |=
            jsonval_put(o, "state", jsonval_from_bytes(d->state, d->state_len));
    }
    if (d->fingerprint) {
        failed |= jsonval_put(o, "fingerprint", json_string(d->fingerprint));
    }
    if (failed) {
        json_decref(o);
        o = NULL;
    }
    return o;
}

int
source_desc_parse(const void *json, size_t len, struct source_desc *out,
                  struct error *err)
{
    json_t *o;
    int rc = jsonval_parse(json, len, &o, err);

    if (rc == DT_OK) {
        rc = source_desc_from_json(o, out, err);
        json_decref(o);
    }
    if (rc != DT_OK) {
        error_prefix(err, "SOURCE");
        source_desc_fini(out);
    }
    return rc;
}

int
source_desc_format(const struct source_desc *d, struct buf *out)
{
    json_t *o = source_desc_to_json(d);

    return o ? jsonval_format(o, 0, out) : DT_ERR_NOMEM;
}
