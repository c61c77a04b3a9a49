/* SPDX-License-Identifier: Apache-2.0
 *
 * The reduce stage over time: intervals, result files, and peers of
 * DTail 4. Drives the hooks with a small host of its own, as intervals are the
 * client's business.
 */
#include "language.h"
#include "mock.h"
#include "outfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct mock_plugin plugin;

struct stage {
    struct dt_query query;
    const char *args[12]; /* name, value, …; NULL ends */
    struct buf out;
    char error[1024];
    void *self;
};

static struct stage *
stage_of(struct dt_query *q)
{
    return (struct stage *)(void *)q;
}

static int
emit_text(struct dt_query *q, const char *data, size_t len)
{
    return buf_append(&stage_of(q)->out, data, len);
}

static void
note(struct dt_query *q, const char *text)
{
    (void)q;
    (void)text;
}

static void
error(struct dt_query *q, int status, const char *text)
{
    (void)status;
    snprintf(stage_of(q)->error, sizeof(stage_of(q)->error), "%s", text);
}

static const char *
arg(struct dt_query *q, const char *name, size_t index, size_t *len)
{
    const char *const *a = stage_of(q)->args;

    for (; *a && index == 0; a += 2) {
        if (strcmp(a[0], name) == 0) {
            if (len) {
                *len = strlen(a[1]);
            }
            return a[1];
        }
    }
    return NULL;
}

static enum dt_role
role(struct dt_query *q)
{
    (void)q;
    return DT_ROLE_REDUCE;
}

static const struct dt_host host = {.size = sizeof(host),
                                    .emit_text = emit_text,
                                    .note = note,
                                    .error = error,
                                    .arg = arg,
                                    .role = role};

static const struct dt_stage *
reduce(void)
{
    return plugin_descriptor(plugin.plugin)->reduce;
}

static void
begin(struct stage *s)
{
    s->query.host = &host;
    if (reduce()->start(&s->query, &s->self) < 0) {
        fail_msg("%s", s->error);
    }
}

static void
end(struct stage *s)
{
    reduce()->close(s->self);
    buf_fini(&s->out);
}

static void
feed(struct stage *s, const char *bytes, size_t len)
{
    struct dt_block b = {.size = sizeof(b),
                         .flags = DT_BLOCK_PARTIAL,
                         .data = bytes,
                         .len = len};

    if (reduce()->feed(s->self, &b) < 0) {
        fail_msg("%s", s->error);
    }
}

/* Lines that arrived at a server since the last interval. */
static void
feed_lines(struct stage *s, const char *text)
{
    const struct mock_arg args[] = {{.name = "query", .value = s->args[1]},
                                    {0}};
    struct mock_result r;

    mock_run(
        &plugin,
        &(struct mock_options){.text = text, .args = args, .no_reduce = true},
        &r);
    assert_int_equal(r.status, DT_OK);
    for (size_t i = 0; i < r.nr_emits; i++) {
        feed(s, r.emits[i].bytes, r.emits[i].len);
    }
    mock_result_fini(&r);
}

static void
shows(struct stage *s, enum dt_drain why, const char *want)
{
    s->out.len = 0;
    assert_int_equal(reduce()->drain(s->self, why), DT_OK);
    if (s->out.len != strlen(want) ||
        (s->out.len && memcmp(s->out.data, want, s->out.len) != 0)) {
        fail_msg("\"%.*s\", expected \"%s\"", (int)s->out.len,
                 s->out.data ? s->out.data : "", want);
    }
}

#define QUERY "select k,count(*) group by k logformat generickv"
#define TABLE(n) \
    QUERY "\n k | count(*) \n---|----------\n a |        " n " \n\n"

static void
test_cumulative(void **state)
{
    struct stage s = {.args = {"query", QUERY}};

    (void)state;
    begin(&s);
    shows(&s, DT_DRAIN_INTERVAL, "");
    feed_lines(&s, "k=a\nk=a\n");
    shows(&s, DT_DRAIN_INTERVAL, TABLE("2"));
    shows(&s, DT_DRAIN_INTERVAL, ""); /* the same prints once (Q30) */
    feed_lines(&s, "k=a\n");
    shows(&s, DT_DRAIN_INTERVAL, TABLE("3"));
    shows(&s, DT_DRAIN_FINAL, "");
    end(&s);
}

static void
test_last_interval_only(void **state)
{
    struct stage s = {
        .args = {"query", QUERY, "cumulative", "no", "follow", "yes"}};

    (void)state;
    begin(&s);
    feed_lines(&s, "k=a\nk=a\n");
    shows(&s, DT_DRAIN_INTERVAL, TABLE("2"));
    feed_lines(&s, "k=a\nk=a\n");
    shows(&s, DT_DRAIN_INTERVAL, "");
    feed_lines(&s, "k=a\n");
    shows(&s, DT_DRAIN_FINAL, TABLE("1")); /* the open interval (Q31) */
    end(&s);
}

