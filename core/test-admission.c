/* SPDX-License-Identifier: Apache-2.0
 *
 * Who makes room when too many connections have not logged in.
 */
#include "admission.h"
#include "clock.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define NR 5

struct fixture {
    struct connection c[NR];
    struct connection *v[NR];
};

/* Five that came one a 100 ms from 0 on, from two addresses. */
static void
make(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    for (int i = 0; i < NR; i++) {
        f->v[i] = &f->c[i];
        f->c[i].session_pid = 100 + i;
        f->c[i].began_ms = 100 * i;
        strcpy(f->c[i].address, i % 2 ? "192.0.2.1" : "192.0.2.2");
    }
}

static int
victim(struct fixture *f, const char *address, int64_t now, int64_t *retry)
{
    struct connection *c = admission_victim(f->v, NR, address, now, retry);

    return c ? (int)(c - f->c) : -1;
}

static void
test_count(void **state)
{
    size_t places = 1;
    struct fixture f;

    (void)state;
    make(&f);
    assert_int_equal(admission_count(f.v, NR), NR);
    f.c[0].place = &places;
    f.c[1].is_killed = true;
    f.c[2].session_pid = 0;
    assert_int_equal(admission_count(f.v, NR), 2);
}

static void
test_silent_ones_go(void **state)
{
    struct fixture f;
    int64_t retry;

    (void)state;
    make(&f);
    assert_int_equal(victim(&f, "", ADMISSION_SILENT_MS - 1, &retry), -1);
    assert_int_equal(retry, ADMISSION_SILENT_MS);
    assert_int_equal(victim(&f, "", ADMISSION_SILENT_MS, &retry), 0);
    /* his own before another's, though younger */
    assert_int_equal(victim(&f, "192.0.2.1", ADMISSION_SILENT_MS, &retry), 1);
    assert_int_equal(victim(&f, "203.0.113.9", 10000, &retry), 0);
    /* and earlier */
    assert_int_equal(victim(&f, "192.0.2.1", ADMISSION_OWN_MS, &retry), -1);
    assert_int_equal(retry, 100 + ADMISSION_OWN_MS);
    assert_int_equal(victim(&f, "192.0.2.1", 100 + ADMISSION_OWN_MS, &retry),
                     1);
    assert_int_equal(victim(&f, "203.0.113.9", 100 + ADMISSION_OWN_MS, &retry),
                     -1);
    assert_int_equal(retry, ADMISSION_SILENT_MS);
}

static void
test_busy_ones_stay_longer(void **state)
{
    size_t places = 1;
    struct fixture f;
    int64_t retry;

    (void)state;
    make(&f);
    for (int i = 0; i < NR; i++) {
        f.c[i].nr_lookups = 1;
    }
    assert_int_equal(victim(&f, "", ADMISSION_SLOW_MS - 1, &retry), -1);
    assert_int_equal(retry, ADMISSION_SLOW_MS);
    assert_int_equal(victim(&f, "", ADMISSION_SLOW_MS, &retry), 0);
    f.c[3].nr_lookups = 0;
    assert_int_equal(victim(&f, "", ADMISSION_SLOW_MS - 1, &retry), 3);
    f.c[3].place = &places;
    assert_int_equal(victim(&f, "", ADMISSION_SLOW_MS - 1, &retry), -1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_silent_ones_go),
        cmocka_unit_test(test_busy_ones_stay_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
