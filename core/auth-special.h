/* SPDX-License-Identifier: Apache-2.0
 *
 * The users with a password: the health check and the jobs (spec server 12.5,
 * 17). They have no account and no key, and may do one thing each: a health
 * session answers the health request and nothing else, a job's session reads
 * the files of that job.
 *
 * Processes: the decision is made in the listener's look-up child, as names
 * in AllowFrom may have to be looked up; what a session may ask is checked in
 * its worker.
 */
#ifndef CORE_AUTH_SPECIAL_H
#define CORE_AUTH_SPECIAL_H

#include "config.h"
#include "error.h"

#include <time.h>

/* Whom a session is of. */
enum auth_role {
    AUTH_ROLE_USER = 0, /* an account of this machine, by key */
    AUTH_ROLE_HEALTH,
    AUTH_ROLE_SCHEDULE,
    AUTH_ROLE_CONTINUOUS
};

#define AUTH_SPECIAL_HEALTH "DTAIL-HEALTH" /* its own password, too */
#define AUTH_SPECIAL_SCHEDULE "DTAIL-SCHEDULE"
#define AUTH_SPECIAL_CONTINUOUS "DTAIL-CONTINUOUS"

#define AUTH_SPECIAL_MAX_PASSWORD 256u /* bytes */

/* The role that goes with an SSH user name. */
enum auth_role auth_special_role(const char *user);

/* One question: is this the password of `user`, and may it come from there? */
struct auth_special_request {
    const struct config *config;
    const char *user;
    const char *password; /* any bytes */
    size_t password_len;
    const char *address; /* of the peer, numeric, without port */
};

/* DT_OK: yes; *job is the name of the job (borrowed from the configuration;
 * "" for the health user). Else an error that says why not, for the log. Jobs
 * that are not enabled let nobody in. May wait for the resolver. */
int auth_special_decide(const struct auth_special_request *request,
                        const char **job, struct error *note);

/* What the client of a job logs in with: its Password, else its name. */
const char *auth_special_secret(const struct config_job *job);

/* The rules for a session's reads. Jobs have none of their own but what the
 * configuration says for exactly their user: it names their files. */
const struct strv *auth_special_rules(const struct config *config,
                                      enum auth_role role, const char *user);

/* Whether a session may read `files`. DT_OK, or DT_ERR_ACCES with a reason
 * for the client: the health user never; a job's session only what stands in
 * the Files of an enabled job of its name, with any date in place of a date
 * token. */
int auth_special_check_files(const struct config *config, enum auth_role role,
                             const char *job, const struct strv *files,
                             struct error *err);

#endif
