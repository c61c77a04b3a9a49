/* SPDX-License-Identifier: Apache-2.0
 *
 * The line that comes and goes, on a terminal made for the test.
 */
#include "statusline.h"

#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#define CLEAR "\r\033[J"

struct trial {
    int master, slave;
    struct statusline *s;
};

static void
begin(struct trial *t)
{
    struct winsize size = {.ws_col = 40, .ws_row = 10};
    struct termios mode;

    assert_int_equal(setenv("TERM", "xterm", 1), 0);
    assert_int_equal(openpty(&t->master, &t->slave, NULL, NULL, &size), 0);
    assert_int_equal(tcgetattr(t->slave, &mode), 0);
    cfmakeraw(&mode);
    assert_int_equal(tcsetattr(t->slave, TCSANOW, &mode), 0);
    t->s = statusline_new(t->slave);
    assert_non_null(t->s);
}

static void
end(struct trial *t)
{
    statusline_free(t->s);
    close(t->master);
    close(t->slave);
}

/* All that was written so far: the end is marked by a byte of our own. */
static void
expect(struct trial *t, const char *want)
{
    char got[4096];
    size_t len = 0;

    assert_int_equal(write(t->slave, "\001", 1), 1);
    do {
        ssize_t n = read(t->master, got + len, 1);

        assert_int_equal(n, 1);
        len++;
    } while (got[len - 1] != '\001' && len < sizeof(got));
    got[len - 1] = '\0';
    assert_string_equal(got, want);
}

static void
show(struct trial *t, const char *text)
{
    statusline_show(t->s, text, strlen(text));
}

static void
data(struct trial *t, const char *text)
{
    size_t len = strlen(text);

    assert_true(statusline_begin(t->s));
    assert_int_equal(write(t->slave, text, len), len);
    statusline_end(t->s, text + len - 1);
}

static void
test_comes_and_goes(void **state)
{
    struct trial t;

    (void)state;
    begin(&t);
    show(&t, "one");
    expect(&t, CLEAR "one\r");
    show(&t, "two");
    expect(&t, CLEAR "two\r");
    statusline_clear(t.s);
    expect(&t, CLEAR);
    statusline_clear(t.s); /* nothing to remove */
    expect(&t, "");
    show(&t, "three"); /* somebody may be writing just now */
    expect(&t, "");
    show(&t, "four");
    expect(&t, CLEAR "four\r");
    end(&t);
}

static void
test_data(void **state)
{
    struct trial t;

    (void)state;
    begin(&t);
    assert_true(statusline_is_at(t.s, t.slave));
    show(&t, "one");
    data(&t, "a line\n");
    expect(&t, CLEAR "one\r" CLEAR "a line\n");
    data(&t, "half a");
    show(&t, "two"); /* would stand in the data */
    expect(&t, "half a");
    assert_true(statusline_begin(t.s));
    statusline_end(t.s, NULL); /* nothing was written */
    show(&t, "three");
    expect(&t, "");
    data(&t, " line\n");
    show(&t, "four");
    expect(&t, " line\n" CLEAR "four\r");
    end(&t);
}

static void
test_hold(void **state)
{
    struct trial t;

    (void)state;
    begin(&t);
    show(&t, "one");
    statusline_hold(t.s, true);
    expect(&t, CLEAR "one\r" CLEAR);
    show(&t, "two");
    show(&t, "two");
    expect(&t, "");
    statusline_hold(t.s, false);
    show(&t, "three");
    expect(&t, CLEAR "three\r");
    statusline_free(t.s);
    t.s = NULL;
    expect(&t, CLEAR);
    end(&t);
}

static void
test_width(void **state)
{
    struct winsize size = {.ws_col = 100, .ws_row = 10};
    struct trial t;

    (void)state;
    begin(&t);
    assert_int_equal(statusline_width(t.s), 39);
    assert_int_equal(ioctl(t.master, TIOCSWINSZ, &size), 0);
    assert_int_equal(statusline_width(t.s), 99);
    size.ws_col = 5000;
    assert_int_equal(ioctl(t.master, TIOCSWINSZ, &size), 0);
    assert_int_equal(statusline_width(t.s), 200);
    size.ws_col = 0;
    assert_int_equal(ioctl(t.master, TIOCSWINSZ, &size), 0);
    assert_int_equal(statusline_width(t.s), 79);
    end(&t);
}

static void
test_no_terminal(void **state)
{
    struct trial t;
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    assert_null(statusline_new(fds[1]));
    begin(&t);
    assert_false(statusline_is_at(t.s, fds[1]));
    end(&t);
    assert_int_equal(openpty(&t.master, &t.slave, NULL, NULL, NULL), 0);
    assert_int_equal(setenv("TERM", "dumb", 1), 0);
    assert_null(statusline_new(t.slave));
    t.s = NULL;
    show(&t, "x");
    statusline_clear(t.s);
    statusline_hold(t.s, true);
    assert_true(statusline_begin(t.s));
    statusline_end(t.s, "x");
    end(&t);
    close(fds[0]);
    close(fds[1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_and_goes), cmocka_unit_test(test_data),
        cmocka_unit_test(test_hold),           cmocka_unit_test(test_width),
        cmocka_unit_test(test_no_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
