/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of a server to frames.
 */
#include "decode.h"

#define KEEP (256u * 1024u) /* bytes of held memory kept for the next frame */

void
decode_init(struct decode *d, const struct decode_sink *sink)
{
    *d = (struct decode){.sink = sink};
}

void
decode_fini(struct decode *d)
{
    buf_fini(&d->held);
}

bool
decode_is_inside(const struct decode *d)
{
    return d->in_lines || d->held.len > 0;
}

static int
hold(struct decode *d, const char *data, size_t len, struct error *err)
{
    if (buf_reserve(&d->held, len + DECODE_SLACK) != DT_OK) {
        return error_set(err, DT_ERR_NOMEM, "frame: out of memory");
    }
    memcpy(d->held.data + d->held.len, data, len);
    d->held.len += len;
    return DT_OK;
}

static void
release(struct decode *d)
{
    d->held.len = 0;
    buf_shrink(&d->held, KEEP);
}

/* ---- a LINES frame in parts ---- */

/* Hands on a part; the marks of the frame's end belong to the last one. */
static int
give_part(struct decode *d, const char *data, size_t len, bool is_last)
{
    struct wire_frame f = d->lines;
    int rc;

    if (len == 0) {
        return DT_OK;
    }
    f.data = data;
    f.len = len;
    f.nr_lines = 0;
    if (!is_last) {
        f.flags &= ~(DT_BLOCK_NOEOL | DT_BLOCK_CUT);
    }
    rc = d->sink->frame(d->sink->ctx, &f);
    d->lines.first_line = d->lines.first_line ? DECODE_CONTINUE : 0;
    return rc;
}

/* Completes the held beginning of a line. *used: bytes taken from data. */
static int
end_held_line(struct decode *d, const char *data, size_t len, bool is_last,
              size_t *used, struct error *err)
{
    const char *nl = memchr(data, '\n', len);
    size_t take = nl ? (size_t)(nl - data) + 1 : len;
    int rc = hold(d, data, take, err);

    *used = take;
    if (rc == DT_OK && (nl || is_last)) {
        rc = give_part(d, d->held.data, d->held.len, is_last && take == len);
        release(d);
    }
    return rc;
}

static int
lines_part(struct decode *d, const char *data, size_t len, struct error *err)
{
    bool is_last = len == d->left;
    size_t used = 0;
    int rc = DT_OK;

    d->left -= len;
    if (d->held.len) {
        rc = end_held_line(d, data, len, is_last, &used, err);
        data += used;
        len -= used;
    }
    if (rc == DT_OK && len) {
        const char *nl = is_last ? data + len - 1 : memrchr(data, '\n', len);
        size_t whole = nl ? (size_t)(nl - data) + 1 : 0;

        rc = give_part(d, data, whole, is_last);
        if (rc == DT_OK && whole < len) {
            rc = hold(d, data + whole, len - whole, err);
        }
    }
    d->in_lines = d->left > 0;
    return rc;
}

/* Reads the fixed part of a LINES frame whose payload is not there yet: the
 * same header with an empty payload is a whole frame. */
static bool
begin_lines(struct decode *d, const uint8_t *head, size_t whole)
{
    const struct wire_frame empty = {.type = WIRE_S_LINES};
    uint8_t copy[WIRE_MAX_FIXED];
    size_t used;

    wire_encode(copy, &empty);
    memcpy(copy + WIRE_HEADER_LEN, head + WIRE_HEADER_LEN, WIRE_LINES_LEN);
    if (wire_decode(copy, sizeof(copy), WIRE_MAX_FRAME, &d->lines, &used) !=
            DT_OK ||
        !d->sink->may_split(d->sink->ctx, d->lines.query)) {
        return false;
    }
    d->in_lines = true;
    d->left = whole - WIRE_MAX_FIXED;
    return true;
}

/* ---- frames ---- */

static int
refuse(int rc, const char *data, size_t len, struct error *err)
{
    uint8_t type = len > 4 ? (uint8_t)data[4] : 0;

    if (rc == DT_ERR_LIMIT) {
        return error_set(err, rc,
                         "a frame (%s) is longer than the %u bytes allowed",
                         wire_type_name(type), WIRE_MAX_FRAME);
    }
    return error_set(err, rc, "a frame (%s) is too short for its type",
                     wire_type_name(type));
}

/* Takes what the held beginning of a frame still needs. */
static int
fill_held(struct decode *d, const char **data, size_t *len, struct error *err)
{
    struct wire_frame f;
    size_t need;
    int rc = wire_decode(d->held.data, d->held.len, WIRE_MAX_FRAME, &f, &need);

    while (rc == DT_AGAIN && *len) {
        /* The header first, then the fixed part of lines, then all. */
        bool is_lines = d->held.len >= WIRE_HEADER_LEN &&
                        (uint8_t)d->held.data[4] == WIRE_S_LINES &&
                        need > WIRE_MAX_FIXED;
        size_t whole = need;

        if (is_lines && d->held.len < WIRE_MAX_FIXED) {
            need = WIRE_MAX_FIXED;
        }
        size_t take = need - d->held.len < *len ? need - d->held.len : *len;
        rc = hold(d, *data, take, err);
        if (rc != DT_OK) {
            return rc;
        }
        *data += take;
        *len -= take;
        if (is_lines && d->held.len == WIRE_MAX_FIXED &&
            begin_lines(d, (const uint8_t *)d->held.data, whole)) {
            d->held.len = 0;
            return DT_OK;
        }
        rc = wire_decode(d->held.data, d->held.len, WIRE_MAX_FRAME, &f, &need);
    }
    if (rc == DT_OK) {
        rc = d->sink->frame(d->sink->ctx, &f);
        release(d);
        return rc;
    }
    return rc == DT_AGAIN ? DT_OK : refuse(rc, d->held.data, d->held.len, err);
}

/* Takes frames straight from the bytes that came. */
static int
take_frame(struct decode *d, const char **data, size_t *len, struct error *err)
{
    struct wire_frame f;
    size_t used;
    int rc = wire_decode(*data, *len, WIRE_MAX_FRAME, &f, &used);

    if (rc == DT_OK) {
        *data += used;
        *len -= used;
        return d->sink->frame(d->sink->ctx, &f);
    }
    if (rc != DT_AGAIN) {
        return refuse(rc, *data, *len, err);
    }
    if (*len >= WIRE_MAX_FIXED && (uint8_t)(*data)[4] == WIRE_S_LINES &&
        begin_lines(d, (const uint8_t *)*data, used)) {
        *data += WIRE_MAX_FIXED;
        *len -= WIRE_MAX_FIXED;
        return DT_OK;
    }
    /* Only its header now: fill_held knows how much is wanted. */
    size_t take = *len < WIRE_HEADER_LEN ? *len : WIRE_HEADER_LEN;
    rc = hold(d, *data, take, err);
    *data += take;
    *len -= take;
    return rc;
}

int
decode_bytes(struct decode *d, const char *data, size_t len, struct error *err)
{
    int rc = DT_OK;

    while (rc == DT_OK && len) {
        if (d->in_lines) {
            size_t take = d->left < len ? d->left : len;

            rc = lines_part(d, data, take, err);
            data += take;
            len -= take;
        } else if (d->held.len) {
            rc = fill_held(d, &data, &len, err);
        } else {
            rc = take_frame(d, &data, &len, err);
        }
    }
    return rc;
}
