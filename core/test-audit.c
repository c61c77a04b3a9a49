/* SPDX-License-Identifier: Apache-2.0
 *
 * Who reads what: what a worker may tell, the lines, the sums.
 */
#include "audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct audit audit;
    struct audit_totals totals;
    struct log *log;
    struct broker_msg msg;
    int nr_lines;
    char last[4096];
};

static const struct audit_who alice = {.user = "alice",
                                       .peer = "192.0.2.7:4711"};

static void
keep(void *ctx, enum log_level level, const char *text)
{
    struct fixture *f = ctx;

    assert_int_equal(level, LOG_INFO);
    f->nr_lines++;
    snprintf(f->last, sizeof(f->last), "%s", text);
}

static int
setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    *state = f;
    return f && log_new_fn(LOG_INFO, keep, f, &f->log) == DT_OK &&
                   audit_share(&f->audit) == DT_OK
               ? 0
               : -1;
}

static int
teardown(void **state)
{
    struct fixture *f = *state;

    audit_fini(&f->audit);
    log_free(f->log);
    free(f);
    return 0;
}

static int
begin(struct fixture *f, uint32_t id, const char *plugin, int row,
      const char *files)
{
    f->msg = (struct broker_msg){.type = BROKER_QUERY_BEGIN,
                                 .id = id,
                                 .status = row,
                                 .flags = 3,
                                 .value = 2,
                                 .key_len = (uint32_t)strlen(files)};
    strcpy(f->msg.user, plugin);
    memcpy(f->msg.key, files, strlen(files));
    return audit_begin(&f->audit, &f->totals, &f->msg,
                       strcmp(plugin, "unknown") != 0, 1000);
}

static int
end(struct fixture *f, uint32_t id, int status, struct audit_counts c,
    const char *text)
{
    f->msg = (struct broker_msg){.type = BROKER_QUERY_END,
                                 .id = id,
                                 .status = status,
                                 .key_len = sizeof(c)};
    strcpy(f->msg.text, text);
    memcpy(f->msg.key, &c, sizeof(c));
    return audit_end(&f->audit, &f->totals, f->log, &alice, &f->msg, 3042);
}

static void
test_line(void **state)
{
    struct fixture *f = *state;
    const struct audit_counts c = {100, 50, 7, 2, 1};

    assert_int_equal(begin(f, 1, "cat", 0, "/a,/b"), DT_OK);
    assert_int_equal(f->totals.nr_running, 1);
    assert_int_equal(end(f, 1, DT_OK, c, "a|b\n,\\"), DT_OK);
    assert_int_equal(f->nr_lines, 1);
    assert_string_equal(
        strstr(f->last, "|MAPREDUCE:"),
        "|MAPREDUCE:AUDIT|user=alice|peer=192.0.2.7:4711|job=|plugin=cat|"
        "mode=turbo|follow=yes|files=/a,/b|asked=2|read=2|failed=1|status=0|"
        "bytes=100|bytesSent=50|lines=7|duration=2.042|"
        "message=a\\x7cb\\x0a\\x2c\\x5c");
    assert_int_equal(f->totals.nr_running, 0);
    assert_int_equal(f->totals.counts.bytes_read, 100);
    assert_int_equal(f->totals.nr_sources, 2);
    assert_int_equal(f->totals.nr_failed_sources, 1);
    assert_int_equal(f->totals.nr_plugins, 1);
    assert_int_equal(f->totals.plugins[0].nr_good, 1);
}

static void
test_out_of_turn(void **state)
{
    struct fixture *f = *state;
    const struct audit_counts c = {0};

    assert_int_equal(end(f, 1, DT_OK, c, ""), DT_ERR_PROTO);
    assert_int_equal(begin(f, 1, "cat", 0, "/a"), DT_OK);
    assert_int_equal(begin(f, 1, "cat", 1, "/a"), DT_ERR_PROTO);
    f->msg.key_len = 3;
    assert_int_equal(
        audit_end(&f->audit, &f->totals, f->log, &alice, &f->msg, 0),
        DT_ERR_PROTO);
    assert_int_equal(end(f, 2, DT_OK, c, ""), DT_ERR_PROTO);
    for (uint32_t i = 2; i <= AUDIT_MAX_QUERIES; i++) {
        assert_int_equal(begin(f, i, "cat", AUDIT_NO_ROW, "/a"), DT_OK);
    }
    assert_int_equal(begin(f, 99999, "cat", 0, "/a"), DT_ERR_LIMIT);
    assert_int_equal(f->nr_lines, 0);
}

