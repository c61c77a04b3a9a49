/* SPDX-License-Identifier: Apache-2.0
 *
 * Context: the table of the specification, and random selections in random
 * blocks against the rules written down line by line.
 */
#include "context.h"

#include "test-random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MAX_LINES 64u

struct world {
    char text[MAX_LINES * 12 + BYTES_SLACK];
    size_t starts[MAX_LINES + 1];
    unsigned nr;
    bool is_selected[MAX_LINES];
    bool is_numbered;
    bool has_eol; /* the last line has a newline */
};

struct output {
    unsigned lines[MAX_LINES]; /* from 0 */
    unsigned nr;
    const struct world *w;
    int fail_at;  /* this emit fails; 0: none */
    int cut_at;   /* the session ends behind this emit; 0: never */
    size_t place; /* where another session goes on, */
    bool has_state;
    unsigned char state[CONTEXT_STATE_LEN]; /* in this state */
};

static void
keep_place(struct output *out, const struct dt_lines *l)
{
    assert_int_equal(l->state_len, CONTEXT_STATE_LEN);
    memcpy(out->state, l->state, CONTEXT_STATE_LEN);
    out->has_state = true;
    out->place = l->offset;
}

static void
make_world(struct world *w, unsigned nr)
{
    size_t len = 0;

    w->nr = nr;
    w->has_eol = true;
    for (unsigned i = 0; i < nr; i++) {
        w->starts[i] = len;
        len += (size_t)sprintf(w->text + len, "%u%s\n", i, i % 3 ? "" : "-xyz");
    }
    w->starts[nr] = len;
}

/* Every emitted run is whole lines of the text with the right numbers. */
static int
take(void *ctx, const struct dt_lines *l)
{
    struct output *out = ctx;
    const struct world *w = out->w;
    size_t at = 0;

    if (out->fail_at && --out->fail_at == 0) {
        return DT_ERR_CANCELLED;
    }
    assert_true(l->len > 0);
    for (unsigned nr = 0; at < l->len; nr++) {
        unsigned line = (unsigned)strtoul(l->data + at, NULL, 10);
        size_t len = w->starts[line + 1] - w->starts[line];

        assert_memory_equal(l->data + at, w->text + w->starts[line], len);
        if (w->is_numbered) {
            assert_int_equal(l->first_line + nr, line + 1);
        } else {
            assert_int_equal(l->first_line, 0);
            assert_int_equal(l->nr_lines, 0);
        }
        at += len;
        if (at == l->len) {
            assert_int_equal(l->offset, w->starts[line + 1]);
            assert_int_equal(l->flags & DT_BLOCK_NOEOL,
                             line + 1 == w->nr && !w->has_eol ? DT_BLOCK_NOEOL
                                                              : 0);
            if (w->is_numbered) {
                assert_int_equal(l->nr_lines, nr + 1);
            }
        }
        assert_true(out->nr < MAX_LINES);
        out->lines[out->nr++] = line;
    }
    keep_place(out, l);
    return out->cut_at && --out->cut_at == 0 ? DT_ERR_CANCELLED : DT_OK;
}

/* The rules, one line at a time. */
static void
by_rules(const struct world *w, const struct context_args *a,
         struct output *out)
{
    unsigned remembered[MAX_LINES], nr_remembered = 0;
    uint64_t hits = 0, owed = 0;
    bool stop_pending = false;

    out->nr = 0;
    for (unsigned i = 0; i < w->nr; i++) {
        if (w->is_selected[i]) {
            if (stop_pending) {
                return;
            }
            for (unsigned k = 0; k < nr_remembered; k++) {
                out->lines[out->nr++] = remembered[k];
            }
            nr_remembered = 0;
            out->lines[out->nr++] = i;
            if (a->max > 0 && ++hits >= a->max) {
                if (a->after == 0) {
                    return;
                }
                stop_pending = true;
            }
            owed = a->after;
        } else if (owed > 0) {
            owed--;
            out->lines[out->nr++] = i;
        } else if (a->before > 0) {
            remembered[nr_remembered++] = i;
            if (nr_remembered > a->before) {
                nr_remembered--;
                memmove(remembered, remembered + 1,
                        nr_remembered * sizeof(*remembered));
            }
        }
    }
}

