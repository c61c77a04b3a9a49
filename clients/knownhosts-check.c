/* SPDX-License-Identifier: Apache-2.0
 *
 * Known host keys: the questions to the table.
 */
#include "knownhosts-table.h"

#include "hostpattern.h"

#include <ctype.h>
#include <strings.h>

/* Key types that libssh can ask for, in the order we like them, and the
 * algorithms that prove them. */
static const struct key_type {
    const char *name;
    const char *algorithms;
} key_types[] = {
    {"ssh-ed25519", "ssh-ed25519"},
    {"ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"},
    {"ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384"},
    {"ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521"},
    {"ssh-rsa", "rsa-sha2-512,rsa-sha2-256"},
};
#define NR_TYPES (sizeof(key_types) / sizeof(key_types[0]))

bool
knownhosts_is_type(const char *type)
{
    for (size_t i = 0; i < NR_TYPES; i++) {
        if (strcmp(type, key_types[i].name) == 0) {
            return true;
        }
    }
    return false;
}

static int
add_hit(struct knownhosts *k, uint32_t line)
{
    if (!knownhosts_grow((void **)&k->hits, k->nr_hits, &k->cap_hits,
                         sizeof(*k->hits))) {
        return DT_ERR_NOMEM;
    }
    k->hits[k->nr_hits++] = line;
    return DT_OK;
}

static int
find_plain(struct knownhosts *k, const char *name, size_t len)
{
    uint64_t hash = knownhosts_hash(name, len);
    size_t low = 0, high = k->nr_plain;
    int rc = DT_OK;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (k->plain[mid].hash < hash) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    for (; rc == DT_OK && low < k->nr_plain && k->plain[low].hash == hash;
         low++) {
        const struct kh_plain *p = &k->plain[low];

        if (p->len == len && strncasecmp(p->name, name, len) == 0) {
            rc = add_hit(k, p->line);
        }
    }
    return rc;
}

static bool
hash_fits(const struct kh_hashed *h, const char *name, size_t len)
{
    uint8_t digest[SHA_DIGEST_LENGTH];

    knownhosts_hash_name(&h->inner, &h->outer, name, len, digest);
    return memcmp(digest, h->digest, sizeof(digest)) == 0;
}

/* Which hashed lines are looked at: hashing a name costs 0.2 us a line. */
enum reach {
    REACH_PLAIN, /* none */
    REACH_KEY,   /* those with this key */
    REACH_ALL
};

/* Collects the lines of a name (in lower case) in k->hits. */
static int
find_lines(struct knownhosts *k, const char *name, enum reach reach,
           const char *key)
{
    uint64_t key_hash = key ? knownhosts_hash(key, strlen(key)) : 0;
    size_t len = strlen(name);
    size_t nr_hashed = reach == REACH_PLAIN ? 0 : k->nr_hashed;
    int rc;

    k->nr_hits = 0;
    rc = find_plain(k, name, len);
    for (size_t i = 0; rc == DT_OK && i < k->nr_patterns; i++) {
        if (hostpattern_matches(k->lines[k->patterns[i]].names, name)) {
            rc = add_hit(k, k->patterns[i]);
        }
    }
    for (size_t i = 0; rc == DT_OK && i < nr_hashed; i++) {
        const struct kh_hashed *h = &k->hashed[i];

        if ((reach == REACH_ALL || k->lines[h->line].key_hash == key_hash) &&
            hash_fits(h, name, len)) {
            rc = add_hit(k, h->line);
        }
    }
    return rc;
}

void
knownhosts_name(const char *host, uint16_t port, char *out)
{
    if (port == 22) {
        snprintf(out, KNOWNHOSTS_NAME_MAX, "%s", host);
    } else {
        snprintf(out, KNOWNHOSTS_NAME_MAX, "[%s]:%u", host, port);
    }
    for (; *out; out++) {
        *out = (char)tolower((unsigned char)*out);
    }
}

/* Sets where, if the line is a better witness than the one it has. */
static void
set_where(const struct knownhosts *k, const struct kh_line *line,
          struct knownhosts_where *where)
{
    where->file = k->files[line->file].path;
    where->line = line->nr;
    where->type = line->type;
}

static enum knownhosts_verdict
judge_hits(const struct knownhosts *k, const char *type, const char *base64,
           struct knownhosts_where *where)
{
    const struct kh_line *good = NULL, *same_type = NULL, *other = NULL;
    const struct kh_line *authority = NULL;

