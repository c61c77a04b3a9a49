/* SPDX-License-Identifier: Apache-2.0
 *
 * Following, one trouble a test: rotation, truncation, holes, links, folders,
 * limits, resuming; with real events where they matter.
 */
#include "cleanup.h"
#include "follow.h"
#include "permission.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>
/* needs cmocka */
#include "test-tempdir.h"

#define MAX_LINE 1000u
#define WAIT_MS 10000 /* limit of a wait, never what is waited for */

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

static struct follow_args
args_of(void)
{
    return (struct follow_args){
        .max_targets = 100, .max_line = MAX_LINE, .rest_ms = -1};
}

static void
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

static void
end(struct reader *r)
{
    follow_free(r->f);
    free(r->buffer);
    buf_fini(&r->lines);
    buf_fini(&r->notes);
}

static void
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
static bool
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

static void
look(struct reader *r)
{
    struct error err = ERROR_INIT;

    assert_int_equal(follow_reconcile(r->f, &err), DT_OK);
}

static void
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
static void
expect_lines(struct reader *r, const char *want)
{
    assert_int_equal(buf_append(&r->lines, "", 1), DT_OK);
    assert_string_equal(r->lines.data, want);
    r->lines.len = 0;
}

static void
expect_note(struct reader *r, const char *want)
{
    assert_int_equal(buf_append(&r->notes, "", 1), DT_OK);
    if (*want ? !strstr(r->notes.data, want) : r->notes.data[0]) {
        print_error("\"%s\" in \"%s\"\n", want, r->notes.data);
        assert_true(false);
    }
    r->notes.len = 0;
}

static void
put(const char *path, const char *text)
{
    tempdir_append(path, text, strlen(text));
}

static void
wait_for_clock(void)
{
    struct timespec first, now;

    clock_gettime(CLOCK_REALTIME_COARSE, &first);
    do {
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
    } while (now.tv_nsec == first.tv_nsec && now.tv_sec == first.tv_sec);
}

/* ---- where it begins ---- */

static void
test_begins_at_end(void **state)
{
    struct reader r;

    (void)state;
    put("log", "old\nhalf");
    begin(&r, "log", args_of());
    read_all(&r);
    expect_lines(&r, "");
    assert_int_equal(r.nr_sources, 1); /* told before the first line */
    assert_int_equal(r.at.offset, 8);
    put("log", " a line\nnew\n\nhel");
    read_all(&r);
    expect_lines(&r, " a line\nnew\n\n");
    put("log", "d\n");
    read_all(&r);
    expect_lines(&r, "held\n");
    assert_int_equal(r.at.offset, 26);
    expect_note(&r, "");
    end(&r);
}

static void
test_begins_lines_before(void **state)
{
    static const char *const want[] = {
        "", "half", "3\nhalf", "2\n3\nhalf", "1\n2\n3\nhalf", "1\n2\n3\nhalf"};
    struct buf big = {0};
    struct reader r;

    (void)state;
    put("log", "1\n2\n3\nhalf");
    for (uint64_t n = 1; n < 6; n++) {
        struct follow_args args = args_of();
        char line[32];

        args.last_lines = n;
        begin(&r, "log", args);
        put("log", "\n");
        read_all(&r);
        snprintf(line, sizeof(line), "%s\n", want[n]);
        expect_lines(&r, line);
        end(&r);
        assert_int_equal(truncate("log", 10), 0);
    }
    for (int i = 0; i < 30000; i++) { /* over several chunks */
        buf_printf(&big, "line %d\n", i);
    }
    tempdir_write("log", big.data, big.len);
    struct follow_args args = args_of();

    args.last_lines = 20000;
    begin(&r, "log", args);
    read_all(&r);
    assert_memory_equal(r.lines.data, "line 10000\n", 11);
    assert_int_equal(r.at.offset, big.len);
    end(&r);
    buf_fini(&big);
}

static void
test_new_file_from_its_start(void **state)
{
    struct reader r;

    (void)state;
    begin(&r, "*.log", args_of());
    read_all(&r);
    expect_note(&r, "Unable to read file(s), check server logs|*.log");
    put("a.log", "\xef\xbb\xbf"
                 "first\nsecond\n"); /* the mark is no text */
    read_all(&r);
    expect_lines(&r, "first\nsecond\n");
    put("b.log", "other\n");
    read_all(&r);
    expect_lines(&r, "other\n");
    expect_note(&r, ""); /* once a change of state */
    assert_int_equal(follow_nr_sources(r.f), 2);
    end(&r);
}

