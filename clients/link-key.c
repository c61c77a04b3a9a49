/* SPDX-License-Identifier: Apache-2.0
 *
 * One SSH connection to one server: its host key.
 */
#include "link-key.h"

#include "diag.h"

#include <stdlib.h>

void
link_forget_key(struct link *l)
{
    free(l->key_type);
    ssh_string_free_char(l->key_base64);
    ssh_string_free_char(l->key_print);
    l->key_type = l->key_base64 = l->key_print = NULL;
}

static void
key_refused(struct link *l, const char *type, const char *print,
            enum knownhosts_verdict verdict,
            const struct knownhosts_where *where)
{
    const char *name = l->route->host;
    unsigned port = l->route->port;

    if (verdict == KNOWNHOSTS_REVOKED) {
        error_set(&l->result.err, DT_ERR_ACCES,
                  "SSH handshake failed for %s:%u: its host key (%s %s) is "
                  "marked as revoked in %s line %zu",
                  name, port, type, print, where->file, where->line);
    } else {
        error_set(&l->result.err, DT_ERR_ACCES,
                  "SSH handshake failed for %s:%u: THE HOST KEY HAS CHANGED. "
                  "%s line %zu has another one (%s); the server shows %s %s. "
                  "Somebody may be listening in. If the change is right, "
                  "remove that line",
                  name, port, where->file, where->line, where->type, type,
                  print);
    }
    link_end(l, NULL);
}

/* Accepts the key of this session and remembers it. */
static void
trust_key(struct link *l)
{
    const struct knownhosts_entry entry = {
        .host = l->route->key_name,
        .port = l->route->port,
        .type = l->key_type,
        .base64 = l->key_base64,
    };
    struct error err = ERROR_INIT;

    if (knownhosts_add(l->route->hosts, l->route->hosts_path, &entry, 1,
                       &err) != DT_OK) {
        log_warn(l->env->diag->log, "%s", err.text);
    } else if (!*l->env->has_told) {
        *l->env->has_told = true;
        log_info(l->env->diag->log, "Added hosts to known hosts file|%s",
                 l->route->hosts_path);
    }
}

static bool
read_key(struct link *l)
{
    ssh_key key = NULL;
    unsigned char *hash = NULL;
    size_t hash_len;
    bool good = ssh_get_server_publickey(l->session, &key) == SSH_OK;

    link_forget_key(l);
    if (good) {
        const char *type = ssh_key_type_to_char(ssh_key_type(key));

        l->key_type = type ? strdup(type) : NULL;
        good = l->key_type &&
               ssh_pki_export_pubkey_base64(key, &l->key_base64) == SSH_OK &&
               ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash,
                                      &hash_len) == SSH_OK &&
               (l->key_print = ssh_get_fingerprint_hash(
                    SSH_PUBLICKEY_HASH_SHA256, hash, hash_len)) != NULL;
    }
    ssh_clean_pubkey_hash(&hash);
    ssh_key_free(key);
    return good;
}

/* Are unknown keys accepted without a question? */
static bool
accepts_new(const struct link *l)
{
    return l->env->trust_all || l->route->strict == SSHCONFIG_ACCEPT;
}

void
link_key_unknown(struct link *l, const char *why)
{
    const struct knownhosts_where *ca = &l->authority;
    char authority[320] = "";

    if (ca->file) {
        snprintf(
            authority, sizeof(authority),
            " (%.160s line %zu has an authority for it, but certificates "
            "of hosts cannot be checked here: its own key has to be known)",
            ca->file, ca->line);
    }
    error_set(&l->result.err, DT_ERR_ACCES,
              "SSH handshake failed for %s:%u: its host key (%s %s) is not "
              "known%s%s",
              l->route->host, l->route->port, l->key_type, l->key_print,
              authority, why);
    link_end(l, NULL);
}

bool
link_check_key(struct link *l)
{
    struct knownhosts_where where;
    enum knownhosts_verdict verdict;

    if (l->env->takes_any_host) {
        link_enter(l, LINK_LOGGING_IN);
        return true;
    }
    if (!read_key(l)) {
        link_end(l, "the server's host key cannot be read");
        return false;
    }
    verdict =
        knownhosts_check(l->route->hosts, l->route->key_name, l->route->port,
                         l->key_type, l->key_base64, &where);
    if (verdict == KNOWNHOSTS_CHANGED && !l->is_thorough &&
        strcmp(where.type, l->key_type) != 0) {
        /* Perhaps the type was not asked for first. */
        l->is_thorough = true;
        link_disconnect(l);
        link_start(l);
        return l->state != LINK_OVER;
    }
    if (verdict == KNOWNHOSTS_CHANGED || verdict == KNOWNHOSTS_REVOKED) {
        key_refused(l, l->key_type, l->key_print, verdict, &where);
        return false;
    }
    l->authority = where;
    if (verdict == KNOWNHOSTS_UNKNOWN && !accepts_new(l)) {
        if (l->route->strict == SSHCONFIG_REFUSE) {
            link_key_unknown(l, ", and StrictHostKeyChecking forbids to ask");
            return false;
        }
        /* The server's patience is shorter than the user's: connect anew
         * after the answer. */
        link_disconnect(l);
        l->state = LINK_ASKING;
        return false;
    }
    if (verdict == KNOWNHOSTS_UNKNOWN) {
        trust_key(l);
    }
    link_forget_key(l);
    link_enter(l, LINK_LOGGING_IN);
    return true;
}
