/* SPDX-License-Identifier: Apache-2.0
 *
 * Random queries over random logs: whatever the block size, the number of
 * instances and the place of merging, the result is the same to the last byte
 * as line by line in one instance, and so is what is told beside it.
 *
 * A failure prints the seed of its round; MAPR_SEED=N runs that round alone.
 * MAPR_ROUNDS sets how many.
 */
#include "mock.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROUNDS 300u
#define MAX_LINES 300u

static struct mock_plugin plugin;

/* splitmix64 */
static uint64_t
next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static unsigned
below(uint64_t *state, unsigned limit)
{
    return (unsigned)((next_random(state) >> 32) * limit >> 32);
}

#define PICK(state, list) \
    ((list)[below((state), sizeof(list) / sizeof(*(list)))])

static const char *const fields[] = {"a",   "b",     "c", "num",
                                     "dec", "$line", "*", "$hostname"};
static const char *const values[] = {"x",
                                     "y",
                                     "zz",
                                     "",
                                     "0",
                                     "-0",
                                     "1",
                                     "17",
                                     "-3",
                                     "0.1",
                                     "0.2",
                                     "1e-7",
                                     "12.345",
                                     "nan",
                                     "inf",
                                     "-inf",
                                     "9007199254740993",
                                     "1e300",
                                     "08",
                                     "0x1p4",
                                     "3,5",
                                     "\xe2\x82\xac",
                                     "a b",
                                     "18446744073709551616",
                                     "0.000000000000000001"};
static const char *const formats[] = {"generickv", "default", "csv",
                                      "json",      "logfmt",  "rfc4180",
                                      "generic",   "regex"};

static void
value(struct buf *out, uint64_t *state)
{
    switch (below(state, 4)) {
    case 0:
        buf_printf(out, "%u", below(state, 1000));
        break;
    case 1:
        buf_printf(out, "%u.%u", below(state, 100), below(state, 1000));
        break;
    case 2:
        buf_printf(out, "v%u", below(state, 6));
        break;
    default:
        buf_puts(out, PICK(state, values));
        break;
    }
}

static void
kv_line(struct buf *out, uint64_t *state, const char *between,
        const char *equals, const char *quote)
{
    static const char *const names[] = {"a", "b", "c", "num", "dec", "other"};
    bool first = true;

    for (size_t i = 0; i < 6; i++) {
        if (below(state, 5) == 0) {
            continue;
        }
        buf_printf(out, "%s%s%s%s%s%s", first ? "" : between, quote, names[i],
                   quote, equals, quote);
        value(out, state);
        buf_puts(out, quote);
        first = false;
    }
}

static void
csv_line(struct buf *out, uint64_t *state, bool quoted)
{
    static const char *const cells[] = {"\"q,1\"", "\"say \"\"hi\"\"\"",
                                        "\"two\nlines\"", "\"\"", "stray\"q"};

    for (size_t i = 0; i < 5; i++) {
        buf_puts(out, i ? "," : "");
        if (quoted && below(state, 6) == 0) {
            buf_puts(out, PICK(state, cells));
        } else {
            value(out, state);
        }
    }
}

static void
one_line(struct buf *out, uint64_t *state, const char *format)
{
    if (below(state, 20) == 0) {
        buf_puts(out, below(state, 2) ? "garbage | here" : "");
    } else if (strcmp(format, "generickv") == 0) {
        kv_line(out, state, "|", "=", "");
    } else if (strcmp(format, "default") == 0) {
        buf_printf(out, "INFO|20310405-06%02u%02u|7|f|1|2|3|4|5|MAPREDUCE:%s|",
                   below(state, 60), below(state, 60),
                   below(state, 9) ? "T" : "U");
        kv_line(out, state, "|", "=", "");
    } else if (strcmp(format, "json") == 0) {
        buf_puts(out, "{");
        kv_line(out, state, ",", ":", "\"");
        buf_puts(out, below(state, 15) ? "}" : "");
    } else if (strcmp(format, "logfmt") == 0) {
        kv_line(out, state, " ", "=", below(state, 2) ? "" : "\"");
    } else if (strcmp(format, "csv") == 0 || strcmp(format, "rfc4180") == 0) {
        csv_line(out, state, format[0] == 'r');
    } else {
        buf_printf(out, "a%u ", below(state, 5));
        value(out, state);
    }
    buf_puts(out, below(state, 12) ? "\n" : "\r\n");
}

static void
log_text(struct buf *out, uint64_t *state, const char *format)
{
    unsigned nr = below(state, MAX_LINES);

    if (strcmp(format, "csv") == 0 || strcmp(format, "rfc4180") == 0) {
        buf_puts(out, "a,b,c,num,dec\n");
    }
    for (unsigned i = 0; i < nr; i++) {
        one_line(out, state, format);
    }
    if (out->len && below(state, 3) == 0) {
        out->len--; /* no newline at the end */
    }
    buf_append(out, "", 1);
    out->len--;
}

