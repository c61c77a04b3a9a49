/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin interface of DTail: the only header that a plugin needs.
 *
 * A plugin is one shared object that exports one symbol, dt_plugin_entry
 * (defined by DT_REGISTER_PLUGIN). It has up to two stages with the same four
 * hooks: `map` runs in the server's worker process next to the files, `reduce`
 * runs in the client and prints. docs/writing-plugins.md leads through it;
 * docs/architecture.md has the whole picture.
 *
 * Compatibility: fields and enum values are only ever appended. Each struct
 * carries its own size, so that an old plugin runs on a new host and the other
 * way round; a slot beyond the given size counts as NULL or 0.
 *
 * The header is C99 and C++11. Bytes from log files are never text with a
 * terminating NUL: they come with a length, and any byte may stand in them.
 */
#ifndef DTAIL_PLUGIN_H
#define DTAIL_PLUGIN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DT_PLUGIN_ABI 1

#if defined(__GNUC__)
#define DT_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define DT_EXPORT __attribute__((visibility("default")))
#else
#define DT_PRINTF(f, a)
#define DT_EXPORT
#endif

/* What hooks and host calls answer. 0 and above: good; below 0: an error.
 * Values are frozen. */
enum dt_status {
    DT_OK = 0,
    DT_AGAIN = 1, /* drain: there is more, call again */
    DT_STOP = 2,  /* feed: no more input of this source is wanted */
    DT_ERR_NOMEM = -1,
    DT_ERR_INVAL = -2,     /* an argument, a pattern or a query is wrong */
    DT_ERR_ACCES = -3,     /* not permitted */
    DT_ERR_NOENT = -4,     /* there is no such thing */
    DT_ERR_IO = -5,        /* reading or writing failed */
    DT_ERR_PROTO = -6,     /* the peer broke the protocol */
    DT_ERR_LIMIT = -7,     /* a limit was reached */
    DT_ERR_CANCELLED = -8, /* the query was cancelled: clean up and leave */
    DT_ERR_ABI = -9,       /* made for another version */
    DT_ERR_INTERNAL = -10  /* a fault of the program itself */
};

/* Text for a status; static, never NULL. Any thread. */
static inline const char *
dt_strerror(int status)
{
    switch (status) {
    case DT_OK:
        return "success";
    case DT_AGAIN:
        return "more to come";
    case DT_STOP:
        return "stopped";
    case DT_ERR_NOMEM:
        return "out of memory";
    case DT_ERR_INVAL:
        return "invalid argument";
    case DT_ERR_ACCES:
        return "permission denied";
    case DT_ERR_NOENT:
        return "not found";
    case DT_ERR_IO:
        return "input/output error";
    case DT_ERR_PROTO:
        return "protocol error";
    case DT_ERR_LIMIT:
        return "limit exceeded";
    case DT_ERR_CANCELLED:
        return "cancelled";
    case DT_ERR_ABI:
        return "incompatible version";
    case DT_ERR_INTERNAL:
        return "internal error";
    default:
        return "unknown status";
    }
}

/* Flags of a plugin (struct dt_plugin.flags). */
#define DT_TURBO 0x01u    /* feed takes blocks of many lines */
#define DT_PARALLEL 0x02u /* several instances of a query may run at once */
#define DT_FOLLOW 0x04u   /* may be asked to follow growing files */
#define DT_COMBINE 0x08u  /* reduce may merge instances on the server */
#define DT_NUMBERS 0x10u  /* needs line numbers even for --plain output */
#define DT_VERBATIM 0x20u /* --plain output must equal the file's bytes */
#define DT_PRINTED 0x40u  /* the core prints the lines; reduce gets partials */
/* On a server the plugin runs confined: it reads and computes. What it needs
 * beyond that it asks for, and the administrator grants it by name in
 * Server.Plugins.NAME.Grant; without that it is refused at load. */
