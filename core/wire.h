/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames of the native protocol: u32 length (big endian, of what follows),
 * u8 type, payload. docs/protocol.md is the description for other programs.
 */
#ifndef CORE_WIRE_H
#define CORE_WIRE_H

#include <dtail/plugin.h>

#define WIRE_PROTOCOL 1
#define WIRE_SUBSYSTEM "dtail"
#define WIRE_SERVER_BANNER "dserver_5.0"

/* Limits, in bytes, of what follows the length field. The server takes requests
 * of Server.MaxCommandFrameSize bytes, which is 1 MiB if not set otherwise and
 * at most this. */
#define WIRE_MAX_REQUEST (1u << 24)
#define WIRE_MAX_FRAME ((1u << 24) + 64u)

#define WIRE_HEADER_LEN 5u /* length and type */
#define WIRE_LINES_LEN 36u /* fixed part of a LINES payload */
#define WIRE_MAX_FIXED (WIRE_HEADER_LEN + WIRE_LINES_LEN)

/* A relay block: k times libssh's packet payload, see docs/architecture.md. */
#define WIRE_BLOCK 131032u

enum wire_type {
    /* client to server: JSON */
    WIRE_C_HELLO = 1,
    WIRE_C_QUERY = 2,
    WIRE_C_UPDATE = 3, /* a query that takes the place of all others */
    WIRE_C_CANCEL = 4,
    WIRE_C_AUTHKEY = 5,
    WIRE_C_BYE = 6,
    /* server to client */
    WIRE_S_HELLO = 64,    /* JSON */
    WIRE_S_SOURCE = 65,   /* u32 query, u32 source; JSON */
    WIRE_S_LINES = 66,    /* fixed part of 36 bytes, then the lines */
    WIRE_S_PARTIAL = 67,  /* u32 query; the plugin's bytes */
    WIRE_S_NOTE = 68,     /* u32 query (0: the session); text */
    WIRE_S_PROGRESS = 69, /* u32 query; u64 bytes done, u64 bytes known */
    WIRE_S_END = 70,      /* u32 query; JSON: status, message, counters */
    WIRE_S_TEXT = 71,     /* u32 query; text for the user's stdout */
    WIRE_S_AUTHKEY = 72,  /* text: "AUTHKEY OK" or "AUTHKEY ERR reason" */
    WIRE_S_STATE = 73,    /* u32 query, u32 source; of the plugin behind the
                             next LINES of the source, when following */
    WIRE_S_UPDATED = 74   /* u32 query; it runs in place of all others */
};

/* One frame. In memory the payload is `data`, borrowed from whoever made it.
 * query: all server frames but HELLO. source, flags, first_line, nr_lines,
 * offset: LINES (source also SOURCE, STATE); PROGRESS uses offset (bytes done)
 * and first_line (bytes known). */
struct wire_frame {
    uint8_t type;
    uint32_t query;
    uint32_t source;
    uint32_t flags;      /* DT_BLOCK_NOEOL, DT_BLOCK_CUT */
    uint32_t generation; /* which file of a followed source, from 1 */
    uint64_t first_line; /* 0: not counted */
    uint32_t nr_lines;   /* 0: not counted */
    uint64_t offset;     /* in the file, right behind the lines */
    const void *data;
    size_t len;
};

/* Writes the header and the fixed part of a frame whose payload is f->data
 * into `out` (WIRE_MAX_FIXED bytes) and returns how many bytes that are. The
 * payload itself follows on the wire. Thread-safe. */
size_t wire_encode(uint8_t *out, const struct wire_frame *f);

/* Looks at the first frame of `data`. DT_OK: *f is filled (pointing into
 * data) and *used is its whole size. DT_AGAIN: *used is how many bytes are
 * needed at least. DT_ERR_LIMIT: longer than `max`. DT_ERR_PROTO: too short
 * for its type. Unknown types are DT_OK; the caller skips them. */
int wire_decode(const void *data, size_t len, size_t max, struct wire_frame *f,
                size_t *used);

/* Name of a type for messages; static. */
const char *wire_type_name(uint8_t type);

#endif
