/* SPDX-License-Identifier: Apache-2.0
 *
 * Instances: hooks are called in the order of the life cycle or not at all,
 * and answers that a hook may not give become an internal error.
 */
#include "cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "test-trouble.h"

/* A host that gives the plugin "trouble" its arguments and keeps errors. */
struct test_query {
    struct dt_query query;
    const char *what;
    const char *hook;
    enum dt_role role;
    char error[256];
    int error_status;
    bool is_cancelled;
    struct instance *reentered; /* fed from inside of an emit */
    int reentered_answer;
    size_t nr_emits;
};

static struct test_query *
test_of(struct dt_query *q)
{
    return (struct test_query *)q;
}

static int
emit(struct test_query *t)
{
    const struct dt_block block = {.size = sizeof(block)};

    t->nr_emits++;
    if (t->reentered) {
        t->reentered_answer = instance_feed(t->reentered, &block);
    }
    return DT_OK;
}

static int
emit_lines(struct dt_query *q, const struct dt_lines *lines UNUSED)
{
    return emit(test_of(q));
}

static int
emit_text(struct dt_query *q, const char *data UNUSED, size_t len UNUSED)
{
    return emit(test_of(q));
}

static int
emit_partial(struct dt_query *q, const void *data UNUSED, size_t len UNUSED)
{
    return emit(test_of(q));
}

static void
error(struct dt_query *q, int status, const char *text)
{
    struct test_query *t = test_of(q);

    if (!t->error_status) {
        t->error_status = status;
        snprintf(t->error, sizeof(t->error), "%s", text);
    }
}

static const char *
arg(struct dt_query *q, const char *name, size_t index UNUSED,
    size_t *len UNUSED)
{
    const struct test_query *t = test_of(q);

    return strcmp(name, "do") == 0 ? t->what
           : strcmp(name, "hook") == 0
               ? t->hook
               : (t->role == DT_ROLE_MAP ? "map" : "reduce");
}

static bool
cancelled(struct dt_query *q)
{
    return test_of(q)->is_cancelled;
}

static enum dt_role
role(struct dt_query *q)
{
    return test_of(q)->role;
}

static const struct dt_host host = {
    .size = sizeof(host),
    .emit_lines = emit_lines,
    .emit_partial = emit_partial,
    .emit_text = emit_text,
    .error = error,
    .arg = arg,
    .cancelled = cancelled,
    .role = role,
};

static struct test_query
make_query(const char *what, const char *hook)
{
    return (struct test_query){
        .query = {&host}, .what = what, .hook = hook, .role = DT_ROLE_MAP};
}

static const struct dt_block one_line = {.size = sizeof(one_line),
                                         .flags = DT_BLOCK_LINE,
                                         .data = "line\n",
                                         .len = 5,
                                         .nr_lines = 1};

/* ---- order ---- */

static void
test_whole_life(void **state)
{
    struct test_query t = make_query(NULL, NULL);
    struct instance *i;

    (void)state;
    for (int as = DT_ROLE_MAP; as <= DT_ROLE_COMBINE; as++) {
        t.role = (enum dt_role)as;
        assert_int_equal(instance_start(trouble, t.role, &t.query, &i), DT_OK);
        assert_int_equal(instance_feed(i, &one_line), DT_OK);
        assert_int_equal(instance_drain(i, DT_DRAIN_INTERVAL), DT_OK);
        assert_int_equal(instance_feed(i, &one_line), DT_OK);
        assert_int_equal(instance_finish(i), DT_OK);
        assert_int_equal(instance_drain(i, DT_DRAIN_FINAL), DT_OK);
        instance_close(i);
    }
    assert_int_equal(t.error_status, 0);
    assert_int_equal(t.nr_emits, 6);
    instance_close(NULL);
}

/* Steps: f feed, n finish, i drain interval, d drain final. The last one of
 * each is out of order. */
static void
test_out_of_order(void **state)
{
    static const char *const cases[] = {"nf",  "nn",  "d",   "fd", "ni",
                                        "ndd", "ndf", "nfd", "fnf"};

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct test_query t = make_query(NULL, NULL);
        struct instance *i;
        int r = instance_start(trouble, DT_ROLE_MAP, &t.query, &i);

        for (const char *s = cases[c]; *s; s++) {
            r = *s == 'f'   ? instance_feed(i, &one_line)
                : *s == 'n' ? instance_finish(i)
                            : instance_drain(i, *s == 'd' ? DT_DRAIN_FINAL
                                                          : DT_DRAIN_INTERVAL);
        }
        assert_int_equal(r, DT_ERR_INTERNAL);
        assert_int_equal(t.error_status, DT_ERR_INTERNAL);
        assert_non_null(strstr(t.error, "called out of order"));
        instance_close(i);
    }
}

static void
test_nothing_after_an_error(void **state)
{
    struct test_query t = make_query("error", "feed");
    struct instance *i;

    (void)state;
    assert_int_equal(instance_start(trouble, DT_ROLE_MAP, &t.query, &i), DT_OK);
    assert_int_equal(instance_feed(i, &one_line), DT_ERR_LIMIT);
    assert_string_equal(t.error, "trouble: feed gives up");
    assert_int_equal(instance_feed(i, &one_line), DT_ERR_INTERNAL);
    assert_int_equal(instance_finish(i), DT_ERR_INTERNAL);
    assert_int_equal(instance_drain(i, DT_DRAIN_FINAL), DT_ERR_INTERNAL);
    instance_close(i);
}

