/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of a running link.
 *
 * Reading follows three rules learnt from measurements: a read with a count
 * above what is buffered makes libssh open its window to that count, so one in
 * each half window is such a read (at 50 ms of distance the default window
 * would throttle to 12 MB/s); libssh takes 4 KB from the socket at a time, so
 * reading goes on while its counter moves; and when nobody takes the bytes, SSH
 * is pumped all the same, without reading the channel, so that the window and
 * not a full TCP buffer holds the server back.
 */
#include "link-data.h"

#include "clock.h"

#include <stdlib.h>

#define TURN_BYTES (1u << 20) /* of one link, then the others have a turn */
#define TURN_PUMPS 512        /* packets' worth of socket reads in a turn */
#define READ_BYTES (64u * 1024u)
#define END_MS 5000 /* from the last byte to the server's good-bye */

#define NO_ROOM (-1000) /* beside libssh's own answers */

/* ---- what libssh tells ---- */

/* Output stays in libssh's buffer until it is read; the server's words on
 * stderr are taken at once, as they use up the same window. */
static int
on_data(ssh_session session, ssh_channel channel, void *data, uint32_t len,
        int is_stderr, void *userdata)
{
    struct link *l = userdata;
    struct link_result *r = &l->result;
    size_t room = sizeof(r->words) - 1 - r->words_len;

    (void)session;
    (void)channel;
    if (!is_stderr) {
        return 0;
    }
    memcpy(r->words + r->words_len, data, len < room ? len : room);
    r->words_len += len < room ? len : room;
    return (int)len;
}

static void
on_eof(ssh_session session, ssh_channel channel, void *userdata)
{
    (void)session;
    (void)channel;
    ((struct link *)userdata)->saw_eof = true;
}

static void
on_close(ssh_session session, ssh_channel channel, void *userdata)
{
    (void)session;
    (void)channel;
    ((struct link *)userdata)->saw_close = true;
}

static void
on_exit_status(ssh_session session, ssh_channel channel, int status,
               void *userdata)
{
    (void)session;
    (void)channel;
    ((struct link *)userdata)->result.exit_status = status;
}

void
link_data_watch(struct link *l)
{
    l->callbacks = (struct ssh_channel_callbacks_struct){
        .userdata = l,
        .channel_data_function = on_data,
        .channel_eof_function = on_eof,
        .channel_close_function = on_close,
        .channel_exit_status_function = on_exit_status,
    };
    ssh_callbacks_init(&l->callbacks);
    ssh_set_channel_callbacks(l->channel, &l->callbacks);
    l->saw_eof = l->saw_close = false;
}

/* ---- sending ---- */

/* False: the connection is broken. */
static bool
send_request(struct link *l)
{
    while (l->sent < l->request_len) {
        uint32_t window = ssh_channel_window_size(l->channel);
        size_t left = l->request_len - l->sent;
        uint32_t len = left < window ? (uint32_t)left : window;
        int put;

        if (len == 0) {
            return true;
        }
        put = ssh_channel_write(l->channel, l->request + l->sent, len);
        if (put < 0 && put != SSH_AGAIN) {
            return false;
        }
        if (put <= 0) {
            return true; /* a key exchange is under way */
        }
        l->sent += (size_t)put;
    }
    return true;
}

/* ---- reading ---- */

static void
push(struct link *l, struct chunk **c)
{
    if (*c && (*c)->len) {
        (*c)->server = l->index;
        chunks_push(l->env->chunks, *c);
    } else if (*c) {
        chunks_put(l->env->chunks, *c);
    }
    *c = NULL;
}

/* Puts bytes from the scratch memory into chunks, more than the queue's limit
 * if need be: they are off the window already. */
static int
push_scratch(struct link *l, struct chunk **c, size_t len)
{
    const char *at = l->env->scratch;
    size_t left = len;

    while (left) {
        size_t room, take;

        if (!*c && !(*c = chunks_get(l->env->chunks, true))) {
            return SSH_ERROR;
        }
        room = CHUNK_SIZE - (*c)->len;
        take = left < room ? left : room;
        memcpy((*c)->data + (*c)->len, at, take);
        (*c)->len += take;
        at += take;
        left -= take;
        if ((*c)->len == CHUNK_SIZE) {
            push(l, c);
        }
    }
    return (int)len;
}

