/* SPDX-License-Identifier: Apache-2.0
 *
 * Following against a model: random sequences of writing, partial writing,
 * rotating, truncating, deleting, switching links, pausing and reading. Every
 * line is numbered; each must come out once and in order, and only those may
 * be missing that were taken away before anybody could read them.
 *
 * A failure names its sequence: TEST_SEED=N begins with that one, and
 * TEST_TRACE=1 tells each step. TEST_EFFORT=N runs N times as many.
 */
#include "cleanup.h"
#include "follow.h"

#include <test-random.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>
/* needs cmocka */
#include "test-tempdir.h"

#define ROUNDS 1500
#define MAX_LINE 4096u
#define MAX_NUMBERS 4000u

enum fate {
    FATE_DUE = 1, /* written whole: must come out */
    FATE_MAYBE,   /* taken away before it was read: may come out */
    FATE_TORN,    /* its file ended without the newline: as it stands */
    FATE_TORN_MAYBE,
    FATE_OPEN /* not ended yet: must not come out */
};

struct model {
    struct rng random;
    uint64_t seed;
    struct follow *follow;
    char buffer[MAX_LINE * 16 + 65536];
    int fd; /* of the writer */
    bool is_appending;
    bool is_link; /* the path is a link */
    unsigned nr_rotated, nr_targets;
    unsigned nr;   /* lines begun, numbered from 1 */
    bool is_open;  /* the last one lacks its newline */
    unsigned next; /* no line below this may come out any more */
    bool is_seen[MAX_NUMBERS + 1];
    uint8_t fate[MAX_NUMBERS + 1];
    char torn[64];
    unsigned file_first; /* first line in the writer's file */
    bool is_traced;
    unsigned nr_done; /* ops */
    const char *log[600];
};

static unsigned
pick(struct model *m, unsigned limit)
{
    return rng_below(&m->random, limit);
}

/* ---- reading ---- */

static void
take_line(struct model *m, const char *line, size_t len, bool has_newline)
{
    unsigned nr = 0;
    char want[64];
    int n;

    assert_int_equal(sscanf(line, "%u ", &nr), 1);
    assert_true(nr >= 1 && nr <= m->nr);
    assert_false(m->is_seen[nr]);
    assert_true(nr >= m->next); /* in order */
    m->is_seen[nr] = true;
    m->next = nr + 1;
    n = snprintf(want, sizeof(want), "%u line of the log", nr);
    if (has_newline) {
        assert_true(m->fate[nr] == FATE_DUE || m->fate[nr] == FATE_MAYBE);
        assert_int_equal(len, n);
    } else {
        /* what was seen of a line that was taken away is a torn one too */
        assert_true(m->fate[nr] == FATE_TORN ||
                    m->fate[nr] == FATE_TORN_MAYBE ||
                    m->fate[nr] == FATE_MAYBE);
        assert_true(len <= (size_t)n);
    }
    assert_memory_equal(line, want, len);
}

static void
take_event(struct model *m, const struct follow_event *ev)
{
    const char *p = ev->data, *end;

    if (m->is_traced) {
        fprintf(stderr, "#   kind %d generation %u ino %llu at %llu: %.*s%s\n",
                ev->kind, ev->generation, (unsigned long long)ev->ino,
                (unsigned long long)ev->offset, (int)ev->len,
                ev->data ? ev->data : "", ev->text ? ev->text : "");
    }
    if (ev->kind != FOLLOW_DATA) {
        return;
    }
    assert_true(ev->len > 0);
    end = p + ev->len;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));

        assert_true(nl || (ev->flags & DT_BLOCK_NOEOL));
        take_line(m, p, (size_t)((nl ? nl : end) - p), nl != NULL);
        p = nl ? nl + 1 : end;
    }
}

/* At most `limit` events. False: there was no more. */
static bool
read_some(struct model *m, unsigned limit)
{
    struct follow_event ev;
    struct error err = ERROR_INIT;

    for (unsigned i = 0; i < limit; i++) {
        int status =
            follow_next(m->follow, m->buffer, sizeof(m->buffer), &ev, &err);

        if (status == DT_AGAIN) {
            return false;
        }
        assert_int_equal(status, DT_OK);
        take_event(m, &ev);
    }
    return true;
}

