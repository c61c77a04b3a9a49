/* SPDX-License-Identifier: Apache-2.0
 *
 * Out of memory: each allocation of settings, requests, flags and log fails
 * once. Each time it is an error that says so, nothing is lost (sanitizers and
 * valgrind look), and no half-made result is handed out.
 *
 * The linker's --wrap leads the allocations of the core here; jansson's come
 * by its own hooks.
 */
#include "config.h"
#include "log.h"
#include "options.h"
#include "request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>

static long left = -1; /* allocations that go well; below 0: all */

static bool
may_allocate(void)
{
    return left < 0 || left-- > 0;
}

/* What --wrap makes of the names. */
void *__real_malloc(size_t len);
void *__real_calloc(size_t nr, size_t len);
void *__real_realloc(void *p, size_t len);
void *__real_reallocarray(void *p, size_t nr, size_t len);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t len);
void *__wrap_calloc(size_t nr, size_t len);
void *__wrap_realloc(void *p, size_t len);
void *__wrap_reallocarray(void *p, size_t nr, size_t len);
char *__wrap_strdup(const char *text);

void *
__wrap_malloc(size_t len)
{
    return may_allocate() ? __real_malloc(len) : NULL;
}

void *
__wrap_calloc(size_t nr, size_t len)
{
    return may_allocate() ? __real_calloc(nr, len) : NULL;
}

void *
__wrap_realloc(void *p, size_t len)
{
    return may_allocate() ? __real_realloc(p, len) : NULL;
}

void *
__wrap_reallocarray(void *p, size_t nr, size_t len)
{
    return may_allocate() ? __real_reallocarray(p, nr, len) : NULL;
}

char *
__wrap_strdup(const char *text)
{
    return may_allocate() ? __real_strdup(text) : NULL;
}

/* Runs `step` with ever more allocations that go well, until all do. */
static void
fail_each(int (*step)(void))
{
    int rc = DT_ERR_NOMEM;
    long nr;

    for (nr = 0; rc != DT_OK; nr++) {
        left = nr;
        rc = step();
        left = -1;
        assert_true(rc == DT_OK || rc == DT_ERR_NOMEM);
        assert_in_range(nr, 0, 100000);
    }
    assert_true(nr > 2);
}

/* The error tells that memory is short; where it is short in the middle of a
 * string jansson calls that a syntax error, which is then none of ours. */
static int
told(int rc, const struct error *err)
{
    assert_int_equal(err->status, rc);
    if (!strstr(err->text, " near ") &&
        (rc != DT_ERR_NOMEM || !strstr(err->text, "out of memory"))) {
        fail_msg("%d %s", rc, err->text);
    }
    return DT_ERR_NOMEM;
}

static int
step_config(void)
{
    static const char json[] =
        "{\"Common\":{\"LogDir\":\"~/x\",\"LogRotation\":\"weekly\"},"
        "\"Client\":{\"TermColors\":{\"Remote\":{\"TextFg\":\"a\"},\"X\":1}},"
        "\"Server\":{\"MACs\":[\"hmac-sha2-256\",\"hmac-sha2-512\"],"
        "\"OutputEOFWaitMaxMs\":1,"
        "\"Plugins\":{\"cat\":{\"Config\":{\"a\":[1]}},\"tail\":{}},"
        "\"Permissions\":{\"Users\":{\"a\":[\"b\"],\"c\":[]}},"
        "\"Schedule\":[{\"Name\":\"a\",\"Servers\":[\"s\"],"
        "\"TimeRange\":[1,2]}]}}";
    struct error err = ERROR_INIT;
    struct config *c = NULL;
    struct buf out = {0};
    int rc = config_parse(json, strlen(json), "f", &c, &err);

    if (rc != DT_OK) {
        assert_null(c);
        return told(rc, &err);
    }
    rc = config_dump(c, &out);
    assert_true(rc == DT_OK || out.len == 0);
    config_free(c);
    buf_fini(&out);
    return rc;
}

/* A message must not need memory to say that there is none. */
static int
step_config_error(void)
{
    struct error err = ERROR_INIT;
    struct config *c = NULL;
    int rc = config_parse("{\"Server\":{\"MaxQueries\":0}}", 27, "f", &c, &err);

    assert_null(c);
    assert_true(*err.text);
    return strstr(err.text, "0 is not allowed") ? DT_OK : told(rc, &err);
}

