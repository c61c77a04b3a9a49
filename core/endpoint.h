/* SPDX-License-Identifier: Apache-2.0
 *
 * A socket for askers on this machine: one short request, one answer, end.
 *
 * Nothing waits: who does not ask, or does not read, within
 * ENDPOINT_TIME_MS is cut off, and while ENDPOINT_MAX_CLIENTS are served the
 * next ones wait in the kernel's queue. The listener's poll loop drives it;
 * one thread.
 */
#ifndef CORE_ENDPOINT_H
#define CORE_ENDPOINT_H

#include "buf.h"
#include "error.h"

#include <sys/types.h>

#define ENDPOINT_MAX_CLIENTS 8u
#define ENDPOINT_MAX_POLL (ENDPOINT_MAX_CLIENTS + 1)
#define ENDPOINT_MAX_REQUEST 4096u /* bytes */
#define ENDPOINT_TIME_MS 2000
/* Bytes of the path of a Unix socket (sun_path of unix(7)). */
#define ENDPOINT_MAX_PATH 107u

/* Appends the answer to the request so far to `out`. DT_OK: that is it;
 * DT_AGAIN: the request is not complete (with is_full: no more will come); an
 * error: hang up. */
typedef int endpoint_answer_fn(void *ctx, const char *request, size_t len,
                               bool is_full, struct buf *out);

struct endpoint_client {
    int fd;
    int64_t until_ms;
    char request[ENDPOINT_MAX_REQUEST];
    size_t len;
    bool is_answered;
    struct buf answer;
    size_t sent;
};

struct endpoint {
    int fd;           /* -1: closed */
    bool is_own_only; /* only root and the server's user may ask */
    char *path;       /* of a Unix socket, else NULL */
    dev_t dev;        /* what was made there */
    ino_t ino;
    struct endpoint_client clients[ENDPOINT_MAX_CLIENTS];
    size_t nr;
};

/* Closed. */
void endpoint_init(struct endpoint *e);
/* A Unix socket with mode 0600 for root and the server's user, whom the kernel
 * names; or, with is_shared, with mode 0660 for whom its mode lets in. What a
 * server left behind that is gone is replaced. */
int endpoint_open_unix(struct endpoint *e, const char *path, bool is_shared,
                       struct error *err);
/* TCP at 127.0.0.1. */
int endpoint_open_loopback(struct endpoint *e, int port, struct error *err);
/* Hangs up on everybody and removes the socket's file. */
void endpoint_close(struct endpoint *e);
/* The latter alone, if it is still what was made. */
void endpoint_remove(struct endpoint *e);

/* For the poll loop: fills up to ENDPOINT_MAX_POLL entries, returns how many,
 * and handles those entries afterwards. */
struct pollfd;
size_t endpoint_poll(const struct endpoint *e, struct pollfd *p);
void endpoint_events(struct endpoint *e, const struct pollfd *p, size_t nr,
                     endpoint_answer_fn *answer, void *ctx, int64_t now_ms);
/* When endpoint_check_time has somebody to cut off; CLOCK_NEVER. */
int64_t endpoint_next_ms(const struct endpoint *e);
void endpoint_check_time(struct endpoint *e, int64_t now_ms);

#endif