static void
test_long_lines(void **state)
{
    char text[MAX_LINE * 2 + 2];
    struct reader r;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    memset(text, 'x', sizeof(text));
    tempdir_append("log", text, MAX_LINE); /* may still end in a newline */
    read_all(&r);
    expect_lines(&r, "");
    tempdir_append("log", text, 5);
    read_all(&r);
    assert_int_equal(r.lines.len, MAX_LINE + 1);
    assert_int_equal(r.lines.data[MAX_LINE], '~');
    r.lines.len = 0;
    put("log", "\n");
    read_all(&r);
    expect_lines(&r, "xxxxx\n");
    end(&r);
}

/* ---- rotation ---- */

static void
test_rotated(void **state)
{
    struct reader r;

    (void)state;
    put("log", "before\n");
    begin(&r, "log", args_of());
    read_all(&r);
    put("log", "1\n");
    assert_int_equal(rename("log", "log.1"), 0);
    put("log.1", "2\n"); /* the writer has not noticed */
    put("log", "");
    read_all(&r);
    expect_lines(&r, "1\n2\n");
    put("log.1", "3\n");
    read_all(&r);
    expect_lines(&r, "3\n");
    assert_int_equal(r.generation, 0);
    put("log.1", "4\n5 torn");
    put("log", "6\n");
    read_all(&r);
    expect_lines(&r, "4\n5 torn~6\n");
    assert_int_equal(r.generation, 1);
    put("log.1", " late\n"); /* another writer */
    put("log", "7\n");
    read_all(&r);
    expect_lines(&r, "7\n late\n");
    assert_int_equal(r.generation, 0);
    expect_note(&r, "");
    end(&r);
}

static void
test_rotated_twice_unseen(void **state)
{
    struct reader r;

    (void)state;
    put("app.log", "");
    begin(&r, "app.log", args_of());
    read_all(&r);
    put("app.log", "1\n");
    wait_for_clock();
    for (int i = 2; i < 5; i++) {
        char text[16], name[48];

        snprintf(name, sizeof(name), "app-2026-11-%02d.log", i);
        assert_int_equal(rename("app.log", name), 0);
        snprintf(text, sizeof(text), "%d\n", i);
        put("app.log", text);
        wait_for_clock();
    }
    put("app.log.gz", "\x1f\x8b\x08 not meant\n");
    put("app.log.orig", "not meant\n");
    put("apple-1.log", "not meant\n");
    read_all(&r);
    expect_lines(&r, "1\n2\n3\n4\n");
    expect_note(&r, "");
    end(&r);
}

/* A glob that matches rotated files too gives nothing twice. */
static void
test_glob_of_rotated(void **state)
{
    static const int64_t late[] = {-1, 0};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct follow_args args = args_of();
        struct reader r;

        args.late_ms = late[i];
        put("log", "");
        begin(&r, "log*", args);
        read_all(&r);
        for (int n = 0; n < 5; n++) {
            put("log", "a\n");
            rename("log.2", "log.3");
            rename("log.1", "log.2");
            rename("log", "log.1");
            put("log", "b\n");
            read_all(&r);
            expect_lines(&r, "a\nb\n");
        }
        put("log.1", "late\n");
        read_all(&r);
        expect_lines(&r, "late\n");
        expect_note(&r, "");
        end(&r);
        unlink("log");
        unlink("log.1");
        unlink("log.2");
        unlink("log.3");
    }
}

static void
test_recreated(void **state)
{
    struct reader r;

    (void)state;
    assert_int_equal(mkdir("d", 0700), 0);
    put("d/log", "");
    begin(&r, "d/log", args_of());
    read_all(&r);
    put("d/log", "1\n");
    assert_int_equal(unlink("d/log"), 0);
    read_all(&r);
    expect_lines(&r, "1\n");
    put("d/log", "2\n");
    read_all(&r);
    expect_lines(&r, "2\n");
    put("d/log", "3\n");
    assert_int_equal(rename("d", "e") | mkdir("d", 0700), 0);
    put("d/log", "4\n");
    read_all(&r);
    expect_lines(&r, "3\n4\n");
    put("d/log", "5\n");
    read_all(&r);
    expect_lines(&r, "5\n");
    end(&r);
}

