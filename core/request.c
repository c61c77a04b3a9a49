/* SPDX-License-Identifier: Apache-2.0
 *
 * The client's JSON payloads: QUERY and CANCEL. Members that are not known are
 * skipped, so that newer clients can ask older servers.
 */
#include "request.h"

#include "cleanup.h"
#include "jsonval.h"
#include "request-source.h"

#define MAX_NAME 256u             /* bytes of a plugin's or argument's name */
#define MAX_FILE 16384u           /* bytes of a file name or glob */
#define MAX_MS (366 * 86400000ll) /* longest time that may be asked for */

void
query_spec_fini(struct query_spec *s)
{
    free(s->plugin);
    strv_fini(&s->files);
    for (size_t i = 0; i < s->nr_args; i++) {
        free(s->args[i].name);
        free(s->args[i].value);
    }
    free(s->args);
    for (size_t i = 0; i < s->nr_resume; i++) {
        source_desc_fini(&s->resume[i]);
    }
    free(s->resume);
    *s = (struct query_spec){0};
}

/* Appends an argument whose strings then belong to the spec. */
static int
take_arg(struct query_spec *s, char *name, char *value, size_t len)
{
    struct request_arg *args;

    if (s->nr_args >= REQUEST_MAX_ARGS) {
        return DT_ERR_LIMIT;
    }
    args = reallocarray(s->args, s->nr_args + 1, sizeof(*args));
    if (!args) {
        return DT_ERR_NOMEM;
    }
    s->args = args;
    args[s->nr_args++] =
        (struct request_arg){.name = name, .value = value, .value_len = len};
    return DT_OK;
}

int
query_spec_add_arg(struct query_spec *s, const char *name, const void *value,
                   size_t len)
{
    CLEANUP_FREE char *name_copy = NULL;
    CLEANUP_FREE char *value_copy = NULL;
    int rc;

    if (len > REQUEST_MAX_VALUE || strlen(name) > MAX_NAME) {
        return DT_ERR_LIMIT;
    }
    name_copy = strdup(name);
    value_copy = malloc(len + 1);
    if (!name_copy || !value_copy) {
        return DT_ERR_NOMEM;
    }
    if (len) {
        memcpy(value_copy, value, len);
    }
    value_copy[len] = '\0';
    rc = take_arg(s, name_copy, value_copy, len);
    if (rc == DT_OK) {
        (void)STEAL_PTR(name_copy);
        (void)STEAL_PTR(value_copy);
    }
    return rc;
}

const char *
query_spec_arg(const struct query_spec *s, const char *name, size_t index,
               size_t *len)
{
    for (size_t i = 0; i < s->nr_args; i++) {
        if (strcmp(s->args[i].name, name) == 0 && index-- == 0) {
            if (len) {
                *len = s->args[i].value_len;
            }
            return s->args[i].value;
        }
    }
    return NULL;
}

/* Appends a position whose strings then belong to the spec. */
static int
take_resume(struct query_spec *s, const struct source_desc *d)
{
    struct source_desc *resume;

    if (s->nr_resume >= REQUEST_MAX_RESUME) {
        return DT_ERR_LIMIT;
    }
    resume = reallocarray(s->resume, s->nr_resume + 1, sizeof(*resume));
    if (!resume) {
        return DT_ERR_NOMEM;
    }
    s->resume = resume;
    resume[s->nr_resume++] = *d;
    return DT_OK;
}

int
query_spec_add_resume(struct query_spec *s, const struct source_desc *d)
{
    struct source_desc copy;
    int rc = source_desc_copy(&copy, d);

    if (rc == DT_OK) {
        rc = take_resume(s, &copy);
        if (rc != DT_OK) {
            source_desc_fini(&copy);
        }
    }
    return rc;
}

int
query_spec_copy(struct query_spec *to, const struct query_spec *from)
{
    int rc = DT_OK;

    *to = *from;
    to->plugin = NULL;
    to->files = (struct strv){0};
    to->args = NULL;
    to->nr_args = 0;
    to->resume = NULL;
    to->nr_resume = 0;
    if (from->plugin) {
        to->plugin = strdup(from->plugin);
        rc = to->plugin ? DT_OK : DT_ERR_NOMEM;
    }
    for (size_t i = 0; i < from->files.nr && rc == DT_OK; i++) {
        rc = strv_add(&to->files, from->files.v[i]);
    }
    for (size_t i = 0; i < from->nr_args && rc == DT_OK; i++) {
        rc = query_spec_add_arg(to, from->args[i].name, from->args[i].value,
                                from->args[i].value_len);
    }
    for (size_t i = 0; i < from->nr_resume && rc == DT_OK; i++) {
        rc = query_spec_add_resume(to, &from->resume[i]);
    }
    if (rc != DT_OK) {
        query_spec_fini(to);
    }
    return rc;
}

