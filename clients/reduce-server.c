/* SPDX-License-Identifier: Apache-2.0
 *
 * What a client knows of one server.
 */
#include "reduce-server.h"

#include "plugin.h"

#include <stdlib.h>

#define MAX_SOURCES (1u << 20) /* of one query at one server */
#define MAX_HOST 255u          /* bytes of a host name that a server tells */

int
reduce_server_init(struct reduce_server *s, size_t nr_streams, const char *host)
{
    s->streams = calloc(nr_streams, sizeof(*s->streams));
    if (!s->streams) {
        return DT_ERR_NOMEM;
    }
    s->nr_streams = nr_streams;
    if (host) {
        s->host = strdup(host);
        s->summary.has_hello = true;
    }
    return host && !s->host ? DT_ERR_NOMEM : DT_OK;
}

void
reduce_server_restart(struct reduce_server *s)
{
    for (size_t q = 0; q < s->nr_streams; q++) {
        struct reduce_stream *stream = &s->streams[q];

        for (size_t n = 0; n < stream->nr_sources; n++) {
            printer_source_free(stream->sources[n].printed);
        }
        free(stream->sources);
        *stream = (struct reduce_stream){
            .has_origin = stream->has_origin, /* it is the same server */
            .origin = stream->origin,
        };
    }
    s->summary = (struct reduce_summary){0};
}

void
reduce_server_fini(struct reduce_server *s)
{
    reduce_server_restart(s);
    free(s->streams);
    free(s->host);
}

/* The server's plugin must write what ours reads. */
static int
check_format(const struct hello *h, const struct reduce_query *rq,
             struct error *err)
{
    const struct dt_plugin *own;

    if (!rq->instance) {
        return DT_OK;
    }
    own = plugin_descriptor(rq->plugin);
    for (size_t i = 0; i < h->nr_plugins; i++) {
        const struct hello_plugin *p = &h->plugins[i];

        if (strcmp(p->name, own->name) == 0 &&
            p->partial_format != own->partial_format) {
            return error_set(
                err, DT_ERR_ABI,
                "plugin %s %s of the server writes partial results in "
                "format %u, plugin %s %s of this client reads format "
                "%u: install the same version at both ends",
                p->name, p->version, p->partial_format, own->name, own->version,
                own->partial_format);
        }
    }
    return DT_OK;
}

int
reduce_server_hello(struct reduce_server *s, const struct wire_frame *f,
                    const struct reduce_query *queries, struct error *err)
{
    struct hello h = {0};
    int rc = hello_parse(f->data, f->len, &h, err);

    if (rc != DT_OK) {
        return rc;
    }
    if (h.protocol != WIRE_PROTOCOL) {
        rc = error_set(
            err, DT_ERR_PROTO,
            "the server (version %s) speaks protocol %d, this client %d",
            h.version ? h.version : "?", h.protocol, WIRE_PROTOCOL);
    }
    for (size_t i = 0; rc == DT_OK && i < s->nr_streams; i++) {
        rc = check_format(&h, &queries[i], err);
    }
    if (!s->host && h.host && *h.host && strlen(h.host) <= MAX_HOST) {
        s->host = h.host;
        h.host = NULL;
    }
    s->summary.has_hello = true;
    hello_fini(&h);
    return rc;
}

struct reduce_source *
reduce_server_source(struct reduce_stream *stream, uint32_t id,
                     struct error *err)
{
    size_t nr = stream->nr_sources;
    struct reduce_source *v;

    if (id >= MAX_SOURCES) {
        error_set(err, DT_ERR_LIMIT, "too many sources");
        return NULL;
    }
    if (id >= nr) {
        nr = (size_t)id + 1 > nr * 2 ? (size_t)id + 1 : nr * 2;
        v = reallocarray(stream->sources, nr, sizeof(*v));
        if (!v) {
            error_set(err, DT_ERR_NOMEM, "out of memory");
            return NULL;
        }
        memset(v + stream->nr_sources, 0,
               (nr - stream->nr_sources) * sizeof(*v));
        stream->sources = v;
        stream->nr_sources = nr;
    }
    return &stream->sources[id];
}

void
reduce_server_switch(struct reduce_server *s)
{
    bool has_hello = s->summary.has_hello;

    reduce_server_restart(s);
    s->summary.has_hello = has_hello;
}