/* Feeds the world in blocks of random lines, from where `out` says. */
static int
by_context(const struct world *w, const struct context_args *a, struct rng *r,
           struct output *out)
{
    struct context c = {.args = *a};
    unsigned first = 0, next;
    int status = DT_OK;

    if (out->has_state) {
        status = context_restore(&c, out->state, sizeof(out->state));
        while (w->starts[first] < out->place) {
            first++;
        }
    } else {
        out->nr = 0;
    }
    out->w = w;
    for (; first < w->nr && status == DT_OK; first = next) {
        size_t from = w->starts[first];
        struct run_cursor cursor;
        struct dt_block b = {.size = sizeof(b), .offset = from};
        unsigned end;

        next = first + 1 + rng_below(r, 10);
        next = next < w->nr ? next : w->nr;
        b.data = w->text + from;
        b.len = w->starts[next] - from;
        b.first_line = w->is_numbered ? first + 1 : 0;
        b.flags = next == w->nr && !w->has_eol ? DT_BLOCK_NOEOL : 0;
        run_cursor_init(&cursor, &b);
        for (unsigned i = first; i < next && status == DT_OK; i = end) {
            end = i + 1;
            while (end < next && w->is_selected[end] == w->is_selected[i] &&
                   rng_below(r, 5)) {
                end++;
            }
            status = context_feed(&c, &cursor, w->starts[i] - from,
                                  w->starts[end] - from, w->is_selected[i],
                                  take, out);
        }
        if (status == DT_OK) {
            status = context_end_block(&c, &cursor);
        }
        if (status == DT_OK && rng_below(r, 2)) {
            const struct dt_lines place = context_place(&c, &cursor);

            keep_place(out, &place);
        }
    }
    context_fini(&c);
    return status;
}

static const struct {
    struct context_args args;
    bool invert;
    const char *lines;
} table[] = {
    {{2, 1, 0}, false, "1 2 3 4 5 6 7 8 9 10 11 12 "},
    {{2, 0, 0}, false, "1 2 3 4 6 7 8 9 10 11 "},
    {{0, 2, 0}, false, "3 4 5 6 8 9 10 11 12 "},
    {{0, 0, 1}, false, "3 "},
    {{0, 3, 1}, false, "3 "},
    {{0, 1, 2}, false, "3 4 5 "},
    {{1, 3, 2}, false, "2 3 4 5 6 7 "},
    {{1, 0, 3}, false, "2 3 4 7 8 "},
    {{1, 0, 0}, true, "1 2 4 5 6 7 8 9 10 11 12 "},
    {{0, 2, 2}, true, "1 2 3 4 "},
};

static void
test_table(void **state)
{
    struct rng r = rng_new(41);
    struct world w = {.is_numbered = true};

    (void)state;
    make_world(&w, 12);
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        char text[100] = "";
        struct output out = {0};

        for (unsigned k = 0; k < 12; k++) {
            w.is_selected[k] =
                (k == 2 || k == 3 || k == 7 || k == 10) != table[i].invert;
        }
        by_context(&w, &table[i].args, &r, &out);
        for (unsigned k = 0; k < out.nr; k++) {
            sprintf(text + strlen(text), "%u ", out.lines[k] + 1);
        }
        assert_string_equal(text, table[i].lines);
    }
}

static void
test_random(void **state)
{
    struct rng r = rng_new(42);

    (void)state;
    for (unsigned long i = 0; i < test_effort(30000); i++) {
        struct context_args a = {rng_below(&r, 6), rng_below(&r, 6),
                                 rng_below(&r, 6)};
        struct world w = {.is_numbered = rng_below(&r, 2)};
        struct output want = {0}, got = {0};
        unsigned rarity = 1 + rng_below(&r, 8);

        make_world(&w, rng_below(&r, MAX_LINES + 1));
        if (w.nr && rng_below(&r, 3) == 0) {
            w.has_eol = false;
            w.starts[w.nr]--;
        }
        for (unsigned k = 0; k < w.nr; k++) {
            w.is_selected[k] = rng_below(&r, rarity) == 0;
        }
        by_rules(&w, &a, &want);
        by_context(&w, &a, &r, &got);
        assert_int_equal(got.nr, want.nr);
        assert_memory_equal(got.lines, want.lines, got.nr * sizeof(*got.lines));
    }
}

