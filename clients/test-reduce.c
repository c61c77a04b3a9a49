/* SPDX-License-Identifier: Apache-2.0
 *
 * Reduce without a stage: lines of several servers to the output, notes and
 * ends booked, frames out of order refused.
 */
#include "reduce.h"

#include "cleanup.h"
#include "request.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct trial {
    int fd, diag_fd;
    struct output *out;
    struct printer *printer;
    struct log *log;
    struct diag diag;
    struct query_spec specs[2];
    struct reduce *r;
};

static int
temporary(void)
{
    char path[] = "/tmp/test-reduce-XXXXXX";
    int fd = mkstemp(path);

    unlink(path);
    return fd;
}

static void
begin(struct trial *t)
{
    static const char *const names[] = {"web1:2222", "web2"};
    const struct printer_args print = {0};
    const struct log_args log = {
        .logger = "stdout", .level = LOG_WARN, .to_stderr = true};
    struct error err = ERROR_INIT;
    struct reduce_args args = {.specs = t->specs,
                               .nr_specs = 2,
                               .diag = &t->diag,
                               .names = names,
                               .nr_servers = 2};

    *t = (struct trial){.fd = temporary(), .diag_fd = temporary()};
    t->specs[0] = (struct query_spec){.id = 1, .plugin = strdup("cat")};
    t->specs[1] = (struct query_spec){.id = 2, .plugin = strdup("grep")};
    assert_int_equal(output_new(t->fd, false, &t->out, &err), DT_OK);
    assert_int_equal(printer_new(t->out, &print, &t->printer, &err), DT_OK);
    assert_int_equal(log_new(&log, &t->log, &err), DT_OK);
    t->diag = (struct diag){t->log, t->diag_fd};
    args.printer = t->printer;
    assert_int_equal(reduce_new(&args, &t->r, &err), DT_OK);
}

static char *
contents(int fd)
{
    char *text = calloc(1, 65536);

    assert_true(pread(fd, text, 65535, 0) >= 0);
    return text;
}

static void
end(struct trial *t, const char *want, const char *want_diag)
{
    assert_int_equal(reduce_finish(t->r), DT_OK);
    CLEANUP_FREE char *got = contents(t->fd);
    CLEANUP_FREE char *diag = contents(t->diag_fd);

    assert_string_equal(got, want);
    assert_string_equal(diag, want_diag);
    reduce_free(t->r);
    printer_free(t->printer);
    output_free(t->out);
    log_free(t->log);
    query_spec_fini(&t->specs[0]);
    query_spec_fini(&t->specs[1]);
    close(t->fd);
    close(t->diag_fd);
}

static enum reduce_result
give(struct trial *t, size_t server, struct wire_frame f, const char *data,
     struct error *err)
{
    f.data = data;
    f.len = strlen(data);
    return reduce_frame(t->r, server, &f, false, NULL, err);
}

static void
good(struct trial *t, size_t server, struct wire_frame f, const char *data)
{
    struct error err = ERROR_INIT;

    if (give(t, server, f, data, &err) != REDUCE_OK) {
        fail_msg("%s", err.text);
    }
}

static void
hello(struct trial *t, size_t server, const char *host)
{
    const struct hello h = {.protocol = WIRE_PROTOCOL,
                            .version = (char *)(uintptr_t) "5",
                            .host = (char *)(uintptr_t)host};
    struct buf json = {0};

    assert_int_equal(hello_format(&h, &json), DT_OK);
    buf_append(&json, "", 1);
    good(t, server, (struct wire_frame){.type = WIRE_S_HELLO}, json.data);
    buf_fini(&json);
}

static void
source(struct trial *t, size_t server, uint32_t query, uint32_t id,
       const char *name)
{
    const struct source_desc d = {.name = (char *)(uintptr_t)name,
                                  .name_len = strlen(name)};
    struct buf json = {0};

    assert_int_equal(source_desc_format(&d, &json), DT_OK);
    buf_append(&json, "", 1);
    good(t, server,
         (struct wire_frame){
             .type = WIRE_S_SOURCE, .query = query, .source = id},
         json.data);
    buf_fini(&json);
}

static struct wire_frame
lines(uint32_t query, uint32_t id, uint64_t first)
{
    return (struct wire_frame){.type = WIRE_S_LINES,
                               .query = query,
                               .source = id,
                               .first_line = first};
}

