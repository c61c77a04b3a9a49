/* SPDX-License-Identifier: Apache-2.0
 *
 * Known host keys: the table and the questions to it. Writing is in
 * knownhosts-write.c.
 */
#include "knownhosts-table.h"

#include "cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

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

static bool
is_known_type(const char *type)
{
    for (size_t i = 0; i < NR_TYPES; i++) {
        if (strcmp(type, key_types[i].name) == 0) {
            return true;
        }
    }
    return false;
}

/* FNV-1a; the table is the user's own, so nobody chooses collisions. */
static uint64_t
name_hash(const char *name, size_t len)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < len; i++) {
        h = (h ^ (uint64_t)tolower((unsigned char)name[i])) * 1099511628211u;
    }
    return h;
}

/* Makes room for one more element; false when out of memory. */
static bool
grow(void **v, size_t nr, size_t *cap, size_t size)
{
    if (nr < *cap) {
        return true;
    }
    size_t more = *cap ? *cap * 2 : 64;
    void *bigger = reallocarray(*v, more, size);

    if (!bigger) {
        return false;
    }
    *v = bigger;
    *cap = more;
    return true;
}

/* ---- reading ---- */

static char *
next_field(char **at)
{
    char *start = *at + strspn(*at, " \t");
    size_t len = strcspn(start, " \t");

    *at = start + len;
    if (**at) {
        *(*at)++ = '\0';
    }
    return len ? start : NULL;
}

/* Decodes base64 of exactly `want` bytes. */
static bool
decode_exact(const char *text, size_t len, uint8_t *out, size_t want)
{
    uint8_t raw[48];
    int got;

    if (len % 4 || len / 4 * 3 > sizeof(raw)) {
        return false;
    }
    got = EVP_DecodeBlock(raw, (const unsigned char *)text, (int)len);
    while (got > 0 && len && text[len - 1] == '=') {
        got--;
        len--;
    }
    if (got != (int)want) {
        return false;
    }
    memcpy(out, raw, want);
    return true;
}

void
knownhosts_key_states(const uint8_t *salt, SHA_CTX *inner, SHA_CTX *outer)
{
    uint8_t pad[SHA_CBLOCK];

    memset(pad, 0x36, sizeof(pad));
    for (size_t i = 0; i < SHA_DIGEST_LENGTH; i++) {
        pad[i] ^= salt[i];
    }
    SHA1_Init(inner);
    SHA1_Update(inner, pad, sizeof(pad));
    for (size_t i = 0; i < sizeof(pad); i++) {
        pad[i] ^= 0x36 ^ 0x5c;
    }
    SHA1_Init(outer);
    SHA1_Update(outer, pad, sizeof(pad));
}

void
knownhosts_hash_name(const SHA_CTX *inner, const SHA_CTX *outer,
                     const char *name, size_t len, uint8_t *digest)
{
    SHA_CTX ctx = *inner;

    SHA1_Update(&ctx, name, len);
    SHA1_Final(digest, &ctx);
    ctx = *outer;
    SHA1_Update(&ctx, digest, SHA_DIGEST_LENGTH);
    SHA1_Final(digest, &ctx);
}

/* "|1|salt|hash"; anything else behind a bar is skipped as ssh does. */
static int
index_hashed(struct knownhosts *k, const char *names, uint32_t line)
{
    const char *salt = names + 3, *bar;
    uint8_t raw_salt[SHA_DIGEST_LENGTH];
    struct kh_hashed *h;

    if (strncmp(names, "|1|", 3) != 0 || !(bar = strchr(salt, '|'))) {
        return DT_OK;
    }
    if (!grow((void **)&k->hashed, k->nr_hashed, &k->cap_hashed, sizeof(*h))) {
        return DT_ERR_NOMEM;
    }
    h = &k->hashed[k->nr_hashed];
    if (!decode_exact(salt, (size_t)(bar - salt), raw_salt, sizeof(raw_salt)) ||
        !decode_exact(bar + 1, strlen(bar + 1), h->digest, sizeof(h->digest))) {
        return DT_OK;
    }
    knownhosts_key_states(raw_salt, &h->inner, &h->outer);
    h->line = line;
    k->nr_hashed++;
    return DT_OK;
}

