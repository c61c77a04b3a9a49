/* SPDX-License-Identifier: Apache-2.0
 *
 * The small table of requests that a session or worker process may send to
 * the listener, one fixed-size message each over SOCK_SEQPACKET.
 */
#ifndef CORE_BROKER_H
#define CORE_BROKER_H

#include "log.h"

#include <stdint.h>

#define BROKER_MAX_USER 64u
#define BROKER_MAX_KEY 16384u /* bytes of base64 of a public key */
#define BROKER_MAX_TEXT 512u

enum broker_type {
    /* session → listener, before authentication */
    BROKER_LOOKUP_KEY = 1, /* user, key: may this key log in? */
    /* session → listener, once: authentication is over */
    BROKER_START_WORKER = 2, /* user; text: how, for the log */
    /* session → listener, before authentication */
    BROKER_LOOKUP_PASSWORD = 3, /* user; key: the password, any bytes */
    BROKER_WAITS = 4, /* once: it has started, and waits for its peer */
    /* worker → listener */
    BROKER_TAKE_SLOT = 16, /* id (not 0), follow */
    BROKER_GIVE_SLOT = 17, /* id, follow; id 0: any that is held */
    BROKER_ADD_KEY = 18,   /* key: remember it for this user; answered */
    /* worker or session → listener */
    BROKER_LOG = 19, /* status: enum log_level; text: a line for the log */
    /* worker → listener; audit.h */
    BROKER_QUERY_BEGIN = 20, /* id; flags (bit 1: turbo); status: row of its
                                counters; value: number of files; user: the
                                plugin; key: names of the files */
    BROKER_QUERY_END = 21,   /* id, status; text: why it failed; key: struct
                                audit_counts */
    /* listener → session */
    BROKER_KEY_ANSWER = 32,     /* status; from a look-up child also key: the
                                   name of the job */
    BROKER_WORKER_STARTED = 33, /* status; descriptor attached */
    BROKER_WORKER_ENDED = 34,   /* status: exit status to send; text */
    BROKER_SHUTDOWN = 35,       /* text: the server stops */
    /* listener → worker */
    BROKER_SLOT = 48,     /* id: granted */
    BROKER_DRAIN = 49,    /* SIGTERM: value is the grace time in ms */
    BROKER_KEY_ADDED = 50 /* status; text: why not */
};

struct broker_msg {
    uint32_t type;
    int32_t status;
    uint32_t id;
    uint32_t flags; /* bit 0: follow */
    int64_t value;
    char user[BROKER_MAX_USER + 1];
    char text[BROKER_MAX_TEXT + 1];
    uint32_t key_len; /* bytes of key that are used */
    char key[BROKER_MAX_KEY];
};

/* Sends; `fd` (or -1) travels along. DT_OK, DT_AGAIN (would block) or
 * DT_ERR_IO. Only the used part of `key` is sent. */
int broker_send(int sock, const struct broker_msg *msg, int fd);
/* Receives one message, checked for size and termination; *fd gets an
 * attached descriptor or -1. DT_OK, DT_AGAIN, DT_ERR_IO at the end (the peer
 * is gone), DT_ERR_PROTO for a malformed one. */
int broker_recv(int sock, struct broker_msg *msg, int *fd);

/* A log for a child of the listener: each line travels as BROKER_LOG through
 * `sock`, which must outlive it; waits while the listener lags. Any thread.
 * Free with log_free. */
int broker_log_new(int sock, enum log_level level, struct log **out);

#endif
