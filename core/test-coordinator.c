/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of core/coordinator.c are exactly those of the model, whose
 * STEP(FROM, TO) lines are read here.
 */
#include "cleanup.h"
#include "coordinator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool in_model[QUERY_NR_STATES][QUERY_NR_STATES];

static int
state_of(const char *name, size_t len)
{
    for (int s = 0; s < QUERY_NR_STATES; s++) {
        const char *other = query_state_name((enum query_state)s);

        if (strlen(other) == len && memcmp(other, name, len) == 0) {
            return s;
        }
    }
    return -1;
}

/* Marks the steps of a line of the model. The macro's own definition and the
 * comment name no states and give nothing. */
static size_t
read_line(const char *line)
{
    size_t nr = 0;

    while ((line = strstr(line, "STEP(")) != NULL) {
        const char *from = line + 5;
        size_t from_len = strcspn(from, ",)");
        const char *to = from + from_len + 2;
        int f, t;

        line = from;
        if (from[from_len] != ',' || from[from_len + 1] != ' ') {
            continue;
        }
        f = state_of(from, from_len);
        t = state_of(to, strcspn(to, ")"));
        if (f >= 0 && t >= 0) {
            in_model[f][t] = true;
            nr++;
        }
    }
    return nr;
}

static void
test_steps_are_those_of_the_model(void **state)
{
    CLEANUP_FILE FILE *model = fopen(MODEL_FILE, "r");
    char line[512];
    size_t nr = 0;

    (void)state;
    assert_non_null(model);
    while (fgets(line, sizeof(line), model)) {
        nr += read_line(line);
    }
    assert_true(nr >= 14);
    for (int f = 0; f < QUERY_NR_STATES; f++) {
        for (int t = 0; t < QUERY_NR_STATES; t++) {
            bool may =
                query_state_may((enum query_state)f, (enum query_state)t);

            if (may != in_model[f][t]) {
                fail_msg("%s -> %s: coordinator.c says %s, the model %s",
                         query_state_name((enum query_state)f),
                         query_state_name((enum query_state)t),
                         may ? "yes" : "no", in_model[f][t] ? "yes" : "no");
            }
        }
    }
}

static void
test_forward_only(void **state)
{
    (void)state;
    for (int s = QUERY_NEW; s <= QUERY_DONE; s++) {
        for (int t = QUERY_NEW; t <= s; t++) {
            assert_false(
                query_state_may((enum query_state)s, (enum query_state)t));
        }
    }
    for (int t = 0; t < QUERY_NR_STATES; t++) {
        assert_false(query_state_may(QUERY_DONE, (enum query_state)t));
    }
}

static void
test_no_such_state(void **state)
{
    (void)state;
    assert_false(query_state_may(QUERY_NR_STATES, QUERY_DONE));
    assert_false(query_state_may(QUERY_NEW, QUERY_NR_STATES));
    assert_string_equal(query_state_name(QUERY_NR_STATES), "?");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_are_those_of_the_model),
        cmocka_unit_test(test_forward_only),
        cmocka_unit_test(test_no_such_state),
    };

    return cmocka_run_group_tests_name("coordinator", tests, NULL, NULL);
}
