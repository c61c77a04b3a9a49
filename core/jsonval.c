/* SPDX-License-Identifier: Apache-2.0
 *
 * Members of JSON objects, checked.
 */
#include "jsonval.h"

#include "base64.h"
#include "cleanup.h"

int
jsonval_parse(const void *text, size_t len, json_t **out, struct error *err)
{
    json_error_t where;

    *out = json_loadb(len ? text : "", len, JSON_REJECT_DUPLICATES, &where);
    if (!*out) {
        /* where memory ran out jansson mostly has no text at all */
        bool nomem =
            !*where.text || json_error_code(&where) == json_error_out_of_memory;

        if (nomem) {
            return error_set(err, DT_ERR_NOMEM, "out of memory");
        }
        return error_set(err, DT_ERR_PROTO, "line %d, column %d: %s",
                         where.line, where.column, where.text);
    }
    if (!json_is_object(*out)) {
        json_decref(*out);
        *out = NULL;
        return error_set(err, DT_ERR_PROTO, "a JSON object is expected");
    }
    return DT_OK;
}

static int
append(const char *data, size_t len, void *ctx)
{
    return buf_append(ctx, data, len) == DT_OK ? 0 : -1;
}

int
jsonval_format(json_t *object, int failed, struct buf *out)
{
    size_t before = out->len;

    if (!failed && object) {
        failed = json_dump_callback(object, append, out, JSON_COMPACT);
    }
    if (failed || !object) {
        out->len = before;
        failed = -1;
    }
    json_decref(object);
    return failed ? DT_ERR_NOMEM : DT_OK;
}

/* The member; NULL: absent or null. */
static json_t *
get(const json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);

    return json_is_null(value) ? NULL : value;
}

int
jsonval_bool(const json_t *object, const char *name, bool *out,
             struct error *err)
{
    const json_t *value = get(object, name);

    if (value && !json_is_boolean(value)) {
        return error_set(err, DT_ERR_PROTO, "%s: true or false is expected",
                         name);
    }
    *out = value ? json_is_true(value) : *out;
    return DT_OK;
}

int
jsonval_int(const json_t *object, const char *name, int64_t min, int64_t max,
            int64_t *out, struct error *err)
{
    const json_t *value = get(object, name);
    json_int_t number;

    if (!value) {
        return DT_OK;
    }
    if (!json_is_integer(value)) {
        return error_set(err, DT_ERR_PROTO, "%s: an integer is expected", name);
    }
    number = json_integer_value(value);
    if (number < min || number > max) {
        return error_set(err, DT_ERR_LIMIT,
                         "%s: %lld is not allowed, %lld to %lld are", name,
                         (long long)number, (long long)min, (long long)max);
    }
    *out = number;
    return DT_OK;
}

/* The bytes of {"base64": "…"}. */
static int
decode_base64(const json_t *value, const char *what, size_t max, char **out,
              size_t *len, struct error *err)
{
    const json_t *text = json_object_get(value, "base64");
    size_t text_len = json_string_length(text);
    CLEANUP_FREE char *data = NULL;

    if (!json_is_string(text) || json_object_size(value) != 1) {
        return error_set(err, DT_ERR_PROTO,
                         "%s: a string or {\"base64\": \"…\"} is expected",
                         what);
    }
    if (text_len / 4 > max / 3 + 1) {
        return error_set(err, DT_ERR_LIMIT,
                         "%s: longer than the %zu bytes that are allowed", what,
                         max);
    }
    data = malloc(base64_decoded_max(text_len) + 1);
    if (!data) {
        return error_set(err, DT_ERR_NOMEM, "%s: out of memory", what);
    }
    if (!base64_decode(data, len, json_string_value(text), text_len)) {
        return error_set(err, DT_ERR_PROTO, "%s: this is not base64", what);
    }
    data[*len] = '\0';
    *out = STEAL_PTR(data);
    return DT_OK;
}

int
jsonval_bytes_of(const json_t *value, const char *what, size_t max, char **out,
                 size_t *len, struct error *err)
{
    CLEANUP_FREE char *data = NULL;
    size_t n = 0;

    if (json_is_object(value)) {
        int rc = decode_base64(value, what, max, &data, &n, err);

        if (rc != DT_OK) {
            return rc;
        }
    } else if (json_is_string(value)) {
        n = json_string_length(value);
        data = n <= max ? malloc(n + 1) : NULL;
        if (n <= max && !data) {
            return error_set(err, DT_ERR_NOMEM, "%s: out of memory", what);
        }
        if (data) {
            memcpy(data, json_string_value(value), n + 1);
        }
    } else {
        return error_set(err, DT_ERR_PROTO, "%s: a string is expected", what);
    }
    if (n > max) {
        return error_set(err, DT_ERR_LIMIT,
                         "%s: %zu bytes, at most %zu are allowed", what, n,
                         max);
    }
    if (!len && strlen(data) != n) {
        return error_set(err, DT_ERR_PROTO, "%s: a NUL is not allowed", what);
    }
    if (len) {
        *len = n;
    }
    free(*out);
    *out = STEAL_PTR(data);
    return DT_OK;
}

int
jsonval_bytes(const json_t *object, const char *name, size_t max, char **out,
              size_t *len, struct error *err)
{
    const json_t *value = get(object, name);

    return value ? jsonval_bytes_of(value, name, max, out, len, err) : DT_OK;
}

int
jsonval_array(const json_t *object, const char *name, size_t max, json_t **out,
              struct error *err)
{
    *out = get(object, name);
    if (*out && !json_is_array(*out)) {
        return error_set(err, DT_ERR_PROTO, "%s: an array is expected", name);
    }
    if (json_array_size(*out) > max) {
        return error_set(err, DT_ERR_LIMIT,
                         "%s: %zu elements, at most %zu are allowed", name,
                         json_array_size(*out), max);
    }
    return DT_OK;
}

int
jsonval_put(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value);
}

json_t *
jsonval_from_bytes(const char *data, size_t len)
{
    CLEANUP_FREE char *text = NULL;
    size_t text_len = base64_encoded_len(len);
    json_t *value = NULL;

    if (len == 0 || !memchr(data, '\0', len)) {
        value = json_stringn(len ? data : "", len); /* NULL: not UTF-8 */
    }
    if (value) {
        return value;
    }
    text = malloc(text_len ? text_len : 1);
    if (!text) {
        return NULL;
    }
    base64_encode(text, data, len);
    value = json_object();
    if (json_object_set_new(value, "base64", json_stringn(text, text_len))) {
        json_decref(value);
        return NULL;
    }
    return value;
}