static int
step_query(void)
{
    struct query_spec s = {0}, copy = {0}, back = {0};
    struct error err = ERROR_INIT;
    struct buf out = {0};
    static const char json[] =
        "{\"id\":1,\"plugin\":\"cat\",\"files\":[\"a\",{\"base64\":\"/w==\"}],"
        "\"args\":[{\"name\":\"a\",\"value\":{\"base64\":\"AA==\"}}]}";
    int rc = query_spec_parse(json, strlen(json), &s, &err);

    if (rc != DT_OK) {
        assert_null(s.plugin);
        return told(rc, &err);
    }
    rc = query_spec_copy(&copy, &s);
    rc = rc ? rc : query_spec_format(&copy, &out);
    if (rc == DT_OK) {
        rc = query_spec_parse(out.data, out.len, &back, &err);
        rc = rc ? told(rc, &err) : rc;
    }
    query_spec_fini(&s);
    query_spec_fini(&copy);
    query_spec_fini(&back);
    buf_fini(&out);
    return rc;
}

static int
step_replies(void)
{
    struct hello h = {0};
    struct query_end e = {0};
    struct source_desc d = {0};
    struct error err = ERROR_INIT;
    struct buf out = {0};
    static const char hello[] =
        "{\"protocol\":1,\"version\":\"1\",\"host\":\"h\","
        "\"plugins\":[{\"name\":\"a\",\"version\":\"b\"}]}";
    static const char end[] = "{\"message\":{\"base64\":\"/w==\"}}";
    static const char source[] =
        "{\"name\":\"a\",\"dev\":\"1\",\"ino\":\"2\",\"fingerprint\":\"f\"}";
    int rc = hello_parse(hello, strlen(hello), &h, &err);

    rc = rc ? rc : query_end_parse(end, strlen(end), &e, &err);
    rc = rc ? rc : source_desc_parse(source, strlen(source), &d, &err);
    rc = rc ? told(rc, &err) : rc;
    rc = rc ? rc : hello_format(&h, &out);
    rc = rc ? rc : query_end_format(&e, &out);
    rc = rc ? rc : source_desc_format(&d, &out);
    hello_fini(&h);
    query_end_fini(&e);
    source_desc_fini(&d);
    buf_fini(&out);
    return rc;
}

static int
step_options(void)
{
    static const struct option_spec table[] = {
        {"arg", OPTION_LIST, 0, 0, NULL, "x"},
        {NULL, OPTION_BOOL, 0, 0, NULL, NULL},
    };
    char *argv[] = {(char *)(uintptr_t) "p", (char *)(uintptr_t) "-arg=a",
                    (char *)(uintptr_t) "w", NULL};
    struct strv args;
    char **words;
    size_t nr_words;
    struct error err = ERROR_INIT;
    struct buf out = {0};
    int rc = DT_OK;

    if (options_parse(table, 3, argv, &args, NULL, &words, &nr_words, &err) !=
        OPTIONS_OK) {
        assert_non_null(strstr(err.text, "out of memory"));
        rc = DT_ERR_NOMEM;
    }
    rc = rc ? rc : options_usage(table, "p", &out);
    options_fini(table, &args);
    free(words);
    buf_fini(&out);
    return rc;
}

static int
step_log(void)
{
    const struct log_args args = {.logger = "none", .prefix = "CLIENT|h"};
    struct error err = ERROR_INIT;
    struct log *log;
    int rc = log_new(&args, &log, &err);

    assert_true(rc == DT_OK || (!log && err.status == rc));
    log_free(log);
    return rc;
}

static void
test_config(void **state)
{
    (void)state;
    fail_each(step_config);
    fail_each(step_config_error);
}

static void
test_requests(void **state)
{
    (void)state;
    fail_each(step_query);
    fail_each(step_replies);
}

static void
test_options_and_log(void **state)
{
    (void)state;
    fail_each(step_options);
    fail_each(step_log);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_options_and_log),
    };

    json_set_alloc_funcs(__wrap_malloc, free);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