static void
test_link_switched(void **state)
{
    struct reader r;

    (void)state;
    put("a", "old\n");
    assert_int_equal(symlink("a", "log"), 0);
    begin(&r, "log", args_of());
    read_all(&r);
    put("a", "1\n");
    put("b", "2\n");
    assert_int_equal(symlink("b", "new") | rename("new", "log"), 0);
    read_all(&r);
    expect_lines(&r, "1\n2\n");
    end(&r);
}

static void
test_replaced_by_what_is_no_log(void **state)
{
    struct reader r;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    put("log", "1\n");
    assert_int_equal(unlink("log") | mkfifo("log", 0600), 0);
    read_all(&r); /* and does not hang */
    expect_lines(&r, "1\n");
    expect_note(&r, "Unable to read file(s), check server logs|log\n");
    read_all(&r);
    expect_note(&r, "");
    assert_int_equal(unlink("log") | mkdir("log", 0700), 0);
    read_all(&r);
    assert_int_equal(rmdir("log"), 0);
    put("log", "\x1f\x8b\x08 compressed\n");
    read_all(&r);
    expect_lines(&r, "");
    expect_note(&r, "");
    assert_int_equal(unlink("log"), 0);
    put("log", "2\n");
    read_all(&r);
    expect_lines(&r, "2\n");
    end(&r);
}

static void
test_permission_is_checked_again(void **state)
{
    struct permission *p = NULL;
    struct follow_args args = args_of();
    struct error err = ERROR_INIT;
    char *rule = NULL;
    struct reader r;

    assert_true(asprintf(&rule, "^%s/allowed", (char *)*state) > 0);
    assert_int_equal(permission_new("u", &(struct strv){.v = &rule, .nr = 1},
                                    false, &p, &err),
                     DT_OK);
    free(rule);
    args.permission = p;
    put("allowed", "");
    put("secret", "secret\n");
    assert_int_equal(symlink("allowed", "log"), 0);
    begin(&r, "log", args);
    read_all(&r);
    put("allowed", "1\n");
    assert_int_equal(symlink("secret", "new") | rename("new", "log"), 0);
    put("secret", "secret\n");
    read_all(&r);
    expect_lines(&r, "1\n");
    expect_note(&r, "Unable to read file(s), check server logs|log\n");
    put("allowed2", "2\n");
    assert_int_equal(symlink("allowed2", "new") | rename("new", "log"), 0);
    read_all(&r);
    expect_lines(&r, "2\n");
    expect_note(&r, "");
    end(&r);
    permission_free(p);
}

/* ---- truncation ---- */

static void
test_truncated(void **state)
{
    struct reader r;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    put("log", "1\n2 torn");
    read_all(&r);
    assert_int_equal(truncate("log", 0), 0);
    read_all(&r);
    expect_lines(&r, "1\n2 torn~");
    expect_note(&r, "log was truncated: what was written just before may be "
                    "lost\n");
    put("log", "3\n");
    look(&r); /* its size is known now */
    assert_int_equal(truncate("log", 0), 0);
    put("log", "4\n");
    read_all(&r);
    expect_lines(&r, "4\n");
    expect_note(&r, "log was truncated: at least 2 bytes that were not read "
                    "yet are lost\n");
    /* larger than before when somebody looks */
    tempdir_write("log", "5 is longer\n6\n", 14);
    read_all(&r);
    expect_lines(&r, "5 is longer\n6\n");
    expect_note(&r, "log was truncated");
    /* cut behind the position: nothing that was read comes again */
    put("log", "7\n8\n");
    while (r.lines.len < 4) {
        read_all(&r);
    }
    expect_lines(&r, "7\n8\n");
    put("log", "gone\n");
    look(&r);
    assert_int_equal(truncate("log", 18), 0);
    put("log", "9\n");
    read_all(&r);
    expect_lines(&r, "9\n");
    expect_note(&r, "");
    end(&r);
}

/* What a lagging reader had not read comes from the copy. */
static void
test_copied_and_truncated(void **state)
{
    struct reader r;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    put("log", "1\n");
    read_all(&r);
    put("log", "2\n3 half");
    look(&r);
    tempdir_write("log.1", "1\n2\n3 half", 10);
    tempdir_write("log", "4\n", 2);
    read_all(&r);
    expect_lines(&r, "2\n3 half~4\n");
    expect_note(&r, "");
    assert_int_equal(rename("log.1", "log.2"), 0);
    tempdir_write("log.1", "4\n", 2);
    tempdir_write("log", "5\n", 2);
    read_all(&r);
    expect_lines(&r, "5\n");
    end(&r);
}

