/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests: what is formatted is parsed again byte for byte, and what is
 * wrong is refused by the name of the member.
 */
#include "request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* xorshift: the same bytes in each run. */
static uint32_t
next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* Random bytes of three kinds: any, UTF-8, and nearly UTF-8. */
static size_t
random_bytes(uint32_t *seed, char *out, size_t max, bool has_nul)
{
    static const char *const pieces[] = {
        "a",           "€",        "\xf0\x9f\x98\x80",
        "\"",          "\\",       "\n",
        "\x01",        "é",        "\x7f",
        "\xe2\x82",    "\xc0\x80", "\xed\xa0\x80",
        "\xef\xbf\xbf"};
    size_t len = next_random(seed) % max, at = 0;
    uint32_t kind = next_random(seed) % 3;

    while (at + 4 < len) {
        if (kind == 0) {
            char c = (char)next_random(seed);

            out[at++] = c || has_nul ? c : 'x';
        } else {
            const char *piece =
                pieces[next_random(seed) % (kind == 1 ? 9 : 13)];

            memcpy(out + at, piece, strlen(piece));
            at += strlen(piece);
        }
    }
    if (has_nul && kind == 1 && at && next_random(seed) % 2) {
        out[next_random(seed) % at] = '\0';
    }
    out[at] = '\0';
    return at;
}

static void
assert_same_spec(const struct query_spec *a, const struct query_spec *b)
{
    assert_int_equal(a->id, b->id);
    assert_string_equal(a->plugin, b->plugin);
    assert_int_equal(a->files.nr, b->files.nr);
    for (size_t i = 0; i < a->files.nr; i++) {
        assert_string_equal(a->files.v[i], b->files.v[i]);
    }
    assert_int_equal(a->nr_args, b->nr_args);
    for (size_t i = 0; i < a->nr_args; i++) {
        assert_string_equal(a->args[i].name, b->args[i].name);
        assert_int_equal(a->args[i].value_len, b->args[i].value_len);
        assert_memory_equal(a->args[i].value, b->args[i].value,
                            a->args[i].value_len + 1);
    }
    assert_int_equal(a->plain, b->plain);
    assert_int_equal(a->turbo_off, b->turbo_off);
    assert_int_equal(a->follow, b->follow);
    assert_int_equal(a->last, b->last);
    assert_true(a->timeout_ms == b->timeout_ms);
    assert_true(a->interval_ms == b->interval_ms);
    assert_int_equal(a->partial_format, b->partial_format);
}

static void
fill_spec(uint32_t *seed, struct query_spec *s)
{
    char text[512];
    size_t len;

    s->id = next_random(seed) | 1;
    random_bytes(seed, text, 200, false);
    s->plugin = strdup(*text ? text : "cat");
    for (uint32_t n = next_random(seed) % 4; n > 0; n--) {
        random_bytes(seed, text, sizeof(text), false);
        assert_int_equal(strv_add(&s->files, text), DT_OK);
    }
    for (uint32_t n = next_random(seed) % 4; n > 0; n--) {
        char name[16];

        snprintf(name, sizeof(name), "arg%u", n);
        len = random_bytes(seed, text, sizeof(text), true);
        assert_int_equal(query_spec_add_arg(s, name, text, len), DT_OK);
    }
    s->plain = next_random(seed) & 1;
    s->turbo_off = next_random(seed) & 1;
    s->follow = next_random(seed) & 1;
    s->last = next_random(seed) & 1;
    s->timeout_ms = next_random(seed) & 0xffff;
    s->interval_ms = next_random(seed);
    s->partial_format = next_random(seed);
}

static void
test_query_round_trips(void **state)
{
    uint32_t seed = 20261130;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct query_spec s = {0}, back = {0}, copy = {0};
        struct error err = ERROR_INIT;
        struct buf out = {0};

        fill_spec(&seed, &s);
        assert_int_equal(query_spec_format(&s, &out), DT_OK);
        assert_int_equal(query_spec_parse(out.data, out.len, &back, &err),
                         DT_OK);
        assert_same_spec(&s, &back);
        assert_int_equal(query_spec_copy(&copy, &back), DT_OK);
        assert_same_spec(&s, &copy);
        query_spec_fini(&s);
        query_spec_fini(&back);
        query_spec_fini(&copy);
        buf_fini(&out);
    }
}

