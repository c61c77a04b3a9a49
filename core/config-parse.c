/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings from JSON text. jansson says whether the text is JSON and decodes
 * keys and values; the walk over objects is jsonscan's, so that each message
 * names a place and a repeated key works as in the Go program: an object goes
 * on where the first left off, and of values the later wins.
 */
#include "config-parse.h"

#include "cleanup.h"
#include "config-value.h"

static int apply_members(struct config_reader *r, const struct config_place *at,
                         const char *prefix, void *base);

/* Calls `each` for the members of the object at `at`, null ones left out.
 * `key` is the decoded name. */
typedef int member_fn(struct config_reader *r, const struct config_place *at,
                      const struct jsonscan_member *m, const char *key,
                      void *ctx);

static int
for_members(struct config_reader *r, const struct config_place *at,
            member_fn *each, void *ctx)
{
    struct jsonscan scan = jsonscan_enter(r->text, at->slice);
    struct jsonscan_member m;
    int rc = DT_OK;

    if (r->text[at->slice.at] != '{') {
        return config_value_fail(r, at, "an object is expected");
    }
    while (rc == DT_OK && jsonscan_next(&scan, true, &m)) {
        json_t *key = config_value_decode(r, m.key);

        if (!key) {
            return config_value_nomem(r);
        }
        rc = each(r, at, &m, json_string_value(key), ctx);
        json_decref(key);
    }
    return rc;
}

static bool
is_null(const struct config_reader *r, struct jsonscan_slice s)
{
    return r->text[s.at] == 'n';
}

/* ---- lists of elements ---- */

/* What for_members hands on. */
struct into {
    const struct config_row *row;
    const char *prefix;
    void *base;
};

static int
add_element(struct config_reader *r, const struct config_place *at,
            const struct into *into, void **out)
{
    int rc = config_row_add(into->row, into->base, out);

    if (rc == DT_ERR_LIMIT) {
        return config_value_fail(r, at, "at most %lld are allowed",
                                 (long long)into->row->max);
    }
    return rc == DT_OK ? DT_OK : config_value_nomem(r);
}

/* A name as plugins have it (include/dtail/plugin.h). */
static bool
is_plugin_name(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return name[0] >= 'a' && name[0] <= 'z' && name[len] == '\0' && len <= 32;
}

static int
apply_plugin(struct config_reader *r, const struct config_place *at,
             const struct jsonscan_member *m, const char *key, void *ctx)
{
    const struct into *into = ctx;
    struct config_plugin *plugin;
    struct config_place member;
    void *element;
    int rc;

    if (!is_plugin_name(key)) {
        member = *at;
        member.slice = m->key;
        return config_value_fail(
            r, &member,
            "\"%.64s\" is no name of a plugin; allowed are a letter, then "
            "letters, digits and dashes, lower case, at most 32",
            key);
    }
    if (is_null(r, m->value)) {
        return DT_OK;
    }
    config_place_enter(&member, at, key, m->value);
    plugin = (struct config_plugin *)(uintptr_t)config_find_plugin(r->c, key);
    if (!plugin) {
        rc = add_element(r, &member, into, &element);
        if (rc != DT_OK) {
            return rc;
        }
        plugin = element;
        plugin->name = strdup(key);
        if (!plugin->name) {
            return config_value_nomem(r);
        }
    }
    return apply_members(r, &member, into->prefix, plugin);
}

/* Rules of one user. */
static int
apply_user(struct config_reader *r, const struct config_place *at,
           const struct jsonscan_member *m, const char *key, void *ctx)
{
    const struct into *into = ctx;
    struct config_server *server = &r->c->server;
    struct config_user_rules *user = NULL;
    struct config_place member;
    void *element;
    int rc;

    config_place_enter(&member, at, key, m->value);
    if (is_null(r, m->value)) {
        return DT_OK;
    }
    for (size_t i = 0; i < server->nr_permissions_users; i++) {
        if (strcmp(server->permissions_users[i].user, key) == 0) {
            user = &server->permissions_users[i];
        }
    }
    if (!user) {
        rc = add_element(r, &member, into, &element);
        if (rc != DT_OK) {
            return rc;
        }
        user = element;
        user->user = strdup(key);
        if (!user->user) {
            return config_value_nomem(r);
        }
    }
    /* the same as for the users who have no rules of their own */
    return config_value_apply(r, &member,
                              config_row_find("Server.Permissions", "Default"),
                              &user->rules);
}

/* An enabled job that cannot run is found now, not at night. */
static int
check_job(struct config_reader *r, const struct config_place *at,
          const struct config_job *job)
{
    const char *missing = !*job->name       ? "Name"
                          : !job->enable    ? NULL
                          : !*job->files    ? "Files"
                          : job->allow_only ? NULL
                          : !*job->query    ? "Query"
                          : !*job->outfile  ? "Outfile"
                                            : NULL;

    if (missing) {
        return config_value_fail(
            r, at, "%s is missing or empty, which %s needs", missing,
            job->enable ? "an enabled job" : "a job");
    }
    /* it becomes part of a query, in quotes */
    for (const char *p = job->outfile; *p; p++) {
        if (*p == '"' || (unsigned char)*p < ' ') {
            return config_value_fail(r, at,
                                     "Outfile: neither double quotes nor "
                                     "control characters are allowed");
        }
    }
    return DT_OK;
}

