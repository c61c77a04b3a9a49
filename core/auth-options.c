/* SPDX-License-Identifier: Apache-2.0
 *
 * The options in front of a key in authorized_keys. The format is that of
 * sshd(8), AUTHORIZED_KEYS FILE FORMAT.
 */
#include "auth-options.h"
#include "auth-address.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_VALUE 4096u /* bytes of one option's value */

/* An address with wildcards; anything else is a host name. */
static bool
is_address_pattern(const char *pattern)
{
    const char *allowed =
        strchr(pattern, ':') ? "0123456789abcdefABCDEF:.*?" : "0123456789.*?";

    return *pattern && pattern[strspn(pattern, allowed)] == '\0';
}

static int
match_one(const char *pattern, const char *peer, struct error *err)
{
    int hit = auth_address_in_net(pattern, peer);

    if (hit >= 0) {
        return hit;
    }
    if (strchr(pattern, '/')) {
        error_set(err, DT_ERR_ACCES,
                  "from= holds \"%s\", which is not address/bits", pattern);
        return -1;
    }
    if (!is_address_pattern(pattern)) {
        error_set(err, DT_ERR_ACCES,
                  "from= holds \"%s\": only addresses, address patterns and "
                  "address/bits are supported, no host names",
                  pattern);
        return -1;
    }
    return fnmatch(pattern, peer, FNM_NOESCAPE | FNM_CASEFOLD) == 0;
}

/* One match must be there and no negated one; an entry that cannot be judged
 * refuses the key, as it might be a negated one that matches. */
static int
check_from(char *list, const struct auth_peer *peer, struct error *err)
{
    bool matched = false, denied = false;
    char *rest = list, *entry;

    while ((entry = strsep(&rest, ","))) {
        bool negated = *entry == '!';
        int hit = match_one(entry + negated, peer->address, err);

        if (hit < 0) {
            return DT_ERR_ACCES;
        }
        denied = denied || (hit && negated);
        matched = matched || (hit && !negated);
    }
    if (!matched || denied) {
        return error_set(err, DT_ERR_ACCES, "from= does not allow %s",
                         peer->address);
    }
    return DT_OK;
}

/* Digits of a fixed width to a number; the caller has checked the digits. */
static int
number(const char **p, int width)
{
    int n = 0;

    for (int i = 0; i < width; i++) {
        n = n * 10 + (*(*p)++ - '0');
    }
    return n;
}

/* YYYYMMDD[HHMM[SS]][Z], local time without the Z. */
static bool
parse_time(const char *text, time_t *out)
{
    size_t digits = strspn(text, "0123456789");
    bool utc = text[digits] == 'Z';
    struct tm tm = {.tm_isdst = -1}, given;
    const char *p = text;

    if (text[digits + utc] || (digits != 8 && digits != 12 && digits != 14)) {
        return false;
    }
    tm.tm_year = number(&p, 4) - 1900;
    tm.tm_mon = number(&p, 2) - 1;
    tm.tm_mday = number(&p, 2);
    if (digits >= 12) {
        tm.tm_hour = number(&p, 2);
        tm.tm_min = number(&p, 2);
    }
    if (digits == 14) {
        tm.tm_sec = number(&p, 2);
    }
    given = tm;
    *out = utc ? timegm(&tm) : mktime(&tm);
    /* 31 February and 25 o'clock are carried over by the C library. */
    return *out != (time_t)-1 && tm.tm_year == given.tm_year &&
           tm.tm_mon == given.tm_mon && tm.tm_mday == given.tm_mday &&
           given.tm_hour < 24 && given.tm_min < 60 && given.tm_sec < 60;
}

static int
check_expiry(const char *value, const struct auth_peer *peer, struct error *err)
{
    time_t end;

    if (!parse_time(value, &end)) {
        return error_set(err, DT_ERR_ACCES,
                         "expiry-time= \"%s\" is not YYYYMMDD[HHMM[SS]][Z]",
                         value);
    }
    if (peer->now >= end) {
        return error_set(err, DT_ERR_ACCES, "expired at %s", value);
    }
    return DT_OK;
}

static bool
is_one_of(const char *name, const char *const *names)
{
    while (*names && strcasecmp(name, *names) != 0) {
        names++;
    }
    return *names != NULL;
}

/* Options about what this server gives to nobody: to take it away, to give it
 * back after "restrict", or to say how far it may go. */
static bool
is_without_effect(const char *name, bool has_value)
{
    static const char *const plain[] = {
        "restrict",
        "no-pty",
        "no-port-forwarding",
        "no-agent-forwarding",
        "no-X11-forwarding",
        "no-user-rc",
        "pty",
        "port-forwarding",
        "agent-forwarding",
        "X11-forwarding",
        "user-rc",
        NULL,
    };
    static const char *const with_value[] = {"permitopen", "permitlisten",
                                             "tunnel", NULL};

    return is_one_of(name, has_value ? with_value : plain);
}

/* `value` is NULL when the option has none. */
static int
check_one(const char *name, char *value, const struct auth_peer *peer,
          struct error *err)
{
    if (value && strcasecmp(name, "from") == 0) {
        return check_from(value, peer, err);
    }
    if (value && strcasecmp(name, "expiry-time") == 0) {
        return check_expiry(value, peer, err);
    }
    if (is_without_effect(name, value != NULL)) {
        return DT_OK;
    }
    return error_set(err, DT_ERR_ACCES, "option \"%s\" is not supported", name);
}

/* Takes `="…"` off the text; `value` has MAX_VALUE + 1 bytes. Returns the
 * bytes used, 0 when malformed. A quote inside is written \". */
static size_t
take_value(const char *text, size_t len, char *value)
{
    size_t at = 2, n = 0;

    if (len < 3 || text[1] != '"') {
        return 0;
    }
    for (; at < len && text[at] != '"'; at++) {
        if (text[at] == '\\' && at + 1 < len && text[at + 1] == '"') {
            at++;
        }
        if (n == MAX_VALUE || text[at] == '\0') {
            return 0;
        }
        value[n++] = text[at];
    }
    value[n] = '\0';
    return at < len ? at + 1 : 0;
}

static bool
is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '-';
}

int
auth_options_check(const char *options, size_t len,
                   const struct auth_peer *peer, struct error *err)
{
    char name[64], value[MAX_VALUE + 1];
    size_t at = 0;

    for (;;) {
        size_t n = 0, used = 0;
        int st;

        while (at + n < len && is_name_byte(options[at + n]) &&
               n < sizeof(name) - 1) {
            name[n] = options[at + n];
            n++;
        }
        name[n] = '\0';
        at += n;
        if (at < len && options[at] == '=') {
            used = take_value(options + at, len - at, value);
            at += used;
        }
        if (n == 0 || (at < len && options[at] != ',')) {
            return error_set(err, DT_ERR_ACCES, "malformed options at byte %zu",
                             at + 1);
        }
        st = check_one(name, used ? value : NULL, peer, err);
        if (st != DT_OK || at == len) {
            return st;
        }
        at++;
    }
}

size_t
auth_options_span(const char *text, size_t len)
{
    bool quoted = false;
    size_t at;

    for (at = 0; at < len; at++) {
        if (quoted && text[at] == '\\' && at + 1 < len && text[at + 1] == '"') {
            at++;
        } else if (text[at] == '"') {
            quoted = !quoted;
        } else if (!quoted && (text[at] == ' ' || text[at] == '\t')) {
            break;
        }
    }
    return at;
}
