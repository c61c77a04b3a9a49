/* SPDX-License-Identifier: Apache-2.0
 *
 * Log lines of a process: formatted on the stack, escaped, written with one
 * write(2) each, so that lines of several threads and processes never mix.
 *
 * Threads: any. The mutex guards the descriptor of the file and its day. A
 * child made by fork goes on with the descriptor that it inherited: where it
 * may not open the file of the next day, it stays with the old one.
 */
#include "log.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#define LOG_HEAD_MAX 320u  /* bytes of prefix, level and time */
#define LOG_TEXT_MAX 4096u /* bytes of a message before escaping */
#define LOG_PATH_MAX 4096u
#define JOURNAL_PREFIX 3u /* bytes of "<6>" */

struct log {
    enum log_level level;
    int stream_fd;   /* -1: none */
    bool is_journal; /* it is read by systemd's journal */
    bool has_file;
    bool is_daily;
    bool is_lazy; /* a client: the file is made at the first line */
    char *dir;
    char *program;
    char *prefix;      /* NULL: the server's layout */
    log_line_fn *line; /* NULL: lines are written here */
    void *line_ctx;
    pthread_mutex_t lock;
    atomic_uint_fast64_t touched; /* see log_touched */
    void (*on_touch)(void *ctx);  /* NULL: none */
    void *touch_ctx;
    int file_fd;         /* -1: not open */
    int day;             /* of the last try to open it, YYYYMMDD; 0: none */
    bool must_reopen;    /* SIGHUP */
    bool has_complained; /* that the file cannot be opened */
    uint64_t nr_lost;    /* lines that could not be written … */
    int failure;         /* … and why */
    bool is_cut;         /* the file ends in the middle of a line */
};

static const char *const level_names[] = {
    [LOG_NONE] = "none",       [LOG_FATAL] = "fatal", [LOG_ERROR] = "error",
    [LOG_WARN] = "warn",       [LOG_INFO] = "info",   [LOG_DEFAULT] = "default",
    [LOG_VERBOSE] = "verbose", [LOG_DEBUG] = "debug", [LOG_DEVEL] = "devel",
    [LOG_TRACE] = "trace",     [LOG_ALL] = "all",
};

static const char *const level_words[] = {
    "NONE",    "FATAL", "ERROR", "WARN",  "INFO", "DEFAULT",
    "VERBOSE", "DEBUG", "DEVEL", "TRACE", "ALL",
};

int
log_level_parse(const char *text, enum log_level *out, struct error *err)
{
    if (*text == '\0') {
        *out = LOG_DEFAULT;
        return DT_OK;
    }
    for (size_t i = 0; i <= LOG_ALL; i++) {
        if (strcasecmp(text, level_names[i]) == 0) {
            *out = (enum log_level)i;
            return DT_OK;
        }
    }
    return error_set(err, DT_ERR_INVAL,
                     "log level \"%.64s\" is unknown; allowed are none, fatal, "
                     "error, warn, info, default, verbose, debug, devel, "
                     "trace and all",
                     text);
}

/* ---- the file ---- */

/* Creates a folder and those above it, 0755 as the Go program does. */
static int
make_dir(const char *dir, struct error *err)
{
    char path[LOG_PATH_MAX];
    size_t len = strlen(dir);

    if (len >= sizeof(path)) {
        return error_set(err, DT_ERR_LIMIT,
                         "log folder: the name has %zu bytes, at most %u are "
                         "allowed",
                         len, LOG_PATH_MAX - 1);
    }
    memcpy(path, dir, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        path[i] = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST) {
            return error_errno(err, errno, "log folder %s", path);
        }
        path[i] = i == len ? '\0' : '/';
    }
    return DT_OK;
}

static int
local_day(const struct tm *tm)
{
    return (tm->tm_year + 1900) * 10000 + (tm->tm_mon + 1) * 100 + tm->tm_mday;
}

/* Opens the file of a day. When that fails a file that is open already stays
 * in use. Called with the lock held, or before others know the log. */