#define DT_NEEDS_WRITE 0x100u   /* "write": make and change files */
#define DT_NEEDS_EXEC 0x200u    /* "exec": start programs */
#define DT_NEEDS_NETWORK 0x400u /* "network": sockets */

/* Why drain is called. */
enum dt_drain {
    DT_DRAIN_FINAL = 0,   /* after finish: give out everything */
    DT_DRAIN_INTERVAL = 1 /* a query that still runs reports what it has */
};

/* Where an instance runs. */
enum dt_role {
    DT_ROLE_MAP = 0,    /* next to the data */
    DT_ROLE_REDUCE = 1, /* at the user's side */
    DT_ROLE_COMBINE = 2 /* the reduce stage, merging instances on the server */
};

enum dt_log_level {
    DT_LOG_ERROR = 0,
    DT_LOG_WARN = 1,
    DT_LOG_INFO = 2,
    DT_LOG_DEBUG = 3
};

/* Flags of a block (struct dt_block.flags) and of lines (struct dt_lines).
 * LAST usually stands on an empty block of its own, also after DT_STOP. */
#define DT_BLOCK_LINE 0x01u    /* exactly one line */
#define DT_BLOCK_NOEOL 0x02u   /* the last line has no newline: end of file */
#define DT_BLOCK_CUT 0x04u     /* the last line was cut at MaxLineLength */
#define DT_BLOCK_FIRST 0x08u   /* the first block of this source */
#define DT_BLOCK_LAST 0x10u    /* the last of this source; it may be empty */
#define DT_BLOCK_PARTIAL 0x20u /* reduce: the bytes of one dt_emit_partial */

/* A run of whole lines of one source, or (for reduce) one partial result.
 * The bytes belong to the host and are valid until feed returns. 64 readable
 * bytes stand behind data + len; their contents mean nothing. */
struct dt_block {
    size_t size;
    uint32_t source; /* small number, see dt_source(); of a partial result at
                        the client: its server, which has no name and path */
    uint32_t flags;  /* DT_BLOCK_… */
    const char *data;
    size_t len;          /* bytes */
    uint64_t first_line; /* number of the first line, from 1; 0: not counted */
    uint64_t nr_lines;   /* 0: not counted */
    uint64_t offset;     /* of data in the (decoded) source, in bytes */
    uint64_t sequence;   /* blocks in the order of the input, over all
                            sources and instances of the query */
    uint32_t generation; /* following: which file of the source the bytes are
                            of, from 1; else 0 */
    uint32_t spare;
};

/* Lines to give out. Whole lines with their newlines; only the last may lack
 * one, and says so with DT_BLOCK_NOEOL or DT_BLOCK_CUT. */
struct dt_lines {
    size_t size;
    uint32_t source;
    uint32_t flags;
    uint64_t first_line; /* 0: not known */
    uint64_t nr_lines;   /* 0: not known */
    uint64_t offset;     /* in the source, right behind the last line */
    const char *data;
    size_t len; /* bytes */
    /* Following: the file that the lines are of, as of their block; 0: that of
     * the block that is being fed. */
    uint32_t generation;
    /* Following: what the plugin needs to go on right behind these lines when
     * a connection broke and another session takes over: at most
     * DT_STATE_MAX bytes, copied, given back in dt_source.state. */
    uint32_t state_len;
    const void *state;
};
#define DT_STATE_MAX 64u

/* What is known of a source. Strings live as long as the query. */
struct dt_source {
    size_t size;
    const char *name; /* as shown to the user, see reading of names in
                         docs/architecture.md */
    const char *path; /* as expanded from the user's glob; "" at the client */
    const char *host; /* short name of the server that has it */
    /* The first line that is not blank, without its newline, where blocks may
     * be fed of which none is DT_BLOCK_FIRST: a file cut into slices, or
     * followed from its end. NULL: not known. Lives as long as the query. */
    const char *head;
    size_t head_len;
    uint64_t head_offset; /* of the head in the source, as block.offset */
    /* Following: the state that came with the last lines of this source which
     * the user has from an earlier session (dt_lines.state). NULL: none, the
     * source begins. From outside: to be checked. */
    const void *state;
    size_t state_len;
};

