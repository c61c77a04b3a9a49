/* SPDX-License-Identifier: Apache-2.0
 *
 * The server list of a client.
 */
#include "servers.h"

#include "cleanup.h"
#include "discovery.h"
#include "hostrange.h"
#include "match.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/random.h>

void
servers_fini(struct servers *s)
{
    for (size_t i = 0; i < s->nr; i++) {
        free(s->v[i].text);
        free(s->v[i].host);
    }
    free(s->v);
    *s = (struct servers){0};
}

bool
servers_is_serverless(const char *discovery, const char *list)
{
    return !*discovery && (!*list || strcasecmp(list, "serverless") == 0);
}

/* A decimal port, 1 to 65535, that fills the whole text. */
static bool
parse_port(const char *text, size_t len, uint16_t *out)
{
    unsigned port = 0;

    if (len < 1 || len > 5) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        port = port * 10 + (unsigned)(text[i] - '0');
    }
    *out = (uint16_t)port;
    return port >= 1 && port <= 65535;
}

/* An IPv6 literal, perhaps with a zone ("fe80::1%eth0"). */
static bool
is_ipv6(const char *text, size_t len)
{
    char copy[INET6_ADDRSTRLEN + 1];
    struct in6_addr addr;
    const char *zone = memchr(text, '%', len);

    if (zone) {
        if (zone == text + len - 1) {
            return false;
        }
        len = (size_t)(zone - text);
    }
    if (len >= sizeof(copy)) {
        return false;
    }
    memcpy(copy, text, len);
    copy[len] = '\0';
    return inet_pton(AF_INET6, copy, &addr) == 1;
}

static bool
is_host_name(const char *text, size_t len)
{
    if (len == 0 || len > SERVERS_MAX_HOST || text[0] == '-') {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (!isalnum(c) && c != '.' && c != '-' && c != '_' && c < 0x80) {
            return false;
        }
    }
    return true;
}

/* Splits one trimmed item into host and port. */
static int
parse_item(const char *text, size_t len, uint16_t default_port,
           struct server *out, struct error *err)
{
    const char *host = text, *port = NULL;
    size_t host_len = len;
    const char *colon = memchr(text, ':', len);
    bool good;

    if (text[0] == '[') {
        const char *close = memchr(text, ']', len);

        host = text + 1;
        host_len = close ? (size_t)(close - host) : 0;
        good = close && is_ipv6(host, host_len);
        if (good && close + 1 < text + len) {
            good = close[1] == ':';
            port = close + 2;
        }
    } else if (colon &&
               memchr(colon + 1, ':', (size_t)(text + len - (colon + 1)))) {
        good = is_ipv6(text, len);
    } else {
        if (colon) {
            host_len = (size_t)(colon - text);
            port = colon + 1;
        }
        good = is_host_name(host, host_len);
    }
    out->port = default_port;
    out->has_port = port != NULL;
    if (good && port) {
        good = parse_port(port, (size_t)(text + len - port), &out->port);
    }
    if (!good) {
        return error_set(
            err, DT_ERR_INVAL,
            "server \"%.*s\" is none of HOST, HOST:PORT, "
            "[IPV6], [IPV6]:PORT, IPV6 (ports 1 to 65535), and HOST "
            "may have ranges like web[01-20]",
            (int)(len > 300 ? 300 : len), text);
    }
    out->host = strndup(host, host_len);
    out->text = strndup(text, len);
    if (!out->host || !out->text) {
        free(out->host);
        free(out->text);
        return error_set(err, DT_ERR_NOMEM, "server list: out of memory");
    }
    return DT_OK;
}

/* Where the names of a list go. */
struct filling {
    struct servers *servers;
    size_t cap;
    uint16_t default_port;
    size_t nr_seen;             /* names, also those that are left out */
    struct match *match;        /* what they have to match; NULL: all are */
    struct match_state *filter; /* wanted */
};

/* Adds one name: what hostrange_expand makes of an item. */
static int
add_name(void *ctx, const char *text, size_t len, struct error *err)
{
    struct filling *f = ctx;
    struct servers *s = f->servers;
    struct server item = {0};

    if (f->nr_seen++ == SERVERS_MAX) {
        return error_set(err, DT_ERR_LIMIT, "server list: more than %u servers",
                         SERVERS_MAX);
    }
    if (f->filter) {
        int wanted = match_text(f->filter, text, len, NULL);

        if (wanted <= 0) {
            return wanted == 0 ? DT_OK
                               : error_set(err, wanted, "--servers: %s",
                                           match_error_text(f->filter));
        }
    }
    if (s->nr == f->cap) {
        size_t more = f->cap ? f->cap * 2 : 16;
        struct server *v = reallocarray(s->v, more, sizeof(*v));

        if (!v) {
            return error_set(err, DT_ERR_NOMEM, "server list: out of memory");
        }
        s->v = v;
        f->cap = more;
    }
    int rc = parse_item(text, len, f->default_port, &item, err);
    if (rc == DT_OK) {
        s->v[s->nr++] = item;
    }
    return rc;
}