static int
open_file_locked(struct log *log, int day, struct error *err)
{
    CLEANUP_FREE char *path = NULL;
    int fd;
    int len = log->is_daily
                  ? asprintf(&path, "%s/%08d.log", log->dir, day)
                  : asprintf(&path, "%s/%s.log", log->dir, log->program);

    if (len < 0) {
        path = NULL;
        return error_set(err, DT_ERR_NOMEM, "log file: out of memory");
    }
    if (make_dir(log->dir, err) != DT_OK) {
        return err->status;
    }
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0) {
        return error_errno(err, errno, "log file %s", path);
    }
    if (log->file_fd >= 0) {
        close(log->file_fd);
    }
    log->file_fd = fd;
    log->day = day;
    log->is_cut = false;
    return DT_OK;
}

/* Writes all of it: 0, or what went wrong; *is_cut: after the first byte. */
static int
write_all(int fd, const char *data, size_t len, bool *is_cut)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = write(fd, data + done, len - done);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            *is_cut = *is_cut || done > 0;
            return n < 0 ? errno : EIO;
        }
        done += (size_t)n;
    }
    return 0;
}

/* The file to write to now, opened again when the day changed or SIGHUP
 * asked for it; -1: none. That it cannot be opened is told once. */
static int
current_file_locked(struct log *log, int day)
{
    struct error err = ERROR_INIT;

    if (!log->must_reopen && log->day != 0 &&
        (!log->is_daily || log->day == day)) {
        return log->file_fd;
    }
    log->must_reopen = false;
    if (open_file_locked(log, day, &err) != DT_OK) {
        log->day = day; /* tried once a day, not at each line */
        if (!log->has_complained) {
            dprintf(STDERR_FILENO, "%s\n", err.text);
        }
        log->has_complained = true;
    }
    return log->file_fd;
}

/* ---- lines ---- */

/* How many bytes the character at `s` has, if it may stand in a line as it
 * is; else 0. */
