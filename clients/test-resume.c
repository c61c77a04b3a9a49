/* SPDX-License-Identifier: Apache-2.0
 *
 * Where following goes on: by the frames of a session, what the next asks for.
 */
#include "resume.h"

#include <buf.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void
source_with(struct resume *r, uint32_t id, const char *path,
            uint32_t generation, uint64_t offset, const char *fingerprint)
{
    const struct source_desc d = {.name = (char *)(uintptr_t) "name",
                                  .name_len = 4,
                                  .path = (char *)(uintptr_t)path,
                                  .generation = generation,
                                  .dev = 7,
                                  .ino = 100 + generation,
                                  .fingerprint = (char *)(uintptr_t)fingerprint,
                                  .offset = offset};
    struct buf json = {0};
    struct wire_frame f = {.type = WIRE_S_SOURCE, .source = id};

    assert_int_equal(source_desc_format(&d, &json), DT_OK);
    f.data = json.data;
    f.len = json.len;
    assert_int_equal(resume_frame(r, &f), DT_OK);
    buf_fini(&json);
}

static void
source(struct resume *r, uint32_t id, const char *path, uint32_t generation,
       uint64_t offset)
{
    source_with(r, id, path, generation, offset, "4-abcd");
}

static void
lines(struct resume *r, uint32_t id, uint32_t generation, uint64_t offset,
      const char *data)
{
    const struct wire_frame f = {.type = WIRE_S_LINES,
                                 .source = id,
                                 .generation = generation,
                                 .offset = offset,
                                 .data = data,
                                 .len = strlen(data)};

    assert_int_equal(resume_frame(r, &f), DT_OK);
}

static void
plugin_state(struct resume *r, uint32_t id, const char *text)
{
    const struct wire_frame f = {
        .type = WIRE_S_STATE, .source = id, .data = text, .len = strlen(text)};

    assert_int_equal(resume_frame(r, &f), DT_OK);
}

static void
settle(struct resume *r)
{
    const struct wire_frame f = {.type = WIRE_S_PROGRESS, .data = ""};

    assert_int_equal(resume_frame(r, &f), DT_OK);
}

/* The next session asks for that place of the path, in that file. */
static void
expect_place(const struct query_spec *spec, const char *path,
             uint32_t generation, uint64_t offset)
{
    for (size_t i = 0; i < spec->nr_resume; i++) {
        const struct source_desc *d = &spec->resume[i];

        if (strcmp(d->path, path) == 0) {
            assert_int_equal(d->dev, 7);
            assert_int_equal(d->ino, 100 + generation);
            assert_int_equal(d->offset, offset);
            return;
        }
    }
    fail_msg("no place of %s", path);
}

static struct query_spec
next_session(struct resume *r)
{
    struct query_spec spec = {.last_lines = 5};

    assert_int_equal(resume_end_session(r), DT_OK);
    assert_int_equal(resume_apply(r, &spec), DT_OK);
    return spec;
}

static void
end(struct resume *r, struct query_spec *spec)
{
    query_spec_fini(spec);
    resume_fini(r);
}

/* A place is where the lines end, or where the file begins without any. */
static void
test_positions(void **state)
{
    struct resume r = {0};
    struct query_spec spec;

    source(&r, 0, "/a", 1, 50);
    source(&r, 2, "/c", 1, 9);
    lines(&r, 0, 1, 60, "one\n");
    lines(&r, 0, 1, 75, "two\n");
    settle(&r);
    spec = next_session(&r);
    assert_int_equal(spec.nr_resume, 2);
    expect_place(&spec, "/a", 1, 75);
    expect_place(&spec, "/c", 1, 9);
    /* what appears while nobody is there is read whole */
    assert_true(spec.from_start);
    assert_int_equal(spec.last_lines, 0);
    end(&r, &spec);
    (void)state;
}

/* Without the end of the first look, other files may still be at their
 * beginning: they begin as the user wanted. */
static void
test_not_settled(void **state)
{
    struct resume r = {0};
    struct query_spec spec;

    source(&r, 0, "/a", 1, 50);
    spec = next_session(&r);
    assert_int_equal(spec.nr_resume, 1);
    expect_place(&spec, "/a", 1, 50);
    assert_false(spec.from_start);
    assert_int_equal(spec.last_lines, 5);
    end(&r, &spec);
    (void)state;
}

/* An empty frame moves the place although no line was selected. */
static void
test_marks(void **state)
{
    struct resume r = {0};
    struct query_spec spec;

    source(&r, 0, "/a", 1, 0);
    lines(&r, 0, 1, 70000, "");
    spec = next_session(&r);
    expect_place(&spec, "/a", 1, 70000);
    end(&r, &spec);
    (void)state;
}