static int
index_names(struct knownhosts *k, const char *names, uint32_t line)
{
    if (names[0] == '|') {
        return index_hashed(k, names, line);
    }
    if (strpbrk(names, "*?!")) {
        if (!grow((void **)&k->patterns, k->nr_patterns, &k->cap_patterns,
                  sizeof(*k->patterns))) {
            return DT_ERR_NOMEM;
        }
        k->patterns[k->nr_patterns++] = line;
        return DT_OK;
    }
    while (*names) {
        size_t len = strcspn(names, ",");

        if (len) {
            if (!grow((void **)&k->plain, k->nr_plain, &k->cap_plain,
                      sizeof(*k->plain))) {
                return DT_ERR_NOMEM;
            }
            k->plain[k->nr_plain++] = (struct kh_plain){
                .hash = name_hash(names, len),
                .name = names,
                .len = (uint32_t)len,
                .line = line,
            };
        }
        names += len + (names[len] == ',');
    }
    return DT_OK;
}

static int
parse_line(struct knownhosts *k, char *text, size_t file, size_t nr)
{
    struct kh_line line = {.file = file, .nr = nr};
    char *names = next_field(&text);

    if (!names || names[0] == '#') {
        return DT_OK;
    }
    if (names[0] == '@') {
        /* A certificate authority's key is no host's key; anything else
         * behind an "@" is unknown and must not be taken for a name. */
        if (strcmp(names, "@revoked") != 0) {
            return DT_OK;
        }
        line.is_revoked = true;
        names = next_field(&text);
    }
    line.names = names;
    line.type = next_field(&text);
    line.key = next_field(&text);
    if (!line.names || !line.type || !line.key ||
        (!line.is_revoked && !is_known_type(line.type))) {
        return DT_OK;
    }
    if (!grow((void **)&k->lines, k->nr_lines, &k->cap_lines,
              sizeof(*k->lines))) {
        return DT_ERR_NOMEM;
    }
    k->lines[k->nr_lines] = line;
    return index_names(k, line.names, (uint32_t)k->nr_lines++);
}

static int
compare_plain(const void *a, const void *b)
{
    const struct kh_plain *x = a, *y = b;

    if (x->hash != y->hash) {
        return x->hash < y->hash ? -1 : 1;
    }
    return x->line < y->line ? -1 : x->line > y->line;
}

int
knownhosts_parse(struct knownhosts *k, size_t file, char *text, size_t len)
{
    int rc = DT_OK;

    text[len] = '\0';
    for (size_t at = 0; rc == DT_OK && at < len;) {
        char *line = text + at;
        char *end = memchr(line, '\n', len - at);
        size_t line_len = end ? (size_t)(end - line) : len - at;

        line[line_len] = '\0';
        if (line_len && line[line_len - 1] == '\r') {
            line[line_len - 1] = '\0';
        }
        at += line_len + 1;
        rc = parse_line(k, line, file, ++k->files[file].nr_lines);
    }
    if (k->nr_plain) {
        qsort(k->plain, k->nr_plain, sizeof(*k->plain), compare_plain);
    }
    return rc;
}

int
knownhosts_read(const char *path, struct buf *out, struct error *err)
{
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t got;

    if (fd < 0) {
        return error_errno(err, errno, "known hosts file %s", path);
    }
    do {
        if (out->len > KNOWNHOSTS_MAX_FILE) {
            return error_set(err, DT_ERR_LIMIT,
                             "known hosts file %s is longer than %u bytes",
                             path, KNOWNHOSTS_MAX_FILE);
        }
        if (buf_reserve(out, 65536 + 1) != DT_OK) {
            return error_set(err, DT_ERR_NOMEM,
                             "known hosts file %s: out of memory", path);
        }
        got = read(fd, out->data + out->len, 65536);
        if (got < 0 && errno != EINTR) {
            return error_errno(err, errno, "known hosts file %s", path);
        }
        out->len += got > 0 ? (size_t)got : 0;
    } while (got);
    return DT_OK;
}

