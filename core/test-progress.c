/* SPDX-License-Identifier: Apache-2.0
 *
 * PROGRESS frames: when, and what they say. Time is an argument.
 */
#include "progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "test-tempdir.h"

struct seen {
    size_t nr;
    uint64_t done, known;
};

static int
on_frame(void *ctx, const struct wire_frame *f, const struct cancel *cancel)
{
    struct seen *seen = ctx;

    (void)cancel;
    assert_int_equal(f->type, WIRE_S_PROGRESS);
    assert_int_equal(f->query, 7);
    assert_int_equal(f->len, 0);
    seen->nr++;
    seen->done = f->offset;
    seen->known = f->first_line;
    return DT_OK;
}

struct trial {
    struct seen seen;
    struct query_env env;
    struct cancel cancel;
    struct progress *p;
};

static void
begin(struct trial *t, int64_t now)
{
    static const struct outq_sink sink = {.frame = on_frame};

    *t = (struct trial){0};
    assert_int_equal(cancel_init(&t->cancel), DT_OK);
    t->env.out = outq_new_sink(&sink, &t->seen);
    assert_non_null(t->env.out);
    t->p = progress_new(&t->env, 7, &t->cancel, now);
    assert_non_null(t->p);
}

static void
end(struct trial *t)
{
    progress_free(t->p);
    outq_free(t->env.out);
    cancel_fini(&t->cancel);
}

static void
expect(struct trial *t, int64_t now, size_t nr, uint64_t done, uint64_t known)
{
    progress_tick(t->p, now);
    assert_int_equal(t->seen.nr, nr);
    assert_int_equal(t->seen.done, done);
    assert_int_equal(t->seen.known, known);
}

static void
test_times(void **state)
{
    struct trial t;

    (void)state;
    begin(&t, 10000);
    progress_begin(t.p, 0, 100, false);
    progress_add(t.p, 10);
    expect(&t, 10000, 0, 0, 0);
    expect(&t, 10000 + PROGRESS_FIRST_MS - 1, 0, 0, 0);
    expect(&t, 10000 + PROGRESS_FIRST_MS, 1, 10, 100);
    progress_add(t.p, 20);
    expect(&t, 10000 + PROGRESS_FIRST_MS + PROGRESS_EVERY_MS - 1, 1, 10, 100);
    expect(&t, 20000, 2, 30, 100);
    expect(&t, 20000, 2, 30, 100);
    end(&t);
}

static void
test_sums(void **state)
{
    struct trial t;

    (void)state;
    begin(&t, 0);
    progress_begin(t.p, 0, 100, false);
    progress_add(t.p, 90);
    progress_end(t.p, 100, 90, 120); /* it grew */
    expect(&t, 1000, 1, 120, 120);
    progress_begin(t.p, 1, 50, false);
    progress_add(t.p, 10);
    progress_end(t.p, 50, 10, 10); /* it was left early */
    expect(&t, 2000, 2, 130, 130);
    progress_begin(t.p, 2, 10, false);
    progress_add(t.p, 30); /* it grows */
    expect(&t, 3000, 3, 160, 160);
    progress_begin(t.p, 3, 0, true); /* a fifo */
    expect(&t, 4000, 4, 160, 0);
    end(&t);
}

/* What is not open yet counts from the first frame on, once. */
static void
test_targets(void **state)
{
    struct source_target v[] = {
        {.path = (char *)"a", .name = (char *)"a"},
        {.path = (char *)"b", .name = (char *)"b"},
        {.path = (char *)"none", .name = (char *)"none"},
        {.path = (char *)".", .name = (char *)"."},
        {.path = (char *)"empty", .name = (char *)"empty"},
        {.path = (char *)"pipe", .name = (char *)"pipe"},
    };
    struct source_targets targets = {.v = v, .nr = 5};
    struct trial t;

    (void)state;
    tempdir_write("a", "0123456789", 10);
    tempdir_write("b", "01234", 5);
    tempdir_write("empty", "", 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    begin(&t, 0);
    progress_expect(t.p, &targets);
    progress_begin(t.p, 0, 10, false);
    progress_add(t.p, 4);
    expect(&t, 1000, 1, 4, 15);
    progress_begin(t.p, 1, 5, false);
    progress_add(t.p, 11);
    expect(&t, 2000, 2, 15, 15);
    targets.nr = 6; /* as if one more had been there */
    expect(&t, 3000, 3, 15, 0);
    end(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_sums),
        cmocka_unit_test_setup_teardown(test_targets, tempdir_enter,
                                        tempdir_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
