/* SPDX-License-Identifier: Apache-2.0
 *
 * Log-ins with certificates of trusted authorities.
 */
#include "auth-ca.h"

#include "auth-cert.h"
#include "base64.h"
#include "cleanup.h"

#include <string.h>
#include <unistd.h>

#define MAX_ID 100u /* bytes of the certificate's name in the log */

int
auth_ca_open(const struct config *config, struct error *err)
{
    const struct auth_keys_owners owners = {.user = geteuid(),
                                            .service = geteuid()};
    const char *path = config->server.trusted_user_ca_keys;
    const char *slash = strrchr(path, '/');
    CLEANUP_FREE char *folder = NULL;
    int fd;

    if (!*path) {
        return error_set(err, DT_ERR_ACCES,
                         "certificates need Server.TrustedUserCAKeys");
    }
    folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    fd = auth_keys_open(folder, slash ? slash + 1 : path, &owners, NULL, err);
    if (fd < 0) {
        error_prefix(err, "Server.TrustedUserCAKeys");
    }
    return fd;
}

/* The authority's key as text; NULL: out of memory. */
static char *
to_base64(const struct auth_cert_bytes *b)
{
    size_t len = base64_encoded_len(b->len);
    char *text = malloc(len + 1);

    if (text) {
        base64_encode(text, b->data, b->len);
        text[len] = '\0';
    }
    return text;
}

/* Whether the authority stands in the file, and its options allow the peer. */
static int
check_authority(int fd, const struct auth_cert *c,
                const struct auth_request *request,
                const struct auth_peer *peer, unsigned *line, struct error *err)
{
    CLEANUP_FREE char *key = to_base64(&c->ca);
    CLEANUP_FREE char *text = NULL;
    size_t len = 0;
    int st;

    if (!key) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    st = auth_keys_read(fd, &text, &len, err);
    if (st == DT_OK) {
        st = auth_keys_search(text, len, key, peer, line, err);
    }
    if (st != DT_OK) {
        error_prefix(err, "%s: the authority",
                     request->config->server.trusted_user_ca_keys);
    }
    return st;
}

/* The certificate's own name, as far as it can stand in a log. */
static void
print_id(const struct auth_cert *c, char out[MAX_ID + 1])
{
    size_t len = c->id.len < MAX_ID ? c->id.len : MAX_ID;

    for (size_t i = 0; i < len; i++) {
        uint8_t b = c->id.data[i];

        out[i] = b < 0x20 || b >= 0x7f || b == '|' ? '?' : (char)b;
    }
    out[len] = '\0';
}

int
auth_ca_decide(int fd, const struct auth_request *request, struct error *note)
{
    const struct auth_peer peer = {.address = request->address,
                                   .now = time(NULL)};
    size_t key_len = strlen(request->key), len = 0;
    CLEANUP_FREE uint8_t *blob = malloc(base64_decoded_max(key_len) + 1);
    struct auth_cert cert;
    char id[MAX_ID + 1] = "";
    unsigned line = 0;
    int st;

    if (!blob) {
        return error_set(note, DT_ERR_NOMEM, "out of memory");
    }
    if (!base64_decode(blob, &len, request->key, key_len)) {
        return error_set(note, DT_ERR_ACCES, "malformed certificate");
    }
    st = auth_cert_parse(blob, len, &cert, note);
    if (st == DT_OK) {
        print_id(&cert, id);
        st = check_authority(fd, &cert, request, &peer, &line, note);
    }
    if (st == DT_OK) {
        st = auth_cert_verify(&cert, note);
    }
    if (st == DT_OK) {
        st = auth_cert_check(&cert, request->user, &peer, note);
    }
    if (st != DT_OK) {
        error_prefix(note, "certificate \"%s\"", id);
        return st;
    }
    error_set(note, DT_OK, "certificate \"%s\" serial %llu of %s line %u", id,
              (unsigned long long)cert.serial,
              request->config->server.trusted_user_ca_keys, line);
    return DT_OK;
}
