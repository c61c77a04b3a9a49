/* SPDX-License-Identifier: Apache-2.0
 *
 * Read slots: first come, first served, and nothing is lost when a holder
 * goes. Registered keys as well: their order, age and number.
 */
#include "auth-cache.h"
#include "slots.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The number of the next grant that `h` is to be told of; 0: none. */
static uint32_t
tell(struct slots_holder *h)
{
    enum slots_pool pool;
    uint32_t id;

    if (!slots_untold(h, &id, &pool)) {
        return 0;
    }
    slots_told(h);
    return id;
}

static void
test_first_come_first_served(void **state)
{
    struct slots_table s;
    struct slots_holder a, b;

    (void)state;
    slots_init(&s);
    slots_set_limits(&s, 1, 1);
    slots_holder_init(&a);
    slots_holder_init(&b);
    assert_int_equal(slots_take(&s, &a, 1, SLOTS_CAT), DT_OK);
    assert_int_equal(slots_take(&s, &b, 1, SLOTS_CAT), DT_OK);
    assert_int_equal(slots_take(&s, &a, 2, SLOTS_CAT), DT_OK);
    assert_int_equal(tell(&a), 1);
    assert_int_equal(tell(&a), 0);
    assert_int_equal(tell(&b), 0);
    assert_int_equal(slots_give(&s, &a, 1, SLOTS_CAT), DT_OK);
    assert_int_equal(tell(&a), 0); /* b asked before a's second */
    assert_int_equal(tell(&b), 1);
    assert_int_equal(slots_give(&s, &b, 0, SLOTS_CAT), DT_OK);
    assert_int_equal(tell(&a), 2);
    slots_drop(&s, &a);
    slots_drop(&s, &b);
    assert_int_equal(s.used[SLOTS_CAT], 0);
    slots_fini(&s);
}

static void
test_pools_are_apart(void **state)
{
    struct slots_table s;
    struct slots_holder a;

    (void)state;
    slots_init(&s);
    slots_set_limits(&s, 1, 1);
    slots_holder_init(&a);
    slots_take(&s, &a, 1, SLOTS_CAT);
    slots_take(&s, &a, 2, SLOTS_TAIL);
    assert_int_equal(tell(&a), 1);
    assert_int_equal(tell(&a), 2);
    assert_int_equal(slots_give(&s, &a, 1, SLOTS_TAIL), DT_ERR_NOENT);
    assert_int_equal(slots_give(&s, &a, 7, SLOTS_CAT), DT_ERR_NOENT);
    slots_drop(&s, &a);
    assert_int_equal(slots_give(&s, &a, 0, SLOTS_CAT), DT_ERR_NOENT);
}

static void
test_holder_dies(void **state)
{
    struct slots_table s;
    struct slots_holder a, b;

    (void)state;
    slots_init(&s);
    slots_set_limits(&s, 2, 1);
    slots_holder_init(&a);
    slots_holder_init(&b);
    for (uint32_t i = 1; i <= 5; i++) { /* two held, three waiting */
        slots_take(&s, &a, i, SLOTS_CAT);
    }
    slots_take(&s, &b, 9, SLOTS_CAT);
    assert_int_equal(tell(&b), 0);
    slots_drop(&s, &a);
    assert_int_equal(a.nr, 0);
    assert_int_equal(tell(&b), 9);
    assert_int_equal(s.used[SLOTS_CAT], 1);
    slots_drop(&s, &b);
    assert_int_equal(s.used[SLOTS_CAT], 0);
    assert_true(TAILQ_EMPTY(&s.waiting[SLOTS_CAT]));
}

