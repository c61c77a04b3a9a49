/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of settings: what each row allows is accepted and read back from a
 * dump, what it does not is refused, and the manual page says the same.
 */
#include "config-table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <ctype.h>

#include "test-config.h"

/* JSON text that sets the key of a row to a value. */
static char *
json_for(const struct config_row *row, const char *value)
{
    struct buf out = {0};
    char path[CONFIG_PREFIX_MAX], close[16] = "";
    char *rest = path, *part;

    snprintf(path, sizeof(path), "%s", row->path);
    while ((part = strsep(&rest, "."))) {
        size_t len = strcspn(part, "[");
        bool is_array = part[len] == '[';

        buf_printf(&out, "{\"%.*s\":%s", (int)len,
                   strcmp(part, "*") == 0 ? "x" : part, is_array ? "[" : "");
        memmove(close + (is_array ? 2 : 1), close, strlen(close) + 1);
        memcpy(close, is_array ? "]}" : "}", is_array ? 2 : 1);
    }
    if (strstr(row->path, "[]") && strcmp(config_row_name(row), "Name") != 0) {
        /* what a job must have */
        size_t at = (size_t)(strrchr(out.data, '{') - out.data) + 1;
        char *end = strndup(out.data + at, out.len - at);

        out.len = at;
        buf_printf(&out,
                   "\"Name\":\"n\",\"Files\":\"f\",\"Query\":\"q\","
                   "\"Outfile\":\"o\",%s",
                   end);
        free(end);
    }
    buf_printf(&out, "%s%s", value, close);
    assert_int_equal(buf_append(&out, "", 1), DT_OK);
    return out.data;
}

static void
accept_value(const struct config_row *row, const char *value)
{
    char *json = json_for(row, value);
    struct config *c = parse(json);

    assert_round_trip(c);
    config_free(c);
    free(json);
}

/* The message names key and what is allowed. */
static void
refuse_value(const struct config_row *row, const char *value)
{
    char *json = json_for(row, value);
    struct error err = ERROR_INIT;
    struct config *c = NULL;
    struct buf allowed = {0};

    if (config_parse(json, strlen(json), "f", &c, &err) != DT_ERR_INVAL) {
        fail_msg("accepted: %s", json);
    }
    assert_non_null(strstr(err.text, config_row_name(row)));
    assert_memory_equal(err.text, "f:1:", 4);
    if (row->type != CONFIG_SECTION && row->type != CONFIG_PLUGINS &&
        row->type != CONFIG_USERS) {
        assert_int_equal(config_row_describe(row, false, &allowed), DT_OK);
        assert_int_equal(buf_append(&allowed, "", 1), DT_OK);
        if (!strstr(err.text, allowed.data)) {
            fail_msg("\"%s\" does not say \"%s\"", err.text, allowed.data);
        }
    }
    buf_fini(&allowed);
    free(json);
}

static void
test_every_row_has_what_it_needs(void **state)
{
    (void)state;
    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];
        size_t nr_same = 0;

        assert_non_null(row->help);
        if (row->type != CONFIG_FOREIGN) {
            assert_int_equal(row->help[strlen(row->help) - 1], '.');
        }
        if (row->type == CONFIG_INT) {
            assert_in_range(row->default_int, row->min, row->max);
            assert_true(row->max <= INT32_MAX);
        }
        if (row->flags & CONFIG_DEFAULT_IF_NONE) {
            assert_true(row->type != CONFIG_INT || row->min > 0);
        }
        for (size_t j = 0; j < config_nr_rows; j++) {
            nr_same += strcasecmp(row->path, config_rows[j].path) == 0;
        }
        assert_int_equal(nr_same, 1);
    }
}

static void
test_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];
        char text[32];

        if (row->type != CONFIG_INT) {
            continue;
        }
        for (int step = -1; step <= 1; step++) {
            bool low_is_good =
                step >= 0 ||
                ((row->flags & CONFIG_DEFAULT_IF_NONE) && row->min == 1);

            snprintf(text, sizeof(text), "%lld", (long long)row->min + step);
            (low_is_good ? accept_value : refuse_value)(row, text);
            snprintf(text, sizeof(text), "%lld", (long long)row->max + step);
            (step <= 0 ? accept_value : refuse_value)(row, text);
        }
        (row->flags & CONFIG_DEFAULT_IF_NONE ? accept_value : refuse_value)(
            row, "-9223372036854775808");
        refuse_value(row, "9223372036854775807");
    }
}