static void
test_rotation(void **state)
{
    struct resume r = {0};
    struct query_spec spec;

    source(&r, 0, "/a", 1, 0);
    lines(&r, 0, 1, 40, "x\n");
    /* the next file alone does not move the place: the old one may have more */
    source(&r, 0, "/a", 2, 0);
    lines(&r, 0, 1, 55, "late\n");
    spec = next_session(&r);
    expect_place(&spec, "/a", 1, 55);
    query_spec_fini(&spec);

    /* the second session: numbers of sources and files begin anew */
    source(&r, 4, "/a", 1, 55);
    source(&r, 4, "/a", 2, 0);
    lines(&r, 4, 2, 10, "y\n");
    /* a late line of the old file does not take it back */
    lines(&r, 4, 1, 99, "late\n");
    spec = next_session(&r);
    assert_int_equal(spec.nr_resume, 1);
    expect_place(&spec, "/a", 2, 10);
    query_spec_fini(&spec);

    /* a session that ends before anything is known changes nothing */
    spec = next_session(&r);
    assert_int_equal(spec.nr_resume, 1);
    expect_place(&spec, "/a", 2, 10);
    end(&r, &spec);
    (void)state;
}

/* The same file is told again when more of its beginning is there to know it
 * by; its place stays where its lines end. */
static void
test_fingerprint_grows(void **state)
{
    struct resume r = {0};
    struct query_spec spec;

    source_with(&r, 0, "/a", 1, 0, "4-abcd");
    lines(&r, 0, 1, 2000, "x\n");
    source_with(&r, 0, "/a", 1, 1500, "1024-ef01");
    spec = next_session(&r);
    expect_place(&spec, "/a", 1, 2000);
    assert_string_equal(spec.resume[0].fingerprint, "1024-ef01");
    end(&r, &spec);
    (void)state;
}

/* The state of the plugin holds behind the lines that follow it, and stays
 * with the path: over rotations, and over sessions without a line. */
static void
test_states(void **state)
{
    struct resume r = {0};
    struct query_spec spec;

    source(&r, 0, "/a", 1, 0);
    plugin_state(&r, 0, "one");
    lines(&r, 0, 1, 40, "x\n");
    plugin_state(&r, 0, "two"); /* its lines were cut off */
    source(&r, 0, "/a", 2, 0);
    source_with(&r, 0, "/a", 1, 10, "10-beef");
    spec = next_session(&r);
    expect_place(&spec, "/a", 1, 40);
    assert_int_equal(spec.resume[0].state_len, 3);
    assert_memory_equal(spec.resume[0].state, "one", 3);
    query_spec_fini(&spec);

    source(&r, 1, "/a", 1, 40);
    spec = next_session(&r);
    assert_int_equal(spec.resume[0].state_len, 3);
    assert_memory_equal(spec.resume[0].state, "one", 3);
    query_spec_fini(&spec);

    source(&r, 1, "/a", 1, 40);
    source(&r, 1, "/a", 2, 0);
    plugin_state(&r, 1, "three");
    lines(&r, 1, 2, 5, "y\n");
    spec = next_session(&r);
    expect_place(&spec, "/a", 2, 5);
    assert_int_equal(spec.resume[0].state_len, 5);
    assert_memory_equal(spec.resume[0].state, "three", 5);
    end(&r, &spec);
    (void)state;
}

/* What does not belong to a followed source, or to no source at all. */
static void
test_strange_frames(void **state)
{
    static const char no_path[] = "{\"name\":\"x\"}";
    const struct wire_frame garbage = {
        .type = WIRE_S_SOURCE, .source = 1, .data = "{", .len = 1};
    const struct wire_frame plain = {.type = WIRE_S_SOURCE,
                                     .source = 1,
                                     .data = no_path,
                                     .len = sizeof(no_path) - 1};
    const struct wire_frame far = {.type = WIRE_S_LINES,
                                   .source = UINT32_MAX,
                                   .generation = 1,
                                   .data = ""};
    struct resume r = {0};
    struct query_spec spec;

    plugin_state(&r, UINT32_MAX, "of no source");
    assert_int_equal(resume_frame(&r, &garbage), DT_OK);
    assert_int_equal(resume_frame(&r, &plain), DT_OK);
    assert_int_equal(resume_frame(&r, &far), DT_OK);
    lines(&r, 1, 1, 10, "x\n");
    source(&r, 3, "/a", 1, 5);
    lines(&r, 2, 1, 10, "x\n");
    lines(&r, 3, 9, 10, "of a file that was not told\n");
    spec = next_session(&r);
    assert_int_equal(spec.nr_resume, 1);
    expect_place(&spec, "/a", 1, 5);
    end(&r, &spec);
    (void)state;
}

/* A number of a source is from outside: there is a limit. */
static void
test_far_source(void **state)
{
    const struct source_desc d = {.name = (char *)(uintptr_t) "x",
                                  .name_len = 1,
                                  .path = (char *)(uintptr_t) "/x",
                                  .generation = 1};
    struct wire_frame far = {.type = WIRE_S_SOURCE, .source = UINT32_MAX};
    struct buf json = {0};
    struct resume r = {0};

    assert_int_equal(source_desc_format(&d, &json), DT_OK);
    far.data = json.data;
    far.len = json.len;
    assert_int_equal(resume_frame(&r, &far), DT_ERR_NOMEM);
    buf_fini(&json);
    resume_fini(&r);
    (void)state;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_not_settled),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_fingerprint_grows),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_strange_frames),
        cmocka_unit_test(test_far_source),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
