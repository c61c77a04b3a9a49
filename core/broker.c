/* SPDX-License-Identifier: Apache-2.0
 *
 * The messages between the listener and its children: packing, checking and
 * the descriptor that may travel along.
 */
#include "broker.h"
#include "cleanup.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <dtail/plugin.h>

/* Without the key, which is sent only as far as it is used. */
#define FIXED_LEN offsetof(struct broker_msg, key)

/* Room for one descriptor, aligned for the kernel. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static bool
is_terminated(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

int
broker_send(int sock, const struct broker_msg *msg, int fd)
{
    union control control = {0};
    struct iovec iov = {.iov_base = (void *)(uintptr_t)msg};
    struct msghdr hdr = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t n;

    if (msg->key_len > BROKER_MAX_KEY) {
        return DT_ERR_PROTO;
    }
    iov.iov_len = FIXED_LEN + msg->key_len;
    if (fd >= 0) {
        hdr.msg_control = control.bytes;
        hdr.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *c = CMSG_FIRSTHDR(&hdr);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(fd));
        memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    }
    do {
        n = sendmsg(sock, &hdr, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK ? DT_AGAIN : DT_ERR_IO;
    }
    return (size_t)n == iov.iov_len ? DT_OK : DT_ERR_IO;
}

/* Takes the descriptor out of the control data; -1: none came. */
static int
attached_fd(struct msghdr *hdr)
{
    int found = -1;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(hdr); c; c = CMSG_NXTHDR(hdr, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
            c->cmsg_len == CMSG_LEN(sizeof(int))) {
            memcpy(&found, CMSG_DATA(c), sizeof(found));
        }
    }
    return found;
}

static bool
is_well_formed(const struct broker_msg *msg, size_t len)
{
    return len >= FIXED_LEN && msg->key_len <= BROKER_MAX_KEY &&
           len == FIXED_LEN + msg->key_len &&
           is_terminated(msg->user, sizeof(msg->user)) &&
           is_terminated(msg->text, sizeof(msg->text));
}

int
broker_recv(int sock, struct broker_msg *msg, int *fd)
{
    union control control = {0};
    struct iovec iov = {.iov_base = msg, .iov_len = sizeof(*msg)};
    struct msghdr hdr = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         /* the padding of CMSG_SPACE would let in a second */
                         .msg_controllen = CMSG_LEN(sizeof(int))};
    CLEANUP_FD int got = -1;
    ssize_t n;

    *fd = -1;
    do {
        n = recvmsg(sock, &hdr, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK ? DT_AGAIN : DT_ERR_IO;
    }
    if (n == 0) {
        return DT_ERR_IO;
    }
    /* The kernel has closed what did not fit into `control`. */
    got = attached_fd(&hdr);
    if ((hdr.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) ||
        !is_well_formed(msg, (size_t)n)) {
        return DT_ERR_PROTO;
    }
    *fd = STEAL_FD(got);
    return DT_OK;
}

static void
send_line(void *ctx, enum log_level level, const char *text)
{
    int sock = (int)(intptr_t)ctx;
    struct pollfd p = {.fd = sock, .events = POLLOUT};
    struct broker_msg msg;

    memset(&msg, 0, FIXED_LEN);
    msg.type = BROKER_LOG;
    msg.status = (int32_t)level;
    strncpy(msg.text, text, BROKER_MAX_TEXT);
    while (broker_send(sock, &msg, -1) == DT_AGAIN) {
        poll(&p, 1, -1);
    }
}

int
broker_log_new(int sock, enum log_level level, struct log **out)
{
    return log_new_fn(level, send_line, (void *)(intptr_t)sock, out);
}