/* Values that were absent in an interval spoil nothing (Q28). */
static void
test_absent_values(void **state)
{
    struct stage s = {
        .args = {"query",
                 "select min(v),max(w),last(u),len(u) group by k logformat "
                 "generickv",
                 "output", "outfile", "follow", "yes"}};

    (void)state;
    begin(&s);
    feed_lines(&s, "k=a|v=5|w=-5|u=abc\n");
    shows(&s, DT_DRAIN_INTERVAL,
          "min(v),max(w),last(u),len(u)\n5.000000,-5.000000,abc,3.000000\n");
    feed_lines(&s, "k=a|v=x\nk=a\n");
    shows(&s, DT_DRAIN_INTERVAL,
          "min(v),max(w),last(u),len(u)\n5.000000,-5.000000,abc,3.000000\n");
    end(&s);
}

static void
file_is(const char *path, const char *want)
{
    char text[1024];
    FILE *f = fopen(path, "r");
    size_t n;

    if (!f) {
        fail_msg("%s is not there", path);
        return;
    }
    n = fread(text, 1, sizeof(text) - 1, f);
    text[n] = '\0';
    fclose(f);
    assert_string_equal(text, want);
}

/* One report into the file, as a client does it. */
static void
report(struct stage *s, struct outfile *o, enum dt_drain why)
{
    char err[300];

    s->out.len = 0;
    assert_int_equal(reduce()->drain(s->self, why), DT_OK);
    assert_int_equal(outfile_add(o, s->out.data, s->out.len, err, sizeof(err)),
                     DT_OK);
    if (outfile_commit(o, err, sizeof(err)) < 0) {
        fail_msg("%s", err);
    }
}

static void
run_outfile(const char *query, const char *follow, const char *path,
            const char *first, const char *second, const char *third)
{
    struct stage s = {.args = {"query", query, "follow", follow}};
    struct language_query *q;
    struct language_error err;
    struct outfile *o;

    assert_int_equal(language_parse(query, strlen(query), &q, &err), DT_OK);
    o = outfile_new(q);
    assert_non_null(o);
    begin(&s);
    feed_lines(&s, "k=a\n");
    report(&s, o, DT_DRAIN_INTERVAL);
    if (first) {
        file_is(path, first);
    } else {
        assert_int_not_equal(access(path, F_OK), 0);
    }
    feed_lines(&s, "k=a\n");
    report(&s, o, DT_DRAIN_INTERVAL);
    if (second) {
        file_is(path, second);
    }
    report(&s, o, DT_DRAIN_FINAL);
    file_is(path, third);
    end(&s);
    outfile_free(o);
    language_free(q);
}

static void
test_outfile(void **state)
{
    char dir[] = "/tmp/test-reduce-XXXXXX", path[64], query_path[80];
    char query[200];
    struct stat st;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/r.csv", dir);
    snprintf(query_path, sizeof(query_path), "%s.query", path);
    snprintf(query, sizeof(query), QUERY " outfile \"%s\"", path);
    run_outfile(query, "no", path, "k,count(*)\na,1\n", "k,count(*)\na,2\n",
                "k,count(*)\na,2\n");
    file_is(query_path, query);
    snprintf(query_path, sizeof(query_path), "%s.tmp", path);
    assert_int_not_equal(stat(query_path, &st), 0);

    /* A one-shot run appends its final result only (Q33). */
    snprintf(query, sizeof(query), QUERY " outfile append %s", path);
    run_outfile(query, "no", path, "k,count(*)\na,2\n", "k,count(*)\na,2\n",
                "k,count(*)\na,2\na,2\n");
    unlink(path);
    run_outfile(query, "yes", path, "k,count(*)\na,1\n",
                "k,count(*)\na,1\na,2\n", "k,count(*)\na,1\na,2\na,2\n");
    unlink(path);
    run_outfile(query, "no", path, NULL, NULL, "k,count(*)\na,2\n");

    unlink(path);
    snprintf(query_path, sizeof(query_path), "%s.query", path);
    unlink(query_path);
    assert_int_equal(rmdir(dir), 0);
}

static void
test_outfile_errors(void **state)
{
    static const char query[] = "select k outfile /nonexistent/dir/file";
    struct language_query *q;
    struct language_error error_at;
    struct outfile *o;
    char err[300] = "";

    (void)state;
    assert_int_equal(language_parse(query, strlen(query), &q, &error_at),
                     DT_OK);
    o = outfile_new(q);
    assert_non_null(o);
    assert_int_equal(outfile_add(o, "k\n", 2, err, sizeof(err)), DT_ERR_IO);
    assert_non_null(strstr(err, "/nonexistent/dir/file.tmp: No such file"));
    assert_int_equal(outfile_commit(o, err, sizeof(err)), DT_ERR_IO);
    assert_int_equal(outfile_commit(o, err, sizeof(err)), DT_OK);
    outfile_free(o);
    language_free(q);
}

