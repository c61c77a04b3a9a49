/* SPDX-License-Identifier: Apache-2.0
 *
 * The server's JSON payloads: HELLO (both ways) and END. Members that
 * are not known are skipped, so that older clients understand newer servers.
 */
#include "cleanup.h"
#include "jsonval.h"
#include "request.h"

#define MAX_NAME 256u      /* bytes of a name or version */
#define MAX_MESSAGE 65536u /* bytes of the message of an END */
#define MAX_PLUGINS 1000u

/* JSON numbers of jansson are signed. */
static json_t *
counter(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static int
parse_counter(const json_t *o, const char *name, uint64_t *out,
              struct error *err)
{
    int64_t value = 0;
    int rc = jsonval_int(o, name, 0, INT64_MAX, &value, err);

    *out = (uint64_t)value;
    return rc;
}

static int
parse_u32(const json_t *o, const char *name, uint32_t *out, struct error *err)
{
    int64_t value = 0;
    int rc = jsonval_int(o, name, 0, UINT32_MAX, &value, err);

    *out = (uint32_t)value;
    return rc;
}

static int
put_text(json_t *o, const char *name, const char *text)
{
    return text ? jsonval_put(o, name, jsonval_from_bytes(text, strlen(text)))
                : 0;
}

/* ---- END ---- */

void
query_end_fini(struct query_end *e)
{
    free(e->message);
    *e = (struct query_end){0};
}

int
query_end_parse(const void *json, size_t len, struct query_end *out,
                struct error *err)
{
    json_t *o;
    int64_t status = 0;
    int rc = jsonval_parse(json, len, &o, err);

    if (rc == DT_OK) {
        rc = jsonval_int(o, "status", INT32_MIN, INT32_MAX, &status, err);
        rc = rc ? rc
                : jsonval_bytes(o, "message", MAX_MESSAGE, &out->message, NULL,
                                err);
        rc = rc ? rc : parse_counter(o, "bytes_read", &out->bytes_read, err);
        rc = rc ? rc : parse_counter(o, "lines_read", &out->lines_read, err);
        rc = rc ? rc : parse_counter(o, "lines_sent", &out->lines_sent, err);
        rc = rc ? rc : parse_u32(o, "sources", &out->sources, err);
        rc = rc ? rc : parse_u32(o, "failed", &out->failed, err);
        rc = rc ? rc : parse_u32(o, "broken", &out->broken, err);
        rc = rc ? rc : jsonval_bool(o, "turbo", &out->turbo, err);
        out->status = (int)status;
        json_decref(o);
    }
    if (rc != DT_OK) {
        error_prefix(err, "END");
        query_end_fini(out);
    }
    return rc;
}

int
query_end_format(const struct query_end *e, struct buf *out)
{
    json_t *o = json_object();
    size_t len = e->message ? strlen(e->message) : 0;
    int failed = 0;

    failed |= jsonval_put(o, "status", json_integer(e->status));
    if (e->message) {
        failed |=
            jsonval_put(o, "message",
                        jsonval_from_bytes(
                            e->message, len < MAX_MESSAGE ? len : MAX_MESSAGE));
    }
    failed |= jsonval_put(o, "bytes_read", counter(e->bytes_read));
    failed |= jsonval_put(o, "lines_read", counter(e->lines_read));
    failed |= jsonval_put(o, "lines_sent", counter(e->lines_sent));
    failed |= jsonval_put(o, "sources", json_integer(e->sources));
    failed |= jsonval_put(o, "failed", json_integer(e->failed));
    failed |= jsonval_put(o, "broken", json_integer(e->broken));
    failed |= jsonval_put(o, "turbo", json_boolean(e->turbo));
    return jsonval_format(o, failed, out);
}

/* ---- HELLO ---- */

void
hello_fini(struct hello *h)
{
    for (size_t i = 0; i < h->nr_plugins; i++) {
        free(h->plugins[i].name);
        free(h->plugins[i].version);
    }
    free(h->plugins);
    free(h->version);
    free(h->host);
    *h = (struct hello){0};
}

static int
parse_plugin(const json_t *o, struct hello_plugin *p, struct error *err)
{
    int rc;

    if (!json_is_object(o)) {
        return error_set(err, DT_ERR_PROTO, "an object is expected");
    }
    rc = jsonval_bytes(o, "name", MAX_NAME, &p->name, NULL, err);
    if (rc == DT_OK && (!p->name || !*p->name)) {
        rc = error_set(err, DT_ERR_PROTO, "name is missing");
    }
    rc =
        rc ? rc : jsonval_bytes(o, "version", MAX_NAME, &p->version, NULL, err);
    rc = rc ? rc : parse_u32(o, "flags", &p->flags, err);
    rc = rc ? rc : parse_u32(o, "partial_format", &p->partial_format, err);
    return rc ? rc : jsonval_bool(o, "turbo", &p->turbo, err);
}

static int
parse_plugins(const json_t *o, struct hello *h, struct error *err)
{
    json_t *array;
    int rc = jsonval_array(o, "plugins", MAX_PLUGINS, &array, err);

    if (rc != DT_OK || json_array_size(array) == 0) {
        return rc;
    }
    h->plugins = calloc(json_array_size(array), sizeof(*h->plugins));
    if (!h->plugins) {
        return error_set(err, DT_ERR_NOMEM, "plugins: out of memory");
    }
    for (size_t i = 0; i < json_array_size(array) && rc == DT_OK; i++) {
        h->nr_plugins++;
        rc = parse_plugin(json_array_get(array, i), &h->plugins[i], err);
        if (rc != DT_OK) {
            error_prefix(err, "plugins[%zu]", i);
        }
    }
    return rc;
}

int
hello_parse(const void *json, size_t len, struct hello *out, struct error *err)
{
    json_t *o;
    int64_t protocol = 0;
    int rc = jsonval_parse(json, len, &o, err);

    if (rc == DT_OK) {
        rc = jsonval_int(o, "protocol", 1, INT32_MAX, &protocol, err);
        if (rc == DT_OK && protocol == 0) {
            rc = error_set(err, DT_ERR_PROTO, "protocol is missing");
        }
        rc = rc ? rc
                : jsonval_bytes(o, "version", MAX_NAME, &out->version, NULL,
                                err);
        rc =
            rc ? rc : jsonval_bytes(o, "host", MAX_NAME, &out->host, NULL, err);
        rc = rc ? rc : parse_plugins(o, out, err);
        out->protocol = (int)protocol;
        json_decref(o);
    }
    if (rc != DT_OK) {
        error_prefix(err, "HELLO");
        hello_fini(out);
    }
    return rc;
}

static json_t *
format_plugin(const struct hello_plugin *p)
{
    json_t *o = json_object();
    int failed = 0;

    failed |= put_text(o, "name", p->name);
    failed |= put_text(o, "version", p->version);
    failed |= jsonval_put(o, "flags", json_integer(p->flags));
    failed |= jsonval_put(o, "partial_format", json_integer(p->partial_format));
    failed |= jsonval_put(o, "turbo", json_boolean(p->turbo));
    if (failed) {
        json_decref(o);
        return NULL;
    }
    return o;
}

int
hello_format(const struct hello *h, struct buf *out)
{
    json_t *o = json_object();
    json_t *array = h->nr_plugins ? json_array() : NULL;
    int failed = 0;

    failed |= jsonval_put(o, "protocol", json_integer(h->protocol));
    failed |= put_text(o, "version", h->version);
    failed |= put_text(o, "host", h->host);
    for (size_t i = 0; i < h->nr_plugins; i++) {
        failed |= json_array_append_new(array, format_plugin(&h->plugins[i]));
    }
    if (h->nr_plugins) {
        failed |= jsonval_put(o, "plugins", array);
    }
    return jsonval_format(o, failed, out);
}