/* ---- NUL bytes ---- */

static void
test_hole(void **state)
{
    struct reader r;
    int fd;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    fd = open("log", O_WRONLY | O_CLOEXEC); /* does not append */
    assert_int_equal(write(fd, "1\n", 2), 2);
    read_all(&r);
    expect_lines(&r, "1\n");
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, "2\n3\0\n", 5, 5ll << 30), 5);
    read_all(&r);
    /* a single NUL is text */
    assert_int_equal(r.lines.len, 5);
    assert_memory_equal(r.lines.data, "2\n3\0\n", 5);
    r.lines.len = 0;
    expect_note(&r, "log: 5368709120 NUL bytes at byte 0 passed over\n");
    close(fd);
    end(&r);
}

/* Space that is allocated in advance is not a hole: it will be filled. */
static void
test_allocated_in_advance(void **state)
{
    struct reader r;
    int fd;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    fd = open("log", O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, 100000), 0);
    read_all(&r);
    assert_int_equal(pwrite(fd, "1\n2", 3, 0), 3);
    read_all(&r);
    expect_lines(&r, "1\n");
    assert_int_equal(pwrite(fd, "2\n3\n", 4, 2), 4);
    read_all(&r);
    expect_lines(&r, "2\n3\n");
    expect_note(&r, "");
    close(fd);
    end(&r);
}

/* ---- lagging ---- */

static void
test_held_up_to_a_limit(void **state)
{
    struct follow_args args = args_of();
    struct buf text = {0};
    struct reader r;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        buf_printf(&text, "%07d\n", i);
    }
    put("log", "");
    args.max_held_bytes = 20000;
    begin(&r, "log", args);
    read_all(&r);
    for (int i = 1; i <= 4; i++) { /* 8000 bytes each, nobody reads */
        char name[32];

        tempdir_write("log", text.data, text.len);
        snprintf(name, sizeof(name), "old%d", i);
        assert_int_equal(rename("log", name), 0);
        put("log", "");
        look(&r);
    }
    put("log", "last\n");
    while (step(&r)) {
    }
    read_all(&r);
    assert_int_equal(r.lines.len, 2 * text.len + 5);
    assert_memory_equal(r.lines.data, text.data, text.len);
    assert_memory_equal(r.lines.data + text.len, text.data, text.len);
    assert_memory_equal(r.lines.data + 2 * text.len, "last\n", 5);
    r.notes.data[r.notes.len] = '\0';
    assert_int_equal(strncmp(r.notes.data, "8000 bytes in log given up", 26),
                     0);
    assert_non_null(strstr(r.notes.data + 26, "\n8000 bytes in log given up"));
    end(&r);
    buf_fini(&text);
}

/* A file that was opened once is read to its end, whatever became of its
 * name, although nothing was read when it was rotated. */
static void
test_nothing_is_lost_while_lagging(void **state)
{
    struct reader r;
    struct buf want = {0};

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    look(&r);
    for (int i = 0; i < 20; i++) {
        char text[32], name[32];

        snprintf(text, sizeof(text), "line %d\n", i);
        snprintf(name, sizeof(name), "elsewhere%d", i);
        put("log", text);
        buf_puts(&want, text);
        assert_int_equal(rename("log", name), 0);
        put("log", "");
        look(&r);
        unlink(name);
    }
    put("log", "end\n");
    buf_append(&want, "end\n", 5);
    read_all(&r);
    expect_lines(&r, want.data);
    expect_note(&r, "");
    end(&r);
    buf_fini(&want);
}

/* ---- resuming ---- */

/* Follows until "1\n" was read and stops there. */
static struct follow_resume
stop_behind_one(char *fingerprint)
{
    struct reader r;
    struct follow_resume at;

    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    put("log", "1\n");
    read_all(&r);
    expect_lines(&r, "1\n");
    at = r.at;
    at.path = "log";
    strcpy(fingerprint, r.fingerprint);
    at.fingerprint = fingerprint;
    end(&r);
    wait_for_clock();
    return at;
}

static void
expect_resumed(const struct follow_resume *at, const char *lines,
               const char *note)
{
    struct follow_args args = args_of();
    struct reader r;

    args.resume = at;
    args.nr_resume = 1;
    begin(&r, "log", args);
    read_all(&r);
    expect_lines(&r, lines);
    expect_note(&r, note);
    end(&r);
}