static void
query_text(struct buf *out, uint64_t *state, const char *format)
{
    static const char *const funcs[] = {
        "count", "sum", "min",        "max",        "avg",
        "last",  "len", "percentage", "percentile", "count_distinct"};
    static const char *const conds[] = {
        "num > 5",           "a eq \"x\"",        "dec <= 50.5",
        "b ncontains \"v\"", "c hasprefix \"v\"", "num != dec"};
    unsigned nr = 1 + below(state, 5);
    bool regex = strcmp(format, "regex") == 0;

    buf_puts(out,
             strcmp(format, "default") == 0 ? "from t select " : "select ");
    for (unsigned i = 0; i < nr; i++) {
        const char *field = PICK(state, fields);

        buf_puts(out, i ? "," : "");
        if (below(state, 4) == 0) {
            buf_puts(out, field);
        } else if (below(state, 8) == 0) {
            buf_printf(out, "quantile(num, 0.%u)", below(state, 100));
        } else {
            buf_printf(out, "%s(%s)", PICK(state, funcs), field);
        }
    }
    if (below(state, 4)) {
        buf_printf(out, " group by %s", PICK(state, fields));
        if (below(state, 3) == 0) {
            buf_printf(out, ",%s", PICK(state, fields));
        }
    }
    if (below(state, 3) == 0) {
        buf_printf(out, " where %s", PICK(state, conds));
    }
    if (below(state, 4) == 0) {
        buf_puts(out, " set $m = maskdigits(a), $h = md5sum(b)");
    }
    if (below(state, 4) == 0) {
        buf_printf(out, " limit %u", below(state, 8));
    }
    buf_printf(out, " logformat %s%s", format,
               regex ? " \"(?P<a>\\w+) (?P<num>.*)\"" : "");
}

static void
run(const char *query, const struct mock_source *sources, size_t nr,
    struct mock_options how, struct mock_result *out)
{
    const struct mock_arg args[] = {{.name = "query", .value = query},
                                    {.name = "output", .value = "outfile"},
                                    {0}};

    how.args = args;
    how.sources = sources;
    how.nr_sources = nr;
    mock_run(&plugin, &how, out);
}

static void
compare(uint64_t seed, const char *query, const struct mock_result *want,
        const struct mock_result *got, const struct mock_options *how)
{
    bool same = want->out.len == got->out.len &&
                (want->out.len == 0 ||
                 memcmp(want->out.data, got->out.data, want->out.len) == 0);
    bool notes = want->notes.nr == got->notes.nr;

    for (size_t i = 0; notes && i < want->notes.nr; i++) {
        notes = strcmp(want->notes.v[i], got->notes.v[i]) == 0;
    }
    if (want->status < 0 || got->status < 0 || got->nr_violations) {
        fail_msg("seed %" PRIu64 ": %s: %s %s", seed, query, want->error,
                 got->nr_violations ? got->violation : got->error);
    }
    if (!same || !notes) {
        for (size_t i = 0; i < want->notes.nr || i < got->notes.nr; i++) {
            print_error("note: %s | %s\n",
                        i < want->notes.nr ? want->notes.v[i] : "-",
                        i < got->notes.nr ? got->notes.v[i] : "-");
        }
        fail_msg("seed %" PRIu64 ": %s\nblock %zu, %zu instances, combine %d:"
                 "\n%.*s\nline by line:\n%.*s",
                 seed, query, how->block_bytes, how->instances, how->combine,
                 (int)got->out.len, got->out.data ? got->out.data : "",
                 (int)want->out.len, want->out.data ? want->out.data : "");
    }
}

static void
round_of(uint64_t seed)
{
    uint64_t state = seed;
    const char *format = PICK(&state, formats);
    size_t nr = 1 + below(&state, 3);
    struct buf query = {0}, texts[3] = {{0}};
    struct mock_source sources[3] = {{0}};
    struct mock_result want, got;

    query_text(&query, &state, format);
    for (size_t i = 0; i < nr; i++) {
        log_text(&texts[i], &state, format);
        sources[i] = (struct mock_source){
            .name = "s", .data = texts[i].data, .len = texts[i].len};
    }
    run(query.data, sources, nr, (struct mock_options){0}, &want);
    for (int i = 0; i < 4; i++) {
        struct mock_options how = {.block_bytes = 1 + below(&state, 3000),
                                   .instances = 1 + below(&state, 4),
                                   .combine = below(&state, 2) == 1,
                                   .last_in_lines = below(&state, 2) == 1};

        run(query.data, sources, nr, how, &got);
        compare(seed, query.data, &want, &got, &how);
        mock_result_fini(&got);
    }
    mock_result_fini(&want);
    for (size_t i = 0; i < nr; i++) {
        buf_fini(&texts[i]);
    }
    buf_fini(&query);
}

static void
test_differential(void **state)
{
    const char *seed = getenv("MAPR_SEED"), *rounds = getenv("MAPR_ROUNDS");
    uint64_t nr = rounds ? strtoull(rounds, NULL, 10) : ROUNDS;

    (void)state;
    if (seed) {
        round_of(strtoull(seed, NULL, 10));
        return;
    }
    for (uint64_t i = 1; i <= nr; i++) {
        round_of(i);
    }
}

static int
open_plugin(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    setenv("DTAIL_HOSTNAME_OVERRIDE", "differential", 1);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_differential)};

    return cmocka_run_group_tests(tests, open_plugin, close_plugin);
}
