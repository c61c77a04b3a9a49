/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys a client offers.
 */
#include "clientauth.h"

#include "agentfilter.h"
#include "auth-cert.h"

#include <stdlib.h>
#include <unistd.h>

struct item {
    ssh_key key; /* NULL: the agent */
    char *name;  /* for messages */
};

struct clientauth {
    const char *password; /* NULL: keys */
    struct item *items;
    size_t nr;
    size_t preferred; /* the last that a server took: it comes first */
    struct agentfilter *filter; /* NULL: libssh finds the agent itself */
    struct buf notes;           /* why files were left out */
};

static bool
is_known(const struct clientauth *a, ssh_key key)
{
    for (size_t i = 0; i < a->nr; i++) {
        if (a->items[i].key &&
            ssh_key_cmp(a->items[i].key, key, SSH_KEY_CMP_PUBLIC) == 0) {
            return true;
        }
    }
    return false;
}

static int
add_item(struct clientauth *a, ssh_key key, const char *name)
{
    struct item *items = reallocarray(a->items, a->nr + 1, sizeof(*items));
    char *copy = strdup(name);

    if (items) {
        a->items = items;
    }
    if (!items || !copy) {
        free(copy);
        return DT_ERR_NOMEM;
    }
    a->items[a->nr++] = (struct item){.key = key, .name = copy};
    return DT_OK;
}

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

/* A certificate beside the key file is offered before the bare key, as the
 * item "KEY-cert.pub" with a copy of the private key. */
static int
add_certificate(struct clientauth *a, const char *path, const char *passphrase)
{
    ssh_key cert = NULL, key = NULL;
    char *name;
    int rc = DT_OK;

    if (asprintf(&name, "%s-cert.pub", path) < 0) {
        return DT_ERR_NOMEM;
    }
    if (access(name, R_OK) != 0) {
        free(name);
        return DT_OK;
    }
    if (ssh_pki_import_cert_file(name, &cert) != SSH_OK ||
        ssh_pki_import_privkey_file(path, passphrase, NULL, NULL, &key) !=
            SSH_OK ||
        !belong_together(cert, key) ||
        ssh_pki_copy_cert_to_privkey(cert, key) != SSH_OK) {
        rc = buf_printf(&a->notes, "; %s is no certificate of that key", name);
        ssh_key_free(key);
    } else {
        rc = add_item(a, key, name);
        if (rc != DT_OK) {
            ssh_key_free(key);
        }
    }
    ssh_key_free(cert);
    free(name);
    return rc;
}

/* Reads a key file. Only what the user named is worth a note when missing. */
static int
add_file(struct clientauth *a, const char *path, const char *passphrase,
         bool is_named)
{
    ssh_key key = NULL;
    int rc;

    if (access(path, R_OK) != 0) {
        return is_named ? buf_printf(&a->notes, "; %s cannot be read", path)
                        : DT_OK;
    }
    if (ssh_pki_import_privkey_file(path, passphrase, NULL, NULL, &key) !=
        SSH_OK) {
        return buf_printf(&a->notes, "; %s is no key that can be used%s", path,
                          passphrase ? " with DTAIL_KEY_PASSPHRASE"
                                     : " (encrypted? DTAIL_KEY_PASSPHRASE)");
    }
    rc = is_known(a, key) ? DT_AGAIN : add_certificate(a, path, passphrase);
    if (rc == DT_OK) {
        rc = add_item(a, key, path);
    }
    if (rc != DT_OK) {
        ssh_key_free(key);
    }
    return rc < 0 ? rc : DT_OK;
}

static int
add_usual(struct clientauth *a, const struct clientauth_args *args)
{
    static const char *const names[] = {"id_ed25519", "id_ecdsa", "id_rsa"};
    int rc = DT_OK;

    if (args->is_test_mode) {
        rc = add_file(a, "./id_rsa", args->passphrase, false);
    }
    for (size_t i = 0; rc == DT_OK && *args->home && i < 3; i++) {
        struct buf path = {0};

        rc = buf_printf(&path, "%s/.ssh/%s", args->home, names[i]);
        if (rc == DT_OK && (rc = buf_append(&path, "", 1)) == DT_OK) {
            rc = add_file(a, path.data, args->passphrase, false);
        }
        buf_fini(&path);
    }
    return rc;
}

static int
add_agent(struct clientauth *a, const struct clientauth_args *args,
          struct error *err)
{
    char name[64];

    if (args->agent_index < 0) {
        return add_item(a, NULL, "keys of the agent");
    }
    snprintf(name, sizeof(name), "key %lld of the agent",
             (long long)args->agent_index);
    if (agentfilter_new(args->agent, (uint64_t)args->agent_index, &a->filter,
                        err) != DT_OK) {
        return err->status;
    }
    return add_item(a, NULL, name);
}

int
clientauth_load(const struct clientauth_args *args, struct clientauth **out,
                struct error *err)
{
    struct clientauth *a = calloc(1, sizeof(*a));
    int rc = a ? DT_OK : DT_ERR_NOMEM;