static int
parse_files(const json_t *object, struct strv *files, struct error *err)
{
    json_t *array;
    int rc = jsonval_array(object, "files", REQUEST_MAX_FILES, &array, err);

    for (size_t i = 0; i < json_array_size(array) && rc == DT_OK; i++) {
        CLEANUP_FREE char *file = NULL;
        char what[32];

        snprintf(what, sizeof(what), "files[%zu]", i);
        rc = jsonval_bytes_of(json_array_get(array, i), what, MAX_FILE, &file,
                              NULL, err);
        if (rc == DT_OK && strv_add(files, file) != DT_OK) {
            rc = error_set(err, DT_ERR_NOMEM, "%s: out of memory", what);
        }
    }
    return rc;
}

/* One element of `args`. */
static int
parse_arg(const json_t *object, struct query_spec *s, struct error *err)
{
    CLEANUP_FREE char *name = NULL;
    CLEANUP_FREE char *value = NULL;
    size_t len = 0;
    int rc;

    if (!json_is_object(object)) {
        return error_set(err, DT_ERR_PROTO,
                         "{\"name\": …, \"value\": …} is expected");
    }
    rc = jsonval_bytes(object, "name", MAX_NAME, &name, NULL, err);
    if (rc == DT_OK) {
        rc = jsonval_bytes(object, "value", REQUEST_MAX_VALUE, &value, &len,
                           err);
    }
    if (rc != DT_OK) {
        return rc;
    }
    if (!name || !*name || !value) {
        return error_set(err, DT_ERR_PROTO, "%s is missing",
                         name && *name ? "value" : "name");
    }
    rc = take_arg(s, name, value, len);
    if (rc != DT_OK) {
        return error_set(err, rc, "%s", dt_strerror(rc));
    }
    (void)STEAL_PTR(name);
    (void)STEAL_PTR(value);
    return DT_OK;
}

static int
parse_args(const json_t *object, struct query_spec *s, struct error *err)
{
    json_t *array;
    int rc = jsonval_array(object, "args", REQUEST_MAX_ARGS, &array, err);

    for (size_t i = 0; i < json_array_size(array) && rc == DT_OK; i++) {
        rc = parse_arg(json_array_get(array, i), s, err);
        if (rc != DT_OK) {
            error_prefix(err, "args[%zu]", i);
        }
    }
    return rc;
}

static int
parse_resume(const json_t *object, struct query_spec *s, struct error *err)
{
    json_t *array;
    int rc = jsonval_array(object, "resume", REQUEST_MAX_RESUME, &array, err);

    for (size_t i = 0; i < json_array_size(array) && rc == DT_OK; i++) {
        struct source_desc d = {0};

        rc = source_desc_from_json(json_array_get(array, i), &d, err);
        if (rc == DT_OK && (!d.path || !*d.path)) {
            rc = error_set(err, DT_ERR_PROTO, "path is missing");
        }
        if (rc == DT_OK) {
            rc = take_resume(s, &d);
        }
        if (rc != DT_OK) {
            error_prefix(err, "resume[%zu]", i);
            source_desc_fini(&d);
        }
    }
    return rc;
}

/* A number from 1, as queries have it; required. */
static int
parse_id(const json_t *object, uint32_t *out, struct error *err)
{
    int64_t id = 0;
    int rc = jsonval_int(object, "id", 1, UINT32_MAX, &id, err);

    if (rc == DT_OK && id == 0) {
        rc = error_set(err, DT_ERR_PROTO, "id is missing");
    }
    *out = rc == DT_OK ? (uint32_t)id : 0;
    return rc;
}

static int
parse_members(const json_t *o, struct query_spec *s, struct error *err)
{
    int64_t format = 0;
    int rc = parse_id(o, &s->id, err);

    rc = rc ? rc : jsonval_bytes(o, "plugin", MAX_NAME, &s->plugin, NULL, err);
    if (rc == DT_OK && (!s->plugin || !*s->plugin)) {
        rc = error_set(err, DT_ERR_PROTO, "plugin is missing");
    }
    rc = rc ? rc : parse_files(o, &s->files, err);
    rc = rc ? rc : parse_args(o, s, err);
    rc = rc ? rc : jsonval_bool(o, "plain", &s->plain, err);
    rc = rc ? rc : jsonval_bool(o, "turbo_off", &s->turbo_off, err);
    rc = rc ? rc : jsonval_bool(o, "follow", &s->follow, err);
    rc = rc ? rc : jsonval_bool(o, "last", &s->last, err);
    rc = rc ? rc : jsonval_int(o, "timeout_ms", 0, MAX_MS, &s->timeout_ms, err);
    rc = rc ? rc
            : jsonval_int(o, "interval_ms", 0, MAX_MS, &s->interval_ms, err);
    rc =
        rc ? rc : jsonval_int(o, "partial_format", 0, UINT32_MAX, &format, err);
    s->partial_format = (uint32_t)format;
    rc = rc ? rc : jsonval_bool(o, "from_start", &s->from_start, err);
    rc = rc ? rc
            : jsonval_int(o, "last_lines", 0, INT64_MAX, &s->last_lines, err);
    return rc ? rc : parse_resume(o, s, err);
}

