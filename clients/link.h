/* SPDX-License-Identifier: Apache-2.0
 *
 * One SSH connection to one server, as a state machine that never waits:
 * connect, key exchange, host key, authentication, channel, subsystem, then
 * bytes. libssh's part of a client is in this file and in clientauth.c only.
 *
 * Threads: the pool's; the result may be read by others once the link is over
 * and that was told through the chunk queue.
 */
#ifndef CLIENTS_LINK_H
#define CLIENTS_LINK_H

#include "chunks.h"
#include "clientauth.h"
#include "routes.h"

#include <libssh/callbacks.h>

#define LINK_MAX_DROPS                                    \
    4u /* tries at a server that closes before the log-in \
        */
#define LINK_WINDOW (4u << 20) /* bytes a server may send ahead, at most */
#define LINK_MAX_WORDS 2048u   /* of the channel's stderr that are kept */

/* What all links of a pool share. */
struct link_env {
    bool trust_all;      /* unknown keys are accepted */
    bool takes_any_host; /* all are: nobody has asked who that is */
    bool *has_told;      /* that keys were stored: once is enough */
    const struct diag *diag;
    int handshake_ms; /* for handshake, log-in and opening the session, each */
    const char *request; /* sent once the subsystem runs */
    size_t request_len;
    const char *finish; /* sent instead of ending it: what was read is wanted */
    size_t finish_len;
    int wake_fd; /* of the pool's thread */
    struct chunks *chunks;
    size_t window; /* 0: libssh's own */
    char *scratch; /* window bytes */
};

enum link_state {
    LINK_IDLE = 0,
    LINK_CONNECTING,
    LINK_EXCHANGING, /* keys */
    LINK_ASKING,     /* closed, until the user trusts the host key */
    LINK_LOGGING_IN,
    LINK_OPENING,  /* the channel */
    LINK_STARTING, /* the subsystem */
    LINK_RUNNING,
    LINK_ENDING, /* the server has sent everything */
    LINK_OVER,
    LINK_PAUSED /* closed, and to be started again at the deadline */
};

struct link_result {
    bool is_closed;             /* the channel ended as it should */
    int exit_status;            /* of the server's session; -1: none told */
    struct error err;           /* why the connection failed or broke off */
    char words[LINK_MAX_WORDS]; /* what the server said on stderr */
    size_t words_len;
};

struct link {
    const struct link_env *env;
    const struct server *server;
    const struct route *route;
    size_t index;
    enum link_state state;
    int64_t deadline; /* clock_now_ms */
    struct connect *connect;
    int fd;      /* ours, also while libssh uses it */
    pid_t proxy; /* the command behind fd; 0: none */
    ssh_session session;
    ssh_channel channel;
    ssh_event event; /* made when reading is held back */
    struct ssh_channel_callbacks_struct callbacks;
    struct ssh_counter_struct socket_counter;
    struct clientauth_place place;
    const char *request; /* the pool's, or own_request */
    size_t request_len;
    char *own_request; /* of a link that goes on after a broken one */
    size_t sent;       /* of the request */
    size_t since;      /* bytes read since the window was last opened wide */
    bool is_stalled;   /* waits for room in the chunk queue */
    bool has_bytes;    /* from the server, since it was last started */
    bool saw_eof, saw_close;
    unsigned nr_drops; /* closed by the server before the log-in */
    bool is_thorough;  /* asks for the key types of all known lines */
    bool is_unwanted;  /* nobody wants its bytes any more */
    /* The unknown host key, while asking. */
    char *key_type;
    char *key_base64;
    char *key_print;                   /* fingerprint */
    struct knownhosts_where authority; /* of certificates, for this host */
    struct link_result result;
};

void link_init(struct link *l, const struct link_env *env,
               const struct server *server, const struct route *route,
               size_t index);
void link_fini(struct link *l);

/* Begins to connect: from LINK_IDLE, or LINK_ASKING after the key became known.
 */
void link_start(struct link *l);
/* Makes a link that is over ready for another start at `at` (clock_now_ms),
 * with a request of its own, which it takes over. */
void link_pause(struct link *l, char *request, size_t len, int64_t at);
/* Does what can be done now. True: there is more to do at once. */
bool link_step(struct link *l);
/* Ends it since its host key is not known, and says why that is the end. */
void link_key_unknown(struct link *l, const char *why);
/* Ends it from any state. `why` NULL: no error. */
void link_end(struct link *l, const char *why);

/* Has a running link send another request, which it takes over; false: not yet.
 */
bool link_send(struct link *l, char *request, size_t len);
/* Asks a server whose queries run for the result of what it has read; false:
 * it has not got so far. */
bool link_finish(struct link *l);

/* From the TCP connect until the request is sent. */
bool link_is_establishing(const struct link *l);
/* The descriptor to poll, -1: none; *events gets what for. */
int link_poll_fd(const struct link *l, short *events);

#endif