static size_t
plain_char(const unsigned char *s, size_t left)
{
    size_t more;

    if (*s < 0x80) {
        return *s >= 0x20 && *s != 0x7f ? 1 : 0;
    }
    if (*s < 0xc2 || *s > 0xf4) {
        return 0;
    }
    more = *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3;
    if (more >= left || (*s == 0xc2 && s[1] < 0xa0) ||
        (*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
        (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f)) {
        return 0; /* C1 controls; not the shortest form; surrogates */
    }
    for (size_t i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return more + 1;
}

/* Copies with control bytes and what is not UTF-8 as \xNN, so that no message
 * can begin a line of its own or move a cursor. `out` has four bytes for each
 * byte of `text`. */
static size_t
escape(char *out, const char *text, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *s = (const unsigned char *)text;
    char *to = out;

    for (size_t i = 0; i < len;) {
        size_t n = plain_char(s + i, len - i);

        if (n) {
            memcpy(to, s + i, n);
            to += n;
            i += n;
            continue;
        }
        *to++ = '\\';
        *to++ = 'x';
        *to++ = hex[s[i] >> 4];
        *to++ = hex[s[i] & 15];
        i++;
    }
    return (size_t)(to - out);
}

bool
log_wants(const struct log *log, enum log_level level)
{
    return log && level <= log->level && level != LOG_NONE;
}

/* Writes the head of a line and returns its length. */
static size_t
format_head(const struct log *log, enum log_level level, const struct tm *tm,
            char *out, size_t cap)
{
    int len =
        log->prefix
            ? snprintf(out, cap, "%s|%s|", log->prefix, level_words[level])
            : snprintf(out, cap, "%s|%02d%02d-%02d%02d%02d|",
                       level_words[level], tm->tm_mon + 1, tm->tm_mday,
                       tm->tm_hour, tm->tm_min, tm->tm_sec);

    return len < 0 ? 0 : (size_t)len < cap ? (size_t)len : cap - 1;
}

/* Says in the file how many lines it lacks, on a line of its own. */
static int
tell_lost_locked(struct log *log, int fd, const struct tm *tm)
{
    char note[LOG_HEAD_MAX + 128] = "\n";
    size_t len = log->is_cut ? 1 : 0;

    len += format_head(log, LOG_WARN, tm, note + len, LOG_HEAD_MAX);
    len += (size_t)snprintf(
        note + len, 128, "%llu lines of the log are missing here|%s\n",
        (unsigned long long)log->nr_lost, strerrordesc_np(log->failure));
    return write_all(fd, note, len, &log->is_cut);
}

/* A full disk stops nobody's work: what cannot be written is counted, told on
 * standard error once, and in the file when there is room again. */
static void
write_file_locked(struct log *log, int fd, const char *line, size_t len,
                  const struct tm *tm)
{
    int failure = log->nr_lost ? tell_lost_locked(log, fd, tm) : 0;

    if (failure == 0 && log->nr_lost) {
        log->nr_lost = 0;
        log->is_cut = false;
    }
    failure = failure ? failure : write_all(fd, line, len, &log->is_cut);
    if (failure == 0) {
        return;
    }
    if (log->nr_lost++ == 0) {
        dprintf(STDERR_FILENO, "the log cannot be written: %s\n",
                strerrordesc_np(failure));
    }
    log->failure = failure;
}

/* Writes a line to the places the log has. It has the journal's prefix in
 * front. */
static void
put_line(struct log *log, const char *line, size_t len, const struct tm *tm)
{
    bool ignored = false;
    size_t skip = log->is_journal ? 0 : JOURNAL_PREFIX;

    if (log->stream_fd >= 0) {
        log_touch(log);
        /* one that cannot be written to has nobody to tell */
        (void)write_all(log->stream_fd, line + skip, len - skip, &ignored);
    }
    if (!log->has_file) {
        return;
    }
    pthread_mutex_lock(&log->lock);
    int fd = current_file_locked(log, local_day(tm));

    if (fd >= 0) {
        write_file_locked(log, fd, line + JOURNAL_PREFIX, len - JOURNAL_PREFIX,
                          tm);
    }
    pthread_mutex_unlock(&log->lock);
}

/* The level as sd-daemon(3) has it in front of a line. */
static char
journal_level(enum log_level level)
{
    switch (level) {
    case LOG_FATAL:
        return '2'; /* critical */
    case LOG_ERROR:
        return '3';
    case LOG_WARN:
        return '4';
    case LOG_INFO:
    case LOG_DEFAULT:
        return '6';
    default:
        return '7';
    }
}

void
log_write(struct log *log, enum log_level level, const char *format, ...)
{
    char text[LOG_HEAD_MAX + LOG_TEXT_MAX];
    char line[JOURNAL_PREFIX + 4 * sizeof(text) + 1] = "<0>";
    int saved = errno;
    size_t len = 0;
    time_t now = time(NULL);
    struct tm tm;
    va_list ap;

    if (!log_wants(log, level) || !localtime_r(&now, &tm)) {
        return;
    }
    if (!log->line) {
        len = format_head(log, level, &tm, text, LOG_HEAD_MAX);
    }
    va_start(ap, format);
    int body = vsnprintf(text + len, LOG_TEXT_MAX, format, ap);
    va_end(ap);
    if (body < 0) {
        text[len] = '\0';
    }
    if (log->line) {
        log->line(log->line_ctx, level, text);
    } else {
        line[1] = journal_level(level);
        len =
            JOURNAL_PREFIX + escape(line + JOURNAL_PREFIX, text, strlen(text));
        line[len++] = '\n';
        put_line(log, line, len, &tm);
    }
    errno = saved;
}

uint64_t
log_touched(const struct log *log)
{
    return log ? atomic_load(&log->touched) : 0;
}

void
log_touch(struct log *log)
{
    if (log) {
        atomic_fetch_add(&log->touched, 1);
        if (log->on_touch) {
            log->on_touch(log->touch_ctx);
        }
    }
}

void
log_on_touch(struct log *log, void (*fn)(void *ctx), void *ctx)
{
    if (log) {
        log->on_touch = fn;
        log->touch_ctx = ctx;
    }
}

enum log_level
log_plugin_level(enum dt_log_level level)
{
    static const enum log_level levels[] = {
        [DT_LOG_ERROR] = LOG_ERROR,
        [DT_LOG_WARN] = LOG_WARN,
        [DT_LOG_INFO] = LOG_INFO,
        [DT_LOG_DEBUG] = LOG_DEBUG,
    };

    return (unsigned)level < sizeof(levels) / sizeof(levels[0]) ? levels[level]
                                                                : LOG_NONE;
}

const char *
log_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* ---- making and freeing ---- */

/* Whether systemd says that this descriptor leads to its journal, and it is
 * still the same: $JOURNAL_STREAM of systemd.exec(5). */
static bool
is_journal(int fd)
{
    const char *text = getenv("JOURNAL_STREAM");
    unsigned long long dev, ino;
    struct stat st;
    char end;

    return text && sscanf(text, "%llu:%llu%c", &dev, &ino, &end) == 2 &&
           fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

/* Where lines go, by the logger's name. */
static int
set_outputs(struct log *log, const struct log_args *args, struct error *err)
{
    int stream = args->to_stderr ? STDERR_FILENO : STDOUT_FILENO;
    const char *name = args->logger;

    log->stream_fd = -1;
    if (strcasecmp(name, "stdout") == 0) {
        log->stream_fd = stream;
    } else if (strcasecmp(name, "stderr") == 0) {
        log->stream_fd = STDERR_FILENO;
    } else if (strcasecmp(name, "fout") == 0) {
        log->stream_fd = stream;
        log->has_file = true;
    } else if (strcasecmp(name, "file") == 0) {
        log->has_file = true;
    } else if (strcasecmp(name, "none") != 0) {
        return error_set(err, DT_ERR_INVAL,
                         "logger \"%.64s\" is unknown; allowed are none, "
                         "stdout, stderr, file and fout",
                         name);
    } else {
        log->level = LOG_NONE;
    }
    /* clients' lines are for people */
    log->is_journal =
        log->stream_fd >= 0 && !log->prefix && is_journal(log->stream_fd);
    return DT_OK;
}

/* A copy, or NULL for NULL; *ok becomes false when memory is short. */
static char *
copy(const char *text, bool *ok)
{
    char *s = text ? strdup(text) : NULL;

    *ok = *ok && (s || !text);
    return s;
}

int
log_new(const struct log_args *args, struct log **out, struct error *err)
{
    struct log *log = calloc(1, sizeof(*log));
    struct error local = ERROR_INIT;
    bool ok = log != NULL;
    int rc;

    *out = NULL;
    if (!log) {
        return error_set(err, DT_ERR_NOMEM, "log: out of memory");
    }
    tzset(); /* before rights are dropped: reads /etc/localtime */
    pthread_mutex_init(&log->lock, NULL);
    log->level = args->level;
    log->file_fd = -1;
    log->is_daily = !args->rotation || strcasecmp(args->rotation, "daily") == 0;
    log->is_lazy = args->prefix != NULL;
    log->dir = copy(args->dir ? args->dir : ".", &ok);
    log->program = copy(args->program ? args->program : "dtail", &ok);
    log->prefix = copy(args->prefix, &ok);
    rc = ok ? set_outputs(log, args, &local)
            : error_set(&local, DT_ERR_NOMEM, "log: out of memory");
    if (rc == DT_OK && log->has_file && !log->is_lazy) {
        time_t now = time(NULL);
        struct tm tm;

        rc = localtime_r(&now, &tm)
                 ? open_file_locked(log, local_day(&tm), &local)
                 : error_set(&local, DT_ERR_INTERNAL, "log: no local time");
    }
    if (rc != DT_OK) {
        log_free(log);
        return error_set(err, rc, "%s", local.text);
    }
    *out = log;
    return DT_OK;
}

int
log_new_fn(enum log_level level, log_line_fn *line, void *ctx, struct log **out)
{
    struct log *log = calloc(1, sizeof(*log));

    *out = log;
    if (!log) {
        return DT_ERR_NOMEM;
    }
    pthread_mutex_init(&log->lock, NULL);
    log->level = level;
    log->line = line;
    log->line_ctx = ctx;
    log->stream_fd = -1;
    log->file_fd = -1;
    tzset();
    return DT_OK;
}

void
log_free(struct log *log)
{
    if (!log) {
        return;
    }
    if (log->file_fd >= 0) {
        close(log->file_fd);
    }
    pthread_mutex_destroy(&log->lock);
    free(log->dir);
    free(log->program);
    free(log->prefix);
    free(log);
}

void
log_reopen(struct log *log)
{
    if (!log) {
        return;
    }
    pthread_mutex_lock(&log->lock);
    log->must_reopen = true;
    log->has_complained = false;
    pthread_mutex_unlock(&log->lock);
}