/* Bytes read, 0: none there now, NO_ROOM, or libssh's error. */
static int
read_some(struct link *l, struct chunk **c)
{
    size_t window = l->env->window, room;
    int got;

    if (!*c && !(*c = chunks_get(l->env->chunks, false))) {
        return NO_ROOM;
    }
    if (window && l->since >= window / 2) {
        got =
            ssh_channel_read(l->channel, l->env->scratch, (uint32_t)window, 0);
        l->since = 0;
        l->has_bytes |= got > 0;
        return got > 0 ? push_scratch(l, c, (size_t)got) : got;
    }
    room = CHUNK_SIZE - (*c)->len;
    got =
        ssh_channel_read(l->channel, (*c)->data + (*c)->len,
                         (uint32_t)(room < READ_BYTES ? room : READ_BYTES), 0);
    if (got > 0) {
        l->has_bytes = true;
        l->since += (size_t)got;
        (*c)->len += (size_t)got;
        if ((*c)->len == CHUNK_SIZE) {
            push(l, c);
        }
    }
    return got;
}

/* Lets SSH work without reading the channel: nobody takes the bytes now, or
 * only the good-bye is missing, which a read behind EOF does not look for. */
static void
pump(struct link *l)
{
    if (!l->event) {
        l->event = ssh_event_new();
        if (!l->event ||
            ssh_event_add_session(l->event, l->session) != SSH_OK) {
            link_end(l, "out of memory");
            return;
        }
    }
    for (int i = 0; i < TURN_PUMPS; i++) {
        uint64_t before = l->socket_counter.in_bytes;

        if (ssh_event_dopoll(l->event, 0) == SSH_ERROR) {
            return; /* shows when the channel is read */
        }
        if (l->socket_counter.in_bytes == before) {
            return;
        }
    }
}

/* The channel gives nothing more. */
static bool
read_end(struct link *l, int got)
{
    bool eof = l->saw_eof || got == SSH_EOF || ssh_channel_is_eof(l->channel);

    if (l->saw_close && eof) {
        l->result.is_closed = true;
        link_end(l, NULL);
    } else if (got < 0 && got != SSH_EOF && got != SSH_AGAIN) {
        const char *text = ssh_get_error(l->session);

        if (l->saw_close) {
            text = "the server closed the session";
        }
        link_end(l, eof ? NULL : text);
    } else if (!ssh_is_connected(l->session)) {
        link_end(l, eof ? NULL : "the connection was broken off");
    } else if (eof && l->state == LINK_RUNNING) {
        l->state = LINK_ENDING;
        l->deadline = clock_now_ms() + END_MS;
        return true;
    }
    return false;
}

bool
link_data_step(struct link *l)
{
    struct chunk *c = NULL;
    size_t taken = 0;
    int got = 0;

    if (l->is_unwanted) {
        link_end(l, NULL);
        return false;
    }
    if (l->state == LINK_ENDING) {
        pump(l);
        return l->state == LINK_ENDING ? read_end(l, 0) : false;
    }
    l->is_stalled = false;
    if (!send_request(l)) {
        got = SSH_ERROR;
    }
    for (int pumps = 0; got != SSH_ERROR && pumps < TURN_PUMPS;) {
        uint64_t before = l->socket_counter.in_bytes;

        got = read_some(l, &c);
        if (got > 0) {
            taken += (size_t)got;
        } else if (got == 0 && l->socket_counter.in_bytes != before) {
            pumps++;
        } else {
            break;
        }
        if (taken >= TURN_BYTES) {
            break;
        }
    }
    push(l, &c);
    if (got == NO_ROOM) {
        l->is_stalled = true;
        pump(l);
        return false;
    }
    if (got > 0 || (got == 0 && taken >= TURN_BYTES)) {
        return true;
    }
    return read_end(l, got);
}
