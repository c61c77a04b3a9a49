/* SPDX-License-Identifier: Apache-2.0
 *
 * Decoders: whole, in pieces of every size, cut at every byte, damaged, and
 * the two gzip engines against each other.
 */
#include "buf.h"
#include "cleanup.h"
#include "source-decoder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

/* ---- a bottom of the chain in memory ---- */

struct memory {
    struct decoder base;
    const uint8_t *data;
    size_t len, pos;
    size_t step; /* bytes a read */
};

static ssize_t
memory_read(struct decoder *d, void *data, size_t cap, int cancel_fd,
            struct error *err)
{
    struct memory *m = (struct memory *)d;
    size_t n = m->len - m->pos;

    (void)cancel_fd;
    (void)err;
    n = n < cap ? n : cap;
    n = n < m->step ? n : m->step;
    memcpy(data, m->data + m->pos, n);
    m->pos += n;
    return (ssize_t)n;
}

static void
memory_close(struct decoder *d)
{
    (void)d;
}

enum kind { ZLIB, FASTEST, ZSTD, UTF16LE, UTF16BE };

static struct decoder *
decoder_of(enum kind kind, struct memory *m)
{
    struct error err = ERROR_INIT;
    struct decoder *d = NULL;

    m->base.read = memory_read;
    m->base.close = memory_close;
    switch (kind) {
    case ZLIB:
        decoder_gzip_new(&m->base, "f", DECODER_GZIP_ZLIB, &d, &err);
        break;
    case FASTEST:
        decoder_gzip_new(&m->base, "f", DECODER_GZIP_FASTEST, &d, &err);
        break;
    case ZSTD:
        decoder_zstd_new(&m->base, "f", &d, &err);
        break;
    case UTF16LE:
    case UTF16BE:
        decoder_utf16_new(&m->base, kind == UTF16BE, &d, &err);
        break;
    }
    assert_non_null(d);
    return d;
}

/* Decodes all of `in`, reading `in_step` and asking for `out_step` bytes at a
 * time. Returns the final status. */
static int
decode(enum kind kind, const struct buf *in, size_t in_step, size_t out_step,
       struct buf *out, struct error *err)
{
    struct memory m = {
        .data = (const uint8_t *)in->data, .len = in->len, .step = in_step};
    struct decoder *d = decoder_of(kind, &m);
    CLEANUP_FREE char *bytes = malloc(out_step);
    ssize_t n;

    out->len = 0;
    while ((n = d->read(d, bytes, out_step, -1, err)) > 0) {
        assert_true((size_t)n <= out_step);
        assert_int_equal(buf_append(out, bytes, (size_t)n), DT_OK);
    }
    if (n < 0) { /* and again */
        assert_true(d->read(d, bytes, out_step, -1, NULL) < 0);
        assert_int_equal(err->status, n);
        assert_non_null(strstr(err->text, "f: "));
    }
    decoder_close(d);
    return (int)n;
}

/* ---- making compressed data ---- */

/* Text that compresses, and its lines differ. */
static void
make_text(struct buf *out, size_t len, unsigned seed)
{
    while (out->len < len) {
        seed = seed * 1103515245u + 12345u;
        assert_int_equal(buf_printf(out, "2026-11-30 INFO user%u did %x\n",
                                    seed >> 28, seed >> 16),
                         DT_OK);
    }
    out->len = len;
}

static void
add_member(struct buf *out, const void *data, size_t len, int level)
{
    z_stream z = {0};

    assert_int_equal(
        deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
        Z_OK);
    assert_int_equal(buf_reserve(out, deflateBound(&z, len)), DT_OK);
    z.next_in = (Bytef *)data;
    z.avail_in = (uInt)len;
    z.next_out = (Bytef *)out->data + out->len;
    z.avail_out = (uInt)(out->cap - out->len);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->len += z.total_out;
    deflateEnd(&z);
}

static void
add_frame(struct buf *out, const void *data, size_t len)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    size_t bound = ZSTD_compressBound(len), n;

    assert_non_null(c);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    assert_int_equal(buf_reserve(out, bound), DT_OK);
    n = ZSTD_compress2(c, out->data + out->len, bound, data, len);
    assert_false(ZSTD_isError(n));
    out->len += n;
    ZSTD_freeCCtx(c);
}

static void
add_bytes(struct buf *out, const void *data, size_t len)
{
    assert_int_equal(buf_append(out, data, len), DT_OK);
}

#define ADD(out, text) add_bytes(out, text, sizeof(text) - 1)
static const char skippable[] = "\x53\x2a\x4d\x18\x05\x00\x00\x00hello";