/* One instance's way to the host; made by the host, never by a plugin. */
struct dt_query {
    const struct dt_host *host;
};

/* The host's functions, reached through the inline wrappers below. At the
 * end of the struct new ones may follow. */
struct dt_host {
    size_t size;
    int (*emit_lines)(struct dt_query *q, const struct dt_lines *lines);
    int (*emit_partial)(struct dt_query *q, const void *data, size_t len);
    int (*emit_text)(struct dt_query *q, const char *data, size_t len);
    void (*note)(struct dt_query *q, const char *text);
    void (*error)(struct dt_query *q, int status, const char *text);
    void (*log)(struct dt_query *q, enum dt_log_level level, const char *text);
    const char *(*arg)(struct dt_query *q, const char *name, size_t index,
                       size_t *len);
    bool (*cancelled)(struct dt_query *q);
    int (*source)(struct dt_query *q, uint32_t id, struct dt_source *out);
    enum dt_role (*role)(struct dt_query *q);
    void (*ordered)(struct dt_query *q);
    uint64_t (*line_at)(struct dt_query *q, uint32_t source, uint64_t offset);
};

/* The hooks of a stage. An instance is one `self`. It is never called from
 * two threads at once; other instances of the same query may be, at the same
 * time, with DT_PARALLEL. A hook may wait only inside dt_emit_*(). Hooks
 * never print, exit, abort, open a path or touch a socket.
 *
 *   start ──▶ feed … feed ──▶ finish ──▶ drain … drain ──▶ close
 *                │ error          │ error      │ error       ▲
 *                └────────────────┴────────────┴─────────────┘
 */
struct dt_stage {
    size_t size;
    /* Begins an instance; *self is then handed to the other hooks.
     * Answers DT_OK, or an error after dt_error() (then close is not
     * called). Arguments of the query are checked here. */
    int (*start)(struct dt_query *q, void **self);
    /* Takes a block. DT_OK; DT_STOP: the rest of this source is not wanted
     * (other sources go on; in reduce: nothing more is wanted from anybody),
     * finish and drain follow; or an error, which ends the query. */
    int (*feed)(void *self, const struct dt_block *block);
    /* The input is exhausted. At most once, after the last feed, never after
     * an error. May be NULL. */
    int (*finish)(void *self);
    /* Gives out what is held back; DT_AGAIN: call again. May be NULL. */
    int (*drain)(void *self, enum dt_drain why);
    /* Frees the instance: exactly once after a start that succeeded, also
     * after an error and when cancelled. */
    void (*close)(void *self);
};

/* An argument that the plugin understands (`drun NAME --arg name=value`). */
#define DT_ARG_REPEAT 0x01u   /* may be given several times */
#define DT_ARG_REQUIRED 0x02u /* must be given */
struct dt_arg_spec {
    const char *name; /* NULL ends the list */
    const char *help; /* one line */
    uint32_t flags;
    uint32_t spare;
};

/* The descriptor. `static const`, registered by DT_REGISTER_PLUGIN. */
struct dt_plugin {
    uint32_t abi; /* DT_PLUGIN_ABI */
    uint32_t flags;
    size_t size;         /* sizeof(struct dt_plugin) */
    const char *name;    /* [a-z][a-z0-9-]{0,31}: the command's name */
    const char *version; /* free text, at most 64 bytes */
    const char *summary; /* one line */
    const char *usage;   /* several lines; may be NULL */
    /* Format number of the partial results that map writes and reduce reads:
     * a client whose plugin has another number says so instead of guessing. */
    uint32_t partial_format;
    uint32_t spare;
    const struct dt_arg_spec *args; /* NULL: takes no arguments */
    /* Once a process, before the first query; config_json is this plugin's
     * `Config` object as text, "{}" if there is none. May be NULL. `q` is no
     * query: only dt_log, dt_note and dt_error mean something there; it stays
     * valid until unload, for threads that the plugin starts. An error, best
     * with dt_error(), and the plugin is not offered. */
    int (*load)(struct dt_query *q, const char *config_json);
    /* After the last query, if load answered DT_OK. May be NULL. A process
     * that is killed does not call it. */
    void (*unload)(void);
    const struct dt_stage *map;    /* where the data is; required */
    const struct dt_stage *reduce; /* where the user is; NULL or DT_PRINTED:
                                      the core prints the lines */
};

