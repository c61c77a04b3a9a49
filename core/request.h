/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON payloads of the native protocol as structs, both ways.
 *
 * Strings from users (patterns, file names, argument values) are bytes: what
 * is not valid UTF-8 or holds a NUL travels as {"base64": "…"}.
 */
#ifndef CORE_REQUEST_H
#define CORE_REQUEST_H

#include "buf.h"
#include "error.h"

#define REQUEST_MAX_FILES 10000u
#define REQUEST_MAX_ARGS 1000u
#define REQUEST_MAX_RESUME 4000u
#define REQUEST_MAX_VALUE (256u * 1024u) /* bytes of one argument */

struct request_arg {
    char *name;
    char *value; /* value_len bytes and a NUL */
    size_t value_len;
};

/* A source as the client knows it: the shown name and, when following, what
 * identifies its file, so that a later session can go on in it. The SOURCE
 * payload, and the elements of a QUERY's `resume`. */
struct source_desc {
    char *name;
    size_t name_len;
    char *path;          /* as expanded; NULL when not followed */
    uint32_t generation; /* which file of the path, from 1 */
    uint64_t dev, ino;
    char *fingerprint; /* NULL: none */
    uint64_t offset;   /* SOURCE: where it begins; resume: where to go on */
    char *state;       /* resume: of the plugin, there; NULL: none */
    size_t state_len;
};

/* One query, as the client states it. Owned strings; all zero is valid. */
struct query_spec {
    uint32_t id;  /* from 1, the client's choice, unique in the session */
    char *plugin; /* name of the command */
    struct strv files;
    struct request_arg *args;
    size_t nr_args;
    bool plain;     /* line numbers are not wanted */
    bool turbo_off; /* the client asks for the normal variant */
    bool follow;
    bool last;           /* one-shot: the session ends with this query */
    int64_t timeout_ms;  /* 0: none */
    int64_t interval_ms; /* of DT_DRAIN_INTERVAL; 0: none */
    uint32_t partial_format;
    /* following: where files that are there at the start begin */
    bool from_start;            /* byte 0 */
    int64_t last_lines;         /* else so many lines before the end */
    struct source_desc *resume; /* else, by path, where a session broke off */
    size_t nr_resume;
};

void query_spec_fini(struct query_spec *s);
/* Appends a copy of a resume position. DT_OK, DT_ERR_NOMEM, DT_ERR_LIMIT. */
int query_spec_add_resume(struct query_spec *s, const struct source_desc *d);
/* Appends a copy of an argument. DT_OK, DT_ERR_NOMEM or DT_ERR_LIMIT. */
int query_spec_add_arg(struct query_spec *s, const char *name,
                       const void *value, size_t len);
/* The index-th value of an argument, a NUL behind it, and in *len (may be
 * NULL) its bytes; what dt_arg answers. NULL: there is none. */
const char *query_spec_arg(const struct query_spec *s, const char *name,
                           size_t index, size_t *len);
/* Deep copy into *to, which is all zero. */
int query_spec_copy(struct query_spec *to, const struct query_spec *from);

/* QUERY payload to struct (checked against the limits; err names the member)
 * and back. *out is all zero before; the caller frees it. */
int query_spec_parse(const void *json, size_t len, struct query_spec *out,
                     struct error *err);
int query_spec_format(const struct query_spec *s, struct buf *out);

/* The END payload. */
struct query_end {
    int status;    /* enum dt_status */
    char *message; /* NULL: none */
    uint64_t bytes_read;
    uint64_t lines_read; /* 0: not counted */
    uint64_t lines_sent; /* 0: not counted */
    uint32_t sources;    /* read to their end */
    uint32_t failed;     /* refused, missing, broken off */
    uint32_t broken;     /* of these: the device or the data were damaged */
    bool turbo;
};

void query_end_fini(struct query_end *e);
int query_end_parse(const void *json, size_t len, struct query_end *out,
                    struct error *err);
int query_end_format(const struct query_end *e, struct buf *out);

/* HELLO, both ways. */
struct hello_plugin {
    char *name;
    char *version;
    uint32_t flags; /* of the descriptor */
    uint32_t partial_format;
    bool turbo; /* the outcome of the configuration */
};
struct hello {
    int protocol;                 /* WIRE_PROTOCOL */
    char *version;                /* of the program */
    char *host;                   /* short host name */
    struct hello_plugin *plugins; /* server only */
    size_t nr_plugins;
};

void hello_fini(struct hello *h);
int hello_parse(const void *json, size_t len, struct hello *out,
                struct error *err);
int hello_format(const struct hello *h, struct buf *out);

void source_desc_fini(struct source_desc *d);
/* Deep copy into *to. DT_OK or DT_ERR_NOMEM (then *to is empty). */
int source_desc_copy(struct source_desc *to, const struct source_desc *from);
/* Replaces the state by a copy of `len` bytes. DT_OK or DT_ERR_NOMEM. */
int source_desc_set_state(struct source_desc *d, const void *state, size_t len);
int source_desc_parse(const void *json, size_t len, struct source_desc *out,
                      struct error *err);
int source_desc_format(const struct source_desc *d, struct buf *out);

/* CANCEL: {"id": N}; with `finish` only the reading ends, and what was read is
 * the result. */
int cancel_parse(const void *json, size_t len, uint32_t *id, bool *finish,
                 struct error *err);
int cancel_format(uint32_t id, bool finish, struct buf *out);

/* AUTHKEY: {"key": base64 of a public key}. `key` is a new string, "" when the
 * member is missing or empty. */
int authkey_parse(const void *json, size_t len, char **key, struct error *err);
int authkey_format(const char *key, size_t len, struct buf *out);

#endif
