/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the decoder of frames: all that it accepts of a stream is encoded to
 * the same bytes again, and a cut stream asks for more than it has.
 */
#include "fuzz.h"
#include "wire.h"

static void
check_frame(const uint8_t *bytes, size_t used, const struct wire_frame *f)
{
    uint8_t head[WIRE_MAX_FIXED];
    size_t len = wire_encode(head, f);
    const uint8_t *payload = f->data;

    fuzz_require(payload >= bytes && payload + f->len == bytes + used);
    fuzz_require(len + f->len == used);
    fuzz_require(memcmp(head, bytes, len) == 0);
    fuzz_require(*wire_type_name(f->type));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct wire_frame f;
    size_t used = 0, need;

    for (size_t at = 0; at <= len; at += used) {
        int rc = wire_decode(data + at, len - at, WIRE_MAX_REQUEST, &f, &used);

        if (rc == DT_AGAIN) {
            fuzz_require(used > len - at);
            return 0;
        }
        if (rc != DT_OK) {
            fuzz_require(rc == DT_ERR_LIMIT || rc == DT_ERR_PROTO);
            return 0;
        }
        fuzz_require(used > 0 && used <= len - at);
        check_frame(data + at, used, &f);
        fuzz_require(wire_decode(data + at, used - 1, WIRE_MAX_REQUEST, &f,
                                 &need) == DT_AGAIN);
        fuzz_require(need >= used);
    }
    return 0;
}