static const enum kind gzip_kinds[] = {ZLIB, FASTEST};
static const enum kind all_kinds[] = {ZLIB, FASTEST, ZSTD};

static void
add_part(enum kind kind, struct buf *out, const void *data, size_t len)
{
    if (kind == ZSTD) {
        add_frame(out, data, len);
    } else {
        add_member(out, data, len, 6);
    }
}

static void
expect(enum kind kind, const struct buf *in, const struct buf *want, int status)
{
    static const size_t steps[] = {1, 2, 3, 7, 4096, 1u << 20};
    struct error err = ERROR_INIT;
    struct buf got = {0};

    for (size_t i = 0; i < 6; i++) {
        for (size_t o = 0; o < 6; o++) {
            int r = decode(kind, in, steps[i], steps[o], &got, &err);

            assert_int_equal(r, status);
            assert_int_equal(got.len, want->len);
            if (want->len) {
                assert_memory_equal(got.data, want->data, want->len);
            }
        }
    }
    buf_fini(&got);
}

/* ---- whole ---- */

static void
test_parts(void **state)
{
    struct buf text = {0}, two = {0};

    (void)state;
    make_text(&text, 20000, 1);
    add_bytes(&two, text.data, text.len);
    add_bytes(&two, text.data, text.len);
    for (size_t k = 0; k < 3; k++) {
        enum kind kind = all_kinds[k];
        struct buf in = {0};

        add_part(kind, &in, text.data, text.len);
        expect(kind, &in, &text, DT_OK);
        ADD(&in, "\0\0\0\0\0");
        expect(kind, &in, &text, DT_OK);
        add_part(kind, &in, "", 0);
        if (kind == ZSTD) {
            ADD(&in, skippable);
        }
        add_part(kind, &in, text.data, text.len);
        expect(kind, &in, &two, DT_OK);
        ADD(&in, "\0");
        expect(kind, &in, &two, DT_OK);
        if (kind == ZSTD) {
            ADD(&in, skippable);
            expect(kind, &in, &two, DT_OK);
        }
        ADD(&in, "\0x");
        expect(kind, &in, &two, DT_ERR_IO);
        buf_fini(&in);
    }
    buf_fini(&text);
    buf_fini(&two);
}

/* A member whose header has everything: extra field, name, comment and a
 * checksum of its own, which must also be right when it comes in pieces. */
static void
test_full_gzip_header(void **state)
{
    static const char head[] = "\x1f\x8b\x08\x1e\0\0\0\0\0\x03\x05\0extra"
                               "a name\0a comment";
    struct buf text = {0}, plain = {0}, in = {0};
    unsigned long crc = crc32(0, (const Bytef *)head, sizeof(head));

    (void)state;
    make_text(&text, 500, 1);
    add_member(&plain, text.data, text.len, 6);
    add_bytes(&in, head, sizeof(head));
    add_bytes(&in, (char[]){(char)crc, (char)(crc >> 8)}, 2);
    add_bytes(&in, plain.data + 10, plain.len - 10);
    for (size_t k = 0; k < 2; k++) {
        expect(gzip_kinds[k], &in, &text, DT_OK);
        in.data[sizeof(head)] ^= 1;
        expect(gzip_kinds[k], &in, &(struct buf){0}, DT_ERR_IO);
        in.data[sizeof(head)] ^= 1;
    }
    buf_fini(&text);
    buf_fini(&plain);
    buf_fini(&in);
}

/* A file that begins with a skippable frame, as pzstd writes it. */
static void
test_skippable_first(void **state)
{
    struct buf in = {0}, text = {0};

    (void)state;
    make_text(&text, 100, 1);
    ADD(&in, skippable);
    expect(ZSTD, &in, &(struct buf){0}, DT_OK);
    ADD(&in, skippable);
    add_frame(&in, text.data, text.len);
    expect(ZSTD, &in, &text, DT_OK);
    buf_fini(&in);
    buf_fini(&text);
}

/* The first part ends where the input buffer does, to the byte, and just
 * before and behind it. */
static void
test_part_ends_at_buffer_end(void **state)
{
    struct error err = ERROR_INIT;
    struct buf text = {0}, got = {0};

    (void)state;
    make_text(&text, DECODER_INPUT_BYTES, 3);
    for (size_t k = 0; k < 2; k++) {
        for (size_t end = DECODER_INPUT_BYTES - 5;
             end <= DECODER_INPUT_BYTES + 5; end++) {
            struct buf in = {0};
            size_t len = end - 18, first;

            do { /* stored blocks: about 5 bytes each */
                in.len = 0;
                add_member(&in, text.data, len--, 0);
            } while (in.len > end);
            first = len + 1;
            while (in.len < end) {
                ADD(&in, "\0");
            }
            add_member(&in, text.data, 1000, 6);
            assert_int_equal(decode(gzip_kinds[k], &in, DECODER_INPUT_BYTES,
                                    DECODER_INPUT_BYTES, &got, &err),
                             0);
            assert_int_equal(got.len, first + 1000);
            assert_memory_equal(got.data, text.data, first);
            assert_memory_equal(got.data + first, text.data, 1000);
            /* a piece of input that ends with the member */
            assert_int_equal(decode(gzip_kinds[k], &in, end, 4096, &got, &err),
                             0);
            assert_int_equal(got.len, first + 1000);
            buf_fini(&in);
        }
    }
    buf_fini(&text);
    buf_fini(&got);
}