static struct wire_frame
of_type(uint8_t type, uint32_t query)
{
    return (struct wire_frame){.type = type, .query = query};
}

static void
test_two_servers(void **state)
{
    struct trial t;
    struct reduce_summary sum;

    (void)state;
    begin(&t);
    hello(&t, 0, "web1");
    source(&t, 0, 1, 0, "a.log");
    source(&t, 1, 1, 3, "b.log"); /* before its HELLO: the user's name */
    hello(&t, 1, "second");
    source(&t, 1, 2, 3, "c.log");
    good(&t, 0, lines(1, 0, 1), "one\n");
    good(&t, 1, lines(1, 3, 8), "x\ny");
    good(&t, 0, lines(1, 0, UINT64_MAX), "two\n");
    good(&t, 1, lines(2, 3, 5), "z\n");
    good(&t, 1, of_type(WIRE_S_TEXT, 2), "free text\n");
    good(&t, 1, of_type(WIRE_S_NOTE, 0), "no such\nfile \x1b[1m");
    good(&t, 1, of_type(99, 0), "from the future");
    good(&t, 0, of_type(WIRE_S_END, 1), "{\"status\": 0, \"failed\": 2}");
    good(&t, 1, of_type(WIRE_S_END, 2),
         "{\"status\": -2, \"message\": \"bad pattern\"}");
    sum = reduce_summary(t.r, 0);
    assert_true(sum.has_hello);
    assert_int_equal(sum.nr_ended, 1);
    assert_int_equal(sum.failed, 2);
    assert_int_equal(sum.status, DT_OK);
    sum = reduce_summary(t.r, 1);
    assert_int_equal(sum.status, DT_ERR_INVAL);
    end(&t,
        "REMOTE|web1|100|1|a.log|one\n"
        "REMOTE|web2|100|8|b.log|x\n"
        "REMOTE|web2|100|9|b.log|y\n"
        "REMOTE|web1|100|2|a.log|two\n"
        "REMOTE|second|100|5|c.log|z\n"
        "free text\n",
        "SERVER|second|WARN|no such\n"
        "SERVER|second|WARN|file \\x1b[1m\n"
        "SERVER|web2|ERROR|grep: bad pattern\n");
}

static void
test_refused(void **state)
{
    struct trial t;
    struct error err = ERROR_INIT;

    (void)state;
    begin(&t);
    /* lines without their source, a query nobody asked, two ends */
    assert_int_equal(give(&t, 0, lines(1, 0, 1), "x\n", &err),
                     REDUCE_SERVER_FAILED);
    assert_int_equal(err.status, DT_ERR_PROTO);
    assert_int_equal(give(&t, 0, lines(9, 0, 1), "x\n", &err),
                     REDUCE_SERVER_FAILED);
    good(&t, 0, of_type(WIRE_S_END, 1), "{\"status\": 0}");
    assert_int_equal(
        give(&t, 0, of_type(WIRE_S_END, 1), "{\"status\": 0}", &err),
        REDUCE_SERVER_FAILED);
    assert_int_equal(give(&t, 0, of_type(WIRE_S_END, 2), "{", &err),
                     REDUCE_SERVER_FAILED);
    assert_int_equal(give(&t, 0, of_type(WIRE_S_PARTIAL, 1), "x", &err),
                     REDUCE_SERVER_FAILED);
    assert_int_equal(err.status, DT_ERR_ABI);
    assert_int_equal(give(&t, 0,
                          (struct wire_frame){.type = WIRE_S_SOURCE,
                                              .query = 1,
                                              .source = UINT32_MAX},
                          "{\"name\": \"x\"}", &err),
                     REDUCE_SERVER_FAILED);
    assert_int_equal(
        give(&t, 0, of_type(WIRE_S_HELLO, 0),
             "{\"protocol\": 77, \"version\": \"9\", \"host\": \"h\", "
             "\"plugins\": []}",
             &err),
        REDUCE_SERVER_FAILED);
    assert_non_null(strstr(err.text, "77"));
    end(&t, "", "");
}

static void
test_cancel_is_expected(void **state)
{
    struct trial t;

    (void)state;
    begin(&t);
    reduce_expect_cancel(t.r);
    good(&t, 0, of_type(WIRE_S_END, 1), "{\"status\": -8}");
    end(&t, "", "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_servers),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cancel_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