    if (rc == DT_OK && args->password) {
        a->password = args->password;
        *out = a;
        return DT_OK;
    }
    if (rc == DT_OK && *args->key_path) {
        rc = add_file(a, args->key_path, args->passphrase, true);
    }
    if (rc == DT_OK && args->agent && *args->agent) {
        rc = add_agent(a, args, err);
    }
    if (rc == DT_OK) {
        rc = add_usual(a, args);
    }
    if (rc == DT_OK) {
        rc = buf_append(&a->notes, "", 1);
    }
    if (rc != DT_OK) {
        if (err->status == DT_OK) {
            error_set(err, rc, "private keys: out of memory");
        }
    } else if (a->nr == 0) {
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
    for (size_t i = 0; i < a->nr; i++) {
        ssh_key_free(a->items[i].key);
        free(a->items[i].name);
    }
    free(a->items);
    agentfilter_free(a->filter);
    buf_fini(&a->notes);
    free(a);
}

void
clientauth_prepare(const struct clientauth *a, ssh_session session)
{
    int fd = a->filter ? agentfilter_open(a->filter) : -1;

    /* Without a connection libssh would find the whole agent. */
    if (a->filter && (fd < 0 || ssh_set_agent_socket(session, fd) != SSH_OK)) {
        if (fd >= 0) {
            close(fd);
        }
        (void)ssh_options_set(session, SSH_OPTIONS_IDENTITY_AGENT, "/dev/null");
    }
}

/* The key that worked elsewhere, then the others in their order. */
static size_t
nth_item(const struct clientauth_place *place)
{
    size_t n = place->next;

    return n == 0 ? place->first : n <= place->first ? n - 1 : n;
}

/* The first question must be "none": it reads the server's list of signature
 * algorithms, without which libssh refuses RSA keys, and tells the methods. */
static int
ask_methods(const struct clientauth *a, struct clientauth_place *place,
            ssh_session session, struct error *err)
{
    unsigned wanted =
        a->password ? SSH_AUTH_METHOD_PASSWORD : SSH_AUTH_METHOD_PUBLICKEY;
    int rc = ssh_userauth_none(session, NULL);

    if (rc == SSH_AUTH_AGAIN || rc == SSH_AUTH_SUCCESS) {
        return rc;
    }
    if (rc == SSH_AUTH_ERROR) {
        error_set(err, DT_ERR_IO, "authentication: %s", ssh_get_error(session));
        return rc;
    }
    place->asked_methods = true;
    if (!((unsigned)ssh_userauth_list(session, NULL) & wanted)) {
        error_set(err, DT_ERR_ACCES, "authentication: the server takes no %s",
                  a->password ? "password" : "public keys");
        return SSH_AUTH_ERROR;
    }
    return SSH_AUTH_DENIED;
}

/* Which keys were tried in vain. */
static void
denied(const struct clientauth *a, const char *user, struct error *err)
{
    struct buf tried = {0};

    for (size_t i = 0; i < a->nr; i++) {
        if (buf_printf(&tried, "%s%s", i ? ", " : "", a->items[i].name) !=
            DT_OK) {
            break;
        }
    }
    error_set(err, DT_ERR_ACCES,
              "authentication failed for user %s; tried: %.*s%s", user,
              (int)tried.len, tried.data ? tried.data : "", a->notes.data);
    buf_fini(&tried);
}

static int
step_password(const struct clientauth *a, ssh_session session, const char *user,
              struct error *err)
{
    int rc = ssh_userauth_password(session, NULL, a->password);

    if (rc == SSH_AUTH_ERROR) {
        error_set(err, DT_ERR_IO, "authentication: %s", ssh_get_error(session));
    } else if (rc != SSH_AUTH_SUCCESS && rc != SSH_AUTH_AGAIN) {
        error_set(err, DT_ERR_ACCES,
                  "authentication failed for user %s; the server's log says "
                  "why",
                  user);
    }
    return rc == SSH_AUTH_PARTIAL ? SSH_AUTH_DENIED : rc;
}

int
clientauth_step(struct clientauth *a, struct clientauth_place *place,
                ssh_session session, const char *user, struct error *err)
{
    if (!place->asked_methods) {
        int rc = ask_methods(a, place, session, err);

        if (rc != SSH_AUTH_DENIED) {
            return rc;
        }
        place->first = a->preferred;
    }
    if (a->password) {
        return step_password(a, session, user, err);
    }
    while (place->next < a->nr) {
        size_t nth = nth_item(place);
        const struct item *item = &a->items[nth];
        int rc = item->key ? ssh_userauth_publickey(session, NULL, item->key)
                           : ssh_userauth_agent(session, NULL);

        if (rc == SSH_AUTH_SUCCESS) {
            a->preferred = nth;
        }
        if (rc == SSH_AUTH_SUCCESS || rc == SSH_AUTH_AGAIN) {
            return rc;
        }
        if (rc == SSH_AUTH_ERROR && !ssh_is_connected(session)) {
            denied(a, user, err);
            error_prefix(err, "%s", ssh_get_error(session));
            return rc;
        }
        place->next++;
    }
    denied(a, user, err);
    return SSH_AUTH_DENIED;
}
