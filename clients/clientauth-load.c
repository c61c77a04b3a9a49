/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys a client offers: finding them.
 */
#include "clientauth-items.h"

#include "auth-cert.h"
#include "cleanup.h"

#include <stdlib.h>

struct loading {
    const struct clientauth_args *args;
    struct keyring *keyring;
    struct clientauth *a;
    struct strv agent; /* public keys it has */
    bool has_agent;
    struct error *err;
};

static bool
is_offered(const struct clientauth *a, ssh_key key)
{
    for (size_t i = 0; i < a->nr; i++) {
        if (a->items[i].key &&
            ssh_key_cmp(a->items[i].key, key, SSH_KEY_CMP_PUBLIC) == 0) {
            return true;
        }
    }
    return false;
}

static bool
agent_has(const struct loading *l, const char *public)
{
    for (size_t i = 0; public && i < l->agent.nr; i++) {
        if (strcmp(l->agent.v[i], public) == 0) {
            return true;
        }
    }
    return false;
}

static int
add_item(struct clientauth *a, ssh_key key, bool is_owned, const char *name)
{
    struct clientauth_item *items =
        reallocarray(a->items, a->nr + 1, sizeof(*items));
    char *copy = strdup(name);

    if (items) {
        a->items = items;
    }
    if (!items || !copy) {
        free(copy);
        return DT_ERR_NOMEM;
    }
    a->items[a->nr++] = (struct clientauth_item){key, is_owned, copy};
    return DT_OK;
}

/* ---- certificates ---- */

/* With another key's certificate a signature would be wrong, and libssh's
 * servers do not answer those at all. */
static bool
belong_together(ssh_key cert, ssh_key key)
{
    char *cert_text = NULL, *key_text = NULL;
    bool ok = ssh_pki_export_pubkey_base64(cert, &cert_text) == SSH_OK &&
              ssh_pki_export_pubkey_base64(key, &key_text) == SSH_OK &&
              auth_cert_is_for(cert_text, key_text);

    ssh_string_free_char(cert_text);
    ssh_string_free_char(key_text);
    return ok;
}

/* Offers a certificate with a copy of its private key. One of another key is
 * worth a note when it stands beside this one. */
static int
add_certificate(struct loading *l, const char *file, ssh_key key,
                bool is_beside)
{
    ssh_key cert = NULL, copy = NULL;
    int rc = DT_OK;

    if (access(file, R_OK) != 0) {
        return DT_OK;
    }
    if (ssh_pki_import_cert_file(file, &cert) != SSH_OK ||
        !belong_together(cert, key) || !(copy = ssh_key_dup(key)) ||
        ssh_pki_copy_cert_to_privkey(cert, copy) != SSH_OK) {
        rc = is_beside ? buf_printf(&l->a->notes,
                                    "; %s is no certificate of that key", file)
                       : DT_OK;
        ssh_key_free(copy);
    } else {
        rc = add_item(l->a, copy, true, file);
        if (rc != DT_OK) {
            ssh_key_free(copy);
        }
    }
    ssh_key_free(cert);
    return rc;
}

/* Certificates of a key are offered before the bare key. */
static int
add_certificates(struct loading *l, const char *path, ssh_key key)
{
    const struct strv *others = l->args->certificates;
    CLEANUP_FREE char *beside = NULL;
    int rc;

    if (asprintf(&beside, "%s-cert.pub", path) < 0) {
        beside = NULL;
        return DT_ERR_NOMEM;
    }
    rc = add_certificate(l, beside, key, true);
    for (size_t i = 0; others && rc == DT_OK && i < others->nr; i++) {
        rc = add_certificate(l, others->v[i], key, false);
    }
    return rc;
}

/* ---- files ---- */

enum file_kind {
    FILE_WANTED, /* an error when it cannot be used */
    FILE_NAMED,  /* its passphrase is asked for */
    FILE_USUAL,  /* left out without a word when missing … */
    FILE_LAST    /* … and asked for when there is nothing else */
};

static int
add_key(struct loading *l, const char *path, ssh_key key)
{
    int rc;

    if (is_offered(l->a, key)) {
        return DT_OK;
    }
    rc = add_certificates(l, path, key);
    return rc == DT_OK ? add_item(l->a, key, false, path) : rc;
}

/* A file that cannot be used. */
static int
left_out(struct loading *l, const char *path, enum file_kind kind, int status,
         const char *why)
{
    if (kind == FILE_WANTED) {
        return error_set(l->err, DT_ERR_INVAL, "--auth-key-path: %s %s", path,
                         why);
    }
    if (status == DT_ERR_NOENT && kind != FILE_NAMED) {
        return DT_OK;
    }
    return buf_printf(&l->a->notes, "; %s %s", path, why);
}