static void
test_resumed(void **state)
{
    char fingerprint[FOLLOW_FINGERPRINT_MAX];
    struct follow_resume at = stop_behind_one(fingerprint);

    (void)state;
    assert_true(fingerprint[0]);
    assert_int_equal(at.offset, 2);
    put("log", "2\n");
    expect_resumed(&at, "2\n", "");
}

static void
test_resumed_after_rotations(void **state)
{
    char fingerprint[FOLLOW_FINGERPRINT_MAX];
    struct follow_resume at;

    (void)state;
    put("log.7", "archive\n");
    wait_for_clock();
    at = stop_behind_one(fingerprint);
    put("log", "2\n");
    for (int i = 3; i < 6; i++) {
        char text[32];

        rename("log.2", "log.3");
        rename("log.1", "log.2");
        assert_int_equal(rename("log", "log.1"), 0);
        snprintf(text, sizeof(text), "%d\n", i);
        put("log", text);
        wait_for_clock();
    }
    expect_resumed(&at, "2\n3\n4\n5\n", "");
}

static void
test_resumed_after_truncation(void **state)
{
    char fingerprint[FOLLOW_FINGERPRINT_MAX];
    struct follow_resume at = stop_behind_one(fingerprint);

    (void)state;
    tempdir_write("log", "3\n4\n", 4);
    expect_resumed(&at, "3\n4\n",
                   "log was truncated meanwhile: what it had behind byte 2 is "
                   "lost\n");
    tempdir_write("log.1", "1\n2\n", 4); /* but there is a copy */
    expect_resumed(&at, "2\n3\n4\n", "");
}

static void
test_resumed_when_gone(void **state)
{
    char fingerprint[FOLLOW_FINGERPRINT_MAX];
    struct follow_resume at = stop_behind_one(fingerprint);

    (void)state;
    put("log", "2\n");
    assert_int_equal(rename("log", "elsewhere"), 0);
    put("log", "3\n");
    expect_resumed(&at, "3\n",
                   "log was replaced meanwhile: what it had behind byte 2 is "
                   "lost\n");
}

/* ---- events ---- */

static void
wait_for(struct reader *r)
{
    struct pollfd p = {.fd = follow_fd(r->f), .events = POLLIN};

    assert_int_equal(poll(&p, 1, WAIT_MS), 1);
}

static void
wait_for_lines(struct reader *r, const char *want)
{
    while (r->lines.len < strlen(want)) {
        if (!step(r)) {
            wait_for(r);
        }
    }
    expect_lines(r, want);
}

static void
follow_by_itself(bool no_events)
{
    struct follow_args args = args_of();
    struct reader r;

    args.no_events = no_events;
    put("log", "");
    begin(&r, "log", args);
    while (step(&r)) {
    }
    put("log", "1\n");
    wait_for_lines(&r, "1\n");
    assert_int_equal(rename("log", "log.1"), 0);
    put("log", "2\n");
    wait_for_lines(&r, "2\n");
    assert_int_equal(truncate("log", 0), 0);
    put("log", "3 and more\n");
    wait_for_lines(&r, "3 and more\n");
    assert_int_equal(unlink("log"), 0);
    put("log", "4\n");
    wait_for_lines(&r, "4\n");
    end(&r);
    unlink("log");
    unlink("log.1");
}

static void
test_events(void **state)
{
    (void)state;
    follow_by_itself(false);
}

static void
test_polling(void **state)
{
    (void)state;
    follow_by_itself(true);
}

/* In a user namespace with room for no watch: polled, and told once. */
static int
without_watches(const char *limit, const char *name)
{
    struct reader r;
    int fd;

    if (unshare(CLONE_NEWUSER) < 0 ||
        (fd = open(limit, O_WRONLY | O_CLOEXEC)) < 0 ||
        write(fd, "0\n", 2) != 2) {
        return 77;
    }
    close(fd);
    begin(&r, "log*", args_of());
    while (step(&r)) {
    }
    expect_note(&r, name);
    put("log1", "1\n");
    wait_for_lines(&r, "1\n");
    put("log2", "2\n");
    wait_for_lines(&r, "2\n");
    expect_note(&r, "");
    end(&r);
    return 0;
}

static void
expect_polled(const char *limit, const char *name)
{
    int status = -1;
    pid_t child;

    put("log1", "");
    put("log2", "");
    child = fork();
    if (child == 0) {
        _exit(without_watches(limit, name));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        skip();
    }
    assert_int_equal(status, 0);
}

