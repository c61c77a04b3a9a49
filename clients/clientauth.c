/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys a client offers: offering them. Loading them is in
 * clientauth-load.c.
 */
#include "clientauth-items.h"

#include <stdlib.h>
#include <unistd.h>

static bool
is_usual_agent(const char *agent)
{
    const char *usual = getenv("SSH_AUTH_SOCK");

    return agent && usual && strcmp(agent, usual) == 0;
}

void
clientauth_prepare(const struct clientauth *a, ssh_session session)
{
    int fd = a->filter ? agentfilter_open(a->filter) : -1;

    if (!a->filter && !is_usual_agent(a->agent)) {
        /* ssh_config names another than libssh would find */
        (void)ssh_options_set(session, SSH_OPTIONS_IDENTITY_AGENT,
                              a->agent ? a->agent : "/dev/null");
    } else if (a->filter &&
               (fd < 0 || ssh_set_agent_socket(session, fd) != SSH_OK)) {
        /* Without a connection libssh would find the whole agent. */
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
        const struct clientauth_item *item = &a->items[nth];
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
