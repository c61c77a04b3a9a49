/* SPDX-License-Identifier: Apache-2.0
 *
 * Decoding: random frames in random pieces give what was encoded, lines whole;
 * what is broken is refused.
 */
#include "decode.h"

#include "cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define NR_QUERIES 3u /* the last one wants whole frames */

/* What was put in, and what came out: frames as text, lines of neighbouring
 * parts of one frame joined. */
struct trial {
    struct buf wire, want, got;
    uint64_t next_line; /* of the frame that comes in parts */
    bool open;          /* the last part had no newline */
};

static void
describe(struct buf *out, const struct wire_frame *f)
{
    buf_printf(out, "<%u %u %u ", f->type, f->query, f->source);
    buf_append(out, f->data, f->len);
    buf_puts(out, ">");
}

static int
on_frame(void *ctx, const struct wire_frame *f)
{
    struct trial *t = ctx;
    const char *data = f->data;
    char sum = 0;

    for (size_t i = 0; i < DECODE_SLACK; i++) {
        sum ^= data[f->len + i]; /* must be readable: ASan, valgrind */
    }
    (void)sum;
    if (f->type != WIRE_S_LINES) {
        describe(&t->got, f);
        return DT_OK;
    }
    if (f->first_line == DECODE_CONTINUE) {
        /* goes on behind the last ">", with whole lines only */
        assert_true(f->query != NR_QUERIES);
        assert_false(t->open);
        t->got.len--;
        buf_append(&t->got, data, f->len);
        buf_puts(&t->got, ">");
    } else {
        describe(&t->got, f);
    }
    t->open = f->len && data[f->len - 1] != '\n';
    if (t->open) {
        assert_true(f->flags & (DT_BLOCK_NOEOL | DT_BLOCK_CUT));
    }
    return DT_OK;
}

static bool
may_split(void *ctx, uint32_t query)
{
    (void)ctx;
    return query != NR_QUERIES;
}

static void
add_random(struct trial *t)
{
    static const uint8_t types[] = {WIRE_S_LINES, WIRE_S_LINES, WIRE_S_LINES,
                                    WIRE_S_NOTE,  WIRE_S_HELLO, WIRE_S_PARTIAL,
                                    WIRE_S_END,   200};
    struct buf data = {0};
    uint8_t head[WIRE_MAX_FIXED];
    struct wire_frame f = {
        .type = types[(size_t)random() % sizeof(types)],
        .query = 1 + (uint32_t)random() % NR_QUERIES,
        .source = (uint32_t)random() % 5,
        .first_line = 7,
    };
    size_t len = (size_t)(random() % 10 ? random() % 60 : random() % 5000);

    for (size_t i = 0; i < len; i++) {
        char c = (char)(random() % 12 ? 'a' + random() % 26 : '\n');

        buf_append(&data, &c, 1);
    }
    if (f.type == WIRE_S_LINES) {
        if (random() % 2) {
            f.flags = random() % 2 ? DT_BLOCK_NOEOL : DT_BLOCK_CUT;
        } else if (len) {
            data.data[len - 1] = '\n';
        }
        if (len == 0) {
            buf_puts(&data, "\n");
        }
    }
    if (f.type == WIRE_S_HELLO || f.type == 200) {
        f.query = 0;
        f.source = 0;
    } else if (f.type != WIRE_S_LINES) {
        f.source = 0;
    }
    f.data = data.data;
    f.len = data.len;
    buf_append(&t->wire, head, wire_encode(head, &f));
    buf_append(&t->wire, f.data, f.len);
    describe(&t->want, &f);
    buf_fini(&data);
}

/* Feeds in pieces of at most `max` bytes, each in memory of its own. */
static void
feed(struct trial *t, size_t max)
{
    const struct decode_sink sink = {on_frame, may_split, t};
    struct decode d;
    struct error err = ERROR_INIT;

    decode_init(&d, &sink);
    for (size_t at = 0; at < t->wire.len;) {
        size_t len = 1 + (size_t)random() % max;
        char *piece;

        len = len < t->wire.len - at ? len : t->wire.len - at;
        piece = malloc(len + DECODE_SLACK);
        memcpy(piece, t->wire.data + at, len);
        memset(piece + len, 0, DECODE_SLACK);
        assert_int_equal(decode_bytes(&d, piece, len, &err), DT_OK);
        free(piece);
        at += len;
    }
    assert_false(decode_is_inside(&d));
    decode_fini(&d);
    assert_int_equal(t->got.len, t->want.len);
    assert_memory_equal(t->got.data, t->want.data, t->want.len);
    t->got.len = 0;
    t->open = false;
}

static void
test_random(void **state)
{
    (void)state;
    srandom(11);
    for (int round = 0; round < 200; round++) {
        struct trial t = {0};
        int nr = 1 + (int)(random() % 20);

        for (int i = 0; i < nr; i++) {
            add_random(&t);
        }
        feed(&t, 1);
        feed(&t, 3);
        feed(&t, 50);
        feed(&t, 4096);
        feed(&t, t.wire.len);
        buf_fini(&t.wire);
        buf_fini(&t.want);
        buf_fini(&t.got);
    }
}

static int
feed_raw(const void *data, size_t len, struct error *err)
{
    struct trial t = {0};
    const struct decode_sink sink = {on_frame, may_split, &t};
    struct decode d;
    char *piece = calloc(1, len + DECODE_SLACK);
    int rc;

    memcpy(piece, data, len);
    decode_init(&d, &sink);
    rc = decode_bytes(&d, piece, len, err);
    decode_fini(&d);
    free(piece);
    buf_fini(&t.got);
    return rc;
}

static void
test_broken(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(feed_raw("\0\0\0\0", 4, &err), DT_ERR_PROTO);
    assert_int_equal(feed_raw("\xff\xff\xff\xff\x42", 5, &err), DT_ERR_LIMIT);
    assert_non_null(strstr(err.text, "LINES"));
    /* too short for its type */
    assert_int_equal(feed_raw("\0\0\0\3\x42zz", 7, &err), DT_ERR_PROTO);
    assert_int_equal(feed_raw("\0\0\0\2\x44z", 6, &err), DT_ERR_PROTO);
}

static int
refuse(void *ctx, const struct wire_frame *f)
{
    (void)ctx;
    (void)f;
    return DT_STOP;
}

static void
test_sink_answers(void **state)
{
    const struct decode_sink sink = {refuse, may_split, NULL};
    struct decode d;
    struct error err = ERROR_INIT;
    char frame[6 + DECODE_SLACK] = "\0\0\0\1\x40";

    (void)state;
    decode_init(&d, &sink);
    assert_int_equal(decode_bytes(&d, frame, 5, &err), DT_STOP);
    decode_fini(&d);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_sink_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