/* ---- cut ---- */

/* How much of a cut file zlib and zstd themselves give out. */
static size_t
reference_len(enum kind kind, const struct buf *in, size_t len)
{
    size_t total = 0;

    if (kind == ZSTD) {
        ZSTD_DStream *s = ZSTD_createDStream();
        char bytes[4096];

        for (size_t i = 0; i < len; i++) {
            ZSTD_inBuffer one = {in->data + i, 1, 0};
            ZSTD_outBuffer out;

            do {
                out = (ZSTD_outBuffer){bytes, sizeof(bytes), 0};
                assert_false(
                    ZSTD_isError(ZSTD_decompressStream(s, &out, &one)));
                total += out.pos;
            } while (one.pos < one.size || out.pos == out.size);
        }
        ZSTD_freeDStream(s);
        return total;
    }
    z_stream z = {0};
    Bytef bytes[4096];
    int status = Z_OK;

    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_in = (Bytef *)in->data;
    z.avail_in = (uInt)len;
    do {
        z.next_out = bytes;
        z.avail_out = sizeof(bytes);
        status = inflate(&z, Z_NO_FLUSH);
        total += sizeof(bytes) - z.avail_out;
        if (status == Z_STREAM_END) {
            status = inflateReset(&z);
            if (z.avail_in == 0) {
                break;
            }
        }
    } while (status == Z_OK);
    inflateEnd(&z);
    return total;
}

static void
test_every_cut(void **state)
{
    struct buf text = {0}, two = {0}, got = {0};

    (void)state;
    make_text(&text, 3000, 7);
    add_bytes(&two, text.data, text.len);
    add_bytes(&two, text.data, text.len);
    for (size_t k = 0; k < 3; k++) {
        enum kind kind = all_kinds[k];
        struct buf in = {0};
        size_t whole, first;

        add_part(kind, &in, text.data, text.len);
        first = in.len;
        add_part(kind, &in, text.data, text.len);
        whole = in.len;
        for (in.len = 1; in.len <= whole; in.len++) {
            for (size_t step = 1; step <= 4096; step *= 64) {
                struct error err = ERROR_INIT;
                bool is_good = in.len == first || in.len == whole;
                int r = decode(kind, &in, step, step, &got, &err);

                assert_int_equal(r, is_good ? DT_OK : DT_ERR_IO);
                assert_int_equal(got.len, reference_len(kind, &in, in.len));
                if (got.len) {
                    assert_memory_equal(got.data, two.data, got.len);
                }
            }
        }
        buf_fini(&in);
    }
    buf_fini(&text);
    buf_fini(&two);
    buf_fini(&got);
}

/* ---- damaged ---- */

static void
expect_error(enum kind kind, const struct buf *in, size_t len, int status,
             const char *text)
{
    struct error err = ERROR_INIT;
    struct buf got = {0};

    assert_int_equal(decode(kind, in, 4096, 4096, &got, &err), status);
    assert_int_equal(got.len, len);
    if (!strstr(err.text, text)) {
        print_error("\"%s\" in \"%s\"\n", text, err.text);
    }
    assert_non_null(strstr(err.text, text));
    buf_fini(&got);
}

/* The data come, and then the news that they are not to be trusted. */
static void
test_wrong_checksum(void **state)
{
    struct buf text = {0};

    (void)state;
    make_text(&text, 3000, 7);
    for (size_t k = 0; k < 3; k++) {
        struct buf in = {0};
        size_t back = all_kinds[k] == ZSTD ? 1 : 8; /* crc32, then length */

        add_part(all_kinds[k], &in, text.data, text.len);
        in.data[in.len - back] ^= 1;
        expect_error(all_kinds[k], &in, text.len, DT_ERR_IO, "damaged");
        expect(all_kinds[k], &in, &text, DT_ERR_IO);
        in.data[in.len - back] ^= 1;
        if (all_kinds[k] != ZSTD) {
            in.data[in.len - 1] ^= 1;
            expect_error(all_kinds[k], &in, text.len, DT_ERR_IO, "damaged");
        }
        buf_fini(&in);
    }
    buf_fini(&text);
}

