/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames: what is encoded is decoded again, and nothing else is.
 */
#include "wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint8_t all_types[] = {
    WIRE_C_HELLO,    WIRE_C_QUERY, WIRE_C_CANCEL,  WIRE_S_HELLO,
    WIRE_S_SOURCE,   WIRE_S_LINES, WIRE_S_PARTIAL, WIRE_S_NOTE,
    WIRE_S_PROGRESS, WIRE_S_END,   WIRE_S_TEXT,    WIRE_S_STATE,
    WIRE_S_UPDATED,
};

static size_t
encode_whole(uint8_t *out, const struct wire_frame *f)
{
    size_t at = wire_encode(out, f);

    memcpy(out + at, f->data, f->len);
    return at + f->len;
}

static void
test_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(all_types); i++) {
        uint8_t bytes[128];
        struct wire_frame got;
        size_t used = 0;
        const struct wire_frame f = {.type = all_types[i],
                                     .query = 7,
                                     .source = 0x01020304,
                                     .flags = DT_BLOCK_NOEOL,
                                     .generation = 3,
                                     .first_line = 1ull << 40,
                                     .nr_lines = 12,
                                     .offset = ~0ull - 5,
                                     .data = "a\0\n\xff",
                                     .len = 4};
        size_t len = encode_whole(bytes, &f);

        assert_int_equal(wire_decode(bytes, len, WIRE_MAX_FRAME, &got, &used),
                         DT_OK);
        assert_int_equal(used, len);
        assert_int_equal(got.type, f.type);
        assert_int_equal(got.len, 4);
        assert_memory_equal(got.data, f.data, 4);
        if (f.type == WIRE_S_LINES) {
            assert_int_equal(got.query, f.query);
            assert_int_equal(got.source, f.source);
            assert_int_equal(got.flags, f.flags);
            assert_int_equal(got.generation, f.generation);
            assert_true(got.first_line == f.first_line);
            assert_int_equal(got.nr_lines, f.nr_lines);
            assert_true(got.offset == f.offset);
        }
    }
}

static void
test_pieces_ask_for_more(void **state)
{
    uint8_t bytes[128];
    struct wire_frame got;
    size_t used;
    const struct wire_frame f = {
        .type = WIRE_S_LINES, .data = "line\n", .len = 5};
    size_t len = encode_whole(bytes, &f);

    (void)state;
    for (size_t cut = 0; cut < len; cut++) {
        assert_int_equal(wire_decode(bytes, cut, WIRE_MAX_FRAME, &got, &used),
                         DT_AGAIN);
        assert_true(used > cut && used <= len);
    }
}

static void
test_bad_lengths(void **state)
{
    struct wire_frame got;
    size_t used;

    (void)state;
    assert_int_equal(wire_decode("\0\0\0\0x", 5, WIRE_MAX_REQUEST, &got, &used),
                     DT_ERR_PROTO);
    assert_int_equal(
        wire_decode("\xff\xff\xff\xff", 4, WIRE_MAX_REQUEST, &got, &used),
        DT_ERR_LIMIT);
    /* a LINES frame too short for its fixed part */
    assert_int_equal(
        wire_decode("\0\0\0\x03\x42zz", 7, WIRE_MAX_REQUEST, &got, &used),
        DT_ERR_PROTO);
    /* unknown types pass, to be skipped */
    assert_int_equal(wire_decode("\0\0\0\x03\xee"
                                 "zz",
                                 7, WIRE_MAX_REQUEST, &got, &used),
                     DT_OK);
    assert_int_equal(used, 7);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_pieces_ask_for_more),
        cmocka_unit_test(test_bad_lengths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