#define D "\xe2\x88\xa5"
#define K "\xe2\x89\x94"
#define LEGACY_QUERY                                                      \
    "select k,count(*),avg(v),sum(v),min(v),last(u),len(u) group by k,j " \
    "logformat generickv"

static void
test_to_legacy(void **state)
{
    struct stage s = {.args = {"query", LEGACY_QUERY, "output", "legacy"}};

    (void)state;
    begin(&s);
    feed_lines(&s, "k=a|v=0.1|u=x\nk=a|v=1e21|u=\xe2\x82\xac" D "y\n");
    shows(&s, DT_DRAIN_INTERVAL,
          "a," D "2" D "k" K "a" D "count(*)" K "2" D "avg(v)" K
          "1000000000000000000000" D "sum(v)" K "1000000000000000000000" D
          "min(v)" K "0.1" D "last(u)" K "\xef\xbf\xbd\xef\xbf\xbdy" D
          "len(u)" K "7" D "len(u)" K "\xef\xbf\xbd\xef\xbf\xbdy" D "\n");
    shows(&s, DT_DRAIN_INTERVAL, ""); /* what changed since */
    feed_lines(&s, "k=b|v=-1e-7\n");
    shows(&s, DT_DRAIN_FINAL,
          "b," D "1" D "k" K "b" D "count(*)" K "1" D "avg(v)" K "-0.0000001" D
          "sum(v)" K "-0.0000001" D "min(v)" K "-0.0000001" D "\n");
    end(&s);
}

static void
test_from_legacy(void **state)
{
    static const char *const messages[] = {
        "AGGREGATE|h1|a," D "3" D "k" K "a" D "count(*)" K "3" D "avg(v)" K
        "6" D "sum(v)" K "6" D "len(u)" K "3" D "len(u)" K "xyz" D,
        "AGGREGATE|h2|a," D "1" D "count(*)" K "1" D "min(v)" K "-2.5" D
        "last(u)" K "paul" D "unknown" K "7" D,
        "AGGREGATE|h1|a," D "1" D "min(v)" K "junk" D "count(*)" K "1" D,
        /* what is not well-formed is ignored */
        "AGGREGATE|h1|x" D "1" D, "AGGREGATE|h1|y" D "z" D "count(*)" K "1" D,
        "AGGREGATE|h1|z" D "1" D "min(v)" K "junk" D, "AGGREGATE|h1"};
    struct stage s = {.args = {"query", LEGACY_QUERY, "output", "csv"}};

    (void)state;
    begin(&s);
    for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++) {
        feed(&s, messages[i], strlen(messages[i]));
    }
    shows(&s, DT_DRAIN_FINAL,
          "k,count(*),avg(v),sum(v),min(v),last(u),len(u)\n"
          "a,5,1.200000,6.000000,-2.500000,paul,4.000000\n");
    end(&s);
}

/* Ours to a server's messages to a client: nothing is lost. */
static void
test_legacy_round_trip(void **state)
{
    struct stage server = {.args = {"query", LEGACY_QUERY, "output", "legacy"}};
    struct stage client = {.args = {"query", LEGACY_QUERY, "output", "csv"}};
    struct buf text = {0};

    (void)state;
    begin(&server);
    begin(&client);
    for (int round = 0; round < 2; round++) {
        feed_lines(&server, "k=a|j=1|v=0.5|u=one\nk=b|v=3\nk=a|j=1|v=2\n");
        server.out.len = 0;
        assert_int_equal(reduce()->drain(server.self, DT_DRAIN_INTERVAL),
                         DT_OK);
        for (char *p = server.out.data, *nl;
             (nl = memchr(p, '\n',
                          (size_t)(server.out.data + server.out.len - p))) !=
             NULL;
             p = nl + 1) {
            text.len = 0;
            buf_printf(&text, "AGGREGATE|srv|%.*s", (int)(nl - p), p);
            feed(&client, text.data, text.len);
        }
    }
    shows(&client, DT_DRAIN_FINAL,
          "k,count(*),avg(v),sum(v),min(v),last(u),len(u)\n"
          "a,4,1.250000,5.000000,0.500000,one,3.000000\n"
          "b,2,3.000000,6.000000,3.000000,,0.000000\n");
    buf_fini(&text);
    end(&server);
    end(&client);
}

static int
open_plugin(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    if (mock_open(&plugin, ".libs", "map", NULL, &err) < 0) {
        print_error("%s\n", err.text);
        return -1;
    }
    return 0;
}

static int
close_plugin(void **state)
{
    (void)state;
    mock_close(&plugin);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cumulative),
        cmocka_unit_test(test_last_interval_only),
        cmocka_unit_test(test_absent_values),
        cmocka_unit_test(test_outfile),
        cmocka_unit_test(test_outfile_errors),
        cmocka_unit_test(test_to_legacy),
        cmocka_unit_test(test_from_legacy),
        cmocka_unit_test(test_legacy_round_trip),
    };

    return cmocka_run_group_tests(tests, open_plugin, close_plugin);
}
