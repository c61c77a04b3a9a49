/* SPDX-License-Identifier: Apache-2.0
 *
 * Log lines of a process: LEVEL|MMDD-hhmmss|field|… (spec server 13).
 *
 * A struct log is made once by main and passed by pointer. Thread-safe. The
 * level is tested before anything is formatted.
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include "error.h"

enum log_level {
    LOG_NONE = 0,
    LOG_FATAL,
    LOG_ERROR,
    LOG_WARN,
    LOG_INFO,
    LOG_DEFAULT,
    LOG_VERBOSE,
    LOG_DEBUG,
    LOG_DEVEL,
    LOG_TRACE,
    LOG_ALL
};

struct log;
struct config;

/* Reads a level word, any case; "" is default. DT_OK or DT_ERR_INVAL. */
int log_level_parse(const char *text, enum log_level *out, struct error *err);

struct log_args {
    const char *logger; /* none, stdout, file, fout, stderr */
    enum log_level level;
    const char *dir;      /* of the file */
    const char *rotation; /* daily or signal */
    const char *program;  /* base name, for the file's name */
    /* Clients: lines begin with this ("CLIENT|host") instead of with level
     * and time, and the file is made at the first line, where a failure is
     * told once on standard error. NULL: the server's layout; a file that
     * cannot be opened fails log_new. */
    const char *prefix;
    /* Lines of the server's layout begin with <N>, the level of syslog, on a
     * descriptor that $JOURNAL_STREAM names. */
    bool to_stderr; /* stdout and fout mean standard error (clients, whose
                       standard output is data) */
};
/* DT_OK; DT_ERR_INVAL: the logger is unknown; or why the file cannot be
 * opened. The strings are copied. */
int log_new(const struct log_args *args, struct log **out, struct error *err);
/* A log whose lines go to a function: how the server's children, which must
 * not open files, hand theirs to the listener. `text` is what log_write made
 * of its format, without level, time and newline. */
typedef void log_line_fn(void *ctx, enum log_level level, const char *text);
int log_new_fn(enum log_level level, log_line_fn *line, void *ctx,
               struct log **out);
void log_free(struct log *log);
/* How often standard error or output was written to: by this log, or by others
 * who said so with log_touch. For who draws on the same terminal. */
uint64_t log_touched(const struct log *log);
void log_touch(struct log *log);
/* `fn` is called before each of these writes, by any thread; NULL: nothing is.
 * While only one thread uses the log. */
void log_on_touch(struct log *log, void (*fn)(void *ctx), void *ctx);
/* The level of a plugin's message; LOG_NONE: none that is known. */
enum log_level log_plugin_level(enum dt_log_level level);
/* SIGHUP: open the file again at the next line. Not from a signal handler. */
void log_reopen(struct log *log);

/* `log` may be NULL. Control bytes are written escaped. One write a line. */
#define log_at(log, level, ...)                     \
    do {                                            \
        if (log_wants((log), (level))) {            \
            log_write((log), (level), __VA_ARGS__); \
        }                                           \
    } while (0)
bool log_wants(const struct log *log, enum log_level level);
void log_write(struct log *log, enum log_level level, const char *format, ...)
    DT_PRINTF(3, 4);

#define log_error(log, ...) log_at((log), LOG_ERROR, __VA_ARGS__)
#define log_warn(log, ...) log_at((log), LOG_WARN, __VA_ARGS__)
#define log_info(log, ...) log_at((log), LOG_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_at((log), LOG_DEBUG, __VA_ARGS__)
/* These say where they stand. */
#define log_devel(log, format, ...)                             \
    log_at((log), LOG_DEVEL, format "|at %s:%d", ##__VA_ARGS__, \
           log_base_name(__FILE__), __LINE__)
#define log_trace(log, format, ...)                             \
    log_at((log), LOG_TRACE, format "|at %s:%d", ##__VA_ARGS__, \
           log_base_name(__FILE__), __LINE__)
/* What stands behind the last slash. */
const char *log_base_name(const char *path);

#endif
