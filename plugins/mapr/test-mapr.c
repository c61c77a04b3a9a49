/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin map beyond the vectors: log formats and functions of this
 * version, outputs, notes, budget, intervals, arguments, damaged partials.
 */
#include "mock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct mock_plugin plugin;

struct run {
    const char *query, *text;
    const char *args[8]; /* name, value, …; NULL ends */
    struct mock_options how;
};

static struct mock_result
run_query(const struct run *r)
{
    struct mock_arg args[6] = {{.name = "query", .value = r->query}};
    struct mock_options how = r->how;
    struct mock_result out;

    for (size_t i = 0; i < 4 && r->args[2 * i]; i++) {
        args[i + 1].name = r->args[2 * i];
        args[i + 1].value = r->args[2 * i + 1];
    }
    how.args = args;
    if (r->text) {
        how.text = r->text;
    }
    mock_run(&plugin, &how, &out);
    if (out.nr_violations) {
        fail_msg("%s: %s", r->query, out.violation);
    }
    return out;
}

static void
gives(const struct run *r, const char *want)
{
    struct mock_result out = run_query(r);

    if (out.status < 0) {
        fail_msg("%s: %s", r->query, out.error);
    }
    if (!mock_out_is(&out, want)) {
        fail_msg("%s:\n%.*s\nexpected:\n%s", r->query, (int)out.out.len,
                 out.out.data ? out.out.data : "", want);
    }
    mock_result_fini(&out);
}

/* As CSV, line by line and in small blocks over three instances. */
static void
csv(const char *query, const char *text, const char *want)
{
    struct run r = {.query = query, .text = text, .args = {"output", "csv"}};

    gives(&r, want);
    r.how.block_bytes = 30;
    r.how.instances = 3;
    gives(&r, want);
    r.how.combine = true;
    gives(&r, want);
}

static void
fails(const struct run *r, int status, const char *text)
{
    struct mock_result out = run_query(r);

    assert_int_equal(out.status, status);
    if (!strstr(out.error, text)) {
        fail_msg("%s: \"%s\", expected \"%s\"", r->query, out.error, text);
    }
    mock_result_fini(&out);
}

static void
notes(const char *query, const char *text, const char *want)
{
    struct run r = {.query = query, .text = text};
    struct mock_result out = run_query(&r);
    bool found = false;

    for (size_t i = 0; i < out.notes.nr; i++) {
        found = found || strstr(out.notes.v[i], want);
    }
    if (!found) {
        for (size_t i = 0; i < out.notes.nr; i++) {
            print_error("note: %s\n", out.notes.v[i]);
        }
        fail_msg("%s: no note \"%s\"", query, want);
    }
    mock_result_fini(&out);
}

static void
test_json(void **state)
{
    static const char text[] =
        "{\"a\": {\"b\": \"x\", \"c\": [10, 20]}, \"n\": 1.5}\n"
        "{\"a\": {\"b\": \"\\u20ac\\n\"}, \"n\": \"2\", \"t\": true}\r\n"
        "{\"a.b\": \"x\", \"n\": null}\n"
        "{\"a\": {\"b\": \"first\", \"b\": \"x\"}, \"n\": 4, \"o\": "
        "{\"p\":1}}\n"
        "not json\n{\"n\": 1\n{\"n\": 01}\n[]\n\n";

    (void)state;
    csv("select a.b,count(*),sum(n),max(a.c.1),t,o group by a.b logformat json",
        text,
        "a.b,count(*),sum(n),max(a.c.1),t,o\n"
        "x,3,5.500000,20.000000,,\"{\"\"p\"\":1}\"\n"
        "\"\xe2\x82\xac\n\",1,2.000000,0.000000,true,\n");
    notes("select a logformat json", text,
          "4 of 9 selected lines were dropped: not a JSON object");
}

