/* SPDX-License-Identifier: Apache-2.0
 *
 * The table behind knownhosts.h, shared by knownhosts.c (reading),
 * knownhosts-check.c (questions) and knownhosts-write.c only.
 */
#ifndef CLIENTS_KNOWNHOSTS_TABLE_H
#define CLIENTS_KNOWNHOSTS_TABLE_H

/* A hashed line is checked with copied SHA-1 states: five times faster than
 * the EVP interface, which has no cheap way to copy one. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "knownhosts.h"

#include <openssl/sha.h>

#define KNOWNHOSTS_NAME_MAX 320u /* "[host]:port" */

struct kh_file {
    char *path;
    size_t nr_lines;
    bool has_hashed; /* names are written as |1|salt|hash */
};

/* Strings point into one of the texts. */
struct kh_line {
    size_t file;
    size_t nr;
    const char *names;
    const char *type;
    const char *key; /* base64 */
    uint64_t key_hash;
    bool is_revoked;
    bool is_authority; /* of certificates */
};

struct kh_plain { /* one name of a line without patterns */
    uint64_t hash;
    const char *name;
    uint32_t len;
    uint32_t line;
};

struct kh_hashed {
    SHA_CTX inner, outer; /* HMAC states behind the salt */
    uint8_t digest[SHA_DIGEST_LENGTH];
    uint32_t line;
};

struct knownhosts {
    struct kh_file *files;
    size_t nr_files, cap_files;
    char **texts; /* owned */
    size_t nr_texts, cap_texts;
    struct kh_line *lines;
    size_t nr_lines, cap_lines;
    struct kh_plain *plain; /* sorted by hash */
    size_t nr_plain, cap_plain;
    struct kh_hashed *hashed;
    size_t nr_hashed, cap_hashed;
    uint32_t *patterns; /* lines with wildcards or negation */
    size_t nr_patterns, cap_patterns;
    uint32_t *hits; /* of the last search */
    size_t nr_hits, cap_hits;
    size_t hash_budget; /* lines that knownhosts_algorithms may still hash */
};

/* Makes room for one more element; false when out of memory. */
bool knownhosts_grow(void **v, size_t nr, size_t *cap, size_t size);
/* Of a name, whatever its case. */
uint64_t knownhosts_hash(const char *name, size_t len);
/* Is it a key type that can be asked for? */
bool knownhosts_is_type(const char *type);
/* Appends a whole file to `out`, with room for one more byte. */
int knownhosts_read(const char *path, struct buf *out, struct error *err);
int knownhosts_add_file(struct knownhosts *k, const char *path, size_t *index);
/* Takes over an allocated text when it succeeds. */
int knownhosts_keep_text(struct knownhosts *k, char *text);
/* Parses lines of `file`; text has len + 1 bytes and is cut into strings. */
int knownhosts_parse(struct knownhosts *k, size_t file, char *text, size_t len);

/* "host" or "[host]:port" in lower case; out has KNOWNHOSTS_NAME_MAX bytes. */
void knownhosts_name(const char *host, uint16_t port, char *out);

/* HMAC-SHA1 of a name, in two steps. */
void knownhosts_key_states(const uint8_t *salt, SHA_CTX *inner, SHA_CTX *outer);
void knownhosts_hash_name(const SHA_CTX *inner, const SHA_CTX *outer,
                          const char *name, size_t len, uint8_t *digest);

#endif
