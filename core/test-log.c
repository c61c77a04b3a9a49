/* SPDX-License-Identifier: Apache-2.0
 *
 * Log lines: layout, levels, escaping, places, and files of a new day.
 */
#include "log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "test-tempdir.h"

/* The clock of this program: 2026-03-14 09:15:00 UTC. */
#define MORNING 1773479700
static time_t now = MORNING;

time_t
time(time_t *out)
{
    if (out) {
        *out = now;
    }
    return now;
}

/* What a file holds, as text in static memory. */
static const char *
slurp(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    size_t len;

    assert_non_null(file);
    len = fread(text, 1, sizeof(text) - 1, file);
    text[len] = '\0';
    fclose(file);
    return text;
}

static struct log *
make(const char *logger, enum log_level level, const char *rotation)
{
    const struct log_args args = {.logger = logger,
                                  .level = level,
                                  .dir = "a/b",
                                  .rotation = rotation,
                                  .program = "dserver"};
    struct error err = ERROR_INIT;
    struct log *log;

    assert_int_equal(log_new(&args, &log, &err), DT_OK);
    return log;
}

static void
test_levels(void **state)
{
    static const char *const words[] = {"none",  "FATAL", "Error",   "warn",
                                        "info",  "",      "verbose", "debug",
                                        "deVel", "trace", "ALL"};
    enum log_level level;
    struct error err = ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < 11; i++) {
        assert_int_equal(log_level_parse(words[i], &level, &err), DT_OK);
        assert_int_equal(level, i);
    }
    assert_int_equal(log_level_parse("loud", &level, &err), DT_ERR_INVAL);
    assert_non_null(strstr(err.text, "\"loud\""));
    assert_non_null(strstr(err.text, "verbose"));

    struct log *log = make("file", LOG_WARN, "daily");
    assert_true(log_wants(log, LOG_ERROR));
    assert_true(log_wants(log, LOG_WARN));
    assert_false(log_wants(log, LOG_INFO));
    assert_false(log_wants(NULL, LOG_FATAL));
    log_free(log);
    log = make("none", LOG_ALL, "daily");
    assert_false(log_wants(log, LOG_FATAL));
    log_free(log);
    log_free(NULL);
}

static void
test_layout(void **state)
{
    struct log *log = make("file", LOG_TRACE, "daily");

    (void)state;
    errno = EDOM;
    log_info(log, "%s|Start reading|%s", "paul@192.0.2.7:40112", "app.log");
    assert_int_equal(errno, EDOM);
    log_error(log, "no fields");
    log_trace(log, "deep|%d", 7);
    log_free(log);

    const char *text = slurp("a/b/20260314.log");
    const char *two = "INFO|0314-091500|paul@192.0.2.7:40112|Start reading|"
                      "app.log\nERROR|0314-091500|no fields\n"
                      "TRACE|0314-091500|deep|7|at test-log.c:";
    assert_memory_equal(text, two, strlen(two));
}

static void
test_escaping(void **state)
{
    struct log *log = make("file", LOG_INFO, "signal");

    (void)state;
    log_info(log, "%s",
             "a\nINFO|x\tb\x7f\x1b[0m \xff\xc3 é€\xf0\x9f\x98\x80 "
             "\xc2\x85 \xed\xa0\x80 \\");
    log_free(log);
    assert_string_equal(
        slurp("a/b/dserver.log"),
        "INFO|0314-091500|a\\x0aINFO|x\\x09b\\x7f\\x1b[0m \\xff\\xc3 "
        "é€\xf0\x9f\x98\x80 \\xc2\\x85 \\xed\\xa0\\x80 \\\n");
}