static void
test_logfmt(void **state)
{
    (void)state;
    csv("select lvl,count(*),last(msg),sum(ms),flag group by lvl logformat "
        "logfmt",
        "lvl=info msg=\"two words\" ms=3 flag\nlvl=info ms=4 msg=\"a \\\"q\\\" "
        "\\n\"\n lvl=warn  ms= msg=x \nlvl=\"open\n",
        "lvl,count(*),last(msg),sum(ms),flag\n"
        "info,2,\"a \"\"q\"\" \n\",7.000000,true\nwarn,1,x,0.000000,\n");
}

static void
test_regex(void **state)
{
    struct run bad = {.query = "select x logformat regex \"(?P<x>a\"",
                      .text = "a\n"};

    (void)state;
    csv("select user,sum(ms),count(*) group by user logformat regex "
        "\"^(?P<user>\\w+) took (?P<ms>[0-9.]+)ms( cached)?\"",
        "ann took 1.5ms\nbob took 2ms cached\nnoise\n  ann took 3ms \n",
        "user,sum(ms),count(*)\nann,4.500000,2\nbob,2.000000,1\n");
    csv("select x,count(*) group by x logformat regex \"=(?P<x>..)\"",
        "=\xff\xfe\n=\xc3\xa9z\n",
        "x,count(*)\n\xc3\xa9z,1\n\xef\xbf\xbd\xef\xbf\xbd,1\n");
    fails(&bad, DT_ERR_INVAL, "pattern");
    bad.query = "select x logformat regex \"a(?=b)(?P<x>.)\"";
    fails(&bad, DT_ERR_INVAL, "pattern");
    bad.query = "select x logformat regex \"(a)\"";
    fails(&bad, DT_ERR_INVAL, "no named group");
}

static void
test_quoted_csv(void **state)
{
    static const char text[] =
        "\xef\xbb\xbf\"na,me\",qty\r\n\"nut \"\"M3\"\"\",2\r\n\"two\nlines\",3"
        "\r\nplain \"q,4\r\n\"bad\"x,5\r\n\r\n\"two\nlines\",6\r\nlast,\"7\"";

    (void)state;
    csv("select \"na,me\",sum(qty) group by \"na,me\" logformat rfc4180", text,
        "\"na,me\",sum(qty)\nlast,7.000000\n\"nut \"\"M3\"\"\",2.000000\n"
        "\"plain \"\"q\",4.000000\n\"two\nlines\",9.000000\n");
    notes("select qty logformat rfc4180", text, "a quote that does not end");
    notes("select a logformat rfc4180", "a,b\n1,2\n\"open,3\n4,5\n",
          "a quote that does not end");
    csv("select a,count(*) group by a logformat rfc4180",
        "a,b\n1,2\n\"open,3\n4,5\n", "a,count(*)\n1,1\n4,1\n");
}

static void
test_csv_header(void **state)
{
    (void)state;
    csv("select b,count(*) group by b logformat csv", "\n\n\na,b\n1,2\n3,2\n",
        "b,count(*)\n2,2\n");
    csv("select b,count(*) group by b logformat csv", "a,b", "b,count(*)\n");
    csv("select count(*) logformat csv", "", "count(*)\n");
}

static void
test_functions(void **state)
{
    (void)state;
    csv("select quantile(v, 0) as \"low\",quantile(v,0.5),quantile( v , 1 ) "
        "AS high,count_distinct(v) group by * logformat generickv",
        "v=1\nv=1\nv=1\nv=1\nv=x\n",
        "low,\"quantile(v,0.5)\",high,count_distinct(v)\n"
        "1.000000,1.000000,1.000000,2\n");
    csv("select bucket(t, 60),count(*) group by bucket(t,60) logformat "
        "generickv",
        "t=20310405-060708\nt=20310405-060759\nt=20310405-060800\n"
        "t=2031-04-05T23:59:59.5Z\nt=119\nt=-1\nt=0105-001001\nt=junk\nu=1\n",
        "\"bucket(t,60)\",count(*)\n,2\n-60,1\n0105-001000,1\n"
        "2031-04-05T23:59:00Z,1\n20310405-060700,2\n20310405-060800,1\n60,1\n");
    csv("select $b,sum(v) set $b = bucket(t,86400) group by $b logformat "
        "generickv",
        "t=2032-02-29 12:00:00|v=1\nt=2032-03-01 00:00:00|v=2\n",
        "$b,sum(v)\n2032-02-29 00:00:00,1.000000\n"
        "2032-03-01 00:00:00,2.000000\n");
    csv("select sum(v) AS \"a,b\" group by * logformat generickv",
        "v=9007199254740993\nv=1\n", "\"a,b\"\n9007199254740994.000000\n");
}

