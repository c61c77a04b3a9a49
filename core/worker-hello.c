/* SPDX-License-Identifier: Apache-2.0
 *
 * What worker and client say first: the worker names itself and its plugins.
 */
#include "worker-hello.h"

#include "request.h"
#include "wire.h"

#include <stdlib.h>

int
worker_hello(const struct worker_args *a, struct outq *out)
{
    size_t nr = plugins_count(a->plugins);
    struct hello hello = {.protocol = WIRE_PROTOCOL,
                          .version = (char *)(uintptr_t)PACKAGE_VERSION,
                          .host = (char *)(uintptr_t)a->host};
    struct buf json = {0};
    const char *reason;
    int rc;

    hello.plugins = calloc(nr ? nr : 1, sizeof(*hello.plugins));
    if (!hello.plugins) {
        return DT_ERR_NOMEM;
    }
    for (size_t i = 0; i < nr; i++) {
        const struct plugin *p = plugins_at(a->plugins, i);
        const struct dt_plugin *d = plugin_descriptor(p);

        if (plugin_refused(p)) {
            continue;
        }
        hello.plugins[hello.nr_plugins++] = (struct hello_plugin){
            .name = (char *)(uintptr_t)d->name,
            .version = (char *)(uintptr_t)d->version,
            .flags = d->flags,
            .partial_format = d->partial_format,
            .turbo = plugin_turbo(p, &reason),
        };
    }
    rc = hello_format(&hello, &json);
    free(hello.plugins);
    if (rc == DT_OK) {
        const struct wire_frame f = {
            .type = WIRE_S_HELLO, .data = json.data, .len = json.len};
        rc = outq_post(out, &f);
    }
    buf_fini(&json);
    return rc;
}

int
worker_check_hello(const struct wire_frame *f, struct error *err)
{
    struct hello hello = {0};
    int rc = hello_parse(f->data, f->len, &hello, err);

    if (rc == DT_OK && hello.protocol != WIRE_PROTOCOL) {
        rc = error_set(err, DT_ERR_ABI,
                       "the client speaks protocol %d, this server %d",
                       hello.protocol, WIRE_PROTOCOL);
    }
    hello_fini(&hello);
    return rc;
}

int
worker_check_order(struct worker_order *o, const struct wire_frame *f,
                   struct error *err)
{
    bool is_hello = f->type == WIRE_C_HELLO;
    bool is_query = f->type == WIRE_C_QUERY || f->type == WIRE_C_UPDATE;

    if (is_hello && o->is_greeted) {
        return error_set(err, DT_ERR_PROTO, "a session has one HELLO only");
    }
    if (!is_hello && !o->is_greeted && f->type <= WIRE_C_BYE) {
        return error_set(err, DT_ERR_PROTO, "HELLO is to come first");
    }
    if (is_query && o->is_over) {
        return error_set(err, DT_ERR_PROTO, "no query may come behind BYE");
    }
    o->is_greeted |= is_hello;
    o->is_over |= f->type == WIRE_C_BYE;
    return DT_OK;
}
