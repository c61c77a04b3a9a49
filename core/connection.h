/* SPDX-License-Identifier: Apache-2.0
 *
 * One connection as the listener sees it: its session process, its worker,
 * and what they may ask for.
 *
 * Requests before authentication and after it are two different sets; one
 * that is out of turn, malformed or too frequent ends the session. Nothing
 * here waits: look-ups run in a child of their own.
 */
#ifndef CORE_CONNECTION_H
#define CORE_CONNECTION_H

#include "audit.h"
#include "auth-cache.h"
#include "auth-special.h"
#include "broker.h"
#include "config.h"
#include "log.h"
#include "loglimit.h"
#include "penalty.h"
#include "plugin.h"
#include "slots.h"

#include <libssh/server.h>
#include <netinet/in.h>
#include <sys/types.h>

/* What all connections share; the listener's. */
struct connection_shared {
    const struct config *config; /* replaced by SIGHUP, as is plugins */
    struct plugins *plugins;
    const struct confine *confine; /* likewise */
    struct log *log;
    ssh_bind bind;
    char *host; /* short host name */
    struct slots_table slots;
    struct auth_cache cache;
    struct penalty penalty;
    struct loglimit loglimit;
    struct audit_totals totals;
    uint64_t nr_logins; /* since the start */
    size_t nr_users;    /* logged in, counted by MaxConnections … */
    size_t nr_health;   /* … and health checks, which are not */
    pid_t self;         /* the listener */
    bool as_root;       /* it runs as root: children take other identities */
    int empty_fd;       /* their root folder; -1: none */
    uid_t session_uid;  /* of session processes then */
    gid_t session_gid;
    bool is_stopping;
};

struct connection {
    struct connection_shared *shared;
    char address[INET6_ADDRSTRLEN];  /* of the peer, numeric */
    char peer[INET6_ADDRSTRLEN + 8]; /* address:port */
    int64_t began_ms;

    pid_t session_pid; /* 0: gone */
    int session_fd;    /* -1: closed */
    int nr_lookups, nr_refused, nr_log_lines;
    bool is_starting; /* the session has not said yet that it waits */
    bool is_killed;   /* the session; its end is on the way */
    bool is_abuse;    /* … since it broke the rules */
    bool is_late;     /* … since it did not log in in time */

    pid_t lookup_pid; /* of the look-up under way; 0: none */
    int lookup_fd;
    enum auth_role lookup_role;
    char lookup_user[BROKER_MAX_USER + 1];
    char *lookup_origin;    /* the key that is looked for in authorized_keys,
                               base64; for other roles the password */
    size_t lookup_len;      /* its bytes */
    bool lookup_registered; /* it is behind a registered key */

    /* whom a look-up has allowed last */
    bool is_allowed;
    bool is_registered; /* by a key that a session registered */
    enum auth_role role;
    char user[BROKER_MAX_USER + 1];
    char *origin;  /* role USER: the listed key that allowed it */
    char *job;     /* the jobs' roles: the name of the job; else "" */
    char why[256]; /* which line, certificate or job it was; for the log */
    bool is_authenticated;
    size_t *place; /* where it is counted, in `shared`; NULL: nowhere */
    int nr_keys_added;

    pid_t worker_pid; /* 0: none, or gone */
    int worker_fd;
    int64_t worker_kill_ms;     /* CLOCK_NEVER: it may live */
    bool drain_due;             /* BROKER_DRAIN is to be sent */
    struct plugin_crash *crash; /* shared with the worker */
    struct slots_holder slots;
    struct audit audit;
};

/* Starts the session process for an accepted socket, which it takes over.
 * DT_OK, or an error (the socket is closed). */
int connection_new(struct connection_shared *shared, int fd,
                   const struct sockaddr_storage *from, struct connection **out,
                   struct error *err);
/* The numeric address of a peer; one of IPv4 that came in through an IPv6
 * socket is shown, and judged, as what it is. */
void connection_address(const struct sockaddr_storage *from,
                        char address[INET6_ADDRSTRLEN]);
/* What failed log-ins cost. */
struct penalty_limits connection_penalty_limits(const struct config *config);
/* All its processes are gone. */
bool connection_is_over(const struct connection *c);
void connection_free(struct connection *c);

/* For the poll loop: fills up to 3 entries, returns how many. */
#define CONNECTION_MAX_POLL 3
struct pollfd;
size_t connection_poll(const struct connection *c, struct pollfd *p);
/* Handles what has come on one of these descriptors. */
void connection_event(struct connection *c, int fd);
/* Sends what is due: granted slots, DRAIN. */
void connection_flush(struct connection *c);

/* A child has ended (status of waitpid); false: it is none of this one's. */
bool connection_reaped(struct connection *c, pid_t pid, int status);

/* Deadlines: when the next one is, and acting on those that have passed. */
int64_t connection_next_ms(const struct connection *c);
void connection_check_time(struct connection *c, int64_t now_ms);

/* Whether one more line that the peer or the user has caused may be written to
 * the log (loglimit.h). */
bool connection_may_log(struct connection *c);
/* Ends a session that broke its rules: it may be in a stranger's hands. */
void connection_violation(struct connection *c, const char *what);
/* The server stops: tells session and worker. */
void connection_shutdown(struct connection *c);
/* Ends what is left at once. */
void connection_kill_worker(struct connection *c);
void connection_kill_session(struct connection *c);

#endif