static void
test_outputs(void **state)
{
    struct run r = {.query = "select k,sum(v),avg(v),count(v),max(w) group by "
                             "k logformat generickv",
                    .text = "k=a\"\xff|v=0.1\nk=a\"\xff|v=0.25\nk=b|v=nan|w=1e"
                            "300\n",
                    .args = {"output", "ndjson"}};

    (void)state;
    gives(&r, "{\"k\": \"a\\\"\xef\xbf\xbd\", \"sum(v)\": 0.35, \"avg(v)\": "
              "0.175, \"count(v)\": 2, \"max(w)\": 0}\n"
              "{\"k\": \"b\", \"sum(v)\": \"NaN\", \"avg(v)\": \"NaN\", "
              "\"count(v)\": 1, \"max(w)\": 1e+300}\n");
    r.args[1] = "json";
    r.query = "select k,count(v) group by k logformat generickv limit 1";
    gives(&r, "[\n {\"k\": \"a\\\"\xef\xbf\xbd\", \"count(v)\": 2}\n]\n");
    r.query = "select k where v > 5 logformat generickv";
    gives(&r, "[]\n");
    r.args[1] = "none";
    gives(&r, "");
    r.args[1] = "xml";
    fails(&r, DT_ERR_INVAL, "output \"xml\" is none of");
}

static void
test_plot(void **state)
{
    struct run r = {.query = "select k,sum(v) group by k logformat generickv",
                    .text = "k=a|v=4\nk=bb|v=2\nk=c|v=0\n",
                    .args = {"plot", "yes", "output", "table", "width", "40"}};
    struct mock_result out = run_query(&r);

    (void)state;
    buf_append(&out.out, "", 1);
    assert_non_null(strstr(out.out.data, "\na  ▕███"));
    assert_non_null(strstr(out.out.data, "█ 4.000000\nbb ▕"));
    assert_non_null(strstr(out.out.data, "\nc  ▕ 0.000000\n"));
    mock_result_fini(&out);
    r.query = "select bucket(t,10),sum(v) group by bucket(t,10) logformat "
              "generickv";
    r.text = "t=1|v=8\nt=11|v=4\nt=25|v=0\n";
    out = run_query(&r);
    buf_append(&out.out, "", 1);
    assert_non_null(strstr(out.out.data, "8.000000▕██████\n"));
    assert_non_null(strstr(out.out.data, "       0▕████████████\n"));
    mock_result_fini(&out);
}

static void
test_notes(void **state)
{
    static const char text[] =
        "INFO|20310405-060708|7|f|1|2|3|4|5|MAPREDUCE:T|hostname=a|took=1\n"
        "INFO|20310405-060708|7|f|1|2|3|4|5|MAPREDUCE:T|hostname=a|took=x\n"
        "INFO|20310405-060708|7|f|1|2|3|4|5|MAPREDUCE:T|hostname=a|oops\n";

    (void)state;
    notes("from T select hostnam,count(*) group by hostnam", text,
          "the field hostnam was on no line; did you mean hostname?");
    notes("from T select count(took) where tokk > 1", text,
          "the field tokk was on no line; did you mean took?");
    notes("from T select $hour,count($tim)", text, "did you mean $time?");
    notes("from T select sum(took)", text,
          "1 values of took are not numbers and were left out");
    notes("from T select sum(took)", text,
          "1 of 3 selected lines were dropped: a token without '='");
    notes("from OTHER select sum(took)", text,
          "none of 3 lines is of the table OTHER");
    notes("select x logformat nosuch", "a\n",
          "Falling back to 'generic'|No 'nosuch' mapr log format");
    notes("select x logformat custom1", "a\n",
          "custom1 log format is not implemented");
}