/* Sessions that end anywhere, each going on where the last one ended, give out
 * what one alone does. */
static void
test_resumed(void **state)
{
    struct rng r = rng_new(44);

    (void)state;
    for (unsigned long i = 0; i < test_effort(20000); i++) {
        struct context_args a = {rng_below(&r, 5), rng_below(&r, 5),
                                 rng_below(&r, 6)};
        struct world w = {.is_numbered = false};
        struct output want = {0}, got = {0};
        unsigned rarity = 1 + rng_below(&r, 8);

        make_world(&w, rng_below(&r, MAX_LINES + 1));
        for (unsigned k = 0; k < w.nr; k++) {
            w.is_selected[k] = rng_below(&r, rarity) == 0;
        }
        by_rules(&w, &a, &want);
        do {
            got.cut_at = 1 + (int)rng_below(&r, 4);
        } while (by_context(&w, &a, &r, &got) == DT_ERR_CANCELLED);
        assert_int_equal(got.nr, want.nr);
        assert_memory_equal(got.lines, want.lines, got.nr * sizeof(*got.lines));
    }
}

/* A state is from outside. */
static void
test_strange_states(void **state)
{
    struct context c = {.args = {0, 2, 3}};

    (void)state;
    assert_int_equal(context_restore(&c, "x", 1), DT_OK);
    assert_int_equal(c.hits, 0);
    assert_int_equal(context_restore(&c,
                                     "\xff\xff\xff\xff\xff\xff\xff\xff"
                                     "\xff\xff\xff\xff\xff\xff\xff\xff",
                                     CONTEXT_STATE_LEN),
                     DT_OK);
    assert_int_equal(c.owed, 2);
    assert_true(c.is_ending);
}

/* The read ends as soon as nothing more can be printed. */
static void
test_stops(void **state)
{
    struct rng r = rng_new(43);
    struct world w = {.is_numbered = true};
    struct output out = {0};
    struct context c = {.args = {0, 2, 1}};
    struct run_cursor cursor;
    struct dt_block b = {.size = sizeof(b), .data = w.text, .first_line = 1};

    (void)state;
    make_world(&w, 10);
    out.w = &w;
    b.len = w.starts[10];
    run_cursor_init(&cursor, &b);
    assert_int_equal(
        context_feed(&c, &cursor, 0, w.starts[1], true, take, &out), DT_OK);
    assert_int_equal(
        context_feed(&c, &cursor, w.starts[1], w.starts[2], false, take, &out),
        DT_OK);
    assert_int_equal(
        context_feed(&c, &cursor, w.starts[2], w.starts[9], false, take, &out),
        DT_STOP);
    assert_int_equal(out.nr, 3);
    context_fini(&c);
    /* an emit that fails ends it */
    w.is_selected[4] = true;
    out = (struct output){.fail_at = 1};
    assert_int_equal(by_context(&w, &(struct context_args){3, 0, 0}, &r, &out),
                     DT_ERR_CANCELLED);
    assert_int_equal(out.nr, 0);
}

static int
refuse(void *ctx, const struct dt_lines *l)
{
    (void)ctx;
    (void)l;
    fail();
    return DT_OK;
}

/* More than may be remembered is an error, not memory. */
static void
test_limit(void **state)
{
    const size_t len = 1u << 20;
    char *text = malloc(len + BYTES_SLACK);
    struct context c = {.args = {1000, 0, 0}};
    int status = DT_OK;
    size_t nr = 0;

    (void)state;
    assert_non_null(text);
    memset(text, 'x', len);
    text[len - 1] = '\n';
    while (status == DT_OK && nr < 200) {
        struct dt_block b = {.size = sizeof(b), .data = text, .len = len};
        struct run_cursor cursor;

        run_cursor_init(&cursor, &b);
        status = context_feed(&c, &cursor, 0, len, false, refuse, NULL);
        if (status == DT_OK) {
            status = context_end_block(&c, &cursor);
        }
        nr++;
    }
    assert_int_equal(status, DT_ERR_LIMIT);
    assert_int_equal(nr, CONTEXT_MAX_BYTES / len + 1);
    context_fini(&c);
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),   cmocka_unit_test(test_random),
        cmocka_unit_test(test_resumed), cmocka_unit_test(test_strange_states),
        cmocka_unit_test(test_stops),   cmocka_unit_test(test_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
