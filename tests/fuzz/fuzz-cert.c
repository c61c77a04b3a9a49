/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes user certificates: what is parsed lies inside the input and makes it
 * up to its end; verifying and checking get through, whatever stands there;
 * and nothing that is not the one that a trusted key signed is signed.
 */
#include "auth-cert.h"
#include "fuzz.h"

static void
require_inside(const uint8_t *data, size_t len, const struct auth_cert_bytes *b)
{
    fuzz_require(b->data >= data && b->len <= len &&
                 (size_t)(b->data - data) <= len - b->len);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct auth_peer peer = {.address = "192.0.2.7", .now = 1767225600};
    struct error err = ERROR_INIT;
    struct auth_cert c;

    if (auth_cert_parse(data, len, &c, &err) != DT_OK) {
        fuzz_require(err.status == DT_ERR_ACCES && err.text[0]);
        return 0;
    }
    require_inside(data, len, &c.key_type);
    require_inside(data, len, &c.id);
    require_inside(data, len, &c.principals);
    require_inside(data, len, &c.critical);
    require_inside(data, len, &c.ca);
    require_inside(data, len, &c.signature);
    fuzz_require(c.body.data == data &&
                 c.body.len + 4 + c.signature.len == len);
    if (auth_cert_verify(&c, &err) != DT_OK) {
        fuzz_require(err.status == DT_ERR_ACCES);
    }
    err.status = DT_OK;
    if (auth_cert_check(&c, "alice", &peer, &err) == DT_OK) {
        fuzz_require(c.kind == 1 && c.principals.len > 0 &&
                     c.valid_after <= (uint64_t)peer.now);
    } else {
        fuzz_require(err.status == DT_ERR_ACCES);
    }
    return 0;
}
