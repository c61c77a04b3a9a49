/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the JSON payloads: the first byte tells which (q, e, h, s, c). What
 * is accepted is formatted and read back the same.
 */
#include "fuzz.h"
#include "request.h"

/* Formats, parses, formats again and compares. A refused text must have left
 * its struct empty and a message. */
#define ROUND_TRIP(name)                                              \
    static void round_trip_##name(const char *json, size_t len)             \
    {                                                                       \
        struct name a = {0}, b = {0};                                       \
        struct error err = ERROR_INIT;                                      \
        struct buf once = {0}, twice = {0};                                 \
                                                                            \
        if (name##_parse(json, len, &a, &err) != DT_OK) {                   \
            static const struct name empty;                                 \
            fuzz_require(err.status < 0 && *err.text);                      \
            fuzz_require(memcmp(&a, &empty, sizeof(a)) == 0);               \
            return;                                                         \
        }                                                                   \
        fuzz_require(name##_format(&a, &once) == DT_OK);                    \
        fuzz_require(name##_parse(once.data, once.len, &b, &err) == DT_OK); \
        fuzz_require(name##_format(&b, &twice) == DT_OK);                   \
        fuzz_require(once.len == twice.len &&                               \
                     memcmp(once.data, twice.data, once.len) == 0);         \
        name##_fini(&a);                                                    \
        name##_fini(&b);                                                    \
        buf_fini(&once);                                                    \
        buf_fini(&twice);                                                   \
    }
ROUND_TRIP(query_spec)
ROUND_TRIP(query_end)
ROUND_TRIP(hello)
ROUND_TRIP(source_desc)

static void
cancel(const char *json, size_t len)
{
    struct error err = ERROR_INIT;
    uint32_t id;
    bool finish;
    int rc = cancel_parse(json, len, &id, &finish, &err);

    fuzz_require(rc == DT_OK ? id > 0 : id == 0 && *err.text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *json = (const char *)data + 1;

    if (len == 0) {
        return 0;
    }
    switch (*data) {
    case 'q':
        round_trip_query_spec(json, len - 1);
        break;
    case 'e':
        round_trip_query_end(json, len - 1);
        break;
    case 'h':
        round_trip_hello(json, len - 1);
        break;
    case 's':
        round_trip_source_desc(json, len - 1);
        break;
    case 'c':
        cancel(json, len - 1);
        break;
    default:
        break;
    }
    return 0;
}