static void
test_messages(void **state)
{
    struct buf in = {0};

    (void)state;
    add_member(&in, "hello\n", 6, 6);
    ADD(&in, "\0\0trailing");
    for (size_t k = 0; k < 2; k++) {
        char want[64];

        snprintf(want, sizeof(want),
                 "f: garbage behind the gzip data at byte "
                 "%zu",
                 in.len - 8);
        expect_error(gzip_kinds[k], &in, 6, DT_ERR_IO, want);
        in.len -= 11; /* into the length field */
        expect_error(gzip_kinds[k], &in, 6, DT_ERR_IO,
                     "f: gzip data end too early, at byte ");
        in.len += 11;
    }
    in.len = 0;
    ADD(&in, "\x1f\x8b\x07\x00 unknown method");
    expect_error(ZLIB, &in, 0, DT_ERR_IO, "unknown kind of gzip data");
    expect_error(FASTEST, &in, 0, DT_ERR_IO, "unknown kind of gzip data");
    in.len = 0;
    add_frame(&in, "hello\n", 6);
    ADD(&in, "garbage");
    expect_error(ZSTD, &in, 6, DT_ERR_IO,
                 "f: garbage behind the zstd data at byte ");
    in.len -= 10;
    expect_error(ZSTD, &in, 6, DT_ERR_IO, "f: zstd data end too early, at");
    /* a frame that wants a window of 256 MiB */
    in.len = 0;
    ADD(&in, "\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00");
    expect_error(ZSTD, &in, 0, DT_ERR_LIMIT, "larger than 128 MiB");
    buf_fini(&in);
}

/* Whatever the input: the engines agree on whether it was in order and on the
 * bytes. Where it is damaged, one may notice a little later than the other. */
static void
test_engines_agree(void **state)
{
    struct buf text = {0}, in = {0}, a = {0}, b = {0};
    unsigned seed = 42;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct error err = ERROR_INIT;
        size_t nr_changes;
        int status;

        seed = seed * 1103515245u + 12345u;
        text.len = in.len = 0;
        make_text(&text, seed >> 20, seed);
        add_member(&in, text.data, text.len, (int)(seed >> 8 & 7));
        add_member(&in, text.data, text.len / 2, 9);
        nr_changes = seed >> 16 & 3;
        for (size_t i = 0; i < nr_changes; i++) {
            seed = seed * 1103515245u + 12345u;
            in.data[(seed >> 8) % in.len] ^= (char)(1u << (seed >> 5 & 7));
        }
        status = decode(ZLIB, &in, 4096, 4096, &a, &err);
        int other = decode(FASTEST, &in, 4096, 4096, &b, &err);

        size_t len = a.len < b.len ? a.len : b.len;

        assert_int_equal(status, other);
        assert_true(status == DT_ERR_IO || a.len == b.len);
        if (len) {
            assert_memory_equal(a.data, b.data, len);
        }
    }
    buf_fini(&text);
    buf_fini(&in);
    buf_fini(&a);
    buf_fini(&b);
}

/* ---- UTF-16 ---- */

static void
test_utf16(void **state)
{
    /* a, é, €, U+1F600, a low surrogate alone, a high one before a letter,
     * a newline, a byte order mark inside, NUL, a high one and half a unit */
    static const char le[] = "a\0\xe9\0\xac\x20\x3d\xd8\x00\xde\x00\xdc"
                             "\x3d\xd8x\0\n\0\xff\xfe\0\0\x3d\xd8\x00";
    static const char want[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"
                               "\xef\xbf\xbd\xef\xbf\xbdx\n\xef\xbb\xbf\0"
                               "\xef\xbf\xbd\xef\xbf\xbd";
    struct buf in = {0}, out = {0};

    (void)state;
    add_bytes(&in, le, sizeof(le) - 1);
    add_bytes(&out, want, sizeof(want) - 1);
    expect(UTF16LE, &in, &out, DT_OK);
    for (size_t i = 0; i + 1 < in.len; i += 2) {
        char c = in.data[i];

        in.data[i] = in.data[i + 1];
        in.data[i + 1] = c;
    }
    expect(UTF16BE, &in, &out, DT_OK);
    in.len = out.len = 0;
    expect(UTF16LE, &in, &out, DT_OK);
    buf_fini(&in);
    buf_fini(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_full_gzip_header),
        cmocka_unit_test(test_skippable_first),
        cmocka_unit_test(test_part_ends_at_buffer_end),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_wrong_checksum),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_engines_agree),
        cmocka_unit_test(test_utf16),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