static void
read_all(struct model *m)
{
    struct error err = ERROR_INIT;

    do {
        assert_int_equal(follow_reconcile(m->follow, &err), DT_OK);
        while (read_some(m, 1000)) {
        }
        /* twice: what was opened only now has been read once */
        assert_int_equal(follow_reconcile(m->follow, &err), DT_OK);
    } while (read_some(m, 1));
}

/* ---- writing ---- */

static const char *
path_of_target(const struct model *m)
{
    static char path[32];

    snprintf(path, sizeof(path), m->is_link ? "target%u" : "log",
             m->nr_targets);
    return path;
}

static void
open_writer(struct model *m, const char *path)
{
    if (m->fd >= 0) {
        close(m->fd);
    }
    m->fd = open(
        path, O_WRONLY | O_CREAT | O_CLOEXEC | (m->is_appending ? O_APPEND : 0),
        0644);
    assert_true(m->fd >= 0);
    m->file_first = m->nr + 1;
}

static void
write_text(struct model *m, const char *text, size_t len)
{
    assert_int_equal(write(m->fd, text, len), len);
}

static void
write_lines(struct model *m, unsigned nr)
{
    char line[64];
    int len;

    if (m->is_open) { /* ends the begun one first */
        len = snprintf(line, sizeof(line), "%u line of the log\n", m->nr);
        write_text(m, line + strlen(m->torn), (size_t)len - strlen(m->torn));
        m->fate[m->nr] = FATE_DUE;
        m->is_open = false;
        nr--;
    }
    for (unsigned i = 0; i < nr; i++) {
        m->fate[++m->nr] = FATE_DUE;
        len = snprintf(line, sizeof(line), "%u line of the log\n", m->nr);
        write_text(m, line, (size_t)len);
    }
}

static void
begin_line(struct model *m)
{
    size_t len;

    if (m->is_open) {
        return;
    }
    m->fate[++m->nr] = FATE_OPEN;
    m->is_open = true;
    len =
        (size_t)snprintf(m->torn, sizeof(m->torn), "%u line of the log", m->nr);
    len -= pick(m, 12);
    m->torn[len] = '\0';
    write_text(m, m->torn, len);
}

/* The begun line will never be ended. */
static void
tear(struct model *m, bool is_certain)
{
    if (m->is_open) {
        m->fate[m->nr] = is_certain ? FATE_TORN : FATE_TORN_MAYBE;
        m->is_open = false;
    }
}

/* What was not read yet is taken away. */
static void
take_away(struct model *m)
{
    for (unsigned i = m->file_first; i <= m->nr; i++) {
        if (!m->is_seen[i] && m->fate[i] == FATE_DUE) {
            m->fate[i] = FATE_MAYBE;
        }
    }
    tear(m, false);
}

/* ---- operations ---- */

static void
op_watch_all(struct model *m)
{
    struct error err = ERROR_INIT;

    assert_int_equal(follow_reconcile(m->follow, &err), DT_OK);
}

static void
op_write(struct model *m)
{
    write_lines(m, 1 + pick(m, pick(m, 6) ? 5 : 60));
}

static void
op_rename(struct model *m)
{
    bool is_blind = pick(m, 12) == 0; /* nobody looks in time */
    char rotated[48];

    if (is_blind) {
        wait_for_clock();
    }
    snprintf(rotated, sizeof(rotated), "%s.%u", path_of_target(m),
             ++m->nr_rotated);
    assert_int_equal(rename(path_of_target(m), rotated), 0);
    if (pick(m, 3) == 0) { /* the writer notices later */
        write_lines(m, 1 + pick(m, 3));
    }
    if (pick(m, 3) == 0) { /* a new one is there already */
        tempdir_write(path_of_target(m), "", 0);
        write_lines(m, 1 + pick(m, 3));
        read_some(m, pick(m, 10));
    }
    tear(m, true);
    open_writer(m, path_of_target(m));
    if (m->is_link) { /* what is beside a link's target is not found */
        read_all(m);
    } else if (is_blind) {
        wait_for_clock();
    } else {
        op_watch_all(m);
    }
}