/* An item as it was found: it may stand for many names. */
static int
take_item(void *ctx, const char *text, size_t len, struct error *err)
{
    return hostrange_expand(text, len, add_name, ctx, err);
}

static int
compare_servers(const void *a, const void *b)
{
    const struct server *x = *(struct server *const *)a;
    const struct server *y = *(struct server *const *)b;
    int c = strcasecmp(x->host, y->host);

    if (c == 0) {
        c = (int)x->port - (int)y->port;
    }
    if (c == 0) { /* the first mention stays in front */
        c = x < y ? -1 : x > y;
    }
    return c;
}

/* Keeps the first of each host and port, in the order of the list. */
static int
remove_duplicates(struct servers *s, struct error *err)
{
    CLEANUP_FREE struct server **sorted = NULL;
    size_t kept = 0;

    if (s->nr < 2) {
        return DT_OK;
    }
    sorted = reallocarray(NULL, s->nr, sizeof(struct server *));
    if (!sorted) {
        return error_set(err, DT_ERR_NOMEM, "server list: out of memory");
    }
    for (size_t i = 0; i < s->nr; i++) {
        sorted[i] = &s->v[i];
    }
    qsort(sorted, s->nr, sizeof(struct server *), compare_servers);
    struct server *first = sorted[0];
    for (size_t i = 1; i < s->nr; i++) {
        if (strcasecmp(sorted[i]->host, first->host) == 0 &&
            sorted[i]->port == first->port) {
            free(sorted[i]->text);
            free(sorted[i]->host);
            sorted[i]->host = NULL;
        } else {
            first = sorted[i];
        }
    }
    for (size_t i = 0; i < s->nr; i++) {
        if (s->v[i].host) {
            s->v[kept++] = s->v[i];
        }
    }
    s->nr = kept;
    return DT_OK;
}

/* ---- the filter ---- */

/* Compiles the pattern of "/PATTERN/". */
static int
filter_new(const char *list, struct filling *f, struct error *err)
{
    const struct match_term term = {list + 1, strlen(list) - 2, false};
    const struct match_args args = {.terms = &term, .nr_terms = 1};
    struct match_error why;
    int rc = match_compile(&args, &f->match, &why);

    if (rc == DT_OK) {
        rc = match_state_new(f->match, NULL, NULL, &f->filter);
        snprintf(why.text, sizeof(why.text), "%s", dt_strerror(rc));
    }
    return rc == DT_OK ? DT_OK
                       : error_set(err, rc, "--servers %s: %s", list, why.text);
}

static void
filter_free(struct filling *f)
{
    match_state_free(f->filter);
    match_free(f->match);
}

int
servers_parse(const char *discovery, const char *list, uint16_t default_port,
              struct servers *out, struct error *err)
{
    struct filling f = {.servers = out, .default_port = default_port};
    int rc = DT_OK;

    if (discovery_is_filter(list) && !*discovery) {
        return error_set(err, DT_ERR_INVAL,
                         "--servers %s is a filter, but no discovery module "
                         "gives a list to filter",
                         list);
    }
    if (discovery_is_filter(list)) {
        rc = filter_new(list, &f, err);
    }
    if (rc == DT_OK) {
        rc = discovery_run(discovery, list, take_item, &f, err);
    }
    if (rc == DT_OK) {
        rc = remove_duplicates(out, err);
    }
    if (rc == DT_OK && out->nr == 0 && f.nr_seen) {
        rc = error_set(err, DT_ERR_INVAL,
                       "none of the %zu servers found by --discovery %s "
                       "matches %s",
                       f.nr_seen, discovery, list);
    } else if (rc == DT_OK && out->nr == 0) {
        rc = error_set(err, DT_ERR_INVAL, "%s%s%s\"%s\" names no server",
                       *discovery ? "--discovery " : "", discovery,
                       *discovery ? " with --servers " : "--servers ", list);
    }
    filter_free(&f);
    if (rc != DT_OK) {
        servers_fini(out);
    }
    return rc;
}

void
servers_shuffle(struct servers *s)
{
    uint64_t seed = 0;

    /* No secret: a failure only leaves the order as it is. */
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed)) {
        return;
    }
    for (size_t i = s->nr; i > 1; i--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t j = (size_t)(seed >> 33) % i;
        struct server tmp = s->v[i - 1];

        s->v[i - 1] = s->v[j];
        s->v[j] = tmp;
    }
}