    for (size_t i = 0; i < k->nr_hits; i++) {
        const struct kh_line *line = &k->lines[k->hits[i]];
        bool is_same = strcmp(line->key, base64) == 0;

        if (line->is_authority) { /* its key is no host's key */
            authority = line;
        } else if (line->is_revoked) {
            if (is_same) {
                set_where(k, line, where);
                return KNOWNHOSTS_REVOKED;
            }
        } else if (is_same && strcmp(line->type, type) == 0) {
            good = line;
        } else if (strcmp(line->type, type) == 0) {
            same_type = same_type ? same_type : line;
        } else {
            other = other ? other : line;
        }
    }
    if (good) {
        set_where(k, good, where);
        return KNOWNHOSTS_OK;
    }
    if (same_type || other) {
        set_where(k, same_type ? same_type : other, where);
        return KNOWNHOSTS_CHANGED;
    }
    if (authority) {
        set_where(k, authority, where);
    }
    return KNOWNHOSTS_UNKNOWN;
}

/* One name, with the hashed lines that `reach` says. Out of memory is
 * "unknown": rather asked than trusted. */
static enum knownhosts_verdict
judge_name(struct knownhosts *k, const char *name, enum reach reach,
           const char *type, const char *base64, struct knownhosts_where *where)
{
    *where = (struct knownhosts_where){0};
    return find_lines(k, name, reach, base64) == DT_OK
               ? judge_hits(k, type, base64, where)
               : KNOWNHOSTS_UNKNOWN;
}

enum knownhosts_verdict
knownhosts_check(struct knownhosts *k, const char *host, uint16_t port,
                 const char *type, const char *base64,
                 struct knownhosts_where *where)
{
    char name[KNOWNHOSTS_NAME_MAX], bare_name[KNOWNHOSTS_NAME_MAX];
    struct knownhosts_where bare_where;
    enum knownhosts_verdict verdict, bare = KNOWNHOSTS_UNKNOWN;

    /* Lines with this key decide nearly always, and are few. */
    knownhosts_name(host, port, name);
    verdict = judge_name(k, name, REACH_KEY, type, base64, where);
    if (verdict == KNOWNHOSTS_REVOKED) {
        return verdict;
    }
    /* Lines without a port: a good key counts when nothing is known with the
     * port, a revoked one always does, another key is no evidence (it belongs
     * to the sshd on port 22). */
    if (port != 22) {
        knownhosts_name(host, 22, bare_name);
        bare = judge_name(k, bare_name, REACH_KEY, type, base64, &bare_where);
    }
    if (bare == KNOWNHOSTS_REVOKED) {
        *where = bare_where;
        return bare;
    }
    if (verdict == KNOWNHOSTS_OK) {
        return verdict;
    }
    verdict = judge_name(k, name, REACH_ALL, type, base64, where);
    if (verdict == KNOWNHOSTS_UNKNOWN && bare == KNOWNHOSTS_OK) {
        *where = bare_where;
        return bare;
    }
    if (verdict == KNOWNHOSTS_UNKNOWN && !where->file && port != 22 &&
        bare == KNOWNHOSTS_UNKNOWN) {
        *where = bare_where;
    }
    return verdict;
}

/* Marks the types of the keys that are known for a name. */
static int
find_types(struct knownhosts *k, const char *name, enum reach reach,
           bool *known, bool *any)
{
    int rc = find_lines(k, name, reach, NULL);

    for (size_t i = 0; rc == DT_OK && i < k->nr_hits; i++) {
        const struct kh_line *line = &k->lines[k->hits[i]];

        *any |= !line->is_authority;
        for (size_t t = 0; t < NR_TYPES; t++) {
            known[t] |= !line->is_revoked && !line->is_authority &&
                        strcmp(line->type, key_types[t].name) == 0;
        }
    }
    return rc;
}

int
knownhosts_algorithms(struct knownhosts *k, const char *host, uint16_t port,
                      bool thorough, struct buf *out)
{
    char name[KNOWNHOSTS_NAME_MAX];
    bool known[NR_TYPES] = {false}, any = false;
    const char *comma = "";
    enum reach reach = REACH_ALL;
    int rc;

    if (!thorough && k->nr_hashed > k->hash_budget) {
        reach = REACH_PLAIN;
    } else if (!thorough) {
        k->hash_budget -= k->nr_hashed;
    }
    knownhosts_name(host, port, name);
    rc = find_types(k, name, reach, known, &any);
    if (rc == DT_OK && !any && port != 22) {
        knownhosts_name(host, 22, name);
        rc = find_types(k, name, reach, known, &any);
    }
    for (int wanted = 1; rc == DT_OK && wanted >= 0; wanted--) {
        for (size_t t = 0; rc == DT_OK && t < NR_TYPES; t++) {
            if (known[t] == (wanted == 1)) {
                rc = buf_printf(out, "%s%s", comma, key_types[t].algorithms);
                comma = ",";
            }
        }
    }
    return rc;
}