int
query_spec_parse(const void *json, size_t len, struct query_spec *out,
                 struct error *err)
{
    json_t *o;
    int rc = jsonval_parse(json, len, &o, err);

    if (rc == DT_OK) {
        rc = parse_members(o, out, err);
        json_decref(o);
    }
    if (rc != DT_OK) {
        error_prefix(err, "QUERY");
        query_spec_fini(out);
    }
    return rc;
}

static json_t *
format_args(const struct query_spec *s)
{
    json_t *array = json_array();

    for (size_t i = 0; i < s->nr_args; i++) {
        const struct request_arg *a = &s->args[i];
        json_t *o = json_object();
        int failed = 0;

        failed |= jsonval_put(o, "name",
                              jsonval_from_bytes(a->name, strlen(a->name)));
        failed |=
            jsonval_put(o, "value", jsonval_from_bytes(a->value, a->value_len));
        if (failed) {
            json_decref(o);
            o = NULL;
        }
        if (json_array_append_new(array, o)) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *
format_resume(const struct query_spec *s)
{
    json_t *array = json_array();

    for (size_t i = 0; i < s->nr_resume; i++) {
        if (json_array_append_new(array, source_desc_to_json(&s->resume[i]))) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *
format_files(const struct strv *files)
{
    json_t *array = json_array();

    for (size_t i = 0; i < files->nr; i++) {
        const char *file = files->v[i];

        if (json_array_append_new(array,
                                  jsonval_from_bytes(file, strlen(file)))) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

int
query_spec_format(const struct query_spec *s, struct buf *out)
{
    json_t *o = json_object();
    const char *plugin = s->plugin ? s->plugin : "";
    int failed = 0;

    failed |= jsonval_put(o, "id", json_integer(s->id));
    failed |=
        jsonval_put(o, "plugin", jsonval_from_bytes(plugin, strlen(plugin)));
    failed |= jsonval_put(o, "files", format_files(&s->files));
    failed |= jsonval_put(o, "args", format_args(s));
    failed |= jsonval_put(o, "plain", json_boolean(s->plain));
    failed |= jsonval_put(o, "turbo_off", json_boolean(s->turbo_off));
    failed |= jsonval_put(o, "follow", json_boolean(s->follow));
    failed |= jsonval_put(o, "last", json_boolean(s->last));
    failed |= jsonval_put(o, "timeout_ms", json_integer(s->timeout_ms));
    failed |= jsonval_put(o, "interval_ms", json_integer(s->interval_ms));
    failed |= jsonval_put(o, "partial_format", json_integer(s->partial_format));
    if (s->follow) {
        failed |= jsonval_put(o, "from_start", json_boolean(s->from_start));
        failed |= jsonval_put(o, "last_lines", json_integer(s->last_lines));
        failed |= jsonval_put(o, "resume", format_resume(s));
    }
    return jsonval_format(o, failed, out);
}

int
cancel_parse(const void *json, size_t len, uint32_t *id, bool *finish,
             struct error *err)
{
    json_t *o;
    int rc = jsonval_parse(json, len, &o, err);

    *id = 0;
    *finish = false;
    if (rc == DT_OK) {
        rc = parse_id(o, id, err);
        rc = rc ? rc : jsonval_bool(o, "finish", finish, err);
        json_decref(o);
    }
    if (rc != DT_OK) {
        error_prefix(err, "CANCEL");
    }
    return rc;
}

int
cancel_format(uint32_t id, bool finish, struct buf *out)
{
    json_t *o = json_object();

    bool failed = jsonval_put(o, "id", json_integer(id));

    if (finish) {
        failed |= jsonval_put(o, "finish", json_true());
    }
    return jsonval_format(o, failed, out);
}

int
authkey_parse(const void *json, size_t len, char **key, struct error *err)
{
    json_t *o;
    int rc = jsonval_parse(json, len, &o, err);

    *key = NULL;
    if (rc == DT_OK) {
        rc = jsonval_bytes(o, "key", REQUEST_MAX_VALUE, key, NULL, err);
        json_decref(o);
    }
    if (rc == DT_OK && !*key && !(*key = strdup(""))) {
        rc = error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    if (rc != DT_OK) {
        error_prefix(err, "AUTHKEY");
    }
    return rc;
}

int
authkey_format(const char *key, size_t len, struct buf *out)
{
    json_t *o = json_object();

    return jsonval_format(
        o, jsonval_put(o, "key", jsonval_from_bytes(key, len)), out);
}
