/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of following share: a follow in a temporary folder, and what
 * came out of it. To be included once, behind cmocka.h.
 */
#ifndef CORE_TEST_FOLLOW_READER_H
#define CORE_TEST_FOLLOW_READER_H

#include "follow.h"
#include "test-tempdir.h"

#include <time.h>

#define MAX_LINE 1000u

/* A follow and what came out of it so far. */
struct reader {
    struct follow *f;
    char *buffer;
    size_t cap;
    struct buf lines;        /* a piece without newline ends in "~" */
    struct buf notes;        /* one a line */
    unsigned nr_sources;     /* FOLLOW_SOURCE events */
    uint32_t generation;     /* of the last lines */
    struct follow_resume at; /* behind the last lines */
    char fingerprint[FOLLOW_FINGERPRINT_MAX];
};

static inline struct follow_args
args_of(void)
{
    return (struct follow_args){
        .max_targets = 100, .max_line = MAX_LINE, .rest_ms = -1};
}

static inline void
begin(struct reader *r, const char *pattern, struct follow_args args)
{
    char *v[1] = {(char *)pattern};
    struct strv patterns = {.v = v, .nr = 1};
    struct error err = ERROR_INIT;

    *r = (struct reader){.cap = follow_min_cap(MAX_LINE)};
    r->buffer = malloc(r->cap);
    assert_non_null(r->buffer);
    args.patterns = &patterns;
    if (follow_new(&args, &r->f, &err) != DT_OK) {
        print_error("%s\n", err.text);
    }
    assert_non_null(r->f);
}

static inline void
end(struct reader *r)
{
    follow_free(r->f);
    free(r->buffer);
    buf_fini(&r->lines);
    buf_fini(&r->notes);
}

static inline void
take(struct reader *r, const struct follow_event *ev)
{
    switch (ev->kind) {
    case FOLLOW_DATA:
        buf_append(&r->lines, ev->data, ev->len);
        if (ev->data[ev->len - 1] != '\n') {
            assert_true(ev->flags & (DT_BLOCK_NOEOL | DT_BLOCK_CUT));
            buf_puts(&r->lines, "~");
        }
        r->generation = ev->generation;
        r->at.dev = ev->dev;
        r->at.ino = ev->ino;
        r->at.offset = ev->offset + ev->len;
        break;
    case FOLLOW_SOURCE:
        r->nr_sources++;
        r->at = (struct follow_resume){.path = "log",
                                       .dev = ev->dev,
                                       .ino = ev->ino,
                                       .offset = ev->offset};
        snprintf(r->fingerprint, sizeof(r->fingerprint), "%s", ev->fingerprint);
        break;
    case FOLLOW_NOTE:
        buf_printf(&r->notes, "%s\n", ev->text);
        break;
    case FOLLOW_LOG:
        break;
    }
}

/* One event; false: there is none now. */
static inline bool
step(struct reader *r)
{
    struct follow_event ev;
    struct error err = ERROR_INIT;
    int status = follow_next(r->f, r->buffer, r->cap, &ev, &err);

    if (status == DT_AGAIN) {
        return false;
    }
    assert_int_equal(status, DT_OK);
    take(r, &ev);
    return true;
}

static inline void
look(struct reader *r)
{
    struct error err = ERROR_INIT;

    assert_int_equal(follow_reconcile(r->f, &err), DT_OK);
}

static inline void
read_all(struct reader *r)
{
    look(r);
    while (step(r)) {
    }
    look(r);
    while (step(r)) {
    }
}

/* Compares what came since the last time, and forgets it. */
static inline void
expect_lines(struct reader *r, const char *want)
{
    assert_int_equal(buf_append(&r->lines, "", 1), DT_OK);
    assert_string_equal(r->lines.data, want);
    r->lines.len = 0;
}

static inline void
expect_note(struct reader *r, const char *want)
{
    assert_int_equal(buf_append(&r->notes, "", 1), DT_OK);
    if (*want ? !strstr(r->notes.data, want) : r->notes.data[0]) {
        print_error("\"%s\" in \"%s\"\n", want, r->notes.data);
        assert_true(false);
    }
    r->notes.len = 0;
}

static inline void
put(const char *path, const char *text)
{
    tempdir_append(path, text, strlen(text));
}

#define IN_TEMPDIR(f) \
    cmocka_unit_test_setup_teardown(f, tempdir_enter, tempdir_leave)

#endif