/* Each line of a text counts once, whatever the chunks (trouble case 32). */
static void
test_every_line(void **state)
{
    static const char text[] = "a\n\nb\r\n\n\n  c  \nno newline";
    struct run r = {.query = "select count(*) group by * limit 1",
                    .text = text,
                    .args = {"output", "csv"}};

    (void)state;
    for (size_t block = 0; block < 30; block++) {
        r.how.block_bytes = block;
        r.how.instances = 1 + block % 3;
        gives(&r, "count(*)\n7\n");
    }
}

static void
test_selection(void **state)
{
    static const char text[] = "x|MAPREDUCE:T|1\nnoise\nx|MAPREDUCE:T|2\n"
                               "x|MAPREDUCE:U|3\nx|MAPREDUCE:T|4\n";
    struct run r = {.query = "select $line group by $line from t logformat "
                             "generic",
                    .text = text,
                    .args = {"output", "csv", "max", "2"}};

    (void)state;
    for (size_t block = 0; block < 60; block += 20) {
        r.how.block_bytes = block;
        gives(&r, "$line\nx|MAPREDUCE:T|1\nx|MAPREDUCE:T|2\n");
    }
    r.query = "select $line group by $line from u logformat generic";
    r.args[2] = "before";
    r.args[3] = "1";
    r.args[4] = "after";
    r.args[5] = "1";
    for (size_t block = 0; block < 60; block += 20) {
        r.how.block_bytes = block;
        gives(&r, "$line\nx|MAPREDUCE:T|2\nx|MAPREDUCE:T|4\n"
                  "x|MAPREDUCE:U|3\n");
    }
    r.args[4] = NULL;
    r.query = "select $line group by $line from t logformat generic";
    r.args[2] = "invert";
    r.args[3] = "yes";
    gives(&r, "$line\nnoise\nx|MAPREDUCE:U|3\n");
}

/* Beyond the budget rows go to "(other)"; sums over all rows stay exact. */
static void
test_budget(void **state)
{
    struct buf text = {0};
    struct run r = {.query = "select k,count(v),sum(v),last(v) group by k "
                             "logformat generickv",
                    .args = {"output", "csv", "budget-mib", "1"}};
    struct mock_result out;
    uint64_t count = 0, groups = 0;
    double sum = 0, want = 0;
    char *line, *save = NULL;

    (void)state;
    for (int i = 0; i < 40000; i++) {
        buf_printf(&text, "k=key%d|v=%d\n", i, i % 10);
        want += i % 10;
    }
    r.text = text.data;
    r.how.block_bytes = 10000;
    r.how.instances = 2;
    out = run_query(&r);
    assert_int_equal(out.status, DT_OK);
    buf_append(&out.out, "", 1);
    assert_non_null(strstr(out.out.data, "\n(other),"));
    line = strtok_r(out.out.data, "\n", &save);
    while ((line = strtok_r(NULL, "\n", &save)) != NULL) {
        unsigned long long n;
        double s;

        assert_int_equal(sscanf(strchr(line, ','), ",%llu,%lf", &n, &s), 2);
        count += n;
        sum += s;
        groups++;
    }
    assert_int_equal(count, 40000);
    assert_true(sum == want);
    assert_true(groups > 1000 && groups < 40000);
    assert_non_null(strstr(out.notes.v[out.notes.nr - 1], "(other)"));
    mock_result_fini(&out);
    buf_fini(&text);
}