static void
test_text_stays_text(void **state)
{
    struct query_spec s = {.id = 1, .plugin = strdup("grep")};
    struct buf out = {0};

    (void)state;
    assert_int_equal(strv_add(&s.files, "/var/log/é\"\n"), DT_OK);
    assert_int_equal(query_spec_add_arg(&s, "regex", "\xff", 1), DT_OK);
    assert_int_equal(query_spec_add_arg(&s, "nul", "a\0b", 3), DT_OK);
    assert_int_equal(query_spec_format(&s, &out), DT_OK);
    assert_int_equal(buf_append(&out, "", 1), DT_OK);
    assert_string_equal(
        out.data,
        "{\"id\":1,\"plugin\":\"grep\",\"files\":[\"/var/log/é\\\"\\n\"],"
        "\"args\":[{\"name\":\"regex\",\"value\":{\"base64\":\"/w==\"}},"
        "{\"name\":\"nul\",\"value\":{\"base64\":\"YQBi\"}}],"
        "\"plain\":false,\"turbo_off\":false,\"follow\":false,\"last\":false,"
        "\"timeout_ms\":0,\"interval_ms\":0,\"partial_format\":0}");
    query_spec_fini(&s);
    buf_fini(&out);
}

static void
test_query_refused(void **state)
{
    static const char *const cases[][2] = {
        {"", "QUERY: line 1, column 0: "},
        {"[]", "QUERY: a JSON object is expected"},
        {"{}", "QUERY: id is missing"},
        {"{\"id\":0}", "QUERY: id: 0 is not allowed, 1 to 4294967295 are"},
        {"{\"id\":4294967296}", "QUERY: id: 4294967296 is not allowed"},
        {"{\"id\":1.5}", "QUERY: id: an integer is expected"},
        {"{\"id\":1}", "QUERY: plugin is missing"},
        {"{\"id\":1,\"id\":2}", "QUERY: line 1, column 12: duplicate"},
        {"{\"id\":1,\"plugin\":7}", "QUERY: plugin: a string is expected"},
        {"{\"id\":1,\"plugin\":{\"base64\":\"YQBi\"}}",
         "QUERY: plugin: a NUL is not allowed"},
        {"{\"id\":1,\"plugin\":{\"base64\":\"YQ\"}}",
         "QUERY: plugin: this is not base64"},
        {"{\"id\":1,\"plugin\":{\"base64\":\"\",\"x\":1}}",
         "QUERY: plugin: a string or {\"base64\": \"…\"} is expected"},
        {"{\"id\":1,\"plugin\":\"c\",\"files\":\"a\"}",
         "QUERY: files: an array is expected"},
        {"{\"id\":1,\"plugin\":\"c\",\"files\":[\"a\",1]}",
         "QUERY: files[1]: a string is expected"},
        {"{\"id\":1,\"plugin\":\"c\",\"args\":[1]}",
         "QUERY: args[0]: {\"name\": …, \"value\": …} is expected"},
        {"{\"id\":1,\"plugin\":\"c\",\"args\":[{\"name\":\"a\"}]}",
         "QUERY: args[0]: value is missing"},
        {"{\"id\":1,\"plugin\":\"c\",\"args\":[{\"value\":\"a\"}]}",
         "QUERY: args[0]: name is missing"},
        {"{\"id\":1,\"plugin\":\"c\",\"plain\":1}",
         "QUERY: plain: true or false is expected"},
        {"{\"id\":1,\"plugin\":\"c\",\"timeout_ms\":-1}",
         "QUERY: timeout_ms: -1 is not allowed"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct query_spec s = {0};
        struct error err = ERROR_INIT;

        assert_true(
            query_spec_parse(cases[i][0], strlen(cases[i][0]), &s, &err) < 0);
        assert_true(err.status < 0);
        if (strncmp(err.text, cases[i][1], strlen(cases[i][1])) != 0) {
            fail_msg("\"%s\" instead of \"%s\"", err.text, cases[i][1]);
        }
        assert_null(s.plugin);
        assert_int_equal(s.files.nr, 0);
    }
}

static void
test_limits(void **state)
{
    struct query_spec s = {0}, back = {0};
    struct error err = ERROR_INIT;
    struct buf out = {0};
    char *big = calloc(1, REQUEST_MAX_VALUE + 1);

    (void)state;
    assert_non_null(big);
    assert_int_equal(query_spec_add_arg(&s, "a", big, REQUEST_MAX_VALUE + 1),
                     DT_ERR_LIMIT);
    for (size_t i = 0; i < REQUEST_MAX_ARGS; i++) {
        assert_int_equal(query_spec_add_arg(&s, "a", "", 0), DT_OK);
    }
    assert_int_equal(query_spec_add_arg(&s, "a", "", 0), DT_ERR_LIMIT);
    query_spec_fini(&s);

    s.id = 1;
    s.plugin = strdup("cat");
    for (size_t i = 0; i <= REQUEST_MAX_FILES; i++) {
        assert_int_equal(strv_add(&s.files, "f"), DT_OK);
    }
    assert_int_equal(query_spec_format(&s, &out), DT_OK);
    assert_int_equal(query_spec_parse(out.data, out.len, &back, &err),
                     DT_ERR_LIMIT);
    assert_string_equal(err.text, "QUERY: files: 10001 elements, at most "
                                  "10000 are allowed");
    buf_fini(&out);
    query_spec_fini(&s);

    /* a value of exactly the limit, both as text and as base64 */
    for (int c = 0; c < 2; c++) {
        memset(big, c ? 'x' : 0, REQUEST_MAX_VALUE);
        s.id = 1;
        s.plugin = strdup("cat");
        assert_int_equal(query_spec_add_arg(&s, "a", big, REQUEST_MAX_VALUE),
                         DT_OK);
        assert_int_equal(query_spec_format(&s, &out), DT_OK);
        assert_int_equal(query_spec_parse(out.data, out.len, &back, &err),
                         DT_OK);
        assert_same_spec(&s, &back);
        query_spec_fini(&back);
        query_spec_fini(&s);
        buf_fini(&out);
    }
    free(big);
}

static void
test_end(void **state)
{
    const struct query_end e = {.status = DT_ERR_ACCES,
                                .message = (char *)(uintptr_t) "no\xff",
                                .bytes_read = 1ull << 50,
                                .lines_read = UINT64_MAX,
                                .lines_sent = 3,
                                .sources = 4,
                                .failed = UINT32_MAX,
                                .broken = 5,
                                .turbo = true};
    struct query_end back = {0};
    struct error err = ERROR_INIT;
    struct buf out = {0};

    (void)state;
    assert_int_equal(query_end_format(&e, &out), DT_OK);
    assert_int_equal(query_end_parse(out.data, out.len, &back, &err), DT_OK);
    assert_int_equal(back.status, DT_ERR_ACCES);
    assert_string_equal(back.message, "no\xff");
    assert_true(back.bytes_read == 1ull << 50);
    assert_true(back.lines_read == INT64_MAX); /* as much as JSON carries */
    assert_true(back.lines_sent == 3);
    assert_int_equal(back.sources, 4);
    assert_true(back.failed == UINT32_MAX);
    assert_int_equal(back.broken, 5);
    assert_true(back.turbo);
    query_end_fini(&back);
    buf_fini(&out);

    assert_int_equal(query_end_parse("{\"lines_read\":-1}", 17, &back, &err),
                     DT_ERR_LIMIT);
    assert_string_equal(err.text, "END: lines_read: -1 is not allowed, 0 to "
                                  "9223372036854775807 are");
}

static void
test_hello(void **state)
{
    struct hello_plugin plugins[] = {
        {(char *)(uintptr_t) "cat", (char *)(uintptr_t) "1.0", 0xffffffff, 0,
         true},
        {(char *)(uintptr_t) "mapr", (char *)(uintptr_t) "\xff", 3, 7, false},
    };
    const struct hello h = {.protocol = 1,
                            .version = (char *)(uintptr_t) "5.0.0",
                            .host = (char *)(uintptr_t) "web1",
                            .plugins = plugins,
                            .nr_plugins = 2};
    struct hello back = {0};
    struct error err = ERROR_INIT;
    struct buf out = {0};

    (void)state;
    assert_int_equal(hello_format(&h, &out), DT_OK);
    assert_int_equal(hello_parse(out.data, out.len, &back, &err), DT_OK);
    assert_int_equal(back.protocol, 1);
    assert_string_equal(back.version, "5.0.0");
    assert_string_equal(back.host, "web1");
    assert_int_equal(back.nr_plugins, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(back.plugins[i].name, plugins[i].name);
        assert_string_equal(back.plugins[i].version, plugins[i].version);
        assert_true(back.plugins[i].flags == plugins[i].flags);
        assert_int_equal(back.plugins[i].partial_format,
                         plugins[i].partial_format);
        assert_int_equal(back.plugins[i].turbo, plugins[i].turbo);
    }
    hello_fini(&back);
    buf_fini(&out);

    assert_int_equal(hello_parse("{}", 2, &back, &err), DT_ERR_PROTO);
    assert_string_equal(err.text, "HELLO: protocol is missing");
    const char *nameless = "{\"protocol\":1,\"plugins\":[{\"name\":\"a\"},{}]}";
    assert_int_equal(hello_parse(nameless, strlen(nameless), &back, &err),
                     DT_ERR_PROTO);
    assert_string_equal(err.text, "HELLO: plugins[1]: name is missing");
}

static void
test_source(void **state)
{
    const struct source_desc d = {.name = (char *)(uintptr_t) "a\0b",
                                  .name_len = 3,
                                  .generation = 2,
                                  .dev = UINT64_MAX,
                                  .ino = 1,
                                  .fingerprint = (char *)(uintptr_t) "0a1b"};
    const struct source_desc plain = {.name = NULL, .name_len = 0};
    struct source_desc back = {0};
    struct error err = ERROR_INIT;
    struct buf out = {0};

    (void)state;
    assert_int_equal(source_desc_format(&d, &out), DT_OK);
    assert_int_equal(source_desc_parse(out.data, out.len, &back, &err), DT_OK);
    assert_int_equal(back.name_len, 3);
    assert_memory_equal(back.name, "a\0b", 4);
    assert_int_equal(back.generation, 2);
    assert_true(back.dev == UINT64_MAX);
    assert_true(back.ino == 1);
    assert_string_equal(back.fingerprint, "0a1b");
    source_desc_fini(&back);
    buf_fini(&out);

    assert_int_equal(source_desc_format(&plain, &out), DT_OK);
    assert_int_equal(source_desc_parse(out.data, out.len, &back, &err), DT_OK);
    assert_string_equal(back.name, "");
    assert_null(back.fingerprint);
    source_desc_fini(&back);
    buf_fini(&out);

    static const char *const bad[] = {"18446744073709551616", "", "-1", "1x"};
    for (size_t i = 0; i < 4; i++) {
        char json[64];

        snprintf(json, sizeof(json), "{\"name\":\"a\",\"ino\":\"%s\"}", bad[i]);
        assert_int_equal(source_desc_parse(json, strlen(json), &back, &err),
                         DT_ERR_PROTO);
        assert_non_null(strstr(err.text, "SOURCE: ino: a decimal number"));
    }
}

static void
test_cancel(void **state)
{
    struct error err = ERROR_INIT;
    struct buf out = {0};
    uint32_t id = 0;
    bool finish = false;

    (void)state;
    assert_int_equal(cancel_format(UINT32_MAX, true, &out), DT_OK);
    assert_int_equal(cancel_parse(out.data, out.len, &id, &finish, &err),
                     DT_OK);
    assert_true(id == UINT32_MAX);
    assert_true(finish);
    assert_int_equal(cancel_parse("{\"id\":7}", 8, &id, &finish, &err), DT_OK);
    assert_int_equal(id, 7);
    assert_false(finish);
    assert_int_equal(cancel_parse("{\"id\":\"1\"}", 10, &id, &finish, &err),
                     DT_ERR_PROTO);
    assert_string_equal(err.text, "CANCEL: id: an integer is expected");
    assert_int_equal(id, 0);
    buf_fini(&out);
}

static void
test_resume_round_trip(void **state)
{
    struct source_desc d = {.name = (char *)(uintptr_t) "a.log",
                            .name_len = 5,
                            .path = (char *)(uintptr_t) "/var/log/a.log",
                            .generation = 3,
                            .dev = UINT64_MAX,
                            .ino = 1ull << 63,
                            .fingerprint = (char *)(uintptr_t) "12-ab",
                            .offset = UINT64_MAX - 1,
                            .state = (char *)(uintptr_t) "\0\xff",
                            .state_len = 2};
    struct query_spec spec = {.id = 1, .follow = true, .last_lines = 7};
    struct query_spec copy, back = {0};
    struct buf out = {0};
    struct error err = ERROR_INIT;

    (void)state;
    spec.plugin = strdup("tail");
    assert_int_equal(query_spec_add_resume(&spec, &d), DT_OK);
    assert_int_equal(query_spec_copy(&copy, &spec), DT_OK);
    assert_int_equal(query_spec_format(&copy, &out), DT_OK);
    assert_int_equal(query_spec_parse(out.data, out.len, &back, &err), DT_OK);
    assert_int_equal(back.nr_resume, 1);
    assert_int_equal(back.last_lines, 7);
    assert_string_equal(back.resume[0].path, d.path);
    assert_string_equal(back.resume[0].fingerprint, d.fingerprint);
    assert_int_equal(back.resume[0].generation, 3);
    assert_true(back.resume[0].dev == d.dev && back.resume[0].ino == d.ino);
    assert_true(back.resume[0].offset == d.offset);
    assert_int_equal(back.resume[0].state_len, d.state_len);
    assert_memory_equal(back.resume[0].state, d.state, d.state_len);
    query_spec_fini(&spec);
    query_spec_fini(&copy);
    query_spec_fini(&back);
    buf_fini(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_query_round_trips),
        cmocka_unit_test(test_text_stays_text),
        cmocka_unit_test(test_query_refused),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_hello),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_resume_round_trip),
        cmocka_unit_test(test_cancel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
