/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of one server, in any pieces, to frames.
 *
 * Lines that only have to be printed are handed on as they arrive, whole lines
 * at a time, so that a frame of megabytes is neither copied together nor
 * waited for. Everything else is handed on as whole frames.
 *
 * Threads: one at a time.
 */
#ifndef CLIENTS_DECODE_H
#define CLIENTS_DECODE_H

#include "buf.h"
#include "error.h"
#include "wire.h"

/* What comes out. 64 readable bytes stand behind each frame's data. */
struct decode_sink {
    /* DT_OK, or anything else, which decode_bytes then answers. A LINES frame
     * may come in parts: the later ones have first_line DECODE_CONTINUE. */
    int (*frame)(void *ctx, const struct wire_frame *f);
    /* May the lines of this query come in parts? */
    bool (*may_split)(void *ctx, uint32_t query);
    void *ctx;
};
#define DECODE_CONTINUE UINT64_MAX
#define DECODE_SLACK 64u

struct decode {
    const struct decode_sink *sink;
    struct buf held;         /* the beginning of a frame, or of a line */
    bool in_lines;           /* inside a LINES frame that comes in parts */
    size_t left;             /* payload bytes still to come there */
    struct wire_frame lines; /* its fixed part */
};

void decode_init(struct decode *d, const struct decode_sink *sink);
void decode_fini(struct decode *d);
/* Takes bytes, behind which DECODE_SLACK readable ones stand. DT_OK, the
 * sink's answer, or DT_ERR_PROTO, DT_ERR_LIMIT, DT_ERR_NOMEM with `err` set;
 * afterwards the stream is of no use. */
int decode_bytes(struct decode *d, const char *data, size_t len,
                 struct error *err);
/* True in the middle of a frame: the stream broke off. */
bool decode_is_inside(const struct decode *d);

#endif