static void
copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    char bytes[4096];
    ssize_t n;

    assert_true(in >= 0 && out >= 0);
    while ((n = read(in, bytes, sizeof(bytes))) > 0) {
        assert_int_equal(write(out, bytes, (size_t)n), n);
    }
    close(in);
    close(out);
}

static void
op_copytruncate(struct model *m)
{
    char rotated[48];
    bool is_copied = pick(m, 8) == 0;

    if (m->is_link) {
        return;
    }
    if (is_copied) {
        wait_for_clock();
        op_watch_all(m); /* a copy of what nobody saw says nothing */
        snprintf(rotated, sizeof(rotated), "log.%u", ++m->nr_rotated);
        copy_file("log", rotated);
    }
    take_away(m);
    assert_int_equal(ftruncate(m->fd, 0), 0);
    m->file_first = m->nr + 1;
    if (pick(m, 2)) {
        read_all(m);
    }
    if (is_copied) {
        wait_for_clock();
    }
}

static void
op_rewrite(struct model *m)
{
    take_away(m);
    assert_int_equal(ftruncate(m->fd, 0), 0);
    lseek(m->fd, 0, SEEK_SET);
    m->file_first = m->nr + 1;
    write_lines(m, 1 + pick(m, 200));
}

static void
op_delete(struct model *m)
{
    bool is_opened = pick(m, 2);

    if (is_opened) {
        op_watch_all(m);
    }
    assert_int_equal(unlink(path_of_target(m)), 0);
    if (pick(m, 2)) { /* the open file is still read */
        write_lines(m, 1 + pick(m, 3));
        read_some(m, pick(m, 20));
    }
    if (!is_opened) { /* perhaps nobody has opened it */
        take_away(m);
    }
    tear(m, true);
    open_writer(m, path_of_target(m));
    write_lines(m, 1);
    read_all(m);
}

static void
op_switch_link(struct model *m)
{
    char target[32];

    if (!m->is_link) {
        return;
    }
    op_watch_all(m); /* what nobody opened cannot be found again */
    m->nr_targets++;
    snprintf(target, sizeof(target), "target%u", m->nr_targets);
    tear(m, true);
    open_writer(m, target);
    assert_int_equal(symlink(target, "log.new"), 0);
    assert_int_equal(rename("log.new", "log"), 0);
    read_all(m);
}

static void
op_rename_back(struct model *m)
{
    char rotated[48];

    snprintf(rotated, sizeof(rotated), "%s.aside", path_of_target(m));
    assert_int_equal(rename(path_of_target(m), rotated), 0);
    if (pick(m, 2)) {
        read_all(m);
    }
    write_lines(m, 1);
    assert_int_equal(rename(rotated, path_of_target(m)), 0);
}

static void
op_read(struct model *m)
{
    read_some(m, pick(m, 12));
}

static void
op_watch(struct model *m)
{
    struct error err = ERROR_INIT;

    assert_int_equal(follow_watch(m->follow, &err), DT_OK);
}

static const struct {
    const char *name;
    unsigned weight;
    void (*run)(struct model *m);
} ops[] = {
    {"write", 35, op_write},
    {"begin-line", 15, begin_line},
    {"rename", 4, op_rename},
    {"copytruncate", 3, op_copytruncate},
    {"rewrite", 2, op_rewrite},
    {"delete", 4, op_delete},
    {"switch-link", 6, op_switch_link},
    {"rename-back", 2, op_rename_back},
    {"read", 30, op_read},
    {"read-all", 6, read_all},
    {"watch", 6, op_watch},
};
#define NR_OPS (sizeof(ops) / sizeof(*ops))