/* Parts of a result that came at several intervals add up. */
static void
test_map_intervals(void **state)
{
    struct run r = {.query = "select k,count(v),sum(v),min(v),last(v),"
                             "count_distinct(v) group by k logformat generickv",
                    .text = "k=a|v=5\nk=b|v=1\nk=a|v=2\nk=a\nk=b|v=1\nk=a|v=9"
                            "\n",
                    .args = {"output", "csv"}};

    (void)state;
    for (size_t interval = 0; interval < 5; interval++) {
        r.how.interval = interval;
        gives(&r, "k,count(v),sum(v),min(v),last(v),count_distinct(v)\n"
                  "a,3,16.000000,2.000000,9,3\nb,2,2.000000,1.000000,1,1\n");
    }
}

static void
test_damaged(void **state)
{
    static const char partial[] = "DTM\001\0\0\0\0\0\0\0\0";
    struct dt_block b = {.size = sizeof(b),
                         .flags = DT_BLOCK_PARTIAL,
                         .data = partial,
                         .len = sizeof(partial) - 1};
    struct mock_result out;

    (void)state;
    /* without a query it does not even start */
    mock_reduce_one(&plugin, &b, &out);
    assert_int_equal(out.status, DT_ERR_INVAL);
    mock_result_fini(&out);
}

static void
test_cancel(void **state)
{
    struct buf text = {0};
    struct run r = {.query = "select k,last($line) group by k logformat "
                             "generickv",
                    .how = {.block_bytes = 50000, .cancel_at = 2}};
    struct mock_result out;

    (void)state;
    for (int i = 0; i < 40000; i++) {
        buf_printf(&text, "k=key%d|v=%0100d\n", i, i);
    }
    r.text = text.data;
    out = run_query(&r);
    assert_int_equal(out.status, DT_ERR_CANCELLED);
    mock_result_fini(&out);
    buf_fini(&text);
}

static void
test_settings(void **state)
{
    static const struct {
        const char *json, *error;
    } bad[] = {{"{\"Nope\": 1}", "there is no such member"},
               {"{\"MemoryBudgetMiB\": 0}", "a whole number from 1"},
               {"{\"MemoryBudgetMiB\": \"x\"}", "a whole number from 1"},
               {"{\"Custom1\": 5}", "a string is expected"},
               {"{", "not a JSON object"}};
    struct mock_plugin p;
    struct error err = ERROR_INIT;
    const struct mock_arg args[] = {
        {.name = "query",
         .value = "select w,count(*) group by w logformat "
                  "custom2"},
        {.name = "output", .value = "csv"},
        {0}};
    struct mock_result out;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct error e = ERROR_INIT;

        assert_true(mock_open(&p, ".libs", "map", bad[i].json, &e) < 0);
        if (!strstr(e.text, bad[i].error)) {
            fail_msg("%s: %s", bad[i].json, e.text);
        }
    }
    assert_int_equal(mock_open(&p, ".libs", "map",
                               "{\"Custom2\": \"^(?P<w>[a-z]+)\", "
                               "\"MemoryBudgetMiB\": 64}",
                               &err),
                     DT_OK);
    mock_run(&p, &(struct mock_options){.text = "ab 1\nab 2\n", .args = args},
             &out);
    assert_true(mock_out_is(&out, "w,count(*)\nab,2\n"));
    mock_result_fini(&out);
    mock_close(&p);
}

static int
open_plugin(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    setenv("DTAIL_HOSTNAME_OVERRIDE", "mapr", 1);
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
        cmocka_unit_test(test_json),          cmocka_unit_test(test_logfmt),
        cmocka_unit_test(test_regex),         cmocka_unit_test(test_quoted_csv),
        cmocka_unit_test(test_csv_header),    cmocka_unit_test(test_functions),
        cmocka_unit_test(test_outputs),       cmocka_unit_test(test_plot),
        cmocka_unit_test(test_notes),         cmocka_unit_test(test_every_line),
        cmocka_unit_test(test_selection),     cmocka_unit_test(test_budget),
        cmocka_unit_test(test_map_intervals), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_cancel),        cmocka_unit_test(test_settings),
    };

    return cmocka_run_group_tests(tests, open_plugin, close_plugin);
}
