/* SPDX-License-Identifier: Apache-2.0
 *
 * Discovery: inventories in JSON.
 */
#include "discovery.h"

#include <ctype.h>
#include <jansson.h>

#define MAX_ITEM 300u /* bytes; hostrange.h has the same limit */

struct inventory {
    const char *what;
    discovery_take_fn *take;
    void *ctx;
    bool has_hosts; /* a list was found, if an empty one */
};

static size_t
skip_blanks(const struct buf *text, size_t at)
{
    while (at < text->len && isspace((unsigned char)text->data[at])) {
        at++;
    }
    return at;
}

bool
discovery_is_json(const struct buf *text)
{
    size_t at = skip_blanks(text, 0);

    if (at == text->len || (text->data[at] != '{' && text->data[at] != '[')) {
        return false;
    }
    if (text->data[at] == '{') {
        return true;
    }
    at = skip_blanks(text, at + 1);
    return at == text->len || strchr("\"{]", text->data[at]) != NULL;
}

static int
odd(const struct inventory *inv, const char *where, struct error *err)
{
    return error_set(err, DT_ERR_INVAL,
                     "%s: %s: allowed are [ITEM, ...], {\"hosts\": [ITEM, "
                     "...]} and an object of those by group; an item is "
                     "\"HOST\" or {\"host\": \"HOST\", \"port\": PORT}",
                     inv->what, where);
}

static int
take_object(const struct inventory *inv, const json_t *item, struct error *err)
{
    const char *host = json_string_value(json_object_get(item, "host"));
    const json_t *port = json_object_get(item, "port");
    bool is_address = host && strchr(host, ':');
    char text[MAX_ITEM + 16];
    int len;

    if (!host || !*host || strlen(host) > MAX_ITEM ||
        (port && !json_is_integer(port))) {
        return odd(inv, "a host's object", err);
    }
    if (!port) {
        return inv->take(inv->ctx, host, strlen(host), err);
    }
    len =
        snprintf(text, sizeof(text), "%s%s%s:%lld", is_address ? "[" : "", host,
                 is_address ? "]" : "", (long long)json_integer_value(port));
    return len < (int)sizeof(text) ? inv->take(inv->ctx, text, (size_t)len, err)
                                   : odd(inv, "a host's object", err);
}

static int
take_items(struct inventory *inv, const json_t *list, struct error *err)
{
    const json_t *item;
    size_t i;
    int rc = DT_OK;

    inv->has_hosts = true;
    json_array_foreach(list, i, item)
    {
        if (json_is_object(item)) {
            rc = take_object(inv, item, err);
        } else if (json_string_length(item)) {
            rc = inv->take(inv->ctx, json_string_value(item),
                           json_string_length(item), err);
        } else {
            rc = odd(inv, "an item of the list", err);
        }
        if (rc != DT_OK) {
            break;
        }
    }
    return rc;
}

/* Members without "hosts" are variables, children and the like. */
static int
take_groups(struct inventory *inv, json_t *groups, struct error *err)
{
    const char *name;
    json_t *group;

    json_object_foreach(groups, name, group)
    {
        const json_t *hosts = json_object_get(group, "hosts");
        int rc = DT_OK;

        if (json_is_array(hosts)) {
            rc = take_items(inv, hosts, err);
        }
        if (rc != DT_OK) {
            return rc;
        }
    }
    return inv->has_hosts ? DT_OK : odd(inv, "no list of hosts", err);
}

int
discovery_inventory(const char *what, const struct buf *text,
                    discovery_take_fn *take, void *ctx, struct error *err)
{
    struct inventory inv = {.what = what, .take = take, .ctx = ctx};
    json_error_t bad;
    json_t *root = json_loadb(text->data, text->len, 0, &bad);
    const json_t *hosts = json_object_get(root, "hosts");
    int rc;

    if (!root) {
        return error_set(err, DT_ERR_INVAL, "%s: line %d, column %d: %s", what,
                         bad.line, bad.column, bad.text);
    }
    if (json_is_array(root) || json_is_array(hosts)) {
        rc = take_items(&inv, json_is_array(root) ? root : hosts, err);
    } else if (hosts) {
        rc = odd(&inv, "\"hosts\" is no list", err);
    } else {
        rc = take_groups(&inv, root, err);
    }
    json_decref(root);
    return rc;
}
