/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the settings: whatever is accepted is dumped and read back the same,
 * whatever is not gets a message. The walk over members must stay inside any
 * text, valid or not.
 */
#include "config.h"
#include "fuzz.h"
#include "jsonscan.h"
#include "test-config-same.h"

static void
dump(const struct config *c, struct buf *out)
{
    fuzz_require(config_dump(c, out) == DT_OK);
}

/* Walks over text that need not be JSON. */
static void
walk(const char *text, struct jsonscan_slice slice, unsigned depth)
{
    for (int is_object = 0; is_object < 2; is_object++) {
        struct jsonscan scan = jsonscan_enter(text, slice);
        struct jsonscan_member m;

        while (jsonscan_next(&scan, is_object, &m)) {
            fuzz_require(m.value.at >= slice.at && m.value.len > 0 &&
                         m.value.at + m.value.len <= slice.at + slice.len);
            if (depth < 3) {
                walk(text, m.value, depth + 1);
            }
        }
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *text = (const char *)data;
    struct error err = ERROR_INIT;
    struct buf once = {0}, twice = {0};
    struct config *c, *back;

    if (len < 4096) {
        walk(text, jsonscan_value(text, 0, len), 0);
    }
    jsonscan_depth(text, len);
    if (config_parse(text, len, "input", &c, &err) != DT_OK) {
        fuzz_require(!c && err.status < 0);
        fuzz_require(strncmp(err.text, "input:", 6) == 0);
        return 0;
    }
    dump(c, &once);
    fuzz_require(config_parse(once.data, once.len, "dump", &back, &err) ==
                 DT_OK);
    fuzz_require(config_same("", c, back));
    dump(back, &twice);
    fuzz_require(once.len == twice.len &&
                 memcmp(once.data, twice.data, once.len) == 0);
    config_free(c);
    config_free(back);
    buf_fini(&once);
    buf_fini(&twice);
    return 0;
}