/* Defines the entry that the host looks up. */
#ifdef __cplusplus
#define DT_REGISTER_PLUGIN(plugin)                                      \
    extern "C" DT_EXPORT const struct dt_plugin *dt_plugin_entry(void); \
    extern "C" DT_EXPORT const struct dt_plugin *dt_plugin_entry(void)  \
    {                                                                   \
        return &(plugin);                                               \
    }
#else
#define DT_REGISTER_PLUGIN(plugin)                           \
    DT_EXPORT const struct dt_plugin *dt_plugin_entry(void); \
    DT_EXPORT const struct dt_plugin *dt_plugin_entry(void)  \
    {                                                        \
        return &(plugin);                                    \
    }
#endif

/* ---- host calls: from the instance's own thread, inside a hook ---- */

/* Gives out lines; copies or writes them before it returns. Waits while the
 * reader of the output lags. DT_OK, or an error that the hook must return at
 * once (DT_ERR_CANCELLED when the query is cancelled).
 *
 * No lines at all (len 0) say, when following, that a later session may go on
 * at `offset`, in that state, although nothing was given out of what stands
 * before it. Where the plugin called dt_ordered() the host assumes no such
 * place by itself: lines may be held back. */
static inline int
dt_emit_lines(struct dt_query *q, const struct dt_lines *lines)
{
    return q->host->emit_lines(q, lines);
}

/* Which file of a followed source a block is of; 0: not followed, or a host
 * that does not say. */
static inline uint32_t
dt_block_generation(const struct dt_block *b)
{
    return b->size > offsetof(struct dt_block, generation) ? b->generation : 0;
}

/* Gives out a whole block, as cat does. */
static inline int
dt_emit_block(struct dt_query *q, const struct dt_block *b)
{
    struct dt_lines l;

    memset(&l, 0, sizeof(l));
    l.size = sizeof(l);
    l.source = b->source;
    l.flags = b->flags & (DT_BLOCK_NOEOL | DT_BLOCK_CUT);
    l.first_line = b->first_line;
    l.nr_lines = b->nr_lines;
    l.offset = b->offset + b->len;
    l.data = b->data;
    l.len = b->len;
    return q->host->emit_lines(q, &l);
}

/* map, combine: gives bytes of the plugin's own to its reduce stage; one
 * call is one block there. At most 8 MiB. Waits and fails as dt_emit_lines. */
static inline int
dt_emit_partial(struct dt_query *q, const void *data, size_t len)
{
    return q->host->emit_partial(q, data, len);
}

/* Gives text to the user's standard output, from either stage. */
static inline int
dt_emit_text(struct dt_query *q, const char *data, size_t len)
{
    return q->host->emit_text(q, data, len);
}

/* Tells the user something beside the data (standard error there). */
static inline void DT_PRINTF(2, 3)
    dt_note(struct dt_query *q, const char *format, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    q->host->note(q, text);
}

/* Says why the hook is about to fail; returns `status`, so that a hook ends
 * with `return dt_error(q, DT_ERR_INVAL, "…")`. Name what, where and what is
 * allowed. The first message of a query wins. */
static inline int DT_PRINTF(3, 4)
    dt_error(struct dt_query *q, int status, const char *format, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    q->host->error(q, status, text);
    return status;
}