int
knownhosts_add_file(struct knownhosts *k, const char *path, size_t *index)
{
    char *copy;

    for (size_t i = 0; i < k->nr_files; i++) {
        if (strcmp(k->files[i].path, path) == 0) {
            *index = i;
            return DT_OK;
        }
    }
    if (!grow((void **)&k->files, k->nr_files, &k->cap_files,
              sizeof(*k->files)) ||
        !(copy = strdup(path))) {
        return DT_ERR_NOMEM;
    }
    k->files[k->nr_files] = (struct kh_file){.path = copy};
    *index = k->nr_files++;
    return DT_OK;
}

int
knownhosts_keep_text(struct knownhosts *k, char *text)
{
    if (!grow((void **)&k->texts, k->nr_texts, &k->cap_texts,
              sizeof(*k->texts))) {
        return DT_ERR_NOMEM;
    }
    k->texts[k->nr_texts++] = text;
    return DT_OK;
}

static int
load_file(struct knownhosts *k, const char *path, struct error *err)
{
    struct buf text = {0};
    size_t file;
    int rc;

    if (access(path, F_OK) != 0) {
        return DT_OK;
    }
    rc = knownhosts_read(path, &text, err);
    if (rc == DT_OK && (rc = knownhosts_add_file(k, path, &file)) == DT_OK &&
        (rc = knownhosts_keep_text(k, text.data)) == DT_OK) {
        char *kept = STEAL_PTR(text.data);

        rc = knownhosts_parse(k, file, kept, text.len);
    }
    buf_fini(&text);
    if (rc == DT_ERR_NOMEM) {
        error_set(err, rc, "known hosts file %s: out of memory", path);
    }
    return rc;
}

int
knownhosts_load(const struct strv *paths, struct knownhosts **out,
                struct error *err)
{
    struct knownhosts *k = calloc(1, sizeof(*k));
    int rc = DT_OK;

    if (!k) {
        return error_set(err, DT_ERR_NOMEM, "known hosts: out of memory");
    }
    for (size_t i = 0; rc == DT_OK && i < paths->nr; i++) {
        rc = load_file(k, paths->v[i], err);
    }
    if (rc != DT_OK) {
        knownhosts_free(k);
        return rc;
    }
    *out = k;
    return DT_OK;
}

void
knownhosts_free(struct knownhosts *k)
{
    if (!k) {
        return;
    }
    for (size_t i = 0; i < k->nr_files; i++) {
        free(k->files[i].path);
    }
    for (size_t i = 0; i < k->nr_texts; i++) {
        free(k->texts[i]);
    }
    free(k->files);
    free(k->texts);
    free(k->lines);
    free(k->plain);
    free(k->hashed);
    free(k->patterns);
    free(k->hits);
    free(k);
}

/* ---- questions ---- */

/* Shell-like "*" and "?" over the whole name, no case. */
static bool
match_pattern(const char *pattern, size_t pattern_len, const char *name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, mark = 0;

    while (name[n]) {
        if (p < pattern_len && pattern[p] == '*') {
            star = p++;
            mark = n;
        } else if (p < pattern_len &&
                   (pattern[p] == '?' || tolower((unsigned char)pattern[p]) ==
                                             (unsigned char)name[n])) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern_len && pattern[p] == '*') {
        p++;
    }
    return p == pattern_len;
}

/* A list matches when one pattern does and no negated one. */
static bool
match_list(const char *list, const char *name)
{
    bool found = false;

    while (*list) {
        size_t len = strcspn(list, ",");
        bool negated = list[0] == '!';

        if (len > negated &&
            match_pattern(list + negated, len - negated, name)) {
            if (negated) {
                return false;
            }
            found = true;
        }
        list += len + (list[len] == ',');
    }
    return found;
}