static unsigned long long
inode_of(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static void
run_op(struct model *m)
{
    unsigned total = 0, at;

    for (size_t i = 0; i < NR_OPS; i++) {
        total += ops[i].weight;
    }
    at = pick(m, total);
    for (size_t i = 0; i < NR_OPS; i++) {
        if (at < ops[i].weight) {
            m->log[m->nr_done++] = ops[i].name;
            if (m->is_traced) {
                fprintf(stderr, "# %s, line %u%s, inode %llu\n", ops[i].name,
                        m->nr, m->is_open ? " open" : "", inode_of(m->fd));
            }
            ops[i].run(m);
            return;
        }
        at -= ops[i].weight;
    }
}

static void
begin(struct model *m, uint64_t seed)
{
    char *pattern = (char *)(seed % 5 == 0 ? "lo*g" : "log");
    struct strv patterns = {.v = &pattern, .nr = 1};
    struct error err = ERROR_INIT;
    struct follow_args args = {.patterns = &patterns,
                               .max_targets = 10,
                               .max_line = MAX_LINE,
                               .from_start = true,
                               .rest_ms = -1};

    memset(m, 0, sizeof(*m));
    m->seed = seed;
    m->random.state = seed << 32; /* far from those of other seeds */
    m->fd = -1;
    m->next = 1;
    m->is_traced = getenv("TEST_TRACE") != NULL;
    m->is_appending = pick(m, 4) != 0;
    m->is_link = pick(m, 4) == 0;
    args.late_ms = pick(m, 2) ? -1 : 60000;
    args.no_events = pick(m, 2);
    if (m->is_link) {
        assert_int_equal(symlink("target0", "log"), 0);
    }
    if (pick(m, 2)) {
        open_writer(m, path_of_target(m));
    }
    assert_int_equal(follow_new(&args, &m->follow, &err), DT_OK);
    op_watch(m); /* it begins with the first look */
    if (m->fd < 0) {
        open_writer(m, path_of_target(m));
        if (m->is_link || strchr(pattern, '*')) {
            read_all(m);
        }
    }
}

static void
end(struct model *m)
{
    read_all(m);
    for (unsigned i = 1; i <= m->nr; i++) {
        bool is_due = m->fate[i] == FATE_DUE;

        if (is_due && !m->is_seen[i]) {
            print_error("line %u of %u did not come\n", i, m->nr);
        }
        assert_true(!is_due || m->is_seen[i]);
        assert_false(m->fate[i] == FATE_OPEN && m->is_seen[i]);
    }
    /* a torn line comes when its successor has bytes */
    if (!m->is_open) {
        write_lines(m, 1);
        read_all(m);
    }
    for (unsigned i = 1; i <= m->nr; i++) {
        if (m->fate[i] == FATE_TORN && !m->is_seen[i]) {
            print_error("torn line %u of %u did not come\n", i, m->nr);
            assert_true(false);
        }
    }
    follow_free(m->follow);
    close(m->fd);
}

static struct model model;

static void
test_model(void **state)
{
    uint64_t first = rng_new(1).state;
    uint64_t rounds = test_effort(ROUNDS);

    for (uint64_t seed = first; seed < first + rounds; seed++) {
        char path[96];
        unsigned nr;

        snprintf(path, sizeof(path), "%s/%llu", (char *)*state,
                 (unsigned long long)seed);
        assert_int_equal(mkdir(path, 0700), 0);
        assert_int_equal(chdir(path), 0);
        begin(&model, seed);
        nr = 10 + pick(&model, 60);
        while (nr-- > 0 && model.nr + 300 < MAX_NUMBERS) {
            run_op(&model);
        }
        end(&model);
        assert_int_equal(chdir(*state), 0);
        nftw(path, tempdir_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    }
    model.nr_done = 0;
}

/* After a failure: what led to it. */
static int
tell(void **state)
{
    if (model.nr_done) {
        fprintf(stderr, "# TEST_SEED=%" PRIu64 ":", model.seed);
        for (unsigned i = 0; i < model.nr_done; i++) {
            fprintf(stderr, " %s", model.log[i]);
        }
        fprintf(stderr, "\n");
    }
    return tempdir_leave(state);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_model, tempdir_enter, tell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