/* Writes to the log of the server (map) or of the client (reduce). */
static inline void DT_PRINTF(3, 4)
    dt_log(struct dt_query *q, enum dt_log_level level, const char *format, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    q->host->log(q, level, text);
}

/* The value of an argument of the query, as bytes with a length and a NUL
 * behind them; `index` counts repeated ones from 0. NULL: not given. Lives as
 * long as the instance. `len` may be NULL. */
static inline const char *
dt_arg(struct dt_query *q, const char *name, size_t index, size_t *len)
{
    return q->host->arg(q, name, index, len);
}

/* True once the query is cancelled: long computations ask now and then. */
static inline bool
dt_cancelled(struct dt_query *q)
{
    return q->host->cancelled(q);
}

/* Looks up a source by the number in a block. DT_OK or DT_ERR_NOENT. */
static inline int
dt_source(struct dt_query *q, uint32_t id, struct dt_source *out)
{
    memset(out, 0, sizeof(*out));
    out->size = sizeof(*out);
    return q->host->source(q, id, out);
}

static inline enum dt_role
dt_role(struct dt_query *q)
{
    return q->host->role(q);
}

/* Only in start of map: this query needs each source whole and in order in
 * one instance (context lines, stopping early); it is then not cut into
 * slices for several threads. */
static inline void
dt_ordered(struct dt_query *q)
{
    q->host->ordered(q);
}

/* map: the number of the line that begins at `offset` of a source, for a
 * message about it when lines are not counted (block.first_line is 0). Reads
 * the source again up to there: for errors only. 0: cannot be told. */
static inline uint64_t
dt_line_at(struct dt_query *q, uint32_t source, uint64_t offset)
{
    if (q->host->size <= offsetof(struct dt_host, line_at) ||
        !q->host->line_at) {
        return 0;
    }
    return q->host->line_at(q, source, offset);
}

/* ---- lines of a block ---- */

struct dt_line {
    const char *data;
    size_t len;       /* without newline */
    size_t whole_len; /* with newline, if it has one */
    uint64_t number;  /* 0: not counted */
};

/* Steps to the next line: `line` starts as all zero (DT_LINE_INIT). False at
 * the end of the block. */
#define DT_LINE_INIT  \
    {                 \
        NULL, 0, 0, 0 \
    }
static inline bool
dt_next_line(const struct dt_block *b, struct dt_line *line)
{
    size_t at =
        line->data ? (size_t)(line->data - b->data) + line->whole_len : 0;
    size_t left = b->len - at;
    const char *nl;

    if (left == 0) {
        return false;
    }
    if (b->first_line) {
        line->number = line->data ? line->number + 1 : b->first_line;
    }
    line->data = b->data + at;
    nl = (b->flags & DT_BLOCK_LINE)
             ? (line->data[left - 1] == '\n' ? line->data + left - 1 : NULL)
             : (const char *)memchr(line->data, '\n', left);
    line->len = nl ? (size_t)(nl - line->data) : left;
    line->whole_len = nl ? line->len + 1 : left;
    return true;
}

/* Gives out one line of a block. */
static inline int
dt_emit_line(struct dt_query *q, const struct dt_block *b,
             const struct dt_line *line)
{
    struct dt_lines l;
    size_t end = (size_t)(line->data - b->data) + line->whole_len;

    memset(&l, 0, sizeof(l));
    l.size = sizeof(l);
    l.source = b->source;
    if (line->len == line->whole_len) {
        l.flags = b->flags & (DT_BLOCK_NOEOL | DT_BLOCK_CUT);
    }
    l.first_line = line->number;
    l.nr_lines = 1;
    l.offset = b->offset + end;
    l.data = line->data;
    l.len = line->whole_len;
    return q->host->emit_lines(q, &l);
}

#ifdef __cplusplus
}
#endif
#endif