static int
add_file(struct loading *l, const char *path, enum file_kind kind)
{
    CLEANUP_FREE char *public = keyring_public(path);
    const char *why = "";
    ssh_key key;
    int rc = keyring_get(l->keyring, path, false, &key, &why);

    if (public && strv_add(&l->a->only, public) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    if (rc < 0 && agent_has(l, public)) {
        return DT_OK; /* the agent signs with it */
    }
    if (rc == DT_ERR_ACCES && kind != FILE_USUAL) {
        rc = keyring_get(l->keyring, path, true, &key, &why);
    }
    if (rc == DT_ERR_NOMEM || rc == DT_ERR_CANCELLED) {
        return rc;
    }
    return rc == DT_OK ? add_key(l, path, key)
                       : left_out(l, path, kind, rc, why);
}

static int
add_usual(struct loading *l, enum file_kind kind)
{
    static const char *const names[] = {"id_ed25519", "id_ecdsa", "id_rsa"};
    int rc = DT_OK;

    if (l->args->is_test_mode) {
        rc = add_file(l, "./id_rsa", kind);
    }
    for (size_t i = 0; rc == DT_OK && *l->args->home && i < 3; i++) {
        CLEANUP_FREE char *path = NULL;

        if (asprintf(&path, "%s/.ssh/%s", l->args->home, names[i]) < 0) {
            path = NULL;
            return DT_ERR_NOMEM;
        }
        rc = add_file(l, path, kind);
    }
    return rc;
}

/* ---- the agent ---- */

static int
list_agent(struct loading *l)
{
    const char *path = l->args->agent;
    int rc;

    if (!path || !*path) {
        return DT_OK;
    }
    l->has_agent = true;
    l->a->agent = path;
    rc = agentfilter_list(path, &l->agent);
    return rc == DT_ERR_IO
               ? buf_printf(&l->a->notes, "; no agent answers at %s", path)
               : rc;
}

static int
add_agent(struct loading *l)
{
    const struct clientauth_args *args = l->args;
    const struct agentfilter_choice choice = {
        .index = args->agent_index,
        .only = args->identities_only ? &l->a->only : NULL,
    };
    char name[64] = "keys of the agent";

    if (args->agent_index >= 0) {
        snprintf(name, sizeof(name), "key %lld of the agent",
                 (long long)args->agent_index);
    }
    if ((choice.index >= 0 || choice.only) &&
        agentfilter_new(args->agent, &choice, &l->a->filter, l->err) != DT_OK) {
        return l->err->status;
    }
    return add_item(l->a, NULL, false, name);
}

/* ---- all of them ---- */

/* What the user named comes before the agent, the usual files behind it. */
static int
load_all(struct loading *l)
{
    const struct clientauth_args *args = l->args;
    const struct strv *named = args->identities;
    bool has_named = named && named->nr;
    int rc = list_agent(l);
    size_t nr_agent;

    if (rc == DT_OK && *args->key_path) {
        rc = add_file(l, args->key_path,
                      args->key_is_wanted ? FILE_WANTED : FILE_NAMED);
    }
    for (size_t i = 0; rc == DT_OK && has_named && i < named->nr; i++) {
        rc = add_file(l, named->v[i], FILE_NAMED);
    }
    nr_agent = l->a->nr;
    if (rc == DT_OK && !has_named) {
        rc = add_usual(l, FILE_USUAL);
    }
    if (rc == DT_OK && !has_named && l->a->nr == 0 && l->agent.nr == 0) {
        l->a->notes.len = 0;
        rc = add_usual(l, FILE_LAST);
    }
    if (rc == DT_OK && l->has_agent) {
        rc = add_agent(l);
    }
    if (rc == DT_OK && l->has_agent && nr_agent + 1 < l->a->nr) {
        /* it was added behind the usual files, since they say what it may
         * show */
        struct clientauth_item agent = l->a->items[l->a->nr - 1];

        memmove(&l->a->items[nr_agent + 1], &l->a->items[nr_agent],
                (l->a->nr - 1 - nr_agent) * sizeof(agent));
        l->a->items[nr_agent] = agent;
    }
    return rc == DT_OK ? buf_append(&l->a->notes, "", 1) : rc;
}

int
clientauth_load(const struct clientauth_args *args, struct keyring *keyring,
                struct clientauth **out, struct error *err)
{
    struct clientauth *a = calloc(1, sizeof(*a));
    struct loading l = {.args = args, .keyring = keyring, .a = a, .err = err};
    int rc;

    if (!a) {
        return error_set(err, DT_ERR_NOMEM, "private keys: out of memory");
    }
    if (args->password) {
        a->password = args->password;
        *out = a;
        return DT_OK;
    }
    rc = load_all(&l);
    strv_fini(&l.agent);
    if (rc != DT_OK && err->status == DT_OK) {
        error_set(err, rc, "private keys: %s", dt_strerror(rc));
    } else if (rc == DT_OK && a->nr == 0) {
        rc = error_set(err, DT_ERR_NOENT,
                       "Unable to find private SSH key information: no agent "
                       "and none of ~/.ssh/id_ed25519, id_ecdsa, id_rsa%s "
                       "(make one with ssh-keygen, or name one with "
                       "--auth-key-path)",
                       a->notes.data);
    }
    if (rc != DT_OK) {
        clientauth_free(a);
        return rc;
    }
    *out = a;
    return DT_OK;
}

void
clientauth_free(struct clientauth *a)
{
    if (!a) {
        return;
    }
    agentfilter_free(a->filter);
    for (size_t i = 0; i < a->nr; i++) {
        if (a->items[i].is_owned) {
            ssh_key_free(a->items[i].key);
        }
        free(a->items[i].name);
    }
    free(a->items);
    strv_fini(&a->only);
    buf_fini(&a->notes);
    free(a);
}