static void
test_one_thread_inside(void **state)
{
    struct test_query t = make_query(NULL, NULL);
    struct instance *i;

    (void)state;
    assert_int_equal(instance_start(trouble, DT_ROLE_MAP, &t.query, &i), DT_OK);
    t.reentered = i;
    assert_int_equal(instance_feed(i, &one_line), DT_OK);
    assert_int_equal(t.reentered_answer, DT_ERR_INTERNAL);
    assert_non_null(strstr(t.error, "two threads"));
    t.reentered = NULL;
    /* the one that was inside goes on */
    assert_int_equal(instance_finish(i), DT_OK);
    instance_close(i);
}

static void
test_cancelled(void **state)
{
    struct test_query t = make_query(NULL, NULL);
    struct instance *i;

    (void)state;
    t.is_cancelled = true;
    assert_int_equal(instance_start(trouble, DT_ROLE_MAP, &t.query, &i),
                     DT_ERR_CANCELLED);
    assert_null(i);
    t.is_cancelled = false;
    assert_int_equal(instance_start(trouble, DT_ROLE_MAP, &t.query, &i), DT_OK);
    t.is_cancelled = true;
    assert_int_equal(instance_feed(i, &one_line), DT_ERR_CANCELLED);
    assert_int_equal(t.nr_emits, 0);
    assert_int_equal(t.error_status, 0);
    instance_close(i);
}

/* An endless drain ends with the query: the hook is not called again. */
static void
test_endless_drain(void **state)
{
    struct test_query t = make_query("endless", "drain");
    struct instance *i;

    (void)state;
    assert_int_equal(instance_start(trouble, DT_ROLE_MAP, &t.query, &i), DT_OK);
    assert_int_equal(instance_finish(i), DT_OK);
    for (int k = 0; k < 100; k++) {
        assert_int_equal(instance_drain(i, DT_DRAIN_FINAL), DT_AGAIN);
    }
    t.is_cancelled = true;
    assert_int_equal(instance_drain(i, DT_DRAIN_FINAL), DT_ERR_CANCELLED);
    instance_close(i);
}

/* ---- answers ---- */

static int
run_hook(const char *hook, struct test_query *t)
{
    struct instance *i;
    int r = instance_start(trouble, DT_ROLE_MAP, &t->query, &i);

    if (r < 0 || strcmp(hook, "start") == 0) {
        instance_close(i);
        return r;
    }
    if (strcmp(hook, "feed") == 0) {
        r = instance_feed(i, &one_line);
    } else {
        r = instance_finish(i);
        if (r == DT_OK && strcmp(hook, "drain") == 0) {
            r = instance_drain(i, DT_DRAIN_FINAL);
        }
    }
    instance_close(i);
    return r;
}

static void
test_answers(void **state)
{
    static const char *const hooks[] = {"start", "feed", "finish", "drain"};
    static const struct {
        const char *what;
        int status;
        const char *text;
    } cases[] = {
        {"error", DT_ERR_LIMIT, "trouble: %s gives up"},
        {"silent", DT_ERR_LIMIT, "plugin trouble: %s failed: limit exceeded"},
        {"answer", DT_ERR_INTERNAL,
         "plugin trouble: %s answered 77, which it may not"},
        {"negative", DT_ERR_INTERNAL,
         "plugin trouble: %s answered -77, which it may not"},
    };

    (void)state;
    for (size_t h = 0; h < sizeof(hooks) / sizeof(hooks[0]); h++) {
        for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
            struct test_query t = make_query(cases[c].what, hooks[h]);
            char expected[128], *at = strstr(cases[c].text, "%s");

            snprintf(expected, sizeof(expected), "%.*s%s%s",
                     (int)(at - cases[c].text), cases[c].text, hooks[h],
                     at + 2);
            assert_int_equal(run_hook(hooks[h], &t), cases[c].status);
            assert_string_equal(t.error, expected);
            assert_int_equal(t.error_status, cases[c].status);
        }
        /* DT_AGAIN is drain's alone, DT_STOP is feed's */
        struct test_query t = make_query("wrong", hooks[h]);

        assert_int_equal(run_hook(hooks[h], &t), DT_ERR_INTERNAL);
        assert_non_null(strstr(t.error, "which it may not"));
    }
}

static void
test_no_such_stage(void **state)
{
    const struct plugin *future = plugins_find(plugins, "future");
    struct test_query t = make_query(NULL, NULL);
    struct instance *i;

    (void)state;
    assert_non_null(future);
    assert_int_equal(instance_start(future, DT_ROLE_REDUCE, &t.query, &i),
                     DT_ERR_NOENT);
    assert_null(i);
    assert_string_equal(t.error, "plugin future has no reduce stage");
    /* a stage that has but the required hooks */
    assert_int_equal(instance_start(future, DT_ROLE_MAP, &t.query, &i), DT_OK);
    assert_int_equal(instance_finish(i), DT_OK);
    assert_int_equal(instance_drain(i, DT_DRAIN_FINAL), DT_OK);
    instance_close(i);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_life),
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_nothing_after_an_error),
        cmocka_unit_test(test_one_thread_inside),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_endless_drain),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_no_such_stage),
    };

    return cmocka_run_group_tests(tests, open_plugins, free_plugins);
}
