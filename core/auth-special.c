/* SPDX-License-Identifier: Apache-2.0
 *
 * The users with a password: the health check and the jobs.
 */
#include "auth-special.h"

#include "auth-address.h"
#include "jobtime.h"

#include <ctype.h>
#include <netdb.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/socket.h>

#define DATE_DIGITS 8u /* of what replaces a date token */

enum auth_role
auth_special_role(const char *user)
{
    static const char *const users[] = {
        [AUTH_ROLE_HEALTH] = AUTH_SPECIAL_HEALTH,
        [AUTH_ROLE_SCHEDULE] = AUTH_SPECIAL_SCHEDULE,
        [AUTH_ROLE_CONTINUOUS] = AUTH_SPECIAL_CONTINUOUS,
    };

    for (size_t i = AUTH_ROLE_HEALTH; i < sizeof(users) / sizeof(*users); i++) {
        if (strcmp(user, users[i]) == 0) {
            return (enum auth_role)i;
        }
    }
    return AUTH_ROLE_USER;
}

const char *
auth_special_secret(const struct config_job *job)
{
    return job->password && *job->password ? job->password : job->name;
}

/* The jobs that log in with a role; none for the others. */
static const struct config_job *
jobs_of(const struct config *c, enum auth_role role, size_t *nr)
{
    *nr = 0;
    if (role == AUTH_ROLE_SCHEDULE) {
        *nr = c->server.nr_schedule;
        return c->server.schedule;
    }
    if (role == AUTH_ROLE_CONTINUOUS) {
        *nr = c->server.nr_continuous;
        return c->server.continuous;
    }
    return NULL;
}

/* ---- logging in ---- */

/* Takes as long whether the first byte differs or the last; nothing is no
 * password. */
static bool
is_secret(const struct auth_special_request *r, const char *secret)
{
    size_t len = strlen(secret);

    return len > 0 && len == r->password_len &&
           CRYPTO_memcmp(r->password, secret, len) == 0;
}

/* An address, address/bits, or a name with that address. */
static bool
is_from(const char *entry, const char *address)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    struct auth_address peer;
    bool found = false;
    int hit = auth_address_in_net(entry, address);

    if (hit >= 0) {
        return hit > 0;
    }
    if (!auth_address_parse(address, &peer) ||
        getaddrinfo(entry, NULL, &hints, &list) != 0) {
        return false; /* one that does not resolve is passed over */
    }
    for (const struct addrinfo *a = list; a && !found; a = a->ai_next) {
        struct auth_address known;

        found = auth_address_from_sockaddr(a->ai_addr, &known) &&
                auth_address_is_same(&known, &peer, known.bits);
    }
    freeaddrinfo(list);
    return found;
}

static bool
allows_from(const struct config_job *job, const char *address)
{
    for (size_t i = 0; i < job->allow_from.nr; i++) {
        if (is_from(job->allow_from.v[i], address)) {
            return true;
        }
    }
    return false;
}

static int
decide_job(const struct auth_special_request *r, enum auth_role role,
           const char **job, struct error *note)
{
    int st = error_set(note, DT_ERR_ACCES,
                       "the password is of no job that is enabled");
    size_t nr;
    const struct config_job *jobs = jobs_of(r->config, role, &nr);

    for (size_t i = 0; i < nr; i++) {
        if (!jobs[i].enable || !is_secret(r, auth_special_secret(&jobs[i]))) {
            continue;
        }
        if (allows_from(&jobs[i], r->address)) {
            *job = jobs[i].name;
            error_set(note, DT_OK, "job %s", jobs[i].name);
            return DT_OK;
        }
        st = error_set(note, DT_ERR_ACCES, "AllowFrom of job %s lacks %s",
                       jobs[i].name, r->address);
    }
    return st;
}

int
auth_special_decide(const struct auth_special_request *request,
                    const char **job, struct error *note)
{
    enum auth_role role = auth_special_role(request->user);

    *job = "";
    if (role == AUTH_ROLE_USER) {
        return error_set(note, DT_ERR_ACCES,
                         "only the health check and jobs have passwords");
    }
    if (role != AUTH_ROLE_HEALTH) {
        return decide_job(request, role, job, note);
    }
    if (!is_secret(request, AUTH_SPECIAL_HEALTH)) {
        return error_set(note, DT_ERR_ACCES, "wrong password");
    }
    error_set(note, DT_OK, "health check");
    return DT_OK;
}

/* ---- what they may do ---- */

const struct strv *
auth_special_rules(const struct config *config, enum auth_role role,
                   const char *user)
{
    static char everything[] = "";
    static char *rules[] = {everything};
    static const struct strv all = {.v = rules, .nr = 1};
    static const struct strv none = {0};

    if (role == AUTH_ROLE_HEALTH) {
        return &none;
    }
    if (role != AUTH_ROLE_USER &&
        config_rules(config, user) == &config->server.permissions_default) {
        return &all;
    }
    return config_rules(config, user);
}

/* A target of the configuration against what was asked for. Dates are not
 * computed: job and server need not agree on the day around midnight. */
static bool
is_target(const char *target, size_t len, const char *asked)
{
    size_t at = 0;

    while (at < len) {
        size_t token = jobtime_token(target + at, len - at);

        if (token > 0) {
            for (size_t i = 0; i < DATE_DIGITS; i++, asked++) {
                if (!isdigit((unsigned char)*asked)) {
                    return false;
                }
            }
            at += token;
        } else if (target[at++] != *asked++) {
            return false;
        }
    }
    return *asked == '\0';
}

/* Whether a comma-separated list of targets has what was asked for. */
static bool
has_target(const char *list, const char *asked)
{
    while (*list) {
        size_t len = strcspn(list, ","), from = 0, to = len;

        while (from < to && isspace((unsigned char)list[from])) {
            from++;
        }
        while (to > from && isspace((unsigned char)list[to - 1])) {
            to--;
        }
        if (to > from && is_target(list + from, to - from, asked)) {
            return true;
        }
        list += len + (list[len] == ',');
    }
    return false;
}

static bool
job_has_target(const struct config *c, enum auth_role role, const char *job,
               const char *asked)
{
    size_t nr;
    const struct config_job *jobs = jobs_of(c, role, &nr);

    for (size_t i = 0; i < nr; i++) {
        if (jobs[i].enable && strcmp(jobs[i].name, job) == 0 &&
            has_target(jobs[i].files, asked)) {
            return true;
        }
    }
    return false;
}

int
auth_special_check_files(const struct config *config, enum auth_role role,
                         const char *job, const struct strv *files,
                         struct error *err)
{
    if (role == AUTH_ROLE_USER) {
        return DT_OK;
    }
    if (role == AUTH_ROLE_HEALTH) {
        return error_set(err, DT_ERR_ACCES,
                         "the health user may not run queries");
    }
    for (size_t i = 0; i < files->nr; i++) {
        if (!job_has_target(config, role, job, files->v[i])) {
            return error_set(err, DT_ERR_ACCES,
                             "%.500s is not among the files of job %s",
                             files->v[i], job);
        }
    }
    return DT_OK;
}
