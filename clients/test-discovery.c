/* SPDX-License-Identifier: Apache-2.0
 *
 * Discovery: programs, inventories and DNS answers give the items they have,
 * and errors name what is wrong.
 */
#include "discovery.h"

#include "servers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* The names of the list that a discovery gives, with commas between. */
static void
assert_found(const char *discovery, const char *list, const char *want)
{
    struct servers s = {0};
    struct error err = ERROR_INIT;
    struct buf got = {0};

    if (servers_parse(discovery, list, 2222, &s, &err) != DT_OK) {
        fail_msg("%s: %s", discovery, err.text);
    }
    for (size_t i = 0; i < s.nr; i++) {
        assert_int_equal(buf_printf(&got, "%s%s", i ? "," : "", s.v[i].text),
                         DT_OK);
    }
    assert_int_equal(buf_append(&got, "", 1), DT_OK);
    assert_string_equal(got.data, want);
    buf_fini(&got);
    servers_fini(&s);
}

static void
assert_refused(const char *discovery, const char *list, int status,
               const char *said)
{
    struct servers s = {0};
    struct error err = ERROR_INIT;

    if (servers_parse(discovery, list, 2222, &s, &err) != status ||
        !strstr(err.text, said)) {
        fail_msg("%s, %s: status %d, %s", discovery, list, err.status,
                 err.text);
    }
    assert_null(s.v);
}

static void
test_methods(void **state)
{
    (void)state;
    assert_found("comma", "a,b", "a,b");
    assert_found("COMMA:x", "a,b", "a,b"); /* its input is --servers */
    assert_found("comma:a,b,ca", "/a/", "a,ca");
    assert_refused(":x", "a", DT_ERR_INVAL, "discovery module \":x\"");
    assert_refused("exec:", "", DT_ERR_INVAL, "discovery module \"exec:\"");
    assert_refused("exec", "", DT_ERR_INVAL, "needs a program");
    assert_refused("dns-srv", "", DT_ERR_INVAL, "needs a name");
    assert_refused("exec:true", "web1", DT_ERR_INVAL, "finds the servers");
    assert_refused("ansible", "", DT_ERR_INVAL,
                   "No such server discovery module|ansible");
    assert_refused("", "/a/", DT_ERR_INVAL, "no discovery module");
}

static void
test_filter(void **state)
{
    (void)state;
    assert_found("exec:echo web[1-3]; echo db1:22", "",
                 "web1,web2,web3,db1:22");
    assert_found("exec:echo web[1-3]; echo db1:22", "/^web|:22$/",
                 "web1,web2,web3,db1:22");
    assert_found("exec:echo web[1-3]; echo db1:22", "/2$/", "web2,db1:22");
    assert_found("exec:echo a", "//", "a");
    assert_refused("exec:echo a; echo b", "/c/", DT_ERR_INVAL,
                   "none of the 2 servers");
    assert_refused("exec:echo a", "/a(/", DT_ERR_INVAL, "/a(/");
    assert_refused("exec:echo a[1-60000]; echo b[1-60000]", "/^$/",
                   DT_ERR_LIMIT, "more than");
}

static void
test_programs(void **state)
{
    (void)state;
    assert_found("exec:printf '# x\\n web1 \\n\\n[::1]:22\\nweb1\\r\\n'", "",
                 "web1,[::1]:22");
    assert_found("exec:printf '[::1]:22\\nweb1'", "", "[::1]:22,web1");
    assert_refused("exec:true", "", DT_ERR_INVAL, "names no server");
    assert_refused("exec:echo a; exit 3", "", DT_ERR_IO, "exit status 3");
    assert_refused("exec:echo a; kill -9 $$", "", DT_ERR_IO, "signal 9");
    assert_refused("exec:/no/such/program", "", DT_ERR_IO, "status 127");
    assert_refused("exec:echo web1; echo 'a b'", "", DT_ERR_INVAL, "line 2");
    assert_refused("exec:exec yes", "", DT_ERR_LIMIT, "prints more than");
    /* Standard input belongs to the data. */
    assert_found("exec:cat; echo a", "", "a");
}

#define JSON(text) "exec:echo '" text "'"