/* Numbers of a worker that went mad point nowhere. */
static void
test_rows(void **state)
{
    struct fixture *f = *state;
    static const int rows[] = {-1, -7, (int)AUDIT_LIVE_ROWS, 1 << 30};
    char long_name[AUDIT_MAX_FILES + 100];

    atomic_store(&f->audit.live[63].lines_sent, 5);
    assert_int_equal(begin(f, 9, "cat", 63, "/a"), DT_OK);
    assert_int_equal(audit_so_far(&f->audit, f->audit.running).lines_sent, 5);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(begin(f, 10 + (uint32_t)i, "cat", rows[i], "/a"),
                         DT_OK);
        assert_int_equal(f->audit.running->row, AUDIT_NO_ROW);
        assert_int_equal(audit_so_far(&f->audit, f->audit.running).lines_sent,
                         0);
    }
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    assert_int_equal(begin(f, 20, "cat", 0, long_name), DT_OK);
    assert_int_equal(strlen(f->audit.running->files), AUDIT_MAX_FILES);
}

static void
test_abandoned(void **state)
{
    struct fixture *f = *state;

    atomic_store(&f->audit.live[2].bytes_read, 77);
    assert_int_equal(begin(f, 1, "grep", 1, "/a"), DT_OK);
    assert_int_equal(begin(f, 2, "cat", 2, "/b"), DT_OK);
    audit_abandon(&f->audit, &f->totals, f->log, &alice, "it died", 1000);
    assert_int_equal(f->nr_lines, 2);
    assert_non_null(strstr(f->last, "|plugin=grep|"));
    assert_non_null(strstr(f->last, "|message=it died"));
    assert_int_equal(f->totals.counts.bytes_read, 77);
    assert_int_equal(f->totals.nr_running, 0);
    assert_null(f->audit.running);
}

static void
test_many_plugins(void **state)
{
    struct fixture *f = *state;
    const struct audit_counts c = {0};
    char name[16];

    for (uint32_t i = 0; i < AUDIT_MAX_PLUGINS + 5; i++) {
        snprintf(name, sizeof(name), "p%u", i);
        assert_int_equal(begin(f, 1, name, 0, "/a"), DT_OK);
        assert_int_equal(end(f, 1, DT_ERR_IO, c, ""), DT_OK);
    }
    assert_int_equal(begin(f, 1, "unknown", 0, "/a"), DT_OK);
    assert_string_equal(f->audit.running->plugin, "other");
    assert_int_equal(f->totals.nr_plugins, AUDIT_MAX_PLUGINS);
    assert_string_equal(f->totals.plugins[AUDIT_MAX_PLUGINS].name, "other");
    assert_int_equal(f->totals.plugins[AUDIT_MAX_PLUGINS].nr_failed, 5);
    assert_int_equal(f->totals.plugins[AUDIT_MAX_PLUGINS].nr_running, 1);
}

static void
test_escape(void **state)
{
    char out[8];

    (void)state;
    assert_int_equal(audit_escape(out, sizeof(out), "ab|cd", 5), 7);
    assert_string_equal(out, "ab\\x7cc");
    assert_int_equal(audit_escape(out, sizeof(out), "abcd|", 5), 4);
    assert_string_equal(out, "abcd");
    assert_int_equal(audit_escape(out, 1, "abcd|", 5), 0);
    assert_string_equal(out, "");
    assert_int_equal(audit_escape(out, sizeof(out), "a\xff", 2), 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_line),      TEST(test_out_of_turn),  TEST(test_rows),
        TEST(test_abandoned), TEST(test_many_plugins), TEST(test_escape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