static void
test_string_lengths(void **state)
{
    char *text = malloc(1 << 17);

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];

        if (row->type != CONFIG_STRING && row->type != CONFIG_PATH) {
            continue;
        }
        for (int64_t len = row->max; len <= row->max + 1; len++) {
            memset(text, 'x', (size_t)len + 2);
            text[0] = text[len + 1] = '"';
            text[len + 2] = '\0';
            (len == row->max ? accept_value : refuse_value)(row, text);
        }
        (row->min > 0 ? refuse_value : accept_value)(row, "\"\"");
    }
    free(text);
}

static void
test_types(void **state)
{
    static const char *const values[] = {
        "true", "1.5", "7777", "\"x7~\"", "[1.5]", "{\"x\":{\"Turbo\":1}}"};

    (void)state;
    for (size_t i = 0; i < config_nr_rows; i++) {
        const struct config_row *row = &config_rows[i];

        if (strcmp(config_row_name(row), "Name") != 0) {
            accept_value(row, "null");
        }
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
            bool is_good = false;

            switch (row->type) {
            case CONFIG_FOREIGN:
                is_good = true;
                break;
            case CONFIG_BOOL:
            case CONFIG_TRISTATE:
                is_good = v == 0;
                break;
            case CONFIG_INT:
                is_good = v == 2 && row->min <= 7777 && row->max >= 7777;
                break;
            case CONFIG_STRING:
            case CONFIG_PATH:
                is_good = v == 3;
                break;
            case CONFIG_WORD:
                is_good = v == 3 && (row->flags & CONFIG_OTHER_IS_LAST);
                break;
            case CONFIG_OBJECT:
                is_good = v == 5;
                break;
            case CONFIG_COLORS:
                is_good = v == 5; /* unknown names get a warning */
                break;
            default:
                break;
            }
            if (is_good) {
                accept_value(row, values[v]);
            } else if (v != 4 && v != 5) {
                refuse_value(row, values[v]);
            } else {
                char *json = json_for(row, values[v]);

                refuse(json, "f:1:");
                free(json);
            }
        }
    }
}

/* The plain text that stands behind an .It, its lines joined, and the row that
 * the .It names. */
static void
check_manual_item(const struct config_row *row, FILE *manual)
{
    struct buf want = {0}, got = {0};
    char line[512];

    assert_int_equal(config_row_describe(row, true, &want), DT_OK);
    assert_int_equal(buf_append(&want, ".", 2), DT_OK);
    want.data[0] = (char)toupper(want.data[0]);
    while (got.len < want.len && fgets(line, sizeof(line), manual) &&
           *line != '.') {
        line[strcspn(line, "\n")] = '\0';
        assert_int_equal(buf_printf(&got, "%s%s", got.len ? " " : "", line),
                         DT_OK);
    }
    assert_int_equal(buf_append(&got, "", 1), DT_OK);
    if (strncmp(got.data, want.data, want.len - 1) != 0) {
        fail_msg("%s: the manual says \"%s\", the table \"%s\"", row->path,
                 got.data, want.data);
    }
    buf_fini(&want);
    buf_fini(&got);
}

static void
test_manual(void **state)
{
    char *path = source_path("docs/dtail.json.5");
    FILE *manual = fopen(path, "r");
    bool *seen = calloc(config_nr_rows, sizeof(*seen));
    char line[512], key[256];

    (void)state;
    assert_non_null(manual);
    assert_non_null(seen);
    while (fgets(line, sizeof(line), manual)) {
        size_t i = 0;

        if (sscanf(line, ".It Ic %255s", key) != 1) {
            continue;
        }
        while (i < config_nr_rows && strcmp(config_rows[i].path, key) != 0) {
            i++;
        }
        if (i == config_nr_rows) {
            fail_msg("the manual has a key %s, the table has not", key);
        }
        assert_false(seen[i]);
        seen[i] = true;
        if (config_rows[i].type != CONFIG_FOREIGN) {
            check_manual_item(&config_rows[i], manual);
        }
    }
    for (size_t i = 0; i < config_nr_rows; i++) {
        if (!seen[i]) {
            fail_msg("the manual lacks %s", config_rows[i].path);
        }
    }
    fclose(manual);
    free(seen);
    free(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_has_what_it_needs),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_string_lengths),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_manual),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
