/* SPDX-License-Identifier: Apache-2.0
 *
 * Numeric network addresses and nets, as authorized_keys, AllowFrom and the
 * list of exempt sources have them. No names are looked up here.
 */
#ifndef CORE_AUTH_ADDRESS_H
#define CORE_AUTH_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

struct auth_address {
    int family;    /* AF_INET or AF_INET6 */
    unsigned bits; /* of the whole address */
    uint8_t bytes[16];
};

struct sockaddr;

/* Reads a numeric address. An IPv4 address that is written as an IPv6 one
 * (::ffff:a.b.c.d) is taken as what it is. */
bool auth_address_parse(const char *text, struct auth_address *out);
bool auth_address_from_sockaddr(const struct sockaddr *sa,
                                struct auth_address *out);
/* Whether the first `bits` bits are the same. */
bool auth_address_is_same(const struct auth_address *a,
                          const struct auth_address *b, unsigned bits);

/* Whether `address` lies in `net`, an address or address/bits. 1: it does, 0:
 * it does not, -1: `net` is neither. */
int auth_address_in_net(const char *net, const char *address);

#endif
