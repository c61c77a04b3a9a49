/* SPDX-License-Identifier: Apache-2.0
 *
 * Private key files.
 */
#include "keyring.h"

#include "cleanup.h"
#include "prompt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *path;
    ssh_key key;     /* NULL: it cannot be used */
    const char *why; /* static */
    bool was_asked;  /* asking again would be a nuisance */
};

struct keyring {
    struct keyring_args args;
    struct entry *entries;
    size_t nr;
};

/* One import, and what libssh asked for in it. */
struct import {
    const struct keyring *k;
    const char *path;
    bool may_ask;
    bool was_encrypted;
    int rc; /* of asking */
};

struct keyring *
keyring_new(const struct keyring_args *args)
{
    struct keyring *k = calloc(1, sizeof(*k));

    if (k) {
        k->args = *args;
    }
    return k;
}

void
keyring_free(struct keyring *k)
{
    if (!k) {
        return;
    }
    for (size_t i = 0; i < k->nr; i++) {
        ssh_key_free(k->entries[i].key);
        free(k->entries[i].path);
    }
    free(k->entries);
    free(k);
}

/* libssh's question for a passphrase. 0: it stands in buf. */
static int
on_passphrase(const char *prompt UNUSED, char *buf, size_t len, int echo UNUSED,
              int verify UNUSED, void *ctx)
{
    struct import *i = ctx;
    CLEANUP_FREE char *text = NULL;

    i->was_encrypted = true;
    if (i->k->args.passphrase) {
        if (strlen(i->k->args.passphrase) >= len) {
            return -1;
        }
        memcpy(buf, i->k->args.passphrase, strlen(i->k->args.passphrase) + 1);
        return 0;
    }
    if (!i->may_ask) {
        return -1;
    }
    if (asprintf(&text, "Enter passphrase for key '%s': ", i->path) < 0) {
        text = NULL;
        return -1;
    }
    i->rc = prompt_passphrase(i->k->args.tty, text, buf, len);
    return i->rc == DT_OK ? 0 : -1;
}

/* Why an import failed, for people. */
static const char *
reason(const struct import *i)
{
    if (!i->was_encrypted) {
        return "is no private key";
    }
    if (i->k->args.passphrase) {
        return "cannot be opened with DTAIL_KEY_PASSPHRASE";
    }
    if (!i->may_ask) {
        return "is encrypted (use ssh-add, or DTAIL_KEY_PASSPHRASE)";
    }
    return i->rc == DT_ERR_NOENT
               ? "is encrypted, and there is no terminal to ask for its "
                 "passphrase (use ssh-add, or DTAIL_KEY_PASSPHRASE)"
               : "is encrypted, and that was not its passphrase";
}

static int
load(struct keyring *k, struct entry *e, bool may_ask)
{
    struct import i = {.k = k, .path = e->path, .may_ask = may_ask};
    int rc = SSH_ERROR;

    for (int tries = 0; rc != SSH_OK && tries < KEYRING_MAX_TRIES; tries++) {
        i.was_encrypted = false;
        rc = ssh_pki_import_privkey_file(e->path, NULL, on_passphrase, &i,
                                         &e->key);
        if (rc != SSH_OK && (!i.was_encrypted || !may_ask ||
                             k->args.passphrase || i.rc != DT_OK)) {
            break;
        }
    }
    e->was_asked |= may_ask && i.was_encrypted;
    if (rc != SSH_OK) {
        e->key = NULL;
        e->why = reason(&i);
    }
    return i.rc == DT_ERR_CANCELLED ? i.rc
           : rc == SSH_OK           ? DT_OK
                                    : DT_ERR_ACCES;
}

static struct entry *
find(struct keyring *k, const char *path)
{
    struct entry *entries;
    char *copy;

    for (size_t i = 0; i < k->nr; i++) {
        if (strcmp(k->entries[i].path, path) == 0) {
            return &k->entries[i];
        }
    }
    copy = strdup(path);
    entries = reallocarray(k->entries, k->nr + 1, sizeof(*entries));
    k->entries = entries ? entries : k->entries;
    if (!copy || !entries) {
        free(copy);
        return NULL;
    }
    entries[k->nr] = (struct entry){.path = copy};
    return &entries[k->nr++];
}

int
keyring_get(struct keyring *k, const char *path, bool may_ask, ssh_key *out,
            const char **why)
{
    struct entry *e = find(k, path);
    int rc = DT_OK;

    if (!e) {
        return DT_ERR_NOMEM;
    }
    if (!e->key && !e->was_asked && (!e->why || may_ask)) {
        if (access(path, R_OK) != 0) {
            *why = errno == ENOENT    ? "does not exist"
                   : errno == ENOTDIR ? "does not exist"
                                      : "cannot be read";
            return errno == ENOENT || errno == ENOTDIR ? DT_ERR_NOENT
                                                       : DT_ERR_ACCES;
        }
        rc = load(k, e, may_ask);
    }
    *out = e->key;
    *why = e->why;
    return rc == DT_ERR_CANCELLED ? rc : e->key ? DT_OK : DT_ERR_ACCES;
}

char *
keyring_public(const char *path)
{
    CLEANUP_FREE char *beside = NULL;
    char *base64 = NULL, *text = NULL;
    ssh_key key = NULL;

    if (asprintf(&beside, "%s.pub", path) < 0) {
        beside = NULL;
        return NULL;
    }
    /* the file itself: OpenSSH's format has the public key in front */
    if ((ssh_pki_import_pubkey_file(path, &key) == SSH_OK ||
         ssh_pki_import_pubkey_file(beside, &key) == SSH_OK) &&
        ssh_pki_export_pubkey_base64(key, &base64) == SSH_OK) {
        text = strdup(base64);
    }
    ssh_string_free_char(base64);
    ssh_key_free(key);
    return text;
}
