/* SPDX-License-Identifier: Apache-2.0
 *
 * Every vector of the specification, through the hooks of the plugin: line by
 * line, in blocks of several sizes over one to four instances, merged on the
 * server or not, and cut over three sources where a vector allows it.
 */
#include "mock.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define MAX_SOURCES 16

static struct mock_plugin plugin;

struct vector {
    const char *name, *kind, *query, *expected, *error;
    bool color, is_defect;
    struct mock_source sources[MAX_SOURCES];
    char *data[MAX_SOURCES];
    size_t nr;
};

static char *
join_lines(json_t *lines, size_t from, size_t to)
{
    struct buf b = {0};

    for (size_t i = from; i < to; i++) {
        json_t *line = json_array_get(lines, i);

        buf_append(&b, json_string_value(line), json_string_length(line));
        buf_append(&b, "\n", 1);
    }
    buf_append(&b, "", 1);
    return b.data;
}

static void
add_source(struct vector *v, const char *name, char *data)
{
    assert_true(v->nr < MAX_SOURCES);
    v->data[v->nr] = data;
    v->sources[v->nr] =
        (struct mock_source){.name = name, .data = data, .len = strlen(data)};
    v->nr++;
}

static void
free_sources(struct vector *v)
{
    for (size_t i = 0; i < v->nr; i++) {
        free(v->data[i]);
    }
    v->nr = 0;
}

static const char *
member(json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static void
read_vector(json_t *json, struct vector *v)
{
    const char *better = member(json, "better_csv");

    memset(v, 0, sizeof(*v));
    v->name = member(json, "name");
    v->kind = member(json, "kind");
    v->kind = v->kind ? v->kind : "csv";
    v->query = member(json, "query");
    v->is_defect = strcmp(member(json, "class"), "defect") == 0;
    v->color = json_is_true(json_object_get(json, "color"));
    v->expected = strcmp(v->kind, "stdout") == 0
                      ? member(json, "expected_stdout")
                      : member(json, "expected_csv");
    v->expected = better ? better : v->expected;
    v->error = better ? NULL : member(json, "expected_error");
    assert_non_null(v->name);
    assert_non_null(v->query);
}

static void
set_sources(json_t *json, struct vector *v, size_t nr)
{
    json_t *files = json_object_get(json, "files"), *lines;
    json_t *input = json_object_get(json, "input");
    const char *name;
    size_t total = json_array_size(input);

    free_sources(v);
    if (files) {
        json_object_foreach(files, name, lines)
        {
            add_source(v, name, join_lines(lines, 0, json_array_size(lines)));
        }
        return;
    }
    for (size_t i = 0; i < nr; i++) {
        add_source(v, "input",
                   join_lines(input, i * total / nr, (i + 1) * total / nr));
    }
}

/* What a user of the vectors sees: a file, or standard output. */
static void
run_once(struct vector *v, const struct mock_options *how)
{
    char query[4096];
    bool is_stdout = strcmp(v->kind, "stdout") == 0;
    const struct mock_arg args[] = {
        {.name = "query", .value = query},
        {.name = "color", .value = v->color ? "yes" : "no"},
        {0}};
    struct mock_options options = *how;
    struct mock_result r;

    snprintf(query, sizeof(query), "%s%s", v->query,
             is_stdout || v->error ? "" : " outfile result.csv");
    options.args = args;
    options.sources = v->sources;
    options.nr_sources = v->nr;
    mock_run(&plugin, &options, &r);
    if (r.nr_violations) {
        fail_msg("%s: %s", v->name, r.violation);
    }
    if (v->error) {
        assert_int_equal(r.status, DT_ERR_INVAL);
        if (strcmp(r.error, v->error) != 0) {
            fail_msg("%s: error \"%s\", expected \"%s\"", v->name, r.error,
                     v->error);
        }
    } else if (r.status < 0) {
        fail_msg("%s: %s", v->name, r.error);
    } else if (r.out.len != strlen(v->expected) ||
               (r.out.len && memcmp(r.out.data, v->expected, r.out.len) != 0)) {
        fail_msg("%s: block %zu, %zu instances, %zu sources:\n%.*s\nexpected:"
                 "\n%s",
                 v->name, how->block_bytes, how->instances, v->nr,
                 (int)r.out.len, r.out.data ? r.out.data : "", v->expected);
    }
    mock_result_fini(&r);
}

static void
run_all_ways(struct vector *v)
{
    const size_t blocks[] = {1, 40, 150, 1000, 1 << 20};

    run_once(v, &(struct mock_options){0});
    for (size_t b = 0; b < sizeof(blocks) / sizeof(*blocks); b++) {
        for (size_t instances = 1; instances <= 4; instances++) {
            for (int combine = 0; combine < 2; combine++) {
                run_once(v, &(struct mock_options){.block_bytes = blocks[b],
                                                   .instances = instances,
                                                   .last_in_lines = b % 2,
                                                   .no_numbers = b % 2,
                                                   .combine = combine});
            }
        }
    }
}

static void
run_file(const char *file)
{
    char path[4096];
    json_error_t error;
    json_t *all, *json;
    size_t i, nr = 0;

    snprintf(path, sizeof(path), "%s/vectors/%s", SRCDIR, file);
    all = json_load_file(path, 0, &error);
    if (!all) {
        fail_msg("%s: %s", path, error.text);
    }
    json_array_foreach(all, i, json)
    {
        struct vector v;
        const char *format = member(json, "logformat");

        read_vector(json, &v);
        if (v.is_defect && v.error) {
            /* The only one: `""` is an error there, an empty literal here. */
            assert_string_equal(v.name, "error-empty-string-literal");
            v.error = NULL;
            v.expected = "x\n";
        }
        setenv("DTAIL_HOSTNAME_OVERRIDE", member(json, "hostname"), 1);
        set_sources(json, &v, 1);
        run_all_ways(&v);
        if (!json_object_get(json, "files") && strcmp(format, "csv") != 0) {
            set_sources(json, &v, 3);
            run_all_ways(&v);
        }
        free_sources(&v);
        nr++;
    }
    assert_true(nr >= 36);
    json_decref(all);
}

static void
test_vectors(void **state)
{
    (void)state;
    run_file("mapreduce.json");
}

static void
test_extra_vectors(void **state)
{
    (void)state;
    run_file("mapreduce_extra.json");
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
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_extra_vectors),
    };

    return cmocka_run_group_tests(tests, open_plugin, close_plugin);
}
