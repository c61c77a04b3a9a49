/* SPDX-License-Identifier: Apache-2.0
 *
 * The listening socket and what is set on accepted ones.
 */
#include "socket.h"
#include "cleanup.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

/* "[::1]" is how the Go program wants IPv6 addresses; both ways are taken. */
static int
resolve(const char *address, int port, struct addrinfo **out, struct error *err)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    size_t len = strlen(address);
    CLEANUP_FREE char *bare = NULL;
    char service[16];
    int e;

    if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
        bare = strndup(address + 1, len - 2);
    } else {
        bare = strdup(address);
    }
    if (!bare) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    snprintf(service, sizeof(service), "%d", port);
    e = getaddrinfo(*bare ? bare : NULL, service, &hints, out);
    if (e) {
        return error_set(err, DT_ERR_INVAL, "address %s: %s", address,
                         gai_strerror(e));
    }
    return DT_OK;
}

static int
bound_port(int fd)
{
    struct sockaddr_storage sa = {0};
    socklen_t len = sizeof(sa);

    if (getsockname(fd, (struct sockaddr *)&sa, &len) != 0) {
        return 0;
    }
    if (sa.ss_family == AF_INET6) {
        return ntohs(((struct sockaddr_in6 *)(void *)&sa)->sin6_port);
    }
    return ntohs(((struct sockaddr_in *)(void *)&sa)->sin_port);
}

int
socket_listen(const char *address, int port, int *bound, struct error *err)
{
    struct addrinfo *list = NULL;
    CLEANUP_FD int fd = -1;
    int on = 1, st = resolve(address, port, &list, err);

    if (st != DT_OK) {
        return st;
    }
    fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(fd, list->ai_addr, list->ai_addrlen) != 0 ||
        listen(fd, SOMAXCONN) != 0) {
        st = error_errno(err, errno, "cannot listen on %s port %d", address,
                         port);
    }
    freeaddrinfo(list);
    if (st != DT_OK) {
        return st;
    }
    *bound = bound_port(fd);
    return STEAL_FD(fd);
}

int
socket_accept(int listen_fd, struct sockaddr_storage *from)
{
    socklen_t len = sizeof(*from);
    int fd = accept4(listen_fd, (struct sockaddr *)from, &len,
                     SOCK_CLOEXEC | SOCK_NONBLOCK);
    int on = 1;

    if (fd >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    return fd;
}