static void
test_long_line_is_cut(void **state)
{
    char big[10000];
    struct log *log = make("file", LOG_INFO, "signal");

    (void)state;
    memset(big, '\x01', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    log_info(log, "%s", big);
    log_info(log, "next");
    log_free(log);

    const char *text = slurp("a/b/dserver.log");
    const char *end = strchr(text, '\n');
    assert_non_null(end);
    assert_in_range(end - text, 4 * 4000, 4 * 4096 + 64);
    assert_string_equal(end, "\nINFO|0314-091500|next\n");
}

static void
test_new_day(void **state)
{
    struct log *log = make("file", LOG_INFO, "Daily");

    (void)state;
    log_info(log, "one");
    now += 86400;
    log_info(log, "two");
    now += 60;
    log_info(log, "three");
    log_free(log);
    now = MORNING;
    assert_string_equal(slurp("a/b/20260314.log"), "INFO|0314-091500|one\n");
    assert_string_equal(slurp("a/b/20260315.log"),
                        "INFO|0315-091500|two\nINFO|0315-091600|three\n");
}

static void
test_new_day_without_rights(void **state)
{
    struct log *log = make("file", LOG_INFO, "daily");
    int saved = dup(STDERR_FILENO);

    (void)state;
    assert_int_equal(rename("a", "moved"), 0);
    tempdir_write("a", "", 0); /* no folder can be made here */
    assert_non_null(freopen("complaints", "w", stderr));
    now += 86400;
    log_info(log, "one");
    log_info(log, "two");
    now = MORNING;
    log_free(log);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    /* the lines stay in the file that was open, and it is told once */
    assert_string_equal(slurp("moved/b/20260314.log"),
                        "INFO|0315-091500|one\nINFO|0315-091500|two\n");
    const char *text = slurp("complaints");
    assert_non_null(strstr(text, "log folder a"));
    assert_null(strchr(strchr(text, '\n') + 1, '\n'));
}

static void
test_reopen(void **state)
{
    struct log *log = make("file", LOG_INFO, "signal");

    (void)state;
    log_info(log, "one");
    assert_int_equal(rename("a/b/dserver.log", "a/b/old.log"), 0);
    log_info(log, "two");
    log_reopen(log);
    log_info(log, "three");
    log_free(log);
    log_reopen(NULL);
    assert_string_equal(slurp("a/b/old.log"),
                        "INFO|0314-091500|one\nINFO|0314-091500|two\n");
    assert_string_equal(slurp("a/b/dserver.log"), "INFO|0314-091500|three\n");
}

/* A disk that is full: the lines are counted, and told where they lack. */
static void
test_full(void **state)
{
    struct log *log;
    int saved = dup(STDERR_FILENO);

    (void)state;
    assert_int_equal(mkdir("a", 0755), 0);
    assert_int_equal(mkdir("a/b", 0755), 0);
    assert_int_equal(symlink("/dev/full", "a/b/dserver.log"), 0);
    log = make("file", LOG_INFO, "signal");
    assert_non_null(freopen("complaints", "w", stderr));
    log_info(log, "one");
    log_info(log, "two");
    assert_int_equal(unlink("a/b/dserver.log"), 0);
    log_reopen(log);
    log_info(log, "three");
    log_info(log, "four");
    log_free(log);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_string_equal(slurp("complaints"),
                        "the log cannot be written: No space left on device\n");
    assert_string_equal(slurp("a/b/dserver.log"),
                        "WARN|0314-091500|2 lines of the log are missing here|"
                        "No space left on device\nINFO|0314-091500|three\n"
                        "INFO|0314-091500|four\n");
}

/* The file gets no more bytes in the middle of a line, and later some. */
static void
test_cut(void **state)
{
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    struct rlimit little = {40, RLIM_INFINITY};
    struct log *log = make("file", LOG_INFO, "signal");
    int saved = dup(STDERR_FILENO);

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    log_info(log, "one");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    assert_non_null(freopen("/dev/null", "w", stderr));
    log_info(log, "more than fits");
    log_info(log, "nothing fits");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    log_info(log, "two");
    log_free(log);
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_string_equal(slurp("a/b/dserver.log"),
                        "INFO|0314-091500|one\nINFO|0314-091500|mo\n"
                        "WARN|0314-091500|2 lines of the log are missing here|"
                        "File too large\nINFO|0314-091500|two\n");
}

static void
log_each(const char *logger)
{
    static const enum log_level levels[] = {LOG_FATAL, LOG_ERROR,   LOG_WARN,
                                            LOG_INFO,  LOG_DEFAULT, LOG_VERBOSE,
                                            LOG_DEBUG};
    struct log *log;
    const struct log_args args = {.logger = logger,
                                  .level = LOG_ALL,
                                  .dir = "log",
                                  .rotation = "signal",
                                  .program = "dserver",
                                  .to_stderr = true};
    struct error err = ERROR_INIT;

    assert_int_equal(log_new(&args, &log, &err), DT_OK);
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
        log_at(log, levels[i], "x\ny");
    }
    log_free(log);
}

