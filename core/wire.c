/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames of the native protocol: numbers in and out.
 */
#include "wire.h"

#include <endian.h>

static uint8_t *
put32(uint8_t *p, uint32_t v)
{
    v = htobe32(v);
    memcpy(p, &v, sizeof(v));
    return p + sizeof(v);
}

static uint8_t *
put64(uint8_t *p, uint64_t v)
{
    v = htobe64(v);
    memcpy(p, &v, sizeof(v));
    return p + sizeof(v);
}

static uint32_t
get32(const uint8_t **p)
{
    uint32_t v;

    memcpy(&v, *p, sizeof(v));
    *p += sizeof(v);
    return be32toh(v);
}

static uint64_t
get64(const uint8_t **p)
{
    uint64_t v;

    memcpy(&v, *p, sizeof(v));
    *p += sizeof(v);
    return be64toh(v);
}

/* Length of the fixed part of a payload. */
static size_t
fixed_len(uint8_t type)
{
    switch (type) {
    case WIRE_S_SOURCE:
    case WIRE_S_STATE:
        return 8;
    case WIRE_S_LINES:
        return WIRE_LINES_LEN;
    case WIRE_S_PARTIAL:
    case WIRE_S_NOTE:
    case WIRE_S_END:
    case WIRE_S_TEXT:
    case WIRE_S_UPDATED:
        return 4;
    case WIRE_S_PROGRESS:
        return 20;
    default:
        return 0;
    }
}

size_t
wire_encode(uint8_t *out, const struct wire_frame *f)
{
    size_t fixed = fixed_len(f->type);
    uint8_t *p = put32(out, (uint32_t)(1 + fixed + f->len));

    *p++ = f->type;
    if (fixed == 0) {
        return WIRE_HEADER_LEN;
    }
    p = put32(p, f->query);
    switch (f->type) {
    case WIRE_S_SOURCE:
    case WIRE_S_STATE:
        put32(p, f->source);
        break;
    case WIRE_S_LINES:
        p = put32(p, f->source);
        p = put32(p, f->flags);
        p = put32(p, f->generation);
        p = put64(p, f->first_line);
        p = put32(p, f->nr_lines);
        put64(p, f->offset);
        break;
    case WIRE_S_PROGRESS:
        p = put64(p, f->offset);
        put64(p, f->first_line);
        break;
    default:
        break;
    }
    return WIRE_HEADER_LEN + fixed;
}

int
wire_decode(const void *data, size_t len, size_t max, struct wire_frame *f,
            size_t *used)
{
    const uint8_t *p = data;
    size_t fixed, whole;

    *used = WIRE_HEADER_LEN;
    if (len < sizeof(uint32_t)) {
        return DT_AGAIN;
    }
    whole = get32(&p);
    if (whole > max) {
        return DT_ERR_LIMIT;
    }
    if (whole < 1) {
        return DT_ERR_PROTO;
    }
    *used = sizeof(uint32_t) + whole;
    if (len < *used) {
        return DT_AGAIN;
    }
    *f = (struct wire_frame){.type = *p++};
    fixed = fixed_len(f->type);
    if (whole < 1 + fixed) {
        return DT_ERR_PROTO;
    }
    f->data = p + fixed;
    f->len = whole - 1 - fixed;
    if (fixed == 0) {
        return DT_OK;
    }
    f->query = get32(&p);
    switch (f->type) {
    case WIRE_S_SOURCE:
    case WIRE_S_STATE:
        f->source = get32(&p);
        break;
    case WIRE_S_LINES:
        f->source = get32(&p);
        f->flags = get32(&p);
        f->generation = get32(&p);
        f->first_line = get64(&p);
        f->nr_lines = get32(&p);
        f->offset = get64(&p);
        break;
    case WIRE_S_PROGRESS:
        f->offset = get64(&p);
        f->first_line = get64(&p);
        break;
    default:
        break;
    }
    return DT_OK;
}

const char *
wire_type_name(uint8_t type)
{
    switch (type) {
    case WIRE_C_HELLO:
    case WIRE_S_HELLO:
        return "HELLO";
    case WIRE_C_QUERY:
        return "QUERY";
    case WIRE_C_UPDATE:
        return "UPDATE";
    case WIRE_C_CANCEL:
        return "CANCEL";
    case WIRE_C_AUTHKEY:
    case WIRE_S_AUTHKEY:
        return "AUTHKEY";
    case WIRE_C_BYE:
        return "BYE";
    case WIRE_S_SOURCE:
        return "SOURCE";
    case WIRE_S_LINES:
        return "LINES";
    case WIRE_S_PARTIAL:
        return "PARTIAL";
    case WIRE_S_NOTE:
        return "NOTE";
    case WIRE_S_PROGRESS:
        return "PROGRESS";
    case WIRE_S_END:
        return "END";
    case WIRE_S_TEXT:
        return "TEXT";
    case WIRE_S_STATE:
        return "STATE";
    case WIRE_S_UPDATED:
        return "UPDATED";
    default:
        return "unknown";
    }
}
