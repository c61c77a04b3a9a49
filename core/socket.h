/* SPDX-License-Identifier: Apache-2.0
 *
 * The listening socket and what is set on accepted ones.
 */
#ifndef CORE_SOCKET_H
#define CORE_SOCKET_H

#include "error.h"

#include <sys/socket.h>

/* Listens on a numeric address ("0.0.0.0", "::", "[::]") or host name; port 0
 * takes a free one. The descriptor, non-blocking, or an error; *bound gets
 * the port. May wait for the resolver: start-up only. */
int socket_listen(const char *address, int port, int *bound, struct error *err);

/* Accepts one connection, non-blocking, with Nagle's algorithm off. The
 * descriptor, or -1 with errno. */
int socket_accept(int listen_fd, struct sockaddr_storage *from);

#endif
