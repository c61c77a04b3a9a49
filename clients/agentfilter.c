/* SPDX-License-Identifier: Apache-2.0
 *
 * An SSH agent that shows only some keys.
 */
#include "agentfilter.h"

#include "base64.h"
#include "cleanup.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#define REQUEST_IDENTITIES 11
#define IDENTITIES_ANSWER 12
#define HEAD 5u /* type and count of an answer */

struct agentfilter {
    char *path;
    struct agentfilter_choice choice;
    int control[2]; /* new connections travel to the thread; its end ends it */
    pthread_t thread;
    uint8_t message[4 + AGENTFILTER_MAX];
};

static uint32_t
get32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return be32toh(v);
}

static void
put32(uint8_t *p, uint32_t v)
{
    v = htobe32(v);
    memcpy(p, &v, sizeof(v));
}

/* Length of a key (blob and comment) at p, 0: malformed. */
static size_t
key_len(const uint8_t *p, size_t left)
{
    size_t at = 0;

    for (int part = 0; part < 2; part++) {
        size_t len;

        if (left - at < 4) {
            return 0;
        }
        len = get32(p + at);
        if (len > left - at - 4) {
            return 0;
        }
        at += 4 + len;
    }
    return at;
}

/* The key at p as base64, a new string; NULL: out of memory. */
static char *
key_text(const uint8_t *p)
{
    size_t len = get32(p);
    size_t text_len = base64_encoded_len(len);
    char *text = malloc(text_len + 1);

    if (text) {
        base64_encode(text, p + 4, len);
        text[text_len] = '\0';
    }
    return text;
}

static bool
is_chosen(const struct agentfilter_choice *choice, uint32_t index,
          const uint8_t *key)
{
    CLEANUP_FREE char *text = NULL;

    if (choice->index >= 0 && choice->index != index) {
        return false;
    }
    if (!choice->only) {
        return true;
    }
    text = key_text(key);
    for (size_t i = 0; text && i < choice->only->nr; i++) {
        if (strcmp(choice->only->v[i], text) == 0) {
            return true;
        }
    }
    return false;
}

size_t
agentfilter_shorten(uint8_t *answer, size_t len,
                    const struct agentfilter_choice *choice)
{
    size_t at = HEAD, kept = HEAD;
    uint32_t nr, nr_kept = 0;

    if (len < HEAD || answer[0] != IDENTITIES_ANSWER) {
        return 0;
    }
    nr = get32(answer + 1);
    for (uint32_t i = 0; i < nr; i++) {
        size_t key = key_len(answer + at, len - at);

        if (key == 0) {
            return 0;
        }
        if (is_chosen(choice, i, answer + at)) {
            memmove(answer + kept, answer + at, key);
            kept += key;
            nr_kept++;
        }
        at += key;
    }
    put32(answer + 1, nr_kept);
    return kept;
}

/* ---- the thread ---- */