static void
test_no_watches_left(void **state)
{
    (void)state;
    expect_polled("/proc/sys/user/max_inotify_watches",
                  "limit fs.inotify.max_user_watches");
}

static void
test_no_instances_left(void **state)
{
    (void)state;
    expect_polled("/proc/sys/user/max_inotify_instances",
                  "limit fs.inotify.max_user_instances");
}

/* ---- limits ---- */

/* Without a free descriptor, what waits for late lines makes room. */
static void
test_no_descriptors_left(void **state)
{
    struct rlimit saved, low;
    struct reader r;
    int used[32];
    size_t nr = 0;

    (void)state;
    put("log", "");
    begin(&r, "log", args_of());
    read_all(&r);
    put("log", "1\n");
    assert_int_equal(rename("log", "log.1"), 0);
    put("log", "2\n");
    read_all(&r);
    expect_lines(&r, "1\n2\n");
    put("log", "3\n");
    assert_int_equal(rename("log", "log.2"), 0);
    put("log", "4\n");
    do { /* all but the last */
        assert_true(nr < 32);
        used[nr] = dup(STDERR_FILENO);
    } while (used[nr++] < 20);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &saved), 0);
    low = saved;
    low.rlim_cur = (rlim_t)used[--nr] + 1;
    close(used[nr]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    read_all(&r);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &saved), 0);
    while (nr > 0) {
        close(used[--nr]);
    }
    expect_lines(&r, "3\n4\n");
    expect_note(&r, "");
    end(&r);
}

static void
test_limits(void **state)
{
    struct follow_args args = args_of();
    struct error err = ERROR_INIT;
    struct follow_event ev;
    struct follow *f = NULL;
    struct reader r;
    char *bad = (char *)"[";

    (void)state;
    args.patterns = &(struct strv){.v = &bad, .nr = 1};
    assert_int_equal(follow_new(&args, &f, &err), DT_ERR_INVAL);
    args.patterns = &(struct strv){0};
    assert_int_equal(follow_new(&args, &f, &err), DT_ERR_INVAL);
    assert_null(f);
    follow_free(NULL);
    args.max_targets = 2;
    put("a", "");
    put("b", "");
    put("c", "");
    begin(&r, "*", args);
    read_all(&r);
    assert_int_equal(follow_nr_sources(r.f), 2);
    expect_note(&r, "Glob expansion exceeded server limit, only first targets "
                    "served|limit|2|matched|3\n");
    read_all(&r);
    expect_note(&r, "");
    assert_int_equal(follow_next(r.f, r.buffer, MAX_LINE, &ev, &err),
                     DT_ERR_INVAL);
    end(&r);
}

#define IN_TEMPDIR(f) \
    cmocka_unit_test_setup_teardown(f, tempdir_enter, tempdir_leave)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMPDIR(test_begins_at_end),
        IN_TEMPDIR(test_begins_lines_before),
        IN_TEMPDIR(test_new_file_from_its_start),
        IN_TEMPDIR(test_long_lines),
        IN_TEMPDIR(test_rotated),
        IN_TEMPDIR(test_rotated_twice_unseen),
        IN_TEMPDIR(test_glob_of_rotated),
        IN_TEMPDIR(test_recreated),
        IN_TEMPDIR(test_link_switched),
        IN_TEMPDIR(test_replaced_by_what_is_no_log),
        IN_TEMPDIR(test_permission_is_checked_again),
        IN_TEMPDIR(test_truncated),
        IN_TEMPDIR(test_copied_and_truncated),
        IN_TEMPDIR(test_hole),
        IN_TEMPDIR(test_allocated_in_advance),
        IN_TEMPDIR(test_held_up_to_a_limit),
        IN_TEMPDIR(test_nothing_is_lost_while_lagging),
        IN_TEMPDIR(test_resumed),
        IN_TEMPDIR(test_resumed_after_rotations),
        IN_TEMPDIR(test_resumed_after_truncation),
        IN_TEMPDIR(test_resumed_when_gone),
        IN_TEMPDIR(test_events),
        IN_TEMPDIR(test_polling),
        IN_TEMPDIR(test_no_watches_left),
        IN_TEMPDIR(test_no_instances_left),
        IN_TEMPDIR(test_no_descriptors_left),
        IN_TEMPDIR(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
