/* SPDX-License-Identifier: Apache-2.0
 *
 * Numeric network addresses and nets.
 */
#include "auth-address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT (INET6_ADDRSTRLEN + 8) /* with /bits */

static void
set_four(struct auth_address *a, const void *bytes)
{
    *a = (struct auth_address){.family = AF_INET, .bits = 32};
    memcpy(a->bytes, bytes, 4);
}

static void
set_six(struct auth_address *a, const struct in6_addr *six)
{
    if (IN6_IS_ADDR_V4MAPPED(six)) {
        set_four(a, six->s6_addr + 12);
        return;
    }
    *a = (struct auth_address){.family = AF_INET6, .bits = 128};
    memcpy(a->bytes, six->s6_addr, 16);
}

bool
auth_address_parse(const char *text, struct auth_address *out)
{
    struct in_addr four;
    struct in6_addr six;

    if (inet_pton(AF_INET, text, &four) == 1) {
        set_four(out, &four);
        return true;
    }
    if (inet_pton(AF_INET6, text, &six) != 1) {
        return false;
    }
    set_six(out, &six);
    return true;
}

bool
auth_address_from_sockaddr(const struct sockaddr *sa, struct auth_address *out)
{
    if (sa->sa_family == AF_INET) {
        set_four(out,
                 &((const struct sockaddr_in *)(const void *)sa)->sin_addr);
        return true;
    }
    if (sa->sa_family != AF_INET6) {
        return false;
    }
    set_six(out, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr);
    return true;
}

bool
auth_address_is_same(const struct auth_address *a, const struct auth_address *b,
                     unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;

    if (a->family != b->family || memcmp(a->bytes, b->bytes, whole) != 0) {
        return false;
    }
    return rest == 0 || (a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0;
}

int
auth_address_in_net(const char *net, const char *address)
{
    size_t len = strcspn(net, "/");
    struct auth_address a, b;
    char text[MAX_TEXT], *end;
    unsigned long bits;

    if (len >= sizeof(text)) {
        return -1;
    }
    memcpy(text, net, len);
    text[len] = '\0';
    if (!auth_address_parse(text, &a)) {
        return -1;
    }
    bits = a.bits;
    if (net[len] == '/') {
        if (!isdigit((unsigned char)net[len + 1])) {
            return -1;
        }
        bits = strtoul(net + len + 1, &end, 10);
        if (*end || bits > a.bits) {
            return -1;
        }
    }
    return auth_address_parse(address, &b) &&
           auth_address_is_same(&a, &b, (unsigned)bits);
}