static void
test_inventories(void **state)
{
    (void)state;
    assert_found(JSON("[\"a\",\"b[1-2]:22\"]"), "", "a,b1:22,b2:22");
    assert_found(JSON(" [{\"host\":\"a\"},{\"host\":\"::1\",\"port\":7}]"), "",
                 "a,[::1]:7");
    assert_found(JSON("{\"hosts\":[\"a\",\"b\"],\"more\":1}"), "", "a,b");
    assert_found(
        JSON("{\"_meta\":{\"hostvars\":{}},"
             "\"all\":{\"children\":[\"web\"]},"
             "\"web\":{\"hosts\":[\"a\"]},\"db\":{\"hosts\":[\"b\"]}}"),
        "", "a,b");
    assert_refused(JSON("[]"), "", DT_ERR_INVAL, "names no server");
    assert_refused(JSON("{}"), "", DT_ERR_INVAL, "no list of hosts");
    assert_refused(JSON("{\"hosts\":{}}"), "", DT_ERR_INVAL, "is no list");
    assert_refused(JSON("[\"a\",1]"), "", DT_ERR_INVAL, "an item of the list");
    assert_refused(JSON("[{\"name\":\"a\"}]"), "", DT_ERR_INVAL, "object");
    assert_refused(JSON("[{\"host\":\"a\",\"port\":70000}]"), "", DT_ERR_INVAL,
                   "a:70000");
    assert_refused(JSON("[{\"host\":\"a\",\"port\":\"7\"}]"), "", DT_ERR_INVAL,
                   "object");
    assert_refused(JSON("[\"a\","), "", DT_ERR_INVAL, "line 2");
    assert_refused(JSON("[\"\"]"), "", DT_ERR_INVAL, "an item");
}

static int
collect(void *ctx, const char *item, size_t len, struct error *err)
{
    (void)err;
    return buf_printf(ctx, "%.*s ", (int)len, item);
}

/* Question _d._tcp.x, three answers: a CNAME, web1.x:2222, and one that says
 * "not available". */
static const unsigned char message[] =
    "\x12\x34\x81\x80\0\1\0\3\0\0\0\0"
    "\2_d\4_tcp\1x\0\0\x21\0\1"
    "\xc0\x0c\0\5\0\1\0\0\0\x3c\0\2\xc0\x14"
    "\xc0\x0c\0\x21\0\1\0\0\0\x3c\0\x0e\0\1\0\2\x08\xae\4web1\1x\0"
    "\xc0\x0c\0\x21\0\1\0\0\0\x3c\0\7\0\0\0\0\0\0\0";

static void
test_srv(void **state)
{
    unsigned char bad[sizeof(message)];
    struct error err = ERROR_INIT;
    struct buf got = {0};

    (void)state;
    memcpy(bad, message, sizeof(bad));
    if (discovery_srv_answer("_d", message, sizeof(message) - 1, collect, &got,
                             &err) != DT_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(buf_append(&got, "", 1), DT_OK);
    assert_string_equal(got.data, "web1.x:2222 ");
    /* Cut off anywhere, it is refused, and never read beyond its end. */
    for (size_t len = 0; len < sizeof(message) - 1; len++) {
        unsigned char *copy = malloc(len + 1);

        assert_non_null(copy);
        memcpy(copy, message, len);
        err = (struct error)ERROR_INIT;
        got.len = 0;
        assert_int_equal(
            discovery_srv_answer("_d", copy, len, collect, &got, &err),
            DT_ERR_PROTO);
        assert_non_null(strstr(err.text, "SRV records of _d"));
        free(copy);
    }
    /* A name that points at itself has no end. */
    bad[12] = 0xc0;
    bad[13] = 0x0c;
    err = (struct error)ERROR_INIT;
    assert_int_equal(
        discovery_srv_answer("_d", bad, sizeof(bad) - 1, collect, &got, &err),
        DT_ERR_PROTO);
    buf_fini(&got);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods),  cmocka_unit_test(test_filter),
        cmocka_unit_test(test_programs), cmocka_unit_test(test_inventories),
        cmocka_unit_test(test_srv),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
