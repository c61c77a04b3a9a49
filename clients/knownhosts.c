/* SPDX-License-Identifier: Apache-2.0
 *
 * Known host keys: reading the files into the table. Questions to it are in
 * knownhosts-check.c, writing in knownhosts-write.c.
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

#define FEW 64              /* names that are sorted in one by one */
#define HASH_BUDGET 100000u /* 40 ms of CPU */

/* FNV-1a; the table is the user's own, so nobody chooses collisions. */
uint64_t
knownhosts_hash(const char *name, size_t len)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < len; i++) {
        h = (h ^ (uint64_t)tolower((unsigned char)name[i])) * 1099511628211u;
    }
    return h;
}

/* Makes room for one more element; false when out of memory. */
bool
knownhosts_grow(void **v, size_t nr, size_t *cap, size_t size)
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
    if (!knownhosts_grow((void **)&k->hashed, k->nr_hashed, &k->cap_hashed,
                         sizeof(*h))) {
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
        if (!knownhosts_grow((void **)&k->patterns, k->nr_patterns,
                             &k->cap_patterns, sizeof(*k->patterns))) {
            return DT_ERR_NOMEM;
        }
        k->patterns[k->nr_patterns++] = line;
        return DT_OK;
    }
    while (*names) {
        size_t len = strcspn(names, ",");

        if (len) {
            if (!knownhosts_grow((void **)&k->plain, k->nr_plain, &k->cap_plain,
                                 sizeof(*k->plain))) {
                return DT_ERR_NOMEM;
            }
            k->plain[k->nr_plain++] = (struct kh_plain){
                .hash = knownhosts_hash(names, len),
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
        /* Anything else behind an "@" must not be taken for a name. */
        line.is_revoked = strcmp(names, "@revoked") == 0;
        line.is_authority = strcmp(names, "@cert-authority") == 0;
        if (!line.is_revoked && !line.is_authority) {
            return DT_OK;
        }
        names = next_field(&text);
    }
    line.names = names;
    line.type = next_field(&text);
    line.key = next_field(&text);
    if (!line.names || !line.type || !line.key ||
        (!line.is_revoked && !knownhosts_is_type(line.type))) {
        return DT_OK;
    }
    if (!knownhosts_grow((void **)&k->lines, k->nr_lines, &k->cap_lines,
                         sizeof(*k->lines))) {
        return DT_ERR_NOMEM;
    }
    line.key_hash = knownhosts_hash(line.key, strlen(line.key));
    k->lines[k->nr_lines] = line;
    k->files[file].has_hashed |= names[0] == '|';
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

/* Sorts plain names, of which the first `sorted` are in order: a few new ones
 * are put in their places, as when keys of many servers come one by one. */
static void
sort_plain(struct knownhosts *k, size_t sorted)
{
    if (k->nr_plain - sorted > FEW) {
        qsort(k->plain, k->nr_plain, sizeof(*k->plain), compare_plain);
        return;
    }
    for (; sorted < k->nr_plain; sorted++) {
        const struct kh_plain p = k->plain[sorted];
        size_t at = sorted;

        while (at > 0 && compare_plain(&k->plain[at - 1], &p) > 0) {
            k->plain[at] = k->plain[at - 1];
            at--;
        }
        k->plain[at] = p;
    }
}

int
knownhosts_parse(struct knownhosts *k, size_t file, char *text, size_t len)
{
    size_t sorted = k->nr_plain;
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
    sort_plain(k, sorted);
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
    if (!knownhosts_grow((void **)&k->files, k->nr_files, &k->cap_files,
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
    if (!knownhosts_grow((void **)&k->texts, k->nr_texts, &k->cap_texts,
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
    k->hash_budget = HASH_BUDGET;
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