static int
add_hit(struct knownhosts *k, uint32_t line)
{
    if (!grow((void **)&k->hits, k->nr_hits, &k->cap_hits, sizeof(*k->hits))) {
        return DT_ERR_NOMEM;
    }
    k->hits[k->nr_hits++] = line;
    return DT_OK;
}

static int
find_plain(struct knownhosts *k, const char *name, size_t len)
{
    uint64_t hash = name_hash(name, len);
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

/* Collects the lines of a name (in lower case) in k->hits. */
static int
find_lines(struct knownhosts *k, const char *name)
{
    size_t len = strlen(name);
    int rc = find_plain(k, name, len);

    for (size_t i = 0; rc == DT_OK && i < k->nr_patterns; i++) {
        if (match_list(k->lines[k->patterns[i]].names, name)) {
            rc = add_hit(k, k->patterns[i]);
        }
    }
    for (size_t i = 0; rc == DT_OK && i < k->nr_hashed; i++) {
        const struct kh_hashed *h = &k->hashed[i];
        uint8_t digest[SHA_DIGEST_LENGTH];

        knownhosts_hash_name(&h->inner, &h->outer, name, len, digest);
        if (memcmp(digest, h->digest, sizeof(digest)) == 0) {
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

    for (size_t i = 0; i < k->nr_hits; i++) {
        const struct kh_line *line = &k->lines[k->hits[i]];
        bool is_same = strcmp(line->key, base64) == 0;

        if (line->is_revoked) {
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
    return KNOWNHOSTS_UNKNOWN;
}

enum knownhosts_verdict
knownhosts_check(struct knownhosts *k, const char *host, uint16_t port,
                 const char *type, const char *base64,
                 struct knownhosts_where *where)
{
    char name[KNOWNHOSTS_NAME_MAX];
    enum knownhosts_verdict verdict, bare;

    *where = (struct knownhosts_where){0};
    knownhosts_name(host, port, name);
    k->nr_hits = 0;
    if (find_lines(k, name) != DT_OK) {
        return KNOWNHOSTS_UNKNOWN; /* out of memory: ask rather than trust */
    }
    verdict = judge_hits(k, type, base64, where);
    if (port == 22 || verdict == KNOWNHOSTS_REVOKED) {
        return verdict;
    }
    /* Lines without a port: a good key counts when nothing is known with the
     * port, a revoked one always does, another key is no evidence (it belongs
     * to the sshd on port 22). */
    struct knownhosts_where at = {0};
    knownhosts_name(host, 22, name);
    k->nr_hits = 0;
    if (find_lines(k, name) != DT_OK) {
        return verdict;
    }
    bare = judge_hits(k, type, base64, &at);
    if (bare == KNOWNHOSTS_REVOKED ||
        (bare == KNOWNHOSTS_OK && verdict == KNOWNHOSTS_UNKNOWN)) {
        *where = at;
        return bare;
    }
    return verdict;
}

int
knownhosts_algorithms(struct knownhosts *k, const char *host, uint16_t port,
                      struct buf *out)
{
    char name[KNOWNHOSTS_NAME_MAX];
    bool known[NR_TYPES] = {false};
    const char *comma = "";
    int rc;

    k->nr_hits = 0;
    knownhosts_name(host, port, name);
    rc = find_lines(k, name);
    if (rc == DT_OK && k->nr_hits == 0 && port != 22) {
        knownhosts_name(host, 22, name);
        rc = find_lines(k, name);
    }
    for (size_t i = 0; rc == DT_OK && i < k->nr_hits; i++) {
        const struct kh_line *line = &k->lines[k->hits[i]];

        for (size_t t = 0; t < NR_TYPES; t++) {
            known[t] |=
                !line->is_revoked && strcmp(line->type, key_types[t].name) == 0;
        }
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