static int
apply_jobs(struct config_reader *r, const struct config_place *at,
           const struct into *into)
{
    struct jsonscan scan = jsonscan_enter(r->text, at->slice);
    struct jsonscan_member m;
    int rc = DT_OK;

    if (r->text[at->slice.at] != '[') {
        return config_value_expected(r, at, into->row);
    }
    config_row_drop(into->row, into->base); /* arrays replace as a whole */
    for (size_t i = 0; rc == DT_OK && jsonscan_next(&scan, false, &m); i++) {
        struct config_place place;
        void *job;
        char index[32];

        snprintf(index, sizeof(index), "[%zu]", i);
        config_place_enter(&place, at, index, m.value);
        rc = add_element(r, &place, into, &job);
        if (rc == DT_OK) {
            rc = apply_members(r, &place, into->prefix, job);
        }
        if (rc == DT_OK) {
            rc = check_job(r, &place, job);
        }
    }
    return rc;
}

/* ---- objects ---- */

static int
fail_unknown(struct config_reader *r, const struct config_place *at,
             const struct jsonscan_member *m, const char *prefix,
             const char *key)
{
    const struct config_row *guess = config_row_guess(prefix, key);
    struct config_place place;

    config_place_enter(&place, at, key, m->key);
    if (guess) {
        return config_value_fail(r, &place,
                                 "this key is unknown; did you mean %s?",
                                 config_row_name(guess));
    }
    return config_value_fail(
        r, &place, "this key is unknown; dtail.json(5) has those allowed");
}

static int
apply_row(struct config_reader *r, const struct config_place *at,
          const struct config_row *row, void *base)
{
    char prefix[CONFIG_PREFIX_MAX];
    struct into into = {.row = row, .prefix = prefix, .base = base};

    switch (row->type) {
    case CONFIG_FOREIGN:
        return config_value_warn(r, at, "this key is skipped: %s", row->help) ==
                       DT_OK
                   ? DT_OK
                   : config_value_nomem(r);
    case CONFIG_SECTION:
        return apply_members(r, at, row->path, base);
    case CONFIG_PLUGINS:
        config_row_element(row, prefix);
        return for_members(r, at, apply_plugin, &into);
    case CONFIG_USERS:
        config_row_element(row, prefix);
        return for_members(r, at, apply_user, &into);
    case CONFIG_JOBS:
        config_row_element(row, prefix);
        return apply_jobs(r, at, &into);
    default:
        return config_value_apply(r, at, row, config_row_value(row, base));
    }
}

static int
apply_member(struct config_reader *r, const struct config_place *at,
             const struct jsonscan_member *m, const char *key, void *ctx)
{
    const struct into *into = ctx;
    const struct config_row *row = config_row_find(into->prefix, key);
    struct config_place place;

    if (!row) {
        return fail_unknown(r, at, m, into->prefix, key);
    }
    if (is_null(r, m->value)) {
        return DT_OK; /* leaves the default */
    }
    config_place_enter(&place, at, config_row_name(row), m->value);
    return apply_row(r, &place, row, into->base);
}

static int
apply_members(struct config_reader *r, const struct config_place *at,
              const char *prefix, void *base)
{
    struct into into = {.prefix = prefix, .base = base};

    return for_members(r, at, apply_member, &into);
}

/* ---- the text ---- */

int
config_parse_into(struct config *c, const char *json, size_t len,
                  const char *name, struct error *err)
{
    struct config_reader r = {
        .text = json, .len = len, .name = name, .c = c, .err = err};
    struct config_place whole = {.shown = ""};
    json_error_t where;
    json_t *value;
    bool is_object;

    if (len > CONFIG_MAX_FILE) {
        return error_set(err, DT_ERR_INVAL,
                         "%s: %zu bytes, at most %u are allowed", name, len,
                         CONFIG_MAX_FILE);
    }
    value = json_loadb(len ? json : "", len, 0, &where);
    if (!value &&
        (!*where.text || json_error_code(&where) == json_error_out_of_memory)) {
        return config_value_nomem(&r); /* mostly there is no text then */
    }
    if (!value) {
        return error_set(err, DT_ERR_INVAL, "%s:%d:%d: %s", name, where.line,
                         where.column, where.text);
    }
    is_object = json_is_object(value);
    json_decref(value);
    whole.slice = jsonscan_value(json, 0, len);
    if (!is_object) {
        return config_value_fail(&r, &whole, "an object is expected");
    }
    if (jsonscan_depth(json, len) > CONFIG_MAX_DEPTH) {
        return config_value_fail(&r, &whole,
                                 "nested deeper than the %u levels that are "
                                 "allowed",
                                 CONFIG_MAX_DEPTH);
    }
    return apply_members(&r, &whole, "", c);
}