static bool
read_all(int fd, uint8_t *p, size_t len)
{
    while (len) {
        ssize_t got = read(fd, p, len);

        if (got <= 0 && !(got < 0 && errno == EINTR)) {
            return false;
        }
        p += got > 0 ? got : 0;
        len -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool
write_all(int fd, const uint8_t *p, size_t len)
{
    while (len) {
        ssize_t put = send(fd, p, len, MSG_NOSIGNAL);

        if (put < 0 && errno != EINTR) {
            return false;
        }
        p += put > 0 ? put : 0;
        len -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* One message with its length in front; its length behind that, 0: broken. */
static size_t
read_message(int fd, uint8_t *message)
{
    size_t len;

    if (!read_all(fd, message, 4)) {
        return 0;
    }
    len = get32(message);
    return len && len <= AGENTFILTER_MAX && read_all(fd, message + 4, len) ? len
                                                                           : 0;
}

/* Hands a request on and the answer back. False: the connection is over. */
static bool
serve(struct agentfilter *f, int fd)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    CLEANUP_FD int agent = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t len = read_message(fd, f->message);
    bool is_list = len && f->message[4] == REQUEST_IDENTITIES;

    if (len == 0 || agent < 0) {
        return false;
    }
    memcpy(addr.sun_path, f->path, strlen(f->path) + 1);
    if (connect(agent, (struct sockaddr *)&addr, sizeof(addr)) != 0 ||
        !write_all(agent, f->message, 4 + len)) {
        return false;
    }
    len = read_message(agent, f->message);
    if (len && is_list) {
        len = agentfilter_shorten(f->message + 4, len, &f->choice);
        put32(f->message, (uint32_t)len);
    }
    return len && write_all(fd, f->message, 4 + len);
}

static void *
filter_thread(void *arg)
{
    struct agentfilter *f = arg;
    struct pollfd *fds = calloc(1, sizeof(*fds));
    size_t nr = 1;
    bool good = fds != NULL;

    while (good) {
        fds[0] = (struct pollfd){.fd = f->control[1], .events = POLLIN};
        if (poll(fds, nr, -1) < 0) {
            good = errno == EINTR;
            continue;
        }
        for (size_t i = nr; i-- > 1;) {
            if (fds[i].revents && !serve(f, fds[i].fd)) {
                close(fds[i].fd);
                fds[i] = fds[--nr];
            }
        }
        if (fds[0].revents) {
            int fd;
            struct pollfd *more = reallocarray(fds, nr + 1, sizeof(*fds));

            if (more) {
                fds = more;
            }
            if (!read_all(f->control[1], (uint8_t *)&fd, sizeof(fd))) {
                break;
            }
            if (more) {
                fds[nr++] = (struct pollfd){.fd = fd, .events = POLLIN};
            } else {
                close(fd);
            }
        }
    }
    for (size_t i = 1; i < nr; i++) {
        close(fds[i].fd);
    }
    free(fds);
    return NULL;
}

/* ---- the owner's side ---- */

int
agentfilter_new(const char *path, const struct agentfilter_choice *choice,
                struct agentfilter **out, struct error *err)
{
    struct agentfilter *f;
    int rc;

    if (strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path)) {
        return error_set(err, DT_ERR_LIMIT, "SSH_AUTH_SOCK is too long");
    }
    f = calloc(1, sizeof(*f));
    if (!f || !(f->path = strdup(path))) {
        free(f);
        return error_set(err, DT_ERR_NOMEM, "SSH agent: out of memory");
    }
    f->choice = *choice;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->control) != 0) {
        rc = errno;
    } else if ((rc = pthread_create(&f->thread, NULL, filter_thread, f)) != 0) {
        close(f->control[0]);
        close(f->control[1]);
    } else {
        *out = f;
        return DT_OK;
    }
    free(f->path);
    free(f);
    return error_errno(err, rc, "SSH agent");
}

void
agentfilter_free(struct agentfilter *f)
{
    if (!f) {
        return;
    }
    close(f->control[0]);
    pthread_join(f->thread, NULL);
    close(f->control[1]);
    free(f->path);
    free(f);
}

int
agentfilter_open(struct agentfilter *f)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return -1;
    }
    if (!write_all(f->control[0], (uint8_t *)&pair[1], sizeof(pair[1]))) {
        close(pair[0]);
        close(pair[1]);
        return -1;
    }
    return pair[0];
}

/* ---- listing ---- */

static int
add_keys(const uint8_t *answer, size_t len, struct strv *out)
{
    size_t at = HEAD;
    int rc = DT_OK;

    if (len < HEAD || answer[0] != IDENTITIES_ANSWER) {
        return DT_ERR_IO;
    }
    for (uint32_t i = get32(answer + 1); rc == DT_OK && i > 0; i--) {
        size_t key = key_len(answer + at, len - at);
        CLEANUP_FREE char *text = key ? key_text(answer + at) : NULL;

        if (key == 0) {
            return DT_ERR_IO;
        }
        rc = text ? strv_add(out, text) : DT_ERR_NOMEM;
        at += key;
    }
    return rc;
}

int
agentfilter_list(const char *path, struct strv *out)
{
    static const uint8_t request[] = {0, 0, 0, 1, REQUEST_IDENTITIES};
    const struct timeval limit = {AGENTFILTER_LIST_MS / 1000, 0};
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    CLEANUP_FD int agent = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CLEANUP_FREE uint8_t *message = malloc(4 + AGENTFILTER_MAX);
    size_t len;

    if (agent < 0 || !message) {
        return DT_ERR_NOMEM;
    }
    if (strlen(path) >= sizeof(addr.sun_path)) {
        return DT_ERR_IO;
    }
    memcpy(addr.sun_path, path, strlen(path) + 1);
    /* Both limits also hold for connect. */
    setsockopt(agent, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(agent, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (connect(agent, (struct sockaddr *)&addr, sizeof(addr)) != 0 ||
        !write_all(agent, request, sizeof(request))) {
        return DT_ERR_IO;
    }
    len = read_message(agent, message);
    return len ? add_keys(message + 4, len, out) : DT_ERR_IO;
}