static void
test_journal(void **state)
{
    static const char lines[] =
        "FATAL|0314-091500|x\\x0ay\nERROR|0314-091500|x\\x0ay\n"
        "WARN|0314-091500|x\\x0ay\nINFO|0314-091500|x\\x0ay\n"
        "DEFAULT|0314-091500|x\\x0ay\nVERBOSE|0314-091500|x\\x0ay\n"
        "DEBUG|0314-091500|x\\x0ay\n";
    char name[64];
    struct stat st;
    int saved = dup(STDERR_FILENO);

    (void)state;
    assert_non_null(freopen("stream", "w", stderr));
    assert_int_equal(fstat(STDERR_FILENO, &st), 0);
    snprintf(name, sizeof(name), "%llu:%llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    setenv("JOURNAL_STREAM", name, 1);
    log_each("fout");
    assert_non_null(freopen("other", "w", stderr)); /* not the journal */
    log_each("stderr");
    setenv("JOURNAL_STREAM", "1:2:3", 1);
    log_each("stderr");
    unsetenv("JOURNAL_STREAM");
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_string_equal(slurp("log/dserver.log"), lines);
    assert_string_equal(
        slurp("stream"),
        "<2>FATAL|0314-091500|x\\x0ay\n<3>ERROR|0314-091500|x\\x0ay\n"
        "<4>WARN|0314-091500|x\\x0ay\n<6>INFO|0314-091500|x\\x0ay\n"
        "<6>DEFAULT|0314-091500|x\\x0ay\n"
        "<7>VERBOSE|0314-091500|x\\x0ay\n<7>DEBUG|0314-091500|x\\x0ay\n");
    assert_int_equal(strlen(slurp("other")), 2 * strlen(lines));
}

static void
test_refused(void **state)
{
    struct log_args args = {.logger = "syslog", .dir = "log"};
    struct error err = ERROR_INIT;
    struct log *log;

    (void)state;
    assert_int_equal(log_new(&args, &log, &err), DT_ERR_INVAL);
    assert_null(log);
    assert_non_null(strstr(err.text, "\"syslog\""));
    assert_non_null(strstr(err.text, "fout"));

    tempdir_write("file", "", 0);
    args.logger = "file";
    args.dir = "file/log";
    assert_int_equal(log_new(&args, &log, &err), DT_ERR_NOENT);
    assert_non_null(strstr(err.text, "log folder file"));
}

static void
test_client(void **state)
{
    const struct log_args args = {.logger = "fout",
                                  .level = LOG_INFO,
                                  .dir = "log",
                                  .rotation = "daily",
                                  .prefix = "CLIENT|here",
                                  .to_stderr = true};
    struct error err = ERROR_INIT;
    struct log *log;
    int saved = dup(STDERR_FILENO);

    (void)state;
    assert_int_equal(log_new(&args, &log, &err), DT_OK);
    assert_int_not_equal(access("log", F_OK), 0); /* not before a line */
    assert_non_null(freopen("stream", "w", stderr));
    log_warn(log, "x|%d", 1);
    dup2(saved, STDERR_FILENO);
    close(saved);
    log_free(log);
    assert_string_equal(slurp("stream"), "CLIENT|here|WARN|x|1\n");
    assert_string_equal(slurp("log/20260314.log"), "CLIENT|here|WARN|x|1\n");
}

static void
keep_line(void *ctx, enum log_level level, const char *text)
{
    snprintf(ctx, 64, "%d %s", (int)level, text);
}

static void
test_function(void **state)
{
    struct log *log;
    char kept[64] = "";

    (void)state;
    assert_int_equal(log_new_fn(LOG_WARN, keep_line, kept, &log), DT_OK);
    log_info(log, "not wanted");
    assert_string_equal(kept, "");
    log_warn(log, "%s|b\n", "a"); /* whoever writes it escapes it */
    assert_string_equal(kept, "3 a|b\n");
    log_free(log);
}

static void *
write_many(void *log)
{
    for (int i = 0; i < 500; i++) {
        log_info(log, "%s|%060d", "thread", i);
        if (i % 100 == 0) {
            log_reopen(log);
        }
    }
    return NULL;
}

static void
test_threads(void **state)
{
    struct log *log = make("file", LOG_INFO, "signal");
    pthread_t threads[4];
    size_t nr_lines = 0;
    char line[256];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, log), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    log_free(log);

    FILE *file = fopen("a/b/dserver.log", "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        assert_int_equal(strlen(line),
                         strlen("INFO|0314-091500|thread|\n") + 60);
        nr_lines++;
    }
    fclose(file);
    assert_int_equal(nr_lines, 2000);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tempdir_enter, tempdir_leave)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_levels),   TEST(test_layout),
        TEST(test_escaping), TEST(test_long_line_is_cut),
        TEST(test_new_day),  TEST(test_new_day_without_rights),
        TEST(test_reopen),   TEST(test_refused),
        TEST(test_client),   TEST(test_function),
        TEST(test_threads),  TEST(test_full),
        TEST(test_cut),      TEST(test_journal),
    };

    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