static void
test_waiter_leaves_and_limits_change(void **state)
{
    struct slots_table s;
    struct slots_holder a;

    (void)state;
    slots_init(&s);
    slots_set_limits(&s, 1, 1);
    slots_holder_init(&a);
    for (uint32_t i = 1; i <= 4; i++) {
        slots_take(&s, &a, i, SLOTS_CAT);
    }
    assert_int_equal(slots_give(&s, &a, 2, SLOTS_CAT), DT_OK); /* waited */
    slots_set_limits(&s, 3, 1);
    assert_int_equal(tell(&a), 1);
    assert_int_equal(tell(&a), 3);
    assert_int_equal(tell(&a), 4);
    slots_set_limits(&s, 1, 1);
    slots_take(&s, &a, 5, SLOTS_CAT);
    slots_give(&s, &a, 1, SLOTS_CAT);
    slots_give(&s, &a, 3, SLOTS_CAT);
    assert_int_equal(tell(&a), 0);
    slots_give(&s, &a, 4, SLOTS_CAT);
    assert_int_equal(tell(&a), 5);
    slots_drop(&s, &a);
}

static void
test_limit_per_holder(void **state)
{
    struct slots_table s;
    struct slots_holder a;

    (void)state;
    slots_init(&s);
    slots_holder_init(&a);
    for (uint32_t i = 1; i <= SLOTS_MAX_PER_HOLDER; i++) {
        assert_int_equal(slots_take(&s, &a, i, SLOTS_TAIL), DT_OK);
    }
    assert_int_equal(slots_take(&s, &a, 1, SLOTS_TAIL), DT_ERR_LIMIT);
    slots_drop(&s, &a);
    assert_int_equal(a.nr, 0);
}

/* ---- registered keys ---- */

static void
test_key_cache(void **state)
{
    const struct auth_cache_limits limits = {.ttl_seconds = 100,
                                             .max_per_user = 2};
    struct auth_cache c;

    (void)state;
    auth_cache_init(&c);
    assert_null(auth_cache_find(&c, &limits, "u", "k1", 0));
    assert_int_equal(auth_cache_add(&c, &limits, "u", "k1", "o", 0), DT_OK);
    assert_int_equal(auth_cache_add(&c, &limits, "u", "k2", "o", 10), DT_OK);
    assert_string_equal(auth_cache_find(&c, &limits, "u", "k1", 20), "o");
    assert_null(auth_cache_find(&c, &limits, "v", "k1", 20));
    /* renewed: now the youngest; the next pushes k2 out */
    assert_int_equal(auth_cache_add(&c, &limits, "u", "k1", "p", 30), DT_OK);
    assert_int_equal(auth_cache_add(&c, &limits, "u", "k3", "o", 40), DT_OK);
    assert_null(auth_cache_find(&c, &limits, "u", "k2", 40));
    assert_string_equal(auth_cache_find(&c, &limits, "u", "k1", 129), "p");
    assert_null(auth_cache_find(&c, &limits, "u", "k1", 130));
    assert_non_null(auth_cache_find(&c, &limits, "u", "k3", 130));
    assert_int_equal(c.nr, 1);
    auth_cache_fini(&c);
    assert_int_equal(c.nr, 0);
}

static void
test_key_cache_is_bounded(void **state)
{
    const struct auth_cache_limits limits = {1000, 1};
    struct auth_cache c;
    char user[32];

    (void)state;
    auth_cache_init(&c);
    for (unsigned i = 0; i < 10; i++) {
        snprintf(user, sizeof(user), "user%u", i);
        assert_int_equal(auth_cache_add(&c, &limits, user, "k", "o", 0), DT_OK);
    }
    c.nr = AUTH_CACHE_MAX_KEYS; /* as if there were so many */
    assert_int_equal(auth_cache_add(&c, &limits, "one more", "k", "o", 0),
                     DT_ERR_LIMIT);
    assert_int_equal(auth_cache_add(&c, &limits, "user3", "k2", "o", 0),
                     DT_OK); /* it replaces the user's oldest */
    auth_cache_fini(&c);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_come_first_served),
        cmocka_unit_test(test_pools_are_apart),
        cmocka_unit_test(test_holder_dies),
        cmocka_unit_test(test_waiter_leaves_and_limits_change),
        cmocka_unit_test(test_limit_per_holder),
        cmocka_unit_test(test_key_cache),
        cmocka_unit_test(test_key_cache_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
